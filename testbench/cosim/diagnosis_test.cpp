// SPDX-License-Identifier: Apache-2.0
// A fault planted into one unit of the RTL: the tandem engine has to find a difference and name the
// unit. scripts/mutate does the same with hundreds of faults.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "cosim/array_builder.h"
#include "cosim/random_stream.h"
#include "cosim/tandem_engine.h"
#include "testbench/support/source_tree.h"

namespace tandem::cosim {
namespace {

namespace fs = std::filesystem;

struct Fault {
    const char* name;
    const char* file;
    const char* from;
    const char* to;
    const char* unit;
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

class DiagnosisOfFaults : public testing::TestWithParam<Fault> {
  protected:
    void SetUp() override {
        folder_ = fs::temp_directory_path() /
                  ("tandem-diagnosis-" + std::to_string(getpid()) + GetParam().name);
        fs::remove_all(folder_);
        fs::create_directories(folder_);
        fs::copy(testbench::source_dir() / "rtl", folder_ / "rtl", fs::copy_options::recursive);
        const fs::path file = folder_ / "rtl" / GetParam().file;
        std::string text = (std::stringstream() << std::ifstream(file).rdbuf()).str();
        const size_t at = text.find(GetParam().from);
        ASSERT_NE(at, std::string::npos) << GetParam().file << " lacks: " << GetParam().from;
        text.replace(at, std::string(GetParam().from).size(), GetParam().to);
        std::ofstream(file) << text;
    }
    void TearDown() override { fs::remove_all(folder_); }

    std::shared_ptr<ArrayLibrary> array(const engine::MxuShape& shape) const {
        ArraySpec spec{shape.rows, shape.cols, shape.accumulator_rows};
        spec.form = "grid";
        BuildOptions options;
        options.rtl_dir = folder_ / "rtl";
        options.shim_dir = testbench::source_dir() / "cosim";
        options.cache_dir = folder_ / "arrays";
        if (const char* cache = std::getenv("TANDEM_ARRAY_CACHE")) {
            fs::create_directories(cache);
            fs::create_directories(options.cache_dir);
            for (const auto& entry : fs::directory_iterator(cache))  // spares a minute
                if (entry.is_regular_file() &&
                    entry.path().filename().string().starts_with("runtime-"))
                    fs::copy_file(entry.path(), options.cache_dir / entry.path().filename());
        }
        return std::make_shared<ArrayLibrary>(ensure_array(spec, options));
    }

    fs::path folder_;
};

TEST_P(DiagnosisOfFaults, NamesTheUnit) {
    const engine::MxuShape shape{3, 4, 12};
    TandemEngine engine(shape, array(shape), {});
    RandomStream stream(engine, 1);
    stream.run(2000);
    ASSERT_TRUE(engine.divergence()) << "nobody noticed";
    EXPECT_EQ(engine.divergence()->unit, GetParam().unit)
        << engine.divergence()->what << "; " << engine.divergence()->note << "; "
        << engine.divergence()->signal;
    EXPECT_NE(engine.divergence()->signal, "");
}

INSTANTIATE_TEST_SUITE_P(
    Units, DiagnosisOfFaults,
    testing::Values(Fault{"control", "tpu_mxu_control.sv", "assign emit_o = valid_q[Transit-1];",
                          "assign emit_o = valid_q[Transit-2];", "control"},
                    Fault{"loader", "tpu_weight_loader.sv", "wgt_left_q <= wgt_left_q - 1'b1;",
                          "wgt_left_q <= '0;", "weight loader"},
                    Fault{"skew", "tpu_skew.sv", "= line_q[(Delay-1)*Width +: Width];",
                          "= ~line_q[(Delay-1)*Width +: Width];", "skew"},
                    Fault{"deskew", "tpu_deskew.sv", "= bottom_i[c*32 +: 32];",
                          "= bottom_i[c*32 +: 32] + 32'd1;", "skew"},
                    Fault{"pe", "tpu_pe.sv", "psum_i + product_o;", "psum_i - product_o;", "PE"},
                    Fault{"accumulators", "tpu_accumulators.sv", "cmt_valid_o <= wr_valid_i;",
                          "cmt_valid_o <= wr_valid_i && wr_addr_i != '0;", "accumulators"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tandem::cosim
