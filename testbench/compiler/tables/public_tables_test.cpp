// SPDX-License-Identifier: Apache-2.0
// Public tables of layers. The numbers of layers and MACs were counted apart, by a script of plain
// formulas over the same files.
#include <gtest/gtest.h>

#include <map>

#include "base/error.h"
#include "compiler/import/tables/layers.h"
#include "testbench/compiler/tables/shapes_folder.h"

namespace tandem::tables {
namespace {

struct Counted {
    const char* file;
    size_t layers;
    uint64_t macs;
};

constexpr Counted kTables[] = {
    {"deepbench_conv.csv", 217, 325605739392u},
    {"deepbench_gemm.csv", 248, 14266357000000u},
    {"deepbench_rnn.csv", 250, 8146541346816u},
    {"scalesim_GEMM_mnk_NCF.csv", 12, 655097856u},
    {"scalesim_GEMM_mnk_gnmt.csv", 17, 189608886272u},
    {"scalesim_GEMM_mnk_gpt2.csv", 6, 20686307328u},
    {"scalesim_GEMM_mnk_transformer_partial.csv", 6, 807403520u},
    {"scalesim_GEMM_mnk_unet2d.csv", 19, 2608061360384u},
    {"scalesim_conv_nets_Googlenet.csv", 58, 1352365952u},
    {"scalesim_conv_nets_Resnet18.csv", 21, 1471181568u},
    {"scalesim_conv_nets_Resnet50.csv", 54, 3479536384u},
    {"scalesim_conv_nets_UNet_2d.csv", 19, 2608061360384u},
    {"scalesim_conv_nets_alexnet.csv", 5, 805118496u},
    {"scalesim_conv_nets_mobilenet.csv", 27, 565519488u},
    {"scalesim_conv_nets_yolo_tiny.csv", 9, 1753649072u},
    {"scalesim_dlrm_DLRM.csv", 10, 305020928u},
    {"scalesim_dlrm_dlrm_fwd.csv", 8, 204324864u},
    {"scalesim_dlrm_dlrm_inp_grad.csv", 8, 204324864u},
    {"scalesim_dlrm_dlrm_weight_grad.csv", 8, 204324864u},
    {"scalesim_mlperf_AlphaGoZero.csv", 8, 352869108u},
    {"scalesim_mlperf_DeepSpeech2.csv", 6, 1755361152u},
    {"scalesim_mlperf_FasterRCNN.csv", 46, 3560764160u},
    {"scalesim_mlperf_NCF_recommendation.csv", 8, 11042704u},
    {"scalesim_mlperf_Resnet50.csv", 54, 3479536384u},
    {"scalesim_mlperf_Sentimental_seqCNN.csv", 4, 210116608u},
    {"scalesim_mlperf_Transformer_short.csv", 9, 19724288u},
    {"scalesim_resnet_resnet_fwd.csv", 54, 5826038528u},
    {"scalesim_resnet_resnet_input_grad.csv", 54, 4089184256u},
    {"scalesim_resnet_resnet_weight_grad.csv", 54, 4089184256u},
    {"scalesim_rnn_eval_deep_voice.csv", 3, 12288u},
    {"scalesim_rnn_eval_google_translate_enc.csv", 9, 36864u},
    {"scalesim_transformer_transformer_fwd.csv", 54, 5826038528u},
    {"scalesim_transformer_transformer_inpgrad.csv", 54, 4089184256u},
    {"scalesim_transformer_transformer_weightgrad.csv", 11, 1733462130688u},
    {"shared_models_layers.csv", 33, 15422880u},
};

/// Its last row reads `FC, 1, 1, 1, ,1 2, 2, 1,`, which SCALE-Sim cannot read either.
constexpr const char* kDamaged = "scalesim_mlperf_Sentimental_seqLSTM.csv";

uint64_t macs(const Workload& workload) {
    uint64_t sum = 0;
    for (const Layer& layer : workload.layers) sum += layer.macs();
    return sum;
}

TEST(PublicTables, HaveTheLayersAndMacsThatAreCountedApart) {
    TANDEM_NEEDS_SHAPES();
    for (const Counted& table : kTables) {
        SCOPED_TRACE(table.file);
        const Workload workload = load_table(tandem::testbench::shapes_folder() / table.file);
        EXPECT_EQ(workload.layers.size(), table.layers) << "layers";
        EXPECT_EQ(macs(workload), table.macs) << "MACs";
    }
}

TEST(PublicTables, AllLoadButTheDamagedOne) {
    TANDEM_NEEDS_SHAPES();
    size_t loaded = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(tandem::testbench::shapes_folder())) {
        if (entry.path().extension() != ".csv" || entry.path().filename() == kDamaged) continue;
        SCOPED_TRACE(entry.path().filename());
        EXPECT_NO_THROW(load_table(entry.path()));
        ++loaded;
    }
    EXPECT_GE(loaded, std::size(kTables)) << "tables";
}

TEST(PublicTables, AreChainedWhereTheyAreTopologies) {
    TANDEM_NEEDS_SHAPES();
    for (const Counted& table : kTables) {
        const std::string name = table.file;
        const bool topology = name.starts_with("scalesim_") && name.find("mnk") == name.npos;
        EXPECT_EQ(load_table(tandem::testbench::shapes_folder() / name).chained, topology) << name;
    }
}

TEST(PublicTables, MultiplyTheirMacsByTheBatch) {
    TANDEM_NEEDS_SHAPES();
    for (const Counted& table : kTables) {
        // DeepBench's own batches are multiplied as well; networks only have one sample.
        const Workload workload = load_table(tandem::testbench::shapes_folder() / table.file, 3);
        EXPECT_EQ(macs(workload), 3 * table.macs) << table.file;
    }
}

TEST(PublicTables, NameTheCellOfTheDamagedRow) {
    TANDEM_NEEDS_SHAPES();
    try {
        load_table(tandem::testbench::shapes_folder() / kDamaged);
        FAIL() << "it was loaded";
    } catch (const UserError& error) {
        EXPECT_NE(std::string(error.what())
                      .find(std::string(kDamaged) +
                            ":29: column 5 (Filter Width): expected a whole number from 1 to "
                            "4294967295, found nothing"),
                  std::string::npos)
            << error.what();
    }
}

}  // namespace
}  // namespace tandem::tables
