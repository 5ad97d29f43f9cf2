// SPDX-License-Identifier: Apache-2.0
// The firmware on both CPUs against a stub of the chip. One simulation per process.
#include "systemc/host/host_system.h"

#include <gtest/gtest.h>

#include <fstream>
#include <numeric>

#include "base/error.h"
#include "firmware/driver/status.h"
#include "testbench/firmware/image_builder.h"
#include "testbench/unit/systemc/host/stub_tpu.h"

namespace tandem::host {
namespace {

using firmware::Stage;
using firmware::Status;
using testbench::build_image;
using testbench::StubTpu;

constexpr uint32_t kRuns = 40;  // more than the ring has entries

/// Host and stub, wired up.
struct Bench {
    explicit Bench(const std::string& kind, const std::string& elf = TANDEM_FIRMWARE_ELF)
        : host("host", configuration(kind, elf)) {
        host.registers_out.bind(tpu.registers_in);
        tpu.dma_out.bind(host.dma_in);
        tpu.irq_out.bind(irq);
        host.irq_in.bind(irq);
        image = build_image(StubTpu::kIsaHash, StubTpu::kHash, 5, std::vector<uint8_t>(16, 3));
        run_bytes = image[40];  // the stub's program: the low byte of the first word
        inputs.resize(kRuns * run_bytes);
        std::iota(inputs.begin(), inputs.end(), uint8_t{0});
    }

    HostConfig configuration(const std::string& kind, const std::string& elf) {
        HostConfig config;
        config.kind = kind;
        config.firmware_elf = elf;
        config.console = [this](std::string_view line) { lines.emplace_back(line); };
        return config;
    }

    void load() {
        JobRequest request;
        request.image = image;
        request.inputs = inputs;
        request.runs = kRuns;
        request.output_bytes = run_bytes;
        request.timeout_us = 1000;
        host.load(request);
    }

    void run() { sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_SEC)); }

    std::vector<std::string> lines;
    sc_core::sc_signal<bool> irq{"irq"};
    StubTpu tpu{"tpu"};
    HostSystem host;
    std::vector<uint8_t> image;
    uint32_t run_bytes = 0;
    std::vector<uint8_t> inputs;
};

class OnBothCpus : public testing::TestWithParam<const char*> {};
#ifdef TANDEM_HAS_RISCV_HOST
const auto kCpus = testing::Values("native", "riscv");
#else
const auto kCpus = testing::Values("native");
#endif
INSTANTIATE_TEST_SUITE_P(Host, OnBothCpus, kCpus,
                         [](const auto& info) { return std::string(info.param); });

TEST_P(OnBothCpus, RunsAJobToItsResult) {
    Bench bench(GetParam());
    bench.load();
    bench.run();
    ASSERT_TRUE(bench.host.finished());
    EXPECT_EQ(bench.host.fault(), "");
    EXPECT_EQ(bench.host.exit_code(), 0u);
    const auto& job = bench.host.job();
    EXPECT_EQ(job.status, 0u) << job.message;
    EXPECT_EQ(job.runs_done, kRuns);
    EXPECT_EQ(job.stage, static_cast<uint32_t>(Stage::kDone));
    EXPECT_EQ(job.device_cycles, kRuns * StubTpu::kCommandCycles);
    ASSERT_EQ(bench.host.outputs().size(), bench.inputs.size());
    for (size_t i = 0; i < bench.inputs.size(); ++i) {
        ASSERT_EQ(bench.host.outputs()[i], static_cast<uint8_t>(bench.inputs[i] + 3))
            << "byte " << i;
    }
    const std::vector<std::string> lines = {"TPU 1 x 1 of 8x8 at 500000 kHz, chip feedface12345678",
                                            "ok, 40 of 40 runs"};
    EXPECT_EQ(bench.lines, lines);
    EXPECT_EQ(bench.host.instructions() > 0, std::string(GetParam()) == "riscv");
}

TEST_P(OnBothCpus, ReportsAnErrorOfTheChip) {
    Bench bench(GetParam());
    bench.tpu.fail_with = TANDEM_ERROR_ACC_HAZARD;
    bench.load();
    bench.run();
    ASSERT_TRUE(bench.host.finished());
    const auto& job = bench.host.job();
    EXPECT_EQ(job.status, static_cast<uint32_t>(Status::kDeviceError));
    EXPECT_EQ(bench.host.exit_code(), job.status);
    EXPECT_EQ(job.error_code, TANDEM_ERROR_ACC_HAZARD);
    EXPECT_EQ(job.error_info, 42u);
    EXPECT_EQ(job.stage, static_cast<uint32_t>(Stage::kRun));
    EXPECT_EQ(job.runs_done, 0u);
}

TEST_P(OnBothCpus, TimesOutOnAChipThatHangs) {
    Bench bench(GetParam());
    bench.tpu.hang = true;
    bench.load();
    bench.run();
    ASSERT_TRUE(bench.host.finished()) << bench.host.fault();
    EXPECT_EQ(bench.host.job().status, static_cast<uint32_t>(Status::kTimeout));
}

TEST_P(OnBothCpus, RefusesAnImageForAnotherChip) {
    Bench bench(GetParam());
    bench.image = build_image(StubTpu::kIsaHash, StubTpu::kHash ^ 1, 5, {1});
    bench.load();
    bench.run();
    EXPECT_EQ(bench.host.exit_code(), static_cast<uint32_t>(Status::kWrongChip));
    EXPECT_EQ(bench.host.job().stage, static_cast<uint32_t>(Stage::kDiscover));
}

TEST_P(OnBothCpus, RefusesAnImageForAnotherInstructionSet) {
    Bench bench(GetParam());
    bench.image = build_image(StubTpu::kIsaHash ^ 1, StubTpu::kHash, 5, {1});
    bench.load();
    bench.run();
    EXPECT_EQ(bench.host.exit_code(), static_cast<uint32_t>(Status::kWrongIsa));
    EXPECT_EQ(bench.host.job().stage, static_cast<uint32_t>(Stage::kDiscover));
}

TEST_P(OnBothCpus, RefusesACorruptImage) {
    Bench bench(GetParam());
    bench.image[48] ^= 1;
    bench.load();
    bench.run();
    EXPECT_EQ(bench.host.exit_code(), static_cast<uint32_t>(Status::kImageChecksum));
}

TEST_P(OnBothCpus, RefusesAProgramLargerThanDeviceMemory) {
    Bench bench(GetParam());
    bench.image = build_image(StubTpu::kIsaHash, StubTpu::kHash, 5, std::vector<uint8_t>(1 << 20));
    bench.load();
    bench.run();
    EXPECT_EQ(bench.host.exit_code(), static_cast<uint32_t>(Status::kDeviceMemory));
}

TEST_P(OnBothCpus, EndsWithoutAJob) {
    Bench bench(GetParam());
    bench.run();
    ASSERT_TRUE(bench.host.finished());
    EXPECT_EQ(bench.host.exit_code(), static_cast<uint32_t>(Status::kBadArgument));
}

TEST_P(OnBothCpus, RejectsAJobLargerThanMemory) {
    Bench bench(GetParam());
    JobRequest request;
    request.image = bench.image;
    request.output_bytes = uint64_t{1} << 30;
    EXPECT_THROW(bench.host.load(request), UserError);
    request.output_bytes = ~uint64_t{0};
    request.runs = 2;
    EXPECT_THROW(bench.host.load(request), UserError);
    request.inputs = std::span(bench.inputs).first(7);
    EXPECT_THROW(bench.host.load(request), UserError);
}

#ifndef TANDEM_HAS_RISCV_HOST
TEST(HostConfiguration, SaysHowToBuildTheRiscvCpu) {
    try {
        Bench bench("riscv");
        FAIL() << "a CPU that this build lacks";
    } catch (const UserError& error) {
        EXPECT_NE(std::string(error.what()).find("TANDEM_RISCV_HOST=ON"), std::string::npos);
    }
}
#endif

TEST(HostConfiguration, RejectsImpossibleOnes) {
    HostConfig config;
    config.kind = "z80";
    EXPECT_THROW(HostSystem("a", config), UserError);
    config.kind = "native";
    config.memory_bytes = 4096;
    EXPECT_THROW(HostSystem("b", config), UserError);
    config.memory_bytes = platform::kRamMaxBytes + 4096;
    EXPECT_THROW(HostSystem("c", config), UserError);
    config.memory_bytes = platform::kRamBytes + 1;
    EXPECT_THROW(HostSystem("d", config), UserError);
}

}  // namespace
}  // namespace tandem::host
