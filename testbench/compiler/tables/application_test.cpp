// SPDX-License-Identifier: Apache-2.0
// Application files: what is read, and how each kind of mistake is told.
#include <gtest/gtest.h>

#include "base/error.h"
#include "compiler/import/tables/layers.h"
#include "testbench/compiler/tables/damage.h"
#include "testbench/support/source_tree.h"

namespace tandem::tables {
namespace {

using testbench::ScratchFile;

const std::string kApplication =
    "name: net\n"
    "batch: {value: 20, source: somewhere, note: guessed}\n"
    "activation_bits: 8\n"
    "host: {input: 361, output: 11}\n"
    "layers:\n"
    "  - {conv: stem, height: 19, width: 18, channels: 48, filters: 256, kernel: 5, stride: 1, "
    "padding: same}\n"
    "  - {pool: p1, elements: 1000}\n"
    "  - repeat: 2\n"
    "    layers:\n"
    "      - {fc: hidden, inputs: 30, outputs: 40, count: 3}\n"
    "      - {vector: gate, elements: 41}\n"
    "  - {fc: last, inputs: 40, outputs: 7}\n";

Workload load(const std::string& text) {
    const ScratchFile file("net.yaml", text);
    return load_application(file.path());
}

std::string with(const std::string& old_text, const std::string& new_text) {
    std::string text = kApplication;
    const size_t at = text.find(old_text);
    EXPECT_NE(at, std::string::npos) << "the test's application has no \"" << old_text << '"';
    return text.replace(at, old_text.size(), new_text);
}

TEST(Application, IsAChainOfLayers) {
    const Workload workload = load(kApplication);
    EXPECT_EQ(workload.name, "net");
    EXPECT_EQ(workload.batch, 20u);
    EXPECT_TRUE(workload.chained);
    EXPECT_EQ(workload.host_input_elements, 361u * 20);
    EXPECT_EQ(workload.host_output_elements, 11u * 20);
    EXPECT_FALSE(workload.published.has_value());
}

TEST(Application, RepeatsLayersAndGroupsInTheirOrder) {
    std::vector<std::string> names;
    for (const Layer& layer : load(kApplication).layers) names.push_back(layer.name);
    EXPECT_EQ(names, (std::vector<std::string>{"stem", "p1", "hidden[0][0]", "hidden[1][0]",
                                               "hidden[2][0]", "gate[0]", "hidden[0][1]",
                                               "hidden[1][1]", "hidden[2][1]", "gate[1]", "last"}));
}

TEST(Application, HasFullyConnectedLayers) {
    const Layer layer = load(kApplication).layers.at(3);
    EXPECT_EQ(layer.kind, LayerKind::kMatmul);
    EXPECT_EQ(layer.m, 20u);
    EXPECT_EQ(layer.k, 30u);
    EXPECT_EQ(layer.n, 40u);
    EXPECT_EQ(layer.input_elements, 600u);
    EXPECT_EQ(layer.output_elements, 800u);
    EXPECT_EQ(layer.repeat, 1u) << "copies have weights of their own";
    EXPECT_EQ(layer.passes, 1u);
    EXPECT_EQ(layer.where.substr(layer.where.rfind('_') + 1), "net.yaml:10");
}

TEST(Application, HasConvolutions) {
    const Layer layer = load(kApplication).layers.at(0);
    EXPECT_EQ(layer.kind, LayerKind::kConvolution);
    EXPECT_EQ(layer.m, 19u * 18 * 20);
    EXPECT_EQ(layer.k, 25u * 48);
    EXPECT_EQ(layer.n, 256u);
    EXPECT_EQ(layer.input_elements, 19u * 18 * 48 * 20);
    EXPECT_EQ(layer.output_elements, 19u * 18 * 256 * 20);
}

TEST(Application, RoundsUpWithSamePadding) {
    EXPECT_EQ(load(with("stride: 1", "stride: 2")).layers[0].m, 10u * 9 * 20);
}

TEST(Application, RoundsDownWithValidPadding) {
    std::string text = with("padding: same", "padding: valid");
    EXPECT_EQ(load(text).layers[0].m, 15u * 14 * 20);
    text.replace(text.find("stride: 1"), 9, "stride: 4");
    EXPECT_EQ(load(text).layers[0].m, 4u * 4 * 20);
}

TEST(Application, HasVectorsAndPools) {
    const Workload workload = load(kApplication);
    EXPECT_EQ(workload.layers.at(1).kind, LayerKind::kPool);
    EXPECT_EQ(workload.layers[1].elements, 20000u);
    EXPECT_EQ(workload.layers[1].input_elements, 20000u);
    EXPECT_EQ(workload.layers[1].output_elements, 20000u);
    EXPECT_EQ(workload.layers.at(5).kind, LayerKind::kVector);
    EXPECT_EQ(workload.layers[5].elements, 820u);
    EXPECT_EQ(workload.layers[5].macs(), 0u);
}

TEST(Application, MaySayWhatAPoolLeaves) {
    const Layer pool = load(with("elements: 1000", "elements: 1000, outputs: 250")).layers[1];
    EXPECT_EQ(pool.elements, 20000u);
    EXPECT_EQ(pool.output_elements, 5000u);
}

TEST(Application, TakesTwoPassesWith16Bits) {
    for (const Layer& layer : load(with("activation_bits: 8", "activation_bits: 16")).layers) {
        const bool product = layer.kind != LayerKind::kVector && layer.kind != LayerKind::kPool;
        EXPECT_EQ(layer.passes, product ? 2u : 1u) << layer.name;
    }
}

TEST(Application, NeedNotSayWhatTheHostMoves) {
    const Workload workload = load(with("host: {input: 361, output: 11}\n", ""));
    EXPECT_EQ(workload.host_input_elements, 0u);
    EXPECT_EQ(workload.host_output_elements, 0u);
}

TEST(Application, SaysWhatIsPublished) {
    const auto published = load(kApplication +
                                "published:\n"
                                "  weights_millions: {value: 1.25, source: table 1}\n"
                                "  fc: 7\n  vector: 2\n  macs_per_weight: 200\n")
                               .published;
    ASSERT_TRUE(published.has_value());
    EXPECT_EQ(published->weights_millions, 1.25);
    EXPECT_EQ(published->fc, 7u);
    EXPECT_EQ(published->conv, 0u);
    EXPECT_EQ(published->vector, 2u);
    EXPECT_EQ(published->pool, 0u);
    EXPECT_EQ(published->macs_per_weight, 200.0);
}

struct Mistake {
    const char* name;
    const char* old_text;
    const char* new_text;
    const char* message;  ///< what follows the file's name
};

void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.name; }

class ApplicationMistakes : public testing::TestWithParam<Mistake> {};

TEST_P(ApplicationMistakes, AreToldWithKeyLineExpectedAndFound) {
    const ScratchFile file("bad.yaml", with(GetParam().old_text, GetParam().new_text));
    try {
        load_application(file.path());
        FAIL() << "expected: " << GetParam().message;
    } catch (const UserError& error) {
        EXPECT_NE(std::string(error.what()).find(std::string("bad.yaml: ") + GetParam().message),
                  std::string::npos)
            << error.what();
    }
}

INSTANTIATE_TEST_SUITE_P(
    Each, ApplicationMistakes,
    testing::Values(
        Mistake{"NoName", "name: net\n", "", "name (line 1): expected the key, found nothing"},
        Mistake{"UnknownKey", "name: net", "nam: net",
                "nam (line 1): expected one of: name, batch, activation_bits"},
        Mistake{"ZeroBatch", "value: 20", "value: 0", "batch (line 2): expected a value from 1 to"},
        Mistake{"Bits", "activation_bits: 8", "activation_bits: 12",
                "activation_bits (line 3): expected 8 or 16, found 12"},
        Mistake{"NoBits", "activation_bits: 8\n", "",
                "activation_bits (line 1): expected the key, found nothing"},
        Mistake{"Host", "output: 11", "outputs: 11",
                "host.outputs (line 4): expected one of: input, output (nearest: output), found an "
                "unknown key"},
        Mistake{"NoPadding", ", padding: same", "",
                "layers[0].padding (line 6): expected the key, found nothing"},
        Mistake{"Padding", "padding: same", "padding: full",
                "layers[0].padding (line 6): expected same or valid, found \"full\""},
        Mistake{"Kernel", "kernel: 5, stride: 1, padding: same",
                "kernel: 19, stride: 1, padding: valid",
                "layers[0].kernel (line 6): expected a kernel not larger than the image, 18, found "
                "19"},
        Mistake{"ZeroStride", "stride: 1", "stride: 0",
                "layers[0].stride (line 6): expected a value from 1 to 4294967295, found 0"},
        Mistake{"Negative", "channels: 48", "channels: -48",
                "layers[0].channels (line 6): expected"},
        Mistake{"Text", "channels: 48", "channels: few", "layers[0].channels (line 6): expected"},
        Mistake{"TooLarge", "height: 19, width: 18, channels: 48, filters: 256",
                "height: 4294967295, width: 4294967295, channels: 4294967295, filters: 4294967295",
                "layers[0].conv (line 6): expected at most 2^53 MACs and elements in a layer"},
        Mistake{"PoolThatGrows", "elements: 1000}", "elements: 1000, outputs: 1001}",
                "layers[1].outputs (line 7): expected at most the elements, 1000, found 1001"},
        Mistake{"UnknownKind", "{pool: p1", "{pol: p1",
                "layers[1] (line 7): expected one of the keys fc, conv, vector, pool, found none"},
        Mistake{"TwoKinds", "{pool: p1", "{vector: a, pool: p1",
                "layers[1].pool (line 7): expected one of: vector, elements, count, found an"},
        Mistake{"NoLayer", "{pool: p1, elements: 1000}", "pool",
                "layers[1] (line 7): expected a mapping, found \"pool\""},
        Mistake{"InGroup", "outputs: 40", "outputs: 0",
                "layers[2].layers[0].outputs (line 10): exp"},
        Mistake{"GroupInGroup", "{vector: gate, elements: 41}", "{repeat: 2, layers: []}",
                "layers[2].layers[1] (line 11): expected one of the keys fc, conv, vector, pool"},
        Mistake{"EmptyGroup", "{pool: p1, elements: 1000}", "{repeat: 2, layers: []}",
                "layers[1].layers (line 7): expected a list of layers, found an empty list"},
        Mistake{"GroupWithoutLayers", "{pool: p1, elements: 1000}", "{repeat: 2}",
                "layers[1].layers (line 7): expected the key, found nothing"},
        Mistake{"Count", "count: 3", "count: 0",
                "layers[2].layers[0].count (line 10): expected a v"},
        Mistake{"TooOften", "count: 3", "count: 10001",
                "layers[2].layers[0].count (line 10): expected a value from 1 to 10000"},
        Mistake{"Repeat", "repeat: 2", "repeat: 10001",
                "layers[2].repeat (line 8): expected a value from 1 to 10000, found 10001"}),
    [](const auto& info) { return info.param.name; });

TEST(ApplicationMistakes, KnowEmptyLists) {
    const std::string start = "name: a\nbatch: 1\nactivation_bits: 8\n";
    EXPECT_THROW(load(start), UserError);
    EXPECT_THROW(load(start + "layers: []\n"), UserError);
    EXPECT_THROW(load(start + "layers: {fc: a}\n"), UserError);
    EXPECT_THROW(load(start + "layers: 3\n"), UserError);
    EXPECT_THROW(load(""), UserError);
    EXPECT_THROW(load("{"), UserError);
    EXPECT_THROW(load_application("nowhere/none.yaml"), UserError);
}

TEST(ApplicationMistakes, KnowCountsThatMultiply) {
    EXPECT_THROW(load("name: a\nbatch: 1\nactivation_bits: 8\nlayers:\n  - repeat: 10000\n    "
                      "layers:\n      - {fc: a, inputs: 1, outputs: 1, count: 10000}\n"),
                 UserError);
}

TEST(ApplicationMistakes, AreTheUsersWhateverIsDamaged) {
    testbench::Seeded random(5);
    const std::string whole = kApplication + "published: {weights_millions: 1.5, fc: 7}\n";
    for (int i = 0; i < 3000; ++i) {
        const std::string text = testbench::damaged(whole, random, "0123456789{}[]:,-&*!|> \n\"a");
        try {
            const Workload list = load(text);
            EXPECT_NO_THROW(graph_of(list)) << text;
        } catch (const UserError&) {
        } catch (const std::exception& error) {
            FAIL() << error.what() << ", in:\n" << text;
        }
    }
}

TEST(ApplicationMistakes, KnowPublishedNumbers) {
    for (const char* const number : {"-1", "nan", "many", "1e999", "1.5 M", ""})
        EXPECT_THROW(load(kApplication + "published: {weights_millions: \"" + number + "\"}\n"),
                     UserError)
            << number;
    EXPECT_THROW(load(kApplication + "published: {fc: 1.5}\n"), UserError);
    EXPECT_THROW(load(kApplication + "published: {layers: 1}\n"), UserError);
}

}  // namespace
}  // namespace tandem::tables
