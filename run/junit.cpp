// SPDX-License-Identifier: Apache-2.0
#include "run/junit.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "base/error.h"
#include "base/output_file.h"

namespace tandem::run {
namespace {

using Outcome = JunitCase::Outcome;

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD
constexpr std::chrono::seconds kInterval{2};               // between two states of the file

/// Bytes of the character at the beginning that XML 1.0 allows; 0: there is none.
size_t character_bytes(std::string_view text) {
    const auto byte = [&](size_t at) { return static_cast<unsigned char>(text[at]); };
    const unsigned char first = byte(0);
    if (first < 0x80) return first >= 0x20 || first == '\t' || first == '\n' || first == '\r';
    const size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || text.size() < bytes) return 0;
    uint32_t code = first & (0x7fu >> bytes);
    for (size_t i = 1; i < bytes; ++i) {
        if ((byte(i) & 0xc0) != 0x80) return 0;
        code = code << 6 | (byte(i) & 0x3fu);
    }
    const bool too_long = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
    const bool surrogate = code >= 0xd800 && code < 0xe000;
    const bool none = code == 0xfffe || code == 0xffff || code > 0x10ffff;
    return too_long || surrogate || none ? 0 : bytes;
}

/// For attributes and content alike: line ends of an attribute would become blanks.
std::string escaped(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const size_t bytes = character_bytes(text);
        const char c = text.front();
        if (bytes == 0)
            out += kReplacement;
        else if (std::string_view("&<>\"'\t\r\n").find(c) != std::string_view::npos)
            out += fmt::format("&#{};", static_cast<int>(c));
        else
            out += text.substr(0, bytes);
        text.remove_prefix(std::max<size_t>(1, bytes));
    }
    return out;
}

/// Content keeps its lines.
std::string lines_of(std::string_view text) {
    std::string out = escaped(text);
    for (size_t at = 0; (at = out.find("&#10;", at)) != std::string::npos;)
        out.replace(at, 5, "\n");
    return out;
}

std::string text_of(const JunitCase& one) {
    const auto out = fmt::format(R"(    <testcase classname="{}" name="{}" time="{:.6f}")",
                                 escaped(one.group), escaped(one.name), one.seconds);
    if (one.outcome == Outcome::kPassed) {
        if (one.text.empty()) return out + "/>\n";
        return out + ">\n      <system-out>" + lines_of(one.text) +
               "</system-out>\n    </testcase>\n";
    }
    const char* const tag = one.outcome == Outcome::kFailed  ? "failure"
                            : one.outcome == Outcome::kError ? "error"
                                                             : "skipped";
    return fmt::format("{}>\n      <{} message=\"{}\">{}</{}>\n    </testcase>\n", out, tag,
                       escaped(one.message), lines_of(one.text), tag);
}

std::string now() {
    const std::time_t seconds = std::time(nullptr);
    std::tm utc{};
    ::gmtime_r(&seconds, &utc);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return text;
}

}  // namespace

std::string junit_text(const JunitSuite& suite) {
    double seconds = 0;
    for (const JunitCase& one : suite.cases) seconds += one.seconds;
    const auto count = [&](Outcome outcome) {
        return std::ranges::count(suite.cases, outcome, &JunitCase::outcome);
    };
    const auto sums =
        fmt::format(R"(name="{}" tests="{}" failures="{}" errors="{}" skipped="{}" time="{:.6f}")",
                    escaped(suite.name), suite.cases.size(), count(Outcome::kFailed),
                    count(Outcome::kError), count(Outcome::kSkipped), seconds);
    std::string out = fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {0}>\n  <testsuite {0} "
        "timestamp=\"{1}\">\n    <properties>\n",
        sums, now());
    for (const auto& [name, value] : suite.properties)
        out += fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", escaped(name),
                           escaped(value));
    out += "    </properties>\n";
    for (const JunitCase& one : suite.cases) out += text_of(one);
    return out + "  </testsuite>\n</testsuites>\n";
}

std::string junit_headline(std::string_view text) {
    const size_t first = text.find('\n');
    std::string line(text.substr(0, first));
    if (first == std::string_view::npos) return line;
    const std::string_view rest = text.substr(first + 1);
    const size_t begin = std::min(rest.find_first_not_of(' '), rest.size());
    const std::string_view second = rest.substr(begin, rest.find('\n', begin) - begin);
    return second.empty() ? line : fmt::format("{} {}", line, second);
}

std::string junit_part(std::string_view name) {
    std::string part(name);
    std::ranges::replace_if(
        part, [](char c) { return std::string_view("./\\ ").find(c) != std::string_view::npos; },
        '_');
    return part;
}

JunitFile::JunitFile(std::string path, JunitSuite suite, std::string how_far)
    : path_(std::move(path)),
      once_(path_.empty() || base::is_written_in_place(path_)),
      suite_(std::move(suite)),
      how_far_(std::move(how_far)),
      written_(std::chrono::steady_clock::now()) {
    if (!once_) base::write_file(path_, unfinished());
}

void JunitFile::add(JunitCase result) {
    suite_.cases.push_back(std::move(result));
    const auto time = std::chrono::steady_clock::now();
    if (once_ || time - written_ < kInterval) return;
    written_ = time;
    try {
        base::write_file(path_, unfinished());
    } catch (const UserError&) {  // finish() tells
    }
}

std::string JunitFile::unfinished() const {
    JunitSuite suite = suite_;
    JunitCase last{.group = suite.name, .name = kJunitEnd, .outcome = Outcome::kError};
    last.message = "the run has not ended" + (how_far_.empty() ? "" : ": " + how_far_);
    last.text =
        "Whoever reads this after the run: it was interrupted, killed or timed out before it could "
        "say more.";
    suite.cases.push_back(std::move(last));
    return junit_text(suite);
}

void JunitFile::finish() {
    if (!path_.empty()) base::write_file(path_, junit_text(suite_));
}

void JunitFile::fail(const std::string& why) noexcept {
    try {
        JunitCase last{.group = suite_.name, .name = kJunitEnd, .outcome = Outcome::kError};
        last.message = junit_headline(why);
        last.text = why + (how_far_.empty() ? "" : "\n" + how_far_);
        suite_.cases.push_back(std::move(last));
        finish();
    } catch (const std::exception&) {  // what went wrong first is told by whoever catches it
    }
}

}  // namespace tandem::run
