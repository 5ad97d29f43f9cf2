// SPDX-License-Identifier: Apache-2.0
// The public SystemC modules in a user's platform. One simulation per process.
#include <dlfcn.h>

#include "arch/generated/registers.h"
#include "testbench/api/user_platform.h"

namespace tandem::testbench {
namespace {

constexpr std::uint32_t kRuns = 5;
constexpr std::size_t kSampleBytes = 256, kScoreBytes = 10;
/// Of a run: 1906, and what the 50 ns of the platform's memory add.
constexpr std::uint64_t kCycles = 1984;

struct Way {
    std::string backend, cpu;
};
std::string name_of(const Way& way) { return way.backend + "_" + way.cpu; }
void PrintTo(const Way& way, std::ostream* out) { *out << name_of(way); }

class UserPlatform : public testing::TestWithParam<Way> {};
INSTANTIATE_TEST_SUITE_P(Ways, UserPlatform,
                         testing::Values(Way{"tlm", "native"}, Way{"tlm", "riscv"},
                                         Way{"tandem", "native"}, Way{"rtl", "riscv"}),
                         [](const auto& info) { return name_of(info.param); });

TEST_P(UserPlatform, RunsDigitsOnItsOwnBusAndMemory) {
    Platform platform({"test_16x16", "functional", "", GetParam().backend}, GetParam().cpu);
    api::Job job;
    job.program = read_bytes(TANDEM_DIGITS_PROGRAM);
    job.inputs = read_bytes(digits("inputs.bin"));
    job.inputs.resize(kRuns * kSampleBytes);
    job.runs = kRuns;
    platform.host.load(job);
    platform.run();
    EXPECT_TRUE(platform.host.finished());
    EXPECT_EQ(platform.host.failure(), "");
    EXPECT_EQ(platform.chip.failure(), "");
    Bytes expected = read_bytes(digits("expected.bin"));
    expected.resize(kRuns * kScoreBytes);
    EXPECT_EQ(platform.host.outputs(), expected);
    EXPECT_EQ(platform.checkers.log.text(), "") << "of the base protocol";
    EXPECT_EQ(platform.lines.back(), "ok, 5 of 5 runs");
    EXPECT_EQ(platform.chip.rows_compared() > 0, GetParam().backend == "tandem");
    EXPECT_EQ(platform.host.instructions() > 0, GetParam().cpu == "riscv");
    EXPECT_EQ(platform.chip.program_cycles(), kRuns * kCycles) << "on every backend";
    // 2 ns each, and what fetching commands takes: no milliseconds.
    EXPECT_GT(sc_core::sc_time_stamp(), sc_core::sc_time(kRuns * kCycles * 2, sc_core::SC_NS));
    EXPECT_LT(sc_core::sc_time_stamp(), sc_core::sc_time(1, sc_core::SC_MS));
}

TEST(UserPlatform, MovesNoDataInTimingMode) {
    Platform platform({"test_16x16", "timing"}, "native");
    platform.host.load({read_bytes(TANDEM_DIGITS_PROGRAM), Bytes(kSampleBytes)});
    platform.run();
    EXPECT_EQ(platform.host.failure(), "");
    EXPECT_EQ(platform.host.outputs(), Bytes(kScoreBytes));
    EXPECT_EQ(platform.checkers.log.text(), "") << "of the base protocol";
    EXPECT_EQ(platform.chip.program_cycles(), kCycles);
}

TEST(UserPlatform, SaysWhyAJobWasNotDone) {
    Platform platform({"test_8x8"}, "native");
    platform.host.load({read_bytes(TANDEM_DIGITS_PROGRAM), Bytes(kSampleBytes)});
    platform.run();
    EXPECT_NE(platform.host.failure().find("a chip with other figures"), std::string::npos)
        << platform.host.failure();
}

TEST(UserPlatform, SaysThatThereIsNoJob) {
    Platform platform({}, "native");
    platform.run();
    EXPECT_NE(platform.host.failure().find("call load()"), std::string::npos);
}

TEST(Host, RefusesWhatCannotBe) {
    Bytes bytes(4 << 20);
    const auto host = [&](const api::Ram& ram, const api::HostOptions& options) {
        return refusal([&] { api::Host("host", ram, options); });
    };
    api::HostOptions native;
    native.cpu = "native";
    EXPECT_NE(host({nullptr, 4 << 20}, native).find("at no address"), std::string::npos);
    EXPECT_NE(host({bytes.data(), 4097}, native).find("found 4097"), std::string::npos);
    EXPECT_NE(host({bytes.data(), 4096}, native).find("found 4096"), std::string::npos);
    api::HostOptions z80;
    z80.cpu = "z80";
    EXPECT_NE(host({bytes.data(), bytes.size()}, z80).find("found \"z80\""), std::string::npos);
    api::Host good("host", {bytes.data(), bytes.size()}, native);
    EXPECT_NE(refusal([&] { good.load({{1, 2, 3}, {}}); }), "");
    const Bytes program = read_bytes(TANDEM_DIGITS_PROGRAM);
    for (const std::size_t bytes : {std::size_t{0}, kSampleBytes, 2 * kSampleBytes + 1}) {
        const std::string text = refusal([&] { good.load({program, Bytes(bytes), 2}); });
        EXPECT_NE(text.find("for each of 2 runs, found " + std::to_string(bytes)),
                  std::string::npos)
            << text;
    }
    const std::uint32_t many = (4 << 20) / kSampleBytes;
    const std::string full = refusal([&] {
        good.load({program, Bytes(many * kSampleBytes), many});
    });
    EXPECT_NE(full.find("are left"), std::string::npos) << full;
}

TEST(Chip, AnswersItsRegistersToAUsersOwnDriver) {
    ChipAlone platform("platform");
    platform.run([&] {
        EXPECT_EQ(platform.read(TANDEM_REG_ID), 0x4d444e54u) << "TNDM";
        EXPECT_EQ(platform.read(TANDEM_REG_CLOCK_KHZ), 500000u);
    });
}

TEST(Chip, RefusesWhatDoesNotExist) {
    EXPECT_NE(refusal([] { api::Chip("a", {"tpu_v9"}); }), "");
    EXPECT_NE(refusal([] {
                  api::Chip("b", {"test_8x8", "slow"});
              }).find("b.mode: expected"),
              std::string::npos);
    EXPECT_NE(refusal([] {
                  api::Chip("c", {"test_8x8", "functional", "bf16"});
              }).find("c.dtype"),
              std::string::npos);
    EXPECT_NE(refusal([] {
                  api::Chip("d", {"test_8x8", "functional", "", "vhdl"});
              }).find("d.backend: expected tlm, rtl, tandem, found \"vhdl\""),
              std::string::npos);
}

TEST(TimeResolution, OfTheUsersFirstTimeEndsInAnErrorThatSaysWhatToCall) {
    const sc_core::sc_time early(10, sc_core::SC_NS);
    const std::string text = refusal([] { api::Chip("chip"); });
    EXPECT_NE(text.find("expected 1 fs, found 1 ps"), std::string::npos) << text;
    EXPECT_NE(text.find("sc_set_time_resolution"), std::string::npos) << text;
    EXPECT_NE(refusal([] { api::set_time_resolution(); }), "");
}

TEST(TimeResolution, LeavesTheUsersClocksAsTheyAre) {
    api::set_time_resolution();
    api::set_time_resolution();
    sc_core::sc_clock clock("clock", 10, sc_core::SC_NS);
    ChipAlone platform("platform");
    platform.run([&] {
        for (int i = 0; i < 100; ++i) sc_core::wait(clock.posedge_event());
        // The first edge is at 0.
        EXPECT_EQ(sc_core::sc_time_stamp().to_seconds(), 990e-9);
    });
}

/// A user's extension, unknown to the library.
struct Mark : tlm::tlm_extension<Mark> {
    int value = 7;
    tlm_extension_base* clone() const override { return new Mark(*this); }
    void copy_from(const tlm_extension_base& other) override {
        value = static_cast<const Mark&>(other).value;
    }
};

TEST(OneProcess, HasOneSetOfTlmExtensions) {
    // The library has registered extensions of its own; one registry gives each its number.
    EXPECT_GT(tlm::max_num_extensions(), 1u);
    ChipAlone platform("platform");
    platform.run([&] {
        Mark mark;
        tlm::tlm_generic_payload payload;
        payload.set_read();
        payload.set_extension(&mark);
        unsigned char data[4] = {};
        EXPECT_EQ(platform.access(payload, data, TANDEM_REG_ID), tlm::TLM_OK_RESPONSE);
        EXPECT_EQ(data[0], 'T');
        ASSERT_EQ(payload.get_extension<Mark>(), &mark);
        EXPECT_EQ(mark.value, 7);
        payload.clear_extension(&mark);
    });
}

/// The library's copy of a symbol and ours must be one.
template <typename T>
void expect_shared(const char* mangled, T* ours) {
    void* const library = dlopen("libtandem.so.0", RTLD_NOW | RTLD_NOLOAD);
    ASSERT_NE(library, nullptr) << dlerror();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(dlsym(library, mangled)),
              reinterpret_cast<std::uintptr_t>(ours))
        << mangled;
    dlclose(library);
}

TEST(OneProcess, HasOneOfWhatSystemCsHeadersLeaveInEveryLibrary) {
    expect_shared("_ZN3tlm13tlm_extensionINS_18tlm_endian_contextEE2IDE",
                  &tlm::tlm_extension<tlm::tlm_endian_context>::ID);
    expect_shared("_ZN3tlm18tlm_global_quantum8instanceEv", &tlm::tlm_global_quantum::instance);
}

}  // namespace
}  // namespace tandem::testbench
