// SPDX-License-Identifier: Apache-2.0
// Parameters of the public modules: presets, the list, mistakes. One simulation per process.
#include <algorithm>

#include "arch/generated/registers.h"
#include "testbench/api/user_platform.h"

namespace tandem::testbench {
namespace {

const api::Parameter* find(const std::vector<api::Parameter>& all, const std::string& name) {
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const auto& parameter) { return parameter.name == name; });
    return found == all.end() ? nullptr : &*found;
}

TEST(Parameters, AreListedByHierarchicalName) {
    const ChipAlone platform("platform");
    const auto all = api::parameters().list();
    const auto* rows = find(all, "platform.chip.mxu.rows");
    ASSERT_NE(rows, nullptr);
    EXPECT_EQ(rows->value, "16");
    EXPECT_EQ(rows->unit, "");
    EXPECT_FALSE(rows->description.empty());
    EXPECT_TRUE(rows->is_immutable);
    EXPECT_FALSE(rows->is_preset);
    const auto* clock = find(all, "platform.chip.clock");
    ASSERT_NE(clock, nullptr);
    EXPECT_EQ(clock->value, "500 MHz");
    EXPECT_NE(clock->unit.find("MHz"), std::string::npos) << clock->unit;
    const auto* backend = find(all, "platform.chip.backend");
    ASSERT_NE(backend, nullptr);
    EXPECT_EQ(backend->value, "tlm");
    EXPECT_NE(api::parameters().table().find("platform.chip.memory.bandwidth"), std::string::npos);
}

TEST(Parameters, ArePresetBeforeConstruction) {
    api::parameters().set_preset("platform.chip.clock", "250 MHz");
    api::parameters().set_preset("platform.chip.mxu.rows", "8");
    ChipAlone platform("platform");
    const auto all = api::parameters().list();
    EXPECT_EQ(find(all, "platform.chip.clock")->value, "250 MHz");
    EXPECT_EQ(find(all, "platform.chip.clock")->default_value, "500 MHz");
    EXPECT_TRUE(find(all, "platform.chip.clock")->is_preset);
    platform.run([&] {
        EXPECT_EQ(platform.read(TANDEM_REG_CLOCK_KHZ), 250000u);
        EXPECT_EQ(platform.read(TANDEM_REG_MXU_SHAPE) & 0xffff, 8u);
    });
}

TEST(Parameters, OfTwoModulesAreApart) {
    api::parameters().set_preset("second.chip", "test_8x8");
    api::parameters().set_preset("third.clock", "1 GHz");
    const api::Chip first("first"), second("second");
    const auto all = api::parameters().list();
    EXPECT_EQ(find(all, "first.mxu.rows")->value, "16");
    EXPECT_EQ(find(all, "second.mxu.rows")->value, "8");
    EXPECT_EQ(api::parameters().unused_presets(), std::vector<std::string>{"third.clock"});
}

TEST(Parameters, GoWithTheirModule) {
    { const api::Chip chip("chip"); }
    EXPECT_TRUE(api::parameters().list().empty());
}

TEST(Parameters, OfTheHostAreThereToo) {
    api::parameters().set_preset("host.cpu", "native");
    api::parameters().set_preset("host.clock", "250 MHz");
    Bytes bytes(4 << 20);
    const api::Host host("host", {bytes.data(), bytes.size()});
    const auto all = api::parameters().list();
    EXPECT_EQ(find(all, "host.cpu")->default_value, "riscv");
    EXPECT_EQ(find(all, "host.clock")->value, "250 MHz");
    EXPECT_NE(find(all, "host.firmware_budget"), nullptr);
}

TEST(Parameters, RefuseWhatNobodyKnows) {
    auto& parameters = api::parameters();
    parameters.set_preset("a.mxu.rowz", "8");
    const std::string unknown = refusal([] { api::Chip("a"); });
    EXPECT_NE(unknown.find("a.mxu.rowz"), std::string::npos) << unknown;
    EXPECT_NE(unknown.find("nearest: a.mxu.rows"), std::string::npos) << unknown;
    parameters.set_preset("b.clock", "500 parsecs");
    const std::string unit = refusal([] { api::Chip("b"); });
    EXPECT_EQ(unit.rfind("parameter b.clock: expected", 0), 0u) << unit;
    parameters.set_preset("c.mxu.rows", "5000");
    EXPECT_NE(refusal([] { api::Chip("c"); }).find("c.mxu.rows"), std::string::npos);
    EXPECT_TRUE(parameters.list().empty()) << "of modules that never came to be";
}

TEST(Parameters, AreImmutableOnceTheModuleExists) {
    const api::Chip chip("chip");
    const std::string late = refusal([] { api::parameters().set_preset("chip.clock", "1 GHz"); });
    EXPECT_NE(late.find("chip exists already"), std::string::npos) << late;
}

}  // namespace
}  // namespace tandem::testbench
