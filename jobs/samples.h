// SPDX-License-Identifier: Apache-2.0
// A network's samples: what goes in, and what comes out beside what should.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/program.h"
#include "compiler/graph/graph.h"
#include "run/report.h"

namespace tandem::jobs {

/// As `tandem run` takes them.
struct SampleFiles {
    std::vector<std::string> inputs, expects;
    /// In place of files that are not named; empty: none.
    std::vector<uint8_t> input_bytes{}, expected_bytes{};
    std::string labels;
    uint32_t count = 0;        ///< of samples; 0: all
    run::Tolerance tolerance;  ///< of float32 outputs

    bool expects_outputs() const { return !expects.empty() || !expected_bytes.empty(); }
};

class Samples {
  public:
    /// Reads all files; without inputs, values are seeded. Throws UserError for files of other
    /// sizes than the program's tensors have.
    Samples(const arch::Program& program, const SampleFiles& files, uint64_t seed);

    uint32_t count() const { return count_; }
    /// Runs of the program for all samples; the last one is filled up with zeros.
    uint32_t runs() const { return (count_ + program_.batch - 1) / program_.batch; }
    const std::vector<uint8_t>& inputs() const { return inputs_; }
    uint64_t output_bytes() const { return output_bytes_; }  ///< of a sample

    /// With --expect and --labels, as far as they are given. `outputs` are those of count()
    /// samples.
    void compare_with_files(const std::vector<uint8_t>& outputs, run::RunReport& report) const;

    /// Bit by bit. `outputs` are those of all runs.
    run::OutputCheck compare_with_plain_loops(const compiler::Graph& graph,
                                              const arch::ChipConfig& chip,
                                              const std::vector<uint8_t>& outputs) const;

  private:
    std::vector<uint8_t> all_of(const std::vector<std::string>& files,
                                const std::vector<uint8_t>& bytes,
                                const std::vector<arch::ProgramTensor>& tensors) const;
    /// The bytes of the tensors of integers, or of floats, of all samples.
    std::vector<uint8_t> of_kind(const std::vector<uint8_t>& outputs, bool floats) const;
    void load_inputs(uint64_t seed);
    void check_sizes() const;

    const arch::Program& program_;
    const SampleFiles& files_;
    uint64_t input_bytes_ = 0, output_bytes_ = 0;
    uint32_t count_ = 0;
    std::vector<uint8_t> inputs_, expected_, labels_;
};

}  // namespace tandem::jobs
