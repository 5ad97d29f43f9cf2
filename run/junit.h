// SPDX-License-Identifier: Apache-2.0
// Results as JUnit XML, as CI servers read them: a test case for everything that was checked.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tandem::run {

/// The name of the case that says whether there is an answer at all.
inline constexpr const char* kJunitEnd = "ran to its end";

struct JunitCase {
    enum class Outcome : uint8_t {
        kPassed,
        kFailed,   ///< an answer is wrong
        kError,    ///< it could not be found out
        kSkipped,  ///< not asked for, or nothing to compare with
    };
    std::string group, name;  ///< the group is the XML's classname: folders apart by dots
    double seconds = 0;       ///< of this machine
    Outcome outcome = Outcome::kPassed;
    std::string message{};  ///< a line: what is wrong, or why it was skipped
    std::string text{};     ///< everything there is to say of it
};

struct JunitSuite {
    std::string name;
    std::vector<std::pair<std::string, std::string>> properties{};
    std::vector<JunitCase> cases{};

    void add_property(const std::string& name, const std::string& value) {
        properties.emplace_back(name, value);
    }
};

/// The file's text. What XML cannot hold (control characters, what is no UTF-8) becomes U+FFFD.
std::string junit_text(const JunitSuite& suite);
/// The first two lines of a text in one: what, and where.
std::string junit_headline(std::string_view text);
/// A name as one part of a group: dots would make more parts of it.
std::string junit_part(std::string_view name);

/// The file of a run. It stands there from the beginning, whole at any time, and says that the run
/// has not ended until finish(): so a run that is killed leaves a file that says so.
class JunitFile {
  public:
    /// An empty path: nothing is written. `how_far`: see reached(). Throws UserError when it cannot
    /// be written.
    JunitFile(std::string path, JunitSuite suite, std::string how_far = "");

    void add_property(const std::string& name, const std::string& value) {
        suite_.add_property(name, value);
    }
    /// For the group of a case.
    const std::string& name() const { return suite_.name; }
    /// Writes now and then; what cannot be written then is told by finish().
    void add(JunitCase result);
    /// How far it is, for a file that nobody finishes: "3 of 10 streams".
    void reached(std::string how_far) { how_far_ = std::move(how_far); }
    /// Throws UserError when it cannot be written.
    void finish();

    /// An exit status; what is thrown on the way stands in the file as an error.
    template <class Work>
    int finish_after(const Work& work) {
        int status = 0;
        try {
            status = work();
        } catch (const std::exception& error) {
            fail(error.what());
            throw;
        }
        finish();
        return status;
    }

  private:
    void fail(const std::string& why) noexcept;
    std::string unfinished() const;

    const std::string path_;
    const bool once_;  ///< a pipe, a terminal: what was written there stays
    JunitSuite suite_;
    std::string how_far_;
    std::chrono::steady_clock::time_point written_;
};

}  // namespace tandem::run
