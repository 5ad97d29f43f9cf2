// SPDX-License-Identifier: Apache-2.0
// The closed form of a layer's edges against the RTL, for rows of public tables (SCALE-Sim's
// topologies, DeepBench), as they are or with sizes divided until they are small.
#include <gtest/gtest.h>

#include "compiler/import/tables/layers.h"
#include "compiler/import/tables/scalesim.h"
#include "cosim/rtl_mxu_engine.h"
#include "testbench/support/arrays.h"
#include "testbench/support/seeded.h"
#include "testbench/support/source_tree.h"

namespace tandem::cosim {
namespace {

using tables::Layer;

constexpr const char* kTopology =
    "Layer name,IFMAP Height,IFMAP Width,Filter Height,Filter Width,Channels,Num Filter,Strides,\n"
    "AlphaGoZero PolicyHead_Conv,19,19,1,1,256,2,1,\n"
    "NCF MLP_FC1,1,1,1,1,64,32,1,\n"
    "NCF Predict_FC,1,1,1,1,16,1,1,\n"
    "DLRM Emb0,1024,16,1,16,1,4,1,\n"
    "dlrm_fwd MLP_Bottom_0,128,13,1,13,1,512,1,\n"
    "Resnet18 Conv5_2a,7,7,3,3,512,512,1,\n"
    "mobilenet Conv25,7,7,1,1,512,1024,1,\n"
    "yolo_tiny Conv9,7,7,1,1,1024,125,1,\n"
    "alexnet Conv3,13,13,3,3,256,384,1,\n";
constexpr const char* kGemm =
    "set,m,n,k,a_transposed,b_transposed\n"
    "training_set,1760,16,1760,false,false\n"
    "inference_device_set,128,1,1408,false,false\n";
constexpr const char* kRnn =
    "set,hidden,batch,timesteps,cell\n"
    "inference_device_set,64,1,96,vanilla\n";

std::vector<Layer> layers_of(const char* table) {
    const testbench::ScratchFile file("layers.csv", table);
    return tables::load_table(file.path()).layers;
}

/// A layer whose sizes an array of a few PEs works off in little time; still a number of tiles.
Layer small(Layer layer) {
    while (layer.m > 400) layer.m = layer.m / 2 + 1;
    while (layer.k > 100) layer.k = layer.k / 2 + 1;
    while (layer.n > 60) layer.n = layer.n / 2 + 1;
    layer.repeat = 1;
    return layer;
}

/// The edge of the last commit with everything at the ports from edge 0.
Cycle last_commit(const engine::MxuShape& shape, const Layer& layer, testbench::Seeded& random) {
    RtlMxuEngine engine(shape, testbench::array_library(shape));
    const uint64_t down = (layer.k + shape.rows - 1) / shape.rows;
    const uint64_t tiles = down * ((layer.n + shape.cols - 1) / shape.cols) * layer.groups;
    const auto m = static_cast<uint32_t>(layer.m);
    const auto rows = testbench::random_elements(random, shape, layer.m * shape.rows);
    const auto weights =
        testbench::random_elements(random, shape, uint64_t{shape.rows} * shape.cols);
    for (uint64_t tile = 0; tile < tiles; ++tile) {
        engine.push_weights({tile, 0, weights});
        engine.push_rows({tile, 0, m, shape.rows, 0, true, tile % down != 0, rows});
    }
    Cycle edge = 0;
    while (const auto event = engine.advance(1'000'000))
        if (event->kind == engine::MxuEvent::Kind::kBlockCommitted) edge = event->cycle;
    EXPECT_FALSE(engine.busy()) << layer.name;
    EXPECT_EQ(engine.failure(), "") << layer.name;
    return edge;
}

class DoubleBufferedCycles : public testing::TestWithParam<engine::MxuShape> {};

TEST_P(DoubleBufferedCycles, AreThoseOfTheRtl) {
    testbench::Seeded random(3);
    const engine::MxuShape& shape = GetParam();
    size_t compared = 0;
    for (const char* const table : {kTopology, kGemm, kRnn})
        for (const Layer& layer : layers_of(table)) {
            const Layer tried = small(layer);
            if (tried.macs() == 0) continue;
            EXPECT_EQ(last_commit(shape, tried, random),
                      tables::double_buffered_cycles(tried, shape.rows, shape.cols))
                << layer.name << ": " << tried.m << "x" << tried.k << "x" << tried.n;
            ++compared;
        }
    EXPECT_EQ(compared, 12u) << "layers";
}

INSTANTIATE_TEST_SUITE_P(Arrays, DoubleBufferedCycles,
                         testing::Values(engine::MxuShape{8, 8, 512},
                                         engine::MxuShape{16, 16, 512}),
                         [](const auto& info) { return testbench::name_of(info.param); });

}  // namespace
}  // namespace tandem::cosim
