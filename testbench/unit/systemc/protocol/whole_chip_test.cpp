// SPDX-License-Identifier: Apache-2.0
// Whole runs with a protocol checker between every two sockets of the machine: chip, host, bus,
// memories. One simulation per process.
#include <gtest/gtest.h>

#include <algorithm>

#include "arch/chip_modes.h"
#include "base/file.h"
#include "compiler/import/import.h"
#include "compiler/pipeline.h"
#include "run/run.h"
#include "testbench/support/source_tree.h"
#include "testbench/support/tlm_checker.h"

namespace tandem::testbench {
namespace {

constexpr uint32_t kSamples = 3;

struct Way {
    std::string chip, cpu;
    bool functional;
};

std::string name_of(const Way& way) {
    return way.chip + "_" + way.cpu + (way.functional ? "" : "_timing");
}

void PrintTo(const Way& way, std::ostream* out) { *out << name_of(way); }

class WholeChip : public testing::TestWithParam<Way> {};
INSTANTIATE_TEST_SUITE_P(Tlm, WholeChip,
                         testing::Values(Way{"test_16x16", "riscv", true},
                                         Way{"test_16x16", "native", true},
                                         Way{"test_16x16", "native", false},
                                         Way{"tpu_v4i", "native", true}),
                         [](const auto& info) { return name_of(info.param); });

/// Sockets that a run must have used, by a part of their names.
constexpr const char* kUsed[] = {
    "host.registers_out -> chip.host_interface.registers_in",
    "chip.link.host.memory_out -> host.dma_in",
    "host.cpu.bus_out -> host.bus.cpu_in",
    "host.bus.memory_out -> host.memory.in",
    "host.bus.device_out -> host.device.in",
    "chip.core0.sequencer.memory.memory_out -> chip.device_memory.memory_in",
    "chip.core0.weights.memory.memory_out -> chip.device_memory.memory_in",
    "chip.host_interface.memory.memory_out -> chip.device_memory.memory_in",
};

TEST_P(WholeChip, RunsDigitsByTheBaseProtocol) {
    const auto models = source_dir() / "models" / "digits";
    const auto chip = arch::for_dtype(
        arch::find_chip(GetParam().chip, source_dir() / "arch" / "chips"), arch::Dtype::kInt8);
    ASSERT_TRUE(chip);
    const auto program =
        compiler::compile(compiler::import_model(models / "digits_int8.tflite"), *chip);
    auto inputs = base::read_file(models / "inputs.bin");
    const auto expected = base::read_file(models / "expected.bin");
    inputs.resize(arch::bytes_of(program.inputs) * kSamples);

    Checkers checkers;
    run::RunOptions options;
    options.cpu = GetParam().cpu;
    options.functional = GetParam().functional;
    options.connect = checkers.connect();
    const auto result = run::run_image(
        *chip, run::ImageJob{.program = program, .inputs = inputs, .runs = kSamples}, options);

    EXPECT_EQ(checkers.log.text(), "");
    ASSERT_TRUE(result.completed()) << result.failure;
    for (const char* path : kUsed) EXPECT_GT(checkers.log.calls[path], 0u) << path;
    EXPECT_GT(checkers.log.dmi_calls, 0u) << "units work in the unified buffer directly";
    if (!GetParam().functional) return;
    ASSERT_EQ(result.outputs.size(), arch::bytes_of(program.outputs) * kSamples);
    EXPECT_TRUE(std::equal(result.outputs.begin(), result.outputs.end(), expected.begin()));
}

}  // namespace
}  // namespace tandem::testbench
