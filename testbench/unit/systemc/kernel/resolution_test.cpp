// SPDX-License-Identifier: Apache-2.0
// What SystemC's time resolution does to the model. One simulation per process.
#include "systemc/kernel/resolution.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "engine/tlm_mxu_engine.h"
#include "systemc/host/host_system.h"
#include "testbench/support/chip_bench.h"

namespace tandem::testbench {
namespace {

/// What the constructor of a module says; empty: it is content.
template <typename Make>
std::string refusal(const Make& make) {
    try {
        make();
    } catch (const UserError& error) {
        return error.what();
    }
    return {};
}

void expect_says_what_to_call(const std::string& text, const std::string& found) {
    EXPECT_NE(text.find("expected 1 fs, found " + found), std::string::npos) << text;
    EXPECT_NE(text.find("sc_set_time_resolution(1, sc_core::SC_FS)"), std::string::npos) << text;
}

TEST(Resolution, IsSetWhereNobodyHasSetIt) {
    const ChipBench bench("bench");
    EXPECT_EQ(sc_core::sc_get_time_resolution().to_seconds(), 1e-15);
    EXPECT_EQ(sc_core::sc_time(1, sc_core::SC_PS).value(), 1000u) << "fs";
}

TEST(Resolution, MayBeSetByTheUser) {
    sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
    const sc_core::sc_clock clock("clock", 10, sc_core::SC_NS);
    const ChipBench bench("bench");
    EXPECT_EQ(clock.period(), sc_core::sc_time(10, sc_core::SC_NS));
}

TEST(Resolution, OfTheFirstTimeEndsInAnErrorOfEveryModuleThatCountsTime) {
    const sc_core::sc_time early(10, sc_core::SC_NS);  // SystemC takes 1 ps
    const arch::ChipConfig chip = small_chip();
    const auto tlm = [&](uint32_t, uint32_t) {
        return std::make_unique<engine::TlmMxuEngine>(engine::shape_of(chip.mxu));
    };
    expect_says_what_to_call(refusal([&] { sim::TpuChip("chip", chip, {}, tlm); }), "1 ps");
    expect_says_what_to_call(refusal([&] { sim::DeviceMemory("memory", chip); }), "1 ps");
    expect_says_what_to_call(refusal([&] { sim::HostLink("link", chip.host); }), "1 ps");
    expect_says_what_to_call(refusal([&] { sim::Clock(500000000); }), "1 ps");
    expect_says_what_to_call(refusal([&] { sim::Bandwidth(1); }), "1 ps");
    host::HostConfig native;
    native.kind = "native";
    expect_says_what_to_call(refusal([&] { host::HostSystem("host", native); }), "1 ps");
    expect_says_what_to_call(refusal([&] { ChipBench("bench", chip); }), "1 ps");
}

TEST(Resolution, OfAnotherSizeIsRefused) {
    sc_core::sc_set_time_resolution(1, sc_core::SC_NS);
    expect_says_what_to_call(refusal([] { sim::Clock(500000000); }), "1 ns");
}

}  // namespace
}  // namespace tandem::testbench
