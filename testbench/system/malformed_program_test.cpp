// SPDX-License-Identifier: Apache-2.0
// Program files with right checksums and something wrong in them, run as a user would: each is
// refused with exit status 2, or runs; none ends as a fault of Tandem or does not end.
#include "testbench/support/mutated_program.h"
#include "testbench/system/command_line.h"

namespace tandem::testbench {
namespace {

class MalformedProgramTest : public CommandLineTest {
  protected:
    arch::Program digits() const {
        const auto made =
            run("compile " + (source_dir() / "models/digits/digits_int8.tflite").string() +
                " --chip test_16x16 -o good.tpu");
        EXPECT_EQ(made.status, 0) << made.output;
        return arch::read_program(folder_ / "good.tpu");
    }
    CommandResult run_file(const std::vector<uint8_t>& bytes, const std::string& more) const {
        write_text(folder_ / "p.tpu", {bytes.begin(), bytes.end()});
        const auto inputs = source_dir() / "models/digits/inputs.bin";
        const auto expected = source_dir() / "models/digits/expected.bin";
        return run("run p.tpu --chip test_16x16 --count 2 --input " + inputs.string() +
                   " --expect " + expected.string() + " " + more);
    }
};

TEST_F(MalformedProgramTest, MutantsAreRefusedOrRun) {
    const arch::Program program = digits();
    ASSERT_EQ(run_file(arch::serialise(program), "").status, 0);
    std::array<int, 3> ends{};
    // More of them by hand: TANDEM_MUTANTS=1500.
    const std::string asked = environment("TANDEM_MUTANTS");
    const uint64_t mutants = asked.empty() ? 80 : std::stoull(asked);
    for (uint64_t seed = 0; seed < mutants; ++seed) {
        testbench::Seeded random(seed);
        const auto bytes = testbench::mutated_file(program, random);
        const auto result = run_file(bytes, seed % 2 == 0 ? "--host native" : "--host riscv");
        ASSERT_TRUE(result.status >= 0 && result.status <= 2)
            << "seed " << seed << ", status " << result.status << "\n"
            << result.output;
        ++ends[static_cast<size_t>(result.status)];
    }
    for (size_t status = 0; status < 3; ++status)
        EXPECT_GT(ends[status], 0) << "no mutant ended with status " << status;
}

TEST_F(MalformedProgramTest, ARefusalNamesFileInstructionAndRule) {
    arch::Program program = digits();
    program.cores[0].instructions[1][0] |= 0x80000000u;
    const auto result = run_file(arch::serialise(program), "");
    EXPECT_EQ(result.status, 2);
    EXPECT_NE(result.output.find("p.tpu: instruction 1 ("), std::string::npos) << result.output;
    EXPECT_NE(result.output.find("zeros where no field is"), std::string::npos) << result.output;
}

TEST_F(MalformedProgramTest, AStaleProgramNamesWhatDiffers) {
    const arch::Program good = digits();
    auto old = arch::serialise(good);
    old[4] = 1;
    EXPECT_NE(run_file(old, "").output.find("container version: expected 5, found 1"),
              std::string::npos);
    arch::Program other = good;
    other.isa_hash ^= 1;
    auto result = run_file(arch::serialise(other), "");
    EXPECT_EQ(result.status, 2);
    EXPECT_NE(result.output.find("instruction set: expected version"), std::string::npos)
        << result.output;
    other = good;
    other.chip_hash ^= 1;
    result = run_file(arch::serialise(other), "");
    EXPECT_EQ(result.status, 2);
    EXPECT_NE(result.output.find("chip figures: expected test_16x16"), std::string::npos)
        << result.output;
}

}  // namespace
}  // namespace tandem::testbench
