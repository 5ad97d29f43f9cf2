// SPDX-License-Identifier: Apache-2.0
// The flat and the grid form in lock step, at sizes beyond those of the proof
// (rtl/formal/forms_fv): equal ports and equal registers in every PE at every edge.
#include <cstring>

#include "testbench/rtl/mxu_harness.h"
#include "testbench/rtl/mxu_traffic.h"

namespace tandem::testbench {
namespace {

ArrayParameters in_form(ArrayParameters array, const char* form) {
    array.form = form;
    return array;
}

/// The flat form checked against the reference, and the grid form beside it.
struct BothForms : CheckedMxu {
    explicit BothForms(const ArrayParameters& array)
        : CheckedMxu(in_form(array, "flat")), grid(in_form(array, "grid")) {}

    void reset() {
        CheckedMxu::reset();
        grid.reset();
    }

    Expected step(const Stimulus& in) {
        const uint64_t edge = reference.edge();
        Expected want = CheckedMxu::step(in);
        grid.step(in);
        const TandemArrayPorts &a = rtl.ports, &b = grid.ports;
        const auto controls = [](const TandemArrayPorts& p) {
            return std::vector<unsigned>{p.wgt_ready, p.act_ready, p.rd_ready, p.cmt_valid,
                                         p.res_valid, p.busy,      p.cmt_addr};
        };
        EXPECT_EQ(b.failure, nullptr) << "edge " << edge;
        EXPECT_EQ(controls(a), controls(b)) << "edge " << edge;
        if (want.cmt_valid) {
            EXPECT_EQ(rtl.commit(), grid.commit()) << "edge " << edge;
        }
        if (want.res_valid) {
            EXPECT_EQ(rtl.result(), grid.result()) << "edge " << edge;
        }
        compare_registers(edge);
        return want;
    }

    /// Returns the number of registers compared.
    unsigned compare_registers(uint64_t edge) {
        const TandemArrayInfo &flat = rtl.lib().info(), &other = grid.lib().info();
        unsigned compared = 0;
        for (unsigned r = 0; r < rtl.rows; ++r) {
            for (unsigned c = 0; c < rtl.cols; ++c) {
                const TandemPeRegisters a = rtl.pe(r, c), b = grid.pe(r, c);
                const auto same = [&](const char* name, const void* x, const void* y,
                                      unsigned bytes) {
                    ASSERT_EQ(x == nullptr, y == nullptr) << name;
                    if (x == nullptr) return;
                    ++compared;
                    ASSERT_EQ(std::memcmp(x, y, bytes), 0)
                        << name << " of PE(" << r << "," << c << ") after edge " << edge;
                };
                same("activation", a.activation, b.activation, flat.element_bytes);
                same("weight", a.weight, b.weight, flat.element_bytes);
                same("shadow", a.shadow, b.shadow, flat.element_bytes);
                same("psum", a.psum, b.psum, flat.psum_bytes);
                if (testing::Test::HasFailure()) return compared;
            }
        }
        EXPECT_EQ(flat.element_bytes, other.element_bytes);
        return compared;
    }

    Mxu grid;
};

class MxuForms : public testing::TestWithParam<ArrayParameters> {};

TEST_P(MxuForms, AreEqualInLockStep) {
    const ArrayParameters array = GetParam();
    for (unsigned seed = 0; seed < 4 && !HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random(seed, array);
        BothForms forms(array);
        bool tile_used = false;
        for (const Traffic& traffic : kTraffic) {
            stream(forms, random, traffic, 150, tile_used);
            if (!random.chance(50)) continue;
            forms.reset();  // with rows and weights in flight
            tile_used = false;
        }
        // Registers there are, or nothing was compared: weight and shadow in every PE.
        EXPECT_GE(forms.compare_registers(forms.reference.edge()), 2 * array.rows * array.cols);
    }
}

constexpr arch::Dtype kInt8 = arch::Dtype::kInt8, kBf16 = arch::Dtype::kBf16;

INSTANTIATE_TEST_SUITE_P(Sizes, MxuForms,
                         testing::Values(ArrayParameters{24, 17}, ArrayParameters{32, 32},
                                         ArrayParameters{20, 13, kInt8, 4},
                                         ArrayParameters{16, 16, kBf16},
                                         ArrayParameters{13, 10, kBf16, 3},
                                         ArrayParameters{18, 12, kBf16, 8, true}),
                         array_name);

}  // namespace
}  // namespace tandem::testbench
