// SPDX-License-Identifier: Apache-2.0
// What `tandem verify --junit` writes: a test case for every stream, at the array's seam and at its
// ports; of more than 500 streams for several at a time.
#pragma once

#include <optional>
#include <string>

#include "engine/mxu_engine.h"
#include "jobs/verification.h"
#include "run/arrays.h"
#include "run/junit.h"

namespace tandem::jobs {

class VerificationJunit {
  public:
    /// `again`: the command line of the whole run. Throws UserError when the file cannot be
    /// written.
    VerificationJunit(const std::string& path, const engine::MxuShape& shape,
                      const run::ArrayChoice& choice, const VerifyRequest& request,
                      const std::string& again);

    /// For VerifyRequest::on_stream.
    void add(const StreamEnd& stream);
    /// What came of it; `text`: what the terminal says of a divergence, with the command that
    /// repeats it.
    void conclude(const Verification& done, const std::string& text);
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
    uint32_t done_ = 0;
    std::optional<StreamEnd> bad_;
};

}  // namespace tandem::jobs
