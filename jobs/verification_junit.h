// SPDX-License-Identifier: Apache-2.0
// What `tandem verify --junit` writes: a test case for every stream, at the array's seam and at its
// ports, or at those of another unit; of more than 500 streams for several at a time.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "engine/mxu_engine.h"
#include "jobs/requantise_verification.h"
#include "jobs/verification.h"
#include "run/arrays.h"
#include "run/junit.h"

namespace tandem::jobs {

/// `again`: the command line of the whole run.
run::JunitSuite junit_suite(const engine::MxuShape& shape, const run::ArrayChoice& choice,
                            const VerifyRequest& request, const std::string& again);
run::JunitSuite junit_suite(const RequantiseRequest& request, const std::string& again);

class VerificationJunit {
  public:
    /// `streams`: 0: one from a file. Throws UserError when the file cannot be written.
    VerificationJunit(const std::string& path, const run::JunitSuite& suite, uint32_t streams);

    /// For `on_stream` of a request.
    void add(const StreamEnd& stream);
    /// What came of `streams` in `seconds`; `difference`: what the terminal says of one, with the
    /// command that repeats it; empty: there was none.
    void conclude(const std::string& difference, uint32_t streams, double seconds);
    run::JunitFile& file() { return file_; }

  private:
    /// Good streams of one kind with seeds that count up, for one test case.
    struct Group {
        uint64_t first = 0;
        uint32_t streams = 0;
        double seconds = 0;
    };

    void close(Group& group, const char* kind);
    std::string group_of(const char* kind) const { return name_ + "." + kind; }

    const std::string name_;
    const uint32_t streams_;  ///< 0: one from a file
    const uint32_t streams_of_case_;
    run::JunitFile file_;
    Group seam_, ports_;
    std::array<uint32_t, 2> done_{};  ///< streams at the seam, at the ports
    std::optional<StreamEnd> bad_;
};

}  // namespace tandem::jobs
