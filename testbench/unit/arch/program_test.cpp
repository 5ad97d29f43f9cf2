// SPDX-License-Identifier: Apache-2.0
// The program container: nothing is lost, and nothing broken is taken.
#include "arch/program.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "testbench/support/seeded.h"
#include "testbench/support/source_tree.h"

namespace tandem::arch {
namespace {

Program small_program() {
    Program program;
    program.chip_hash = 0x0123456789abcdef;
    program.chip = "test_8x8";
    program.model = "net.tflite";
    program.batch = 3;
    program.rounding = "gemmlowp";
    program.cores = {
        {{isa::SetScalar{.header = {}, .rd = 4, .imm = 77}.encode(), isa::Halt{}.encode()},
         {{0, 1, 2, 3}, {-1, 0, 0, 0}}},
        {{isa::Halt{}.encode()}, {{-1, 0, 0, 0}}}};
    program.data = {0, 1, 2, 255, 128};
    program.nodes = {{5,
                      "CONV_2D",
                      "a \"quoted\" name\n",
                      0xffffffffffull,
                      ProgramNode::Place::kMemory,
                      0x40000000000ull,
                      12,
                      {{0, 1, 0, 8}, {1, 0, 8, 4}}}};
    program.inputs = {{"in", {3, 4}, 0.1f, -128, 12}};
    program.outputs = {{"out", {3, 2}, 1.0f / 3.0f, 127, 6}, {"", {}, 0.0f, 0, 0}};
    return program;
}

/// What differs; empty: nothing.
std::string difference(const Program& a, const Program& b) {
    const auto same_tensors = [](const auto& x, const auto& y) {
        return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                          [](const ProgramTensor& s, const ProgramTensor& t) {
                              return s.name == t.name && s.shape == t.shape && s.scale == t.scale &&
                                     s.zero_point == t.zero_point && s.bytes == t.bytes;
                          });
    };
    if (a.isa_hash != b.isa_hash || a.chip_hash != b.chip_hash) return "hash";
    if (a.chip != b.chip || a.model != b.model || a.batch != b.batch || a.rounding != b.rounding)
        return "header";
    if (a.cores.size() != b.cores.size()) return "cores";
    for (size_t core = 0; core < a.cores.size(); ++core) {
        const CoreProgram &x = a.cores[core], &y = b.cores[core];
        if (x.instructions != y.instructions) return "instructions";
        if (!std::equal(x.sources.begin(), x.sources.end(), y.sources.begin(), y.sources.end(),
                        [](const InstructionSource& s, const InstructionSource& t) {
                            return s.node == t.node && s.m_start == t.m_start &&
                                   s.n_start == t.n_start && s.k_start == t.k_start;
                        }))
            return "sources";
    }
    if (a.data != b.data) return "data";
    if (!std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(),
                    [](const ProgramNode& s, const ProgramNode& t) {
                        return s.index == t.index && s.op == t.op && s.name == t.name &&
                               s.macs == t.macs && s.output_address == t.output_address &&
                               s.output_bytes == t.output_bytes && s.place == t.place &&
                               std::equal(s.parts.begin(), s.parts.end(), t.parts.begin(),
                                          t.parts.end(), [](const NodePart& p, const NodePart& q) {
                                              return p.core == q.core && p.offset == q.offset &&
                                                     p.bytes == q.bytes &&
                                                     p.last_instruction == q.last_instruction;
                                          });
                    }))
        return "nodes";
    if (!same_tensors(a.inputs, b.inputs)) return "inputs";
    return same_tensors(a.outputs, b.outputs) ? "" : "outputs";
}

TEST(ProgramRoundTrip, KeepsEverything) {
    const Program program = small_program();
    EXPECT_EQ(difference(deserialise(serialise(program), "memory"), program), "");
}

TEST(ProgramRoundTrip, KeepsAnEmptyProgram) {
    Program program;
    program.cores.resize(1);
    EXPECT_EQ(difference(deserialise(serialise(program), "memory"), program), "");
}

TEST(ProgramRoundTrip, GoesThroughAFile) {
    const testbench::ScratchFile file("program.tpu", "");
    write_program(small_program(), file.path());
    EXPECT_EQ(difference(read_program(file.path()), small_program()), "");
}

TEST(ProgramRoundTrip, KeepsRandomPrograms) {
    for (uint64_t seed = 0; seed < 50; ++seed) {
        testbench::Seeded random(seed);
        Program program = small_program();
        program.chip_hash = random.bits();
        program.data = random.bytes(random.below(500));
        program.cores.resize(1 + random.below(4));
        for (CoreProgram& core : program.cores) {
            core.instructions.resize(random.below(40));
            core.sources.resize(core.instructions.size());
            for (auto& words : core.instructions)
                for (uint32_t& word : words) word = static_cast<uint32_t>(random.bits());
            for (auto& source : core.sources)
                source = {static_cast<int32_t>(random.between(-1, 5)),
                          static_cast<uint32_t>(random.bits()), 1, 2};
        }
        for (auto& node : program.nodes) node.macs = random.bits();
        for (auto& tensor : program.outputs)
            tensor.scale = static_cast<float>(random.below(1u << 24)) * 0x1p-40f;
        ASSERT_EQ(difference(deserialise(serialise(program), "memory"), program), "")
            << "seed " << seed;
    }
}

// Names come from other people's files.
TEST(ProgramRoundTrip, TakesOrRefusesANameThatIsNoUtf8) {
    Program program = small_program();
    program.nodes[0].name = "caf\xe9";
    try {
        deserialise(serialise(program), "memory");
    } catch (const UserError&) {
        SUCCEED();
    } catch (const std::exception& error) {
        FAIL() << "expected a program or a UserError, found: " << error.what();
    }
}

TEST(ProgramFormat, StartsWithMagicVersionAndHashes) {
    const std::vector<uint8_t> bytes = serialise(small_program());
    std::vector<uint8_t> expected = {'T', 'P', 'U', 'P', 5, 0, 0, 0};
    for (int i = 0; i < 8; ++i) expected.push_back(static_cast<uint8_t>(isa::kHash >> 8 * i));
    for (const int byte :
         {0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01, 'C' + 0, 'O' + 0, 'D' + 0, 'E' + 0})
        expected.push_back(static_cast<uint8_t>(byte));
    EXPECT_EQ(std::vector<uint8_t>(bytes.begin(), bytes.begin() + 28), expected);
}

TEST(ProgramRejects, TruncationAtEveryLength) {
    const std::vector<uint8_t> whole = serialise(small_program());
    for (size_t length = 0; length < whole.size(); ++length)
        EXPECT_THROW(
            deserialise({whole.begin(), whole.begin() + static_cast<ptrdiff_t>(length)}, "memory"),
            UserError)
            << "length " << length << " of " << whole.size();
}

TEST(ProgramRejects, BytesBehindTheEnd) {
    std::vector<uint8_t> bytes = serialise(small_program());
    bytes.push_back(0);
    EXPECT_THROW(deserialise(bytes, "memory"), UserError);
}

TEST(ProgramRejects, EverySingleBitFlipOrKeepsTheProgram) {
    const Program program = small_program();
    const std::vector<uint8_t> whole = serialise(program);
    for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
        std::vector<uint8_t> bytes = whole;
        bytes[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
        try {
            const std::string different = difference(deserialise(bytes, "memory"), program);
            ASSERT_EQ(different, "")
                << "taken with another " << different << ", byte " << bit / 8 << " bit " << bit % 8;
        } catch (const UserError&) {
        }
    }
}

TEST(ProgramRejects, RandomDamageWithoutCrashing) {
    const std::vector<uint8_t> whole = serialise(small_program());
    for (uint64_t seed = 0; seed < 3000; ++seed) {
        testbench::Seeded random(seed);
        std::vector<uint8_t> bytes = whole;
        for (uint64_t i = 1 + random.below(8); i != 0; --i)
            bytes[random.below(bytes.size())] = static_cast<uint8_t>(random.bits());
        try {
            deserialise(bytes, "memory");
        } catch (const UserError&) {
        } catch (const std::exception& error) {
            FAIL() << "seed " << seed << ": expected a UserError, found " << error.what();
        }
    }
}

TEST(ProgramRejects, ASectionLongerThanAnyFile) {
    std::vector<uint8_t> bytes = serialise(small_program());
    for (size_t i = 32; i < 40; ++i) bytes[i] = 0xff;  // bytes of CODE
    EXPECT_THROW(deserialise(bytes, "memory"), UserError);
}

TEST(ProgramRejects, AnotherKindOfFileAndNamesIt) {
    try {
        deserialise({'E', 'L', 'F', '!', 0, 0, 0, 0}, "some.tpu");
        FAIL() << "expected a UserError, found none";
    } catch (const UserError& error) {
        EXPECT_EQ(std::string(error.what()),
                  "some.tpu: header: expected a Tandem program (TPUP), found another kind of file");
    }
}

/// Why a file is refused.
std::string refusal(const std::vector<uint8_t>& bytes) {
    try {
        deserialise(bytes, "old.tpu");
        return "taken";
    } catch (const UserError& error) {
        return error.what();
    }
}

TEST(ProgramRejects, AnotherContainerVersionAndNamesIt) {
    std::vector<uint8_t> bytes = serialise(small_program());
    bytes[4] = 2;
    EXPECT_EQ(refusal(bytes),
              "old.tpu: container version: expected 5, found 2; compile the model again");
}

TEST(ProgramRejects, AnotherInstructionSetAndNamesIt) {
    Program program = small_program();
    program.isa_hash = 0x1234;
    const std::string why = refusal(serialise(program));
    EXPECT_EQ(why.find("old.tpu: instruction set: expected version 4 "), 0u) << why;
    EXPECT_NE(why.find("(hash 0000000000001234); compile the model again"), std::string::npos)
        << why;
}

TEST(ProgramRejects, SourcesThatDoNotMatchTheInstructions) {
    Program program = small_program();
    program.cores[1].sources.pop_back();
    EXPECT_THROW(deserialise(serialise(program), "memory"), UserError);
}

TEST(ProgramRejects, AFileThatIsMissing) {
    EXPECT_THROW(read_program("no/such/file.tpu"), UserError);
}

TEST(ProgramRejects, ADirectory) { EXPECT_THROW(read_program(testing::TempDir()), UserError); }

TEST(ProgramRejects, ToWriteWhereNothingCanBeWritten) {
    EXPECT_THROW(write_program(small_program(), "no/such/directory/file.tpu"), UserError);
}

}  // namespace
}  // namespace tandem::arch
