// SPDX-License-Identifier: Apache-2.0
// Encoders and decoders against arch/isa.yaml, which the test reads itself.
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <map>
#include <set>

#include "arch/generated/isa.h"
#include "testbench/support/seeded.h"
#include "testbench/support/source_tree.h"

namespace tandem::isa {
namespace {

struct Field {
    std::string name;
    uint32_t word, lsb, width;
    bool is_signed;
};

struct Instruction {
    uint32_t opcode = 0;
    std::string unit;
    std::vector<Field> fields;
};

uint32_t mask_of(const Field& field) {
    return (field.width == 32 ? ~0u : (1u << field.width) - 1) << field.lsb;
}

std::vector<Field> fields_of(const YAML::Node& node) {
    std::vector<Field> fields;
    for (const auto& entry : node)
        fields.push_back({entry.first.as<std::string>(), entry.second[0].as<uint32_t>(),
                          entry.second[1].as<uint32_t>(), entry.second[2].as<uint32_t>(),
                          entry.second[3].as<std::string>() == "s"});
    return fields;
}

const YAML::Node& specification() {
    static const YAML::Node node =
        YAML::LoadFile((testbench::source_dir() / "arch" / "isa.yaml").string());
    return node;
}

Instruction instruction(const std::string& name) {
    const YAML::Node node = specification()["instructions"][name];
    return {node["opcode"].as<uint32_t>(), node["unit"].as<std::string>(),
            fields_of(node["fields"])};
}

/// Random bits in the fields of the header and of the instruction, nothing elsewhere.
Words random_words(const Instruction& spec, testbench::Seeded& random) {
    Words words{};
    std::vector<Field> all = fields_of(specification()["header"]);
    all.insert(all.end(), spec.fields.begin(), spec.fields.end());
    for (const Field& field : all)
        words[field.word] |= static_cast<uint32_t>(random.bits()) & mask_of(field);
    words[0] = (words[0] & ~0xffu) | spec.opcode;
    return words;
}

template <class T>
class IsaRoundTrip : public testing::Test {};

using AllInstructions =
    testing::Types<Nop, Halt, SetScalar, AddScalar, BranchNonzero, Fence, ReadHost, ReadMemory,
                   WriteHost, WriteMemory, ReadWeights, SetWindow, Matmul, Requantise, Convert,
                   SetShape, SetView, SetTaps, SetChain, SetConstants, Map, Reduce, Lookup, Move>;
TYPED_TEST_SUITE(IsaRoundTrip, AllInstructions);

template <class T>
std::string name_of() {
    for (const auto& info : kInstructions)
        if (info.opcode == T::kOpcode) return std::string(info.name);
    return "unknown";
}

TYPED_TEST(IsaRoundTrip, KeepsEveryFieldBit) {
    const std::string name = name_of<TypeParam>();
    const Instruction spec = instruction(name);
    for (uint64_t seed = 0; seed < 500; ++seed) {
        testbench::Seeded random(seed);
        const Words expected = random_words(spec, random);
        ASSERT_EQ(TypeParam::decode(expected).encode(), expected) << name << ", seed " << seed;
    }
}

TYPED_TEST(IsaRoundTrip, IgnoresBitsOutsideOfFields) {
    const std::string name = name_of<TypeParam>();
    const Instruction spec = instruction(name);
    for (uint64_t seed = 0; seed < 100; ++seed) {
        testbench::Seeded random(seed);
        const Words expected = random_words(spec, random);
        Words dirty;
        for (uint32_t& word : dirty) word = static_cast<uint32_t>(random.bits());
        std::vector<Field> all = fields_of(specification()["header"]);
        all.insert(all.end(), spec.fields.begin(), spec.fields.end());
        for (const Field& field : all)
            dirty[field.word] =
                (dirty[field.word] & ~mask_of(field)) | (expected[field.word] & mask_of(field));
        ASSERT_EQ(TypeParam::decode(dirty).encode(), expected) << name << ", seed " << seed;
    }
}

TEST(IsaTable, HasEveryInstructionOfTheSpecification) {
    std::set<std::string> expected, found;
    for (const auto& entry : specification()["instructions"])
        expected.insert(entry.first.as<std::string>());
    for (const auto& info : kInstructions) found.insert(std::string(info.name));
    EXPECT_EQ(found, expected);
}

TEST(IsaTable, GivesOpcodeAndUnitOfTheSpecification) {
    for (const auto& info : kInstructions) {
        const Instruction spec = instruction(std::string(info.name));
        EXPECT_EQ(static_cast<uint32_t>(info.opcode), spec.opcode) << "opcode of " << info.name;
        EXPECT_EQ(kUnitNames[static_cast<size_t>(info.unit)], spec.unit) << "unit of " << info.name;
    }
}

TEST(IsaTable, GivesFieldsOfTheSpecification) {
    for (const auto& info : kInstructions) {
        const Instruction spec = instruction(std::string(info.name));
        ASSERT_EQ(info.field_count, spec.fields.size()) << "fields of " << info.name;
        for (uint32_t i = 0; i < info.field_count; ++i) {
            const FieldPosition& found = info.fields[i].position;
            const Field& expected = spec.fields[i];
            EXPECT_EQ(info.fields[i].name, expected.name) << "field " << i << " of " << info.name;
            EXPECT_TRUE(found.word == expected.word && found.lsb == expected.lsb &&
                        found.width == expected.width && found.is_signed == expected.is_signed)
                << info.name << "." << expected.name << ": expected word " << expected.word
                << " lsb " << expected.lsb << " width " << expected.width << ", found "
                << found.word << " " << found.lsb << " " << found.width;
        }
    }
}

TEST(IsaTable, FieldsDoNotOverlap) {
    for (const auto& entry : specification()["instructions"]) {
        const auto name = entry.first.as<std::string>();
        std::vector<Field> all = fields_of(specification()["header"]);
        for (const Field& field : instruction(name).fields) all.push_back(field);
        std::map<uint32_t, uint32_t> used;
        for (const Field& field : all) {
            EXPECT_LE(field.lsb + field.width, 32u)
                << name << "." << field.name << " leaves its word";
            EXPECT_EQ(used[field.word] & mask_of(field), 0u)
                << name << "." << field.name << " overlaps";
            used[field.word] |= mask_of(field);
        }
    }
}

// Positions written out by hand from isa.yaml.
TEST(IsaEncode, PutsMatmulFieldsWhereTheSpecificationSays) {
    const Matmul matmul{
        .header = {.wait_a = 1, .wait_b = 2, .signal_a = 3, .signal_b = 255, .core = 9},
        .ub_addr = 0x11223344,
        .row_start = 0x55667788,
        .rows = 0x1234,
        .acc_addr = 0xabcd,
        .k_start = 0xfedcb,
        .k_len = 0x89a,
        .n_len = 0x4321,
        .new_weights = 1,
        .accumulate = 1,
        .mxu = 11};
    const Words expected = {0x31u | 1u << 8 | 2u << 16 | 9u << 24,
                            3u | 255u << 8 | 11u << 16,
                            0x11223344,
                            0x55667788,
                            0xabcd1234,
                            0x89afedcb,
                            0x00034321,
                            0};
    EXPECT_EQ(matmul.encode(), expected);
}

TEST(IsaEncode, PutsNegativeFieldsAsTwosComplement) {
    const Requantise requantise{.header = {},
                                .ub_addr = 1,
                                .params_addr = 2,
                                .acc_addr = 3,
                                .rows = 4,
                                .row_stride = 5,
                                .cols = 6,
                                .zero_point = -1,
                                .clamp_min = -128,
                                .clamp_max = 127,
                                .rounding = 1};
    const Words expected = {0x40, 1u << 20, 1, 2, 4u << 16 | 3, 5, 6, 0x007f80ff};
    EXPECT_EQ(requantise.encode(), expected);
}

TEST(IsaEncode, PutsTheFieldsOfAStridedTransferWhereTheSpecificationSays) {
    const WriteMemory write{.header = {},
                            .ub_addr = 1,
                            .offset = 2,
                            .bytes = 3,
                            .base = 4,
                            .offset_high = 0xabc,
                            .rows = 5,
                            .planes = 6,
                            .row_stride = 7,
                            .plane_stride = 8};
    const Words expected = {0x19, 0xabcu << 20 | 4u << 16, 1, 2, 3, 6u << 16 | 5, 7, 8};
    EXPECT_EQ(write.encode(), expected);
}

TEST(IsaDefaults, ATransferIsOneRun) {
    EXPECT_EQ(ReadHost{}.rows, 1);
    EXPECT_EQ(ReadHost{}.planes, 1);
}

TEST(IsaHeader, IsReadAlikeFromEveryInstruction) {
    const Header header{.wait_a = 1, .wait_b = 250, .signal_a = 3, .signal_b = 4, .core = 31};
    for (const Words& words :
         {Halt{.header = header}.encode(), Matmul{.header = header}.encode()}) {
        const Header found = header_of(words);
        EXPECT_EQ(found.wait_a, 1);
        EXPECT_EQ(found.wait_b, 250);
        EXPECT_EQ(found.signal_a, 3);
        EXPECT_EQ(found.signal_b, 4);
        EXPECT_EQ(found.core, 31);
    }
}

TEST(IsaDecode, ExtendsTheSign) {
    EXPECT_EQ(BranchNonzero::decode({0x04, 0, 0xfffffffd}).offset, -3);
}

TEST(IsaCodec, RejectsValuesBelowASignedField) {
    Words words{};
    EXPECT_THROW(put(words, {1, 0, 8, true}, -129, "field"), std::out_of_range);
    EXPECT_THROW(put(words, {1, 0, 8, true}, 128, "field"), std::out_of_range);
    EXPECT_THROW(put(words, {1, 0, 8, false}, -1, "field"), std::out_of_range);
    EXPECT_THROW(put(words, {1, 0, 32, true}, int64_t{1} << 31, "field"), std::out_of_range);
}

}  // namespace
}  // namespace tandem::isa
