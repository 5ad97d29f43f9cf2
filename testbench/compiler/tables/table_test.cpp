// SPDX-License-Identifier: Apache-2.0
// Tables of layers: what the rows of each format become, and how each kind of mistake is told.
#include <gtest/gtest.h>

#include "base/error.h"
#include "compiler/import/tables/layers.h"
#include "compiler/import/tables/sizes.h"
#include "testbench/compiler/tables/damage.h"
#include "testbench/support/source_tree.h"

namespace tandem::tables {
namespace {

using testbench::ScratchFile;

const std::string kTopology =
    "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, "
    "Strides,\n";
const std::string kConv = "set,w,h,c,n,k,filter_w,filter_h,pad_w,pad_h,stride_w,stride_h\n";
const std::string kRnn = "set,hidden,batch,timesteps,cell\n";
const std::string kNetworks =
    "model,op_index,op,in_h,in_w,in_c,kernel_h,kernel_w,out_h,out_w,out_c,stride_h,stride_w,"
    "padding,gemm_m,gemm_k,gemm_n,macs\n";

Workload load(const std::string& text, uint64_t batch = 1) {
    const ScratchFile file("table.csv", text);
    return load_table(file.path(), batch);
}

Layer only(const std::string& text, uint64_t batch = 1) {
    const Workload workload = load(text, batch);
    EXPECT_EQ(workload.layers.size(), 1u) << "layers";
    return workload.layers.at(0);
}

void expect_product(const Layer& layer, uint64_t m, uint64_t k, uint64_t n) {
    EXPECT_EQ(layer.m, m) << layer.name << ": m";
    EXPECT_EQ(layer.k, k) << layer.name << ": k";
    EXPECT_EQ(layer.n, n) << layer.name << ": n";
}

TEST(ScaleSimTopology, BecomesProducts) {
    const Layer layer = only(kTopology + "conv2, 9, 7, 3, 2, 5, 11, 2,\n");
    EXPECT_EQ(layer.name, "conv2");
    EXPECT_EQ(layer.kind, LayerKind::kConvolution);
    expect_product(layer, 4 * 4, 3 * 2 * 5, 11);
    EXPECT_EQ(layer.input_elements, 9u * 7 * 5);
    EXPECT_EQ(layer.output_elements, 16u * 11);
    EXPECT_EQ(layer.macs(), 16u * 30 * 11);
    EXPECT_EQ(layer.weights(), 330u);
}

// The published table of ResNet-50 gives 110 for this layer.
TEST(ScaleSimTopology, RoundsItsOutputUpAsScaleSimDoes) {
    expect_product(only(kTopology + "Conv1,224,224,7,7,3,64,2,\n"), 110 * 110, 147, 64);
}

TEST(ScaleSimTopology, SlidesAsOftenAsAWindowBegins) {
    for (uint64_t image = 1; image <= 12; ++image)
        for (uint64_t filter = 1; filter <= image; ++filter)
            for (uint64_t stride = 1; stride <= 4; ++stride) {
                // A window begins at each multiple of the stride until one has reached the end.
                uint64_t windows = 1;
                for (uint64_t begin = 0; begin + filter < image; begin += stride) ++windows;
                const Layer layer =
                    only(kTopology + "a," + std::to_string(image) + ",1," + std::to_string(filter) +
                         ",1,1,1," + std::to_string(stride) + ",\n");
                ASSERT_EQ(layer.m, windows)
                    << "image " << image << ", filter " << filter << ", stride " << stride;
            }
}

TEST(ScaleSimTopology, IsAProductWhereWindowsShareNothing) {
    const Layer product = only(kTopology + "MLP,128,13,1,13,1,512,1,\n");
    EXPECT_EQ(product.kind, LayerKind::kMatmul);
    expect_product(product, 128, 13, 512);
    EXPECT_EQ(product.input_elements, 128u * 13);
    EXPECT_EQ(only(kTopology + "FC,1,1,1,1,2048,1000,1,\n").kind, LayerKind::kMatmul);
    EXPECT_EQ(only(kTopology + "C,7,7,1,1,512,2048,1,\n").kind, LayerKind::kConvolution);
}

TEST(ScaleSimTopology, TakesChannelsOfNamesWithDpApart) {
    const Layer layer = only(kTopology + "DP2,6,6,3,3,32,1,1,\n");
    expect_product(layer, 16, 9, 1);
    EXPECT_EQ(layer.groups, 32u);
    EXPECT_EQ(layer.macs(), 16u * 9 * 32);
    EXPECT_EQ(layer.input_elements, 36u * 32);
    EXPECT_EQ(layer.output_elements, 16u * 32);
}

TEST(ScaleSimTopology, TakesADepthwiseLayerOfOtherNamesAsWritten) {
    const Layer layer = only(kTopology + "Conv2,112,112,3,3,32,1,1,\n");
    expect_product(layer, 110 * 110, 288, 1);
    EXPECT_EQ(layer.groups, 1u);
}

TEST(ScaleSimTopology, MayHaveTwoStrides) {
    expect_product(only("Layer,IFMAP h,IFMAP w,Filter h,Filter w,Channels,Num Filter,Stride h,"
                        "Stride w,\na,9,9,1,1,2,3,2,4,\n"),
                   5 * 3, 2, 3);
}

TEST(ScaleSimTopology, MultipliesByANumberInItsBatchColumn) {
    const std::string heading =
        "Layer name,Ifmap height,ifmap width,filter height,filter width,channels,num filters,"
        "strides,batch size,\n";
    EXPECT_EQ(only(heading + "a,4,4,1,1,2,3,1,5,\n", 2).m, 16u * 5 * 2);
    EXPECT_EQ(only(heading + "a,4,4,1,1,2,3,1,,\n", 2).m, 16u * 2);
    EXPECT_EQ(only(heading + "a,4,4,1,1,2,3,1,n/a,\n", 2).m, 16u * 2);
    EXPECT_EQ(only(heading + "a,4,4,1,1,2,3,1,5,\n", 2).input_elements, 16u * 2 * 5 * 2);
}

TEST(ScaleSimTopology, IsReadWhateverItsLayout) {
    const Workload workload = load(
        "\xEF\xBB\xBF\n , ,\r\nlayer  NAME ,ifmap\tHEIGHT,IFMAP Width,FILTER height,filter "
        "width,Channel,num  filters,stride,,,Eh\r\n,,,,,,,\r\n"
        "Section 3 (of many),\r\nNeural filtering,,,,\r\n  a , 4 ,4,1,1, 2 ,3,1,,,4\r\n\r\n"
        "b,4,4,1,1,2,3,1");
    ASSERT_EQ(workload.layers.size(), 2u) << "layers";
    EXPECT_EQ(workload.layers[0].name, "a");
    EXPECT_EQ(workload.layers[0].where.substr(workload.layers[0].where.rfind('_') + 1),
              "table.csv:7");
    expect_product(workload.layers[0], 16, 2, 3);
    expect_product(workload.layers[1], 16, 2, 3);
}

TEST(Tables, SayWhatTheyAre) {
    const ScratchFile file("mine.csv", "Layer,M,N,K,\na,1,2,3,\n");
    const Workload workload = load_table(file.path(), 7);
    EXPECT_EQ(workload.name, file.path().stem().string());
    EXPECT_EQ(workload.file, file.path().string());
    EXPECT_EQ(workload.batch, 7u);
    EXPECT_FALSE(workload.chained);
    EXPECT_TRUE(load(kTopology + "a,1,1,1,1,1,1,1,\n").chained);
}

TEST(ScaleSimGemm, BecomesAProduct) {
    const Layer layer = only("Layer,M,N,K,\nQKT,1024,512,64,\n", 2);
    EXPECT_EQ(layer.name, "QKT");
    EXPECT_EQ(layer.kind, LayerKind::kMatmul);
    expect_product(layer, 2048, 64, 512);
    EXPECT_EQ(layer.input_elements, 2048u * 64);
    EXPECT_EQ(layer.output_elements, 2048u * 512);
}

TEST(DeepBenchGemm, BecomesAProduct) {
    const Layer layer =
        only("set,m,n,k,a_transposed,b_transposed\r\ntraining_set,1760,16,35,true,false\r\n");
    EXPECT_EQ(layer.name, "training_set 1760x16x35");
    expect_product(layer, 1760, 35, 16);
}

TEST(DeepBenchConv, BecomesAProduct) {
    const Layer layer = only(kConv + "training_set,700,161,1,4,32,20,5,0,0,2,2\n", 3);
    EXPECT_EQ(layer.name, "training_set 700x161x1 n4 k32 20x5");
    EXPECT_EQ(layer.kind, LayerKind::kConvolution);
    expect_product(layer, 341u * 79 * 4 * 3, 100, 32);
    EXPECT_EQ(layer.input_elements, 700u * 161 * 4 * 3);
    EXPECT_EQ(layer.output_elements, 341u * 79 * 4 * 3 * 32);
}

TEST(DeepBenchConv, PadsBothSides) {
    expect_product(only(kConv + "s,7,5,2,1,3,3,2,1,2,1,3\n"), 7 * 3, 12, 3);
}

TEST(DeepBenchRnn, IsAProductAndPointwiseWorkPerTimeStep) {
    const Workload workload = load(kRnn + "s,512,16,25,lstm\n", 2);
    ASSERT_EQ(workload.layers.size(), 2u) << "layers";
    const Layer& product = workload.layers[0];
    expect_product(product, 32, 512, 2048);
    EXPECT_EQ(product.name, "s lstm 512 n16 t25");
    EXPECT_EQ(product.repeat, 25u);
    // DeepBench: 8 * timesteps * batch * hidden^2 FLOPs.
    EXPECT_EQ(2 * product.macs(), 8u * 25 * 32 * 512 * 512);
    const Layer& pointwise = workload.layers[1];
    EXPECT_EQ(pointwise.kind, LayerKind::kVector);
    EXPECT_EQ(pointwise.elements, 32u * 2048);
    EXPECT_EQ(pointwise.output_elements, 32u * 512);
    EXPECT_EQ(pointwise.repeat, 25u);
    EXPECT_EQ(pointwise.macs(), 0u);
}

TEST(DeepBenchRnn, HasAsManyGatesAsItsCell) {
    EXPECT_EQ(load(kRnn + "s,10,1,1,vanilla\n").layers[0].n, 10u);
    EXPECT_EQ(load(kRnn + "s,10,1,1,gru\n").layers[0].n, 30u);
    EXPECT_EQ(load(kRnn + "s,10,1,1,lstm\n").layers[0].n, 40u);
}

TEST(NetworkTable, HasGroupsWhereItIsDepthwise) {
    const Layer layer = only(
        kNetworks + "dscnn,1,DEPTHWISE_CONV_2D,25,5,64,3,3,25,5,64,1,1,SAME,125,9,1,72000\n", 2);
    EXPECT_EQ(layer.name, "dscnn 1 DEPTHWISE_CONV_2D");
    EXPECT_EQ(layer.kind, LayerKind::kConvolution);
    expect_product(layer, 250, 9, 1);
    EXPECT_EQ(layer.groups, 64u);
    EXPECT_EQ(layer.input_elements, 2u * 25 * 5 * 64);
    EXPECT_EQ(layer.output_elements, 2u * 25 * 5 * 64);
}

TEST(NetworkTable, IsAProductWhereItIsFullyConnected) {
    const Layer layer =
        only(kNetworks + "r,14,FULLY_CONNECTED,1,1,64,1,1,1,1,10,1,1,,1,64,10,640\n");
    EXPECT_EQ(layer.kind, LayerKind::kMatmul);
    expect_product(layer, 1, 64, 10);
}

struct Mistake {
    const char* name;
    std::string text;
    std::string message;  ///< what follows the file's name
};

void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.name; }

class TableMistakes : public testing::TestWithParam<Mistake> {};

TEST_P(TableMistakes, AreToldWithLineColumnExpectedAndFound) {
    const ScratchFile file("bad.csv", GetParam().text);
    try {
        load_table(file.path());
        FAIL() << "expected: " << GetParam().message;
    } catch (const UserError& error) {
        EXPECT_EQ(std::string(error.what()).substr(0, file.path().string().size()),
                  file.path().string());
        EXPECT_NE(std::string(error.what()).find("bad.csv" + GetParam().message), std::string::npos)
            << error.what();
    }
}

const std::string kNumber = "expected a whole number from 1 to 4294967295, found ";

INSTANTIATE_TEST_SUITE_P(
    Each, TableMistakes,
    testing::Values(
        Mistake{"Empty", "", ": table: expected a heading, found an empty file"},
        Mistake{"BlankLines", "\n,,\n  \n", ": table: expected a heading, found an empty file"},
        Mistake{"HeadingOnly", kTopology, ": table: expected layers, found none"},
        Mistake{"TitlesOnly", kTopology + "title,\n", ": table: expected layers, found none"},
        Mistake{"UnknownHeading", "\nlayer,a,b\n1,2,3\n",
                ":2: heading: expected one of: \"Layer n"},
        Mistake{"MissingCell", kTopology + "\na,4,4,1,1,2,3\n",
                ":3: column 8 (Strides): " + kNumber + "nothing"},
        Mistake{"EmptyCell", kTopology + "a,4,,1,1,2,3,1\n",
                ":2: column 3 (IFMAP Width): " + kNumber + "nothing"},
        Mistake{"Zero", kTopology + "a,4,4,1,1,0,3,1\n",
                ":2: column 6 (Channels): " + kNumber + "\"0\""},
        Mistake{"Negative", kTopology + "a,4,4,1,1,2,-3,1\n",
                ":2: column 7 (Num Filter): " + kNumber + "\"-3\""},
        Mistake{"Word", kTopology + "a,4,4,1,1,2,three,1\n",
                ":2: column 7 (Num Filter): " + kNumber + "\"three\""},
        Mistake{"TwoNumbers", kTopology + "a,4,4,1,1,1 2,3,1\n",
                ":2: column 6 (Channels): " + kNumber + "\"1 2\""},
        Mistake{"Fraction", kTopology + "a,4,4,1,1,2.5,3,1\n",
                ":2: column 6 (Channels): " + kNumber + "\"2.5\""},
        Mistake{"CellTooLarge", kTopology + "a,4,4,1,1,4294967296,3,1\n",
                ":2: column 6 (Channels): " + kNumber + "\"4294967296\""},
        Mistake{"CellBeyond64Bits", kTopology + "a,4,4,1,1,99999999999999999999,3,1\n",
                ":2: column 6 (Channels): " + kNumber + "\"99999999999999999999\""},
        Mistake{"ProductTooLarge",
                kTopology + "a,4294967295,4294967295,1,1,4294967295,4294967295,1\n",
                ":2: sizes: expected at most 2^53 MACs and elements in a layer, found more"},
        Mistake{"ImageTooLarge", kTopology + "a,4294967295,4294967295,1,1,1,1,4294967295\n",
                ":2: sizes: expected at most 2^53 MACs and elements in a layer, found more"},
        Mistake{"NoName", kTopology + ",4,4,1,1,2,3,1\n",
                ":2: column 1 (Layer name): expected a text, found nothing"},
        Mistake{"OnlyANumber", "Layer,M,N,K\n1,,,\n", ":2: column 2 (M): " + kNumber + "nothing"},
        Mistake{"FilterTooHigh", kTopology + "a,4,4,5,1,2,3,1\n",
                ":2: column 4 (Filter Height): expected a filter not larger than the image, 4, "
                "found \"5\""},
        Mistake{"FilterTooWide", kTopology + "a,4,4,1,5,2,3,1\n",
                ":2: column 5 (Filter Width): expected a filter not larger than the image, 4, "
                "found \"5\""},
        Mistake{"FilterWiderThanWithPadding", kConv + "s,4,4,1,1,1,7,1,1,0,1,1\n",
                ":2: column 7 (filter_w): expected a filter not larger than the image with its "
                "padding, 6, found \"7\""},
        Mistake{"FilterHigherThanWithPadding", kConv + "s,4,4,1,1,1,1,7,0,1,1,1\n",
                ":2: column 8 (filter_h): expected a filter not larger than the image with its "
                "padding, 6, found \"7\""},
        Mistake{"NegativePadding", kConv + "s,4,4,1,1,1,1,1,-1,0,1,1\n",
                ":2: column 9 (pad_w): expected a whole number from 0 to 4294967295, found \"-1\""},
        Mistake{"UnknownCell", kRnn + "s,4,4,1,rnn\n",
                ":2: column 5 (cell): expected vanilla, lstm or gru, found \"rnn\""},
        Mistake{"TooManySteps", kRnn + "s,1000000,4,4294967295,gru\n",
                ":2: sizes: expected at most 2^53 MACs and elements in a layer, found more"},
        Mistake{"UnknownOperator", kNetworks + "r,1,ADD,1,1,64,1,1,1,1,10,1,1,,1,64,10,640\n",
                ":2: column 3 (op): expected CONV_2D, DEPTHWISE_CONV_2D or FULLY_CONNECTED, found "
                "\"ADD\""},
        Mistake{"OtherOutput", kNetworks + "r,1,CONV_2D,8,8,2,3,3,6,7,5,1,1,VALID,36,18,5,3240\n",
                ":2: column 10 (out_w): expected the windows of the image's width, 6, found \"7\""},
        Mistake{"OtherDepth", kNetworks + "r,1,CONV_2D,8,8,2,3,3,6,6,5,1,1,VALID,36,9,5,1620\n",
                ":2: column 16 (gemm_k): expected kernel_h x kernel_w x in_c, 18, found \"9\""},
        Mistake{"NoPadding", kNetworks + "r,1,CONV_2D,8,8,2,3,3,6,6,5,1,1,,36,18,5,3240\n",
                ":2: column 14 (padding): expected SAME or VALID, found nothing"},
        Mistake{"OtherRows",
                kNetworks + "r,1,FULLY_CONNECTED,1,1,64,1,1,1,1,10,1,1,,2,64,10,1280\n",
                ":2: column 16 (gemm_k): expected gemm_m x gemm_k elements in the input"},
        Mistake{"OtherMacs", kNetworks + "r,1,CONV_2D,1,1,64,1,1,1,1,10,1,1,,1,64,10,641\n",
                ":2: column 18 (macs): expected gemm_m x gemm_k x gemm_n of 1 groups, 640, found "
                "\"641\""}),
    [](const auto& info) { return info.param.name; });

TEST(TableMistakes, ListTheKnownHeadingsAndShowTheUnknownOne) {
    try {
        load("layer, a,b\n1,2,3\n");
        FAIL() << "it was loaded";
    } catch (const UserError& error) {
        const std::string message = error.what();
        for (const char* const part :
             {"\"Layer name, IFMAP Height", "\"Layer,M,N,K\"", "\"set,m,n,k,", "\"set,w,h,c,n,k,",
              "\"set,hidden,batch", "\"model,op_index", "found \"layer,a,b\""})
            EXPECT_NE(message.find(part), std::string::npos) << part << " in: " << message;
    }
}

void expect_a_graph(const Workload& list, const std::string& text) {
    try {
        EXPECT_GE(graph_of(list).nodes.size(), list.layers.size());
    } catch (const std::exception& error) {
        FAIL() << error.what() << ", in:\n" << text;
    }
}

TEST(TableMistakes, AreTheUsersWhateverIsDamaged) {
    testbench::Seeded random(4);
    const std::string tables[] = {kTopology + "title,\na,9,7,3,2,5,11,2,\nb,9,7,3,2,5,11,2,\n",
                                  kConv + "s,700,161,1,4,32,20,5,0,0,2,2\n",
                                  kRnn + "s,512,16,25,lstm\n",
                                  kNetworks +
                                      "d,1,DEPTHWISE_CONV_2D,25,5,64,3,3,25,5,64,1,1,SAME,125,9,1,"
                                      "72000\nr,14,FULLY_CONNECTED,1,1,64,1,1,1,1,10,1,1,,1,64,10,"
                                      "640\n"};
    for (int i = 0; i < 4000; ++i) {
        const std::string text =
            testbench::damaged(tables[random.below(4)], random, "0123456789,,,- \r\n\"a");
        try {
            const Workload list = load(text);
            EXPECT_FALSE(list.layers.empty());
            // What the loader takes has a graph.
            expect_a_graph(list, text);
        } catch (const UserError&) {
        } catch (const std::exception& error) {
            FAIL() << error.what() << ", in:\n" << text;
        }
    }
}

TEST(TableMistakes, KnowFilesAndBatches) {
    EXPECT_THROW(load_table("nowhere/none.csv"), UserError);
    EXPECT_THROW(load_table(testing::TempDir()), UserError);
    EXPECT_THROW(load("Layer,M,N,K\na,1,2,3\n", 0), UserError);
}

TEST(SaturatingProduct, StaysAtTheLargestNumber) {
    EXPECT_EQ(saturating_product({}), 1u);
    EXPECT_EQ(saturating_product({3, 5, 7}), 105u);
    EXPECT_EQ(saturating_product({1ull << 32, 1ull << 31}), 1ull << 63);
    EXPECT_EQ(saturating_product({1ull << 32, 1ull << 32}), ~0ull);
    EXPECT_EQ(saturating_product({1ull << 32, 1ull << 32, 3}), ~0ull);
    EXPECT_EQ(saturating_product({1ull << 32, 1ull << 32, 0}), 0u);
}

}  // namespace
}  // namespace tandem::tables
