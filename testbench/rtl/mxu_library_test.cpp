// SPDX-License-Identifier: Apache-2.0
// Assertions, arrays side by side, the waveform.
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>

#include "testbench/rtl/mxu_harness.h"
#include "testbench/rtl/mxu_traffic.h"

namespace tandem::testbench {
namespace {

// A failing assertion is reported at the step in which it fails: its place in `failure`, its name
// and text on stdout.

TEST(MxuAssertions, ReadOfARowInFlightIsReportedOneEdgeLater) {
    Mxu unit({3, 5});
    Stimulus beat, row, read;
    beat.weight = Elements(5, 1);
    row.activation = ActRow{Elements(3, 1), true, false, 2};
    read.read = 2;
    testing::internal::CaptureStdout();
    for (unsigned k = 0; k < 3; ++k) EXPECT_EQ(unit.step(beat).failure, nullptr);
    EXPECT_EQ(unit.step(row).failure, nullptr);
    EXPECT_EQ(unit.step(read).failure, nullptr);
    const char* const failure = unit.step({}).failure;
    const bool cleared = unit.step({}).failure == nullptr;
    std::fflush(stdout);
    const std::string text = testing::internal::GetCapturedStdout();
    EXPECT_NE(failure, nullptr);
    EXPECT_TRUE(cleared) << "a failure belongs to one step";
    EXPECT_NE(text.find("ReadNotInFlight_A"), std::string::npos) << text;
}

TEST(MxuAssertions, AddressBeyondTheAccumulatorsIsReported) {
    // With a power of two no address lies beyond.
    const cosim::ArrayLibrary odd(cosim::ensure_array({2, 2, 5}, build_options()));
    TandemArray* const array = odd.create();
    odd.reset(array);
    TandemArrayPorts ports{};
    ports.rd_valid = 1;
    ports.rd_addr = 6;
    testing::internal::CaptureStdout();
    odd.step(array, &ports);
    std::fflush(stdout);
    const std::string text = testing::internal::GetCapturedStdout();
    ASSERT_NE(ports.failure, nullptr);
    EXPECT_EQ(std::string(ports.failure).rfind("tpu_mxu_control.sv:", 0), 0u) << ports.failure;
    EXPECT_NE(text.find("RdAddrInRange_A"), std::string::npos) << text;
    odd.destroy(array);
}

TEST(MxuLibraries, DifferentArraysWorkSideBySide) {
    const ArrayParameters small{3, 5}, large{16, 16}, bf16{3, 5, arch::Dtype::kBf16};
    struct Unit {
        CheckedMxu mxu;
        Random random;
        bool tile_used = false;
        explicit Unit(const ArrayParameters& array) : mxu(array), random(5, array) {}
    };
    Unit units[] = {Unit(small), Unit(large), Unit(large), Unit(bf16)};
    for (unsigned n = 0; n < 20 && !HasFailure(); ++n)
        for (Unit& unit : units) stream(unit.mxu, unit.random, kTraffic[5], 20, unit.tile_used);
}

void expect_streams_match(const ArrayParameters& array, unsigned seeds) {
    for (unsigned seed = 0; seed < seeds; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random(seed, array);
        CheckedMxu unit(array);
        bool tile_used = false;
        for (const Traffic& traffic : kTraffic) stream(unit, random, traffic, 300, tile_used);
        unit.drain();
        if (testing::Test::HasFailure()) return;
    }
}

// Beyond 64 elements the loops of the model are not unrolled any more.
TEST(MxuLibraries, LargeArrayMatchesTheReference) { expect_streams_match({100, 70}, 3); }

TEST(MxuLibraries, LargeBf16ArrayMatchesTheReference) {
    expect_streams_match({40, 70, arch::Dtype::kBf16}, 2);
}

TEST(MxuLibraries, InfoNamesTheParameters) {
    for (const ArrayParameters& array :
         {ArrayParameters{3, 5}, ArrayParameters{10, 6, arch::Dtype::kBf16, 4, true, "grid"}}) {
        const TandemArrayInfo& info = library(array).info();
        EXPECT_EQ(info.rows, array.rows);
        EXPECT_EQ(info.cols, array.cols);
        EXPECT_EQ(info.acc_depth, kAccDepth);
        EXPECT_EQ(info.dtype, to_string(array.dtype));
        EXPECT_EQ(info.form, array.form);
        EXPECT_EQ(info.pipeline, array.pipeline);
        EXPECT_EQ(info.sum4, array.sum4 ? 1u : 0u);
    }
}

/// A VCD as time -> full name -> value, changes only.
std::map<uint64_t, std::map<std::string, std::string>> read_vcd(std::istream& in) {
    std::map<uint64_t, std::map<std::string, std::string>> changes;
    std::multimap<std::string, std::string> names;
    std::vector<std::string> scopes;
    uint64_t time = 0;
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string word;
        words >> word;
        if (word == "$scope") {
            words >> word >> word;
            scopes.push_back(word);
        } else if (word == "$upscope") {
            scopes.pop_back();
        } else if (word == "$var") {
            std::string bits, code, name, full;
            words >> word >> bits >> code >> name;
            for (const std::string& scope : scopes) full += scope + '.';
            names.emplace(code, full + name);
        } else if (!word.empty() && word[0] == '#') {
            time = std::stoull(word.substr(1));
        } else if (!word.empty() && (word[0] == 'b' || word[0] == '0' || word[0] == '1')) {
            std::string value = word[0] == 'b' ? word.substr(1) : word.substr(0, 1);
            std::string code = word[0] == 'b' ? "" : word.substr(1);
            if (code.empty()) words >> code;
            const auto [first, last] = names.equal_range(code);
            for (auto name = first; name != last; ++name) changes[time][name->second] = value;
        }
    }
    return changes;
}

uint64_t binary(const std::string& digits) { return std::stoull(digits, nullptr, 2); }

TEST(MxuTrace, RtlAndProbesStandInOneWaveformAtTheirEdges) {
    if (std::system("fst2vcd -h >/dev/null 2>&1") == 127 * 256) GTEST_SKIP() << "fst2vcd missing";
    const std::filesystem::path base =
        std::filesystem::temp_directory_path() / ("mxu_trace_" + std::to_string(getpid()));
    const std::string fst = base.string() + ".fst", vcd = base.string() + ".vcd";

    constexpr uint64_t kPeriodFs = 1'430'000, kFirst = 100;
    constexpr unsigned kEdges = 20;
    uint32_t flag = 0, count = 0;
    uint64_t wide = 0;
    char text[128] = {};
    const TandemProbe probes[] = {
        {"model.mxu", "flag", &flag, 1},
        {"model.chip.core", "count", &count, 17},
        {"model.mxu", "wide", &wide, 40},
        {"model.chip", "label", text, 1024},
    };
    Mxu unit({3, 5});
    unit.step({});
    ASSERT_EQ(unit.lib().trace_open(unit.array(), "/nonexistent/x.fst", 0, 1000, nullptr, 0), -1);
    ASSERT_EQ(unit.lib().trace_open(unit.array(), fst.c_str(), kFirst, kPeriodFs, probes, 4), 0);
    for (unsigned n = 0; n < kEdges; ++n) {
        flag = n & 1;
        count = 1000 * n;
        wide = uint64_t{n} << 33;
        std::snprintf(text, sizeof text, "edge %u", n);
        Stimulus in;
        if (n < 3) in.weight = Elements(5, static_cast<int8_t>(n + 1));
        if (n == 3) in.activation = ActRow{{1, 1, 1}, true, false, 9};
        unit.step(in);
    }
    unit.lib().trace_close(unit.array());
    unit.step({});  // goes on without a trace

    ASSERT_EQ(std::system(("fst2vcd -f " + fst + " -o " + vcd).c_str()), 0);
    std::ifstream in(vcd);
    const auto changes = read_vcd(in);
    const auto rise = [](unsigned n) { return (kFirst + n) * kPeriodFs; };
    const auto at = [&](uint64_t time, const std::string& name) -> std::string {
        std::string value = "absent";
        for (const auto& [when, what] : changes) {
            if (when > time) break;
            if (const auto found = what.find(name); found != what.end()) value = found->second;
        }
        return value;
    };
    for (unsigned n = 0; n < kEdges; ++n) {
        EXPECT_EQ(at(rise(n), "rtl.clk_i"), "1") << "edge " << n;
        if (n > 0) {
            EXPECT_EQ(at(rise(n) - kPeriodFs / 2, "rtl.clk_i"), "0");
            EXPECT_EQ(at(rise(n) - kPeriodFs / 2 - 1, "rtl.clk_i"), "1");
        }
        EXPECT_EQ(at(rise(n), "rtl.wgt_valid_i"), n < 3 ? "1" : "0");
        EXPECT_EQ(at(rise(n), "rtl.cmt_valid_o"), n == 3 + 3 + 5 + 1 ? "1" : "0") << "edge " << n;
        EXPECT_EQ(at(rise(n), "model.mxu.flag"), n & 1 ? "1" : "0");
        EXPECT_EQ(binary(at(rise(n), "model.chip.core.count")), 1000 * n);
        EXPECT_EQ(binary(at(rise(n), "model.mxu.wide")), uint64_t{n} << 33);
        // Text, least significant byte first.
        const std::string bits = at(rise(n), "model.chip.label");
        std::string label;
        for (std::size_t end = bits.size(); end > 0; end -= std::min<std::size_t>(end, 8)) {
            const std::size_t length = std::min<std::size_t>(end, 8);
            const auto letter = static_cast<char>(binary(bits.substr(end - length, length)));
            if (letter != 0) label += letter;
        }
        EXPECT_EQ(label, "edge " + std::to_string(n));
    }
    EXPECT_EQ(binary(at(rise(12), "rtl.cmt_addr_o")), 9u);
    // 1 + 2 + 3 in each of the five columns.
    std::string six = "110";
    for (unsigned c = 1; c < 5; ++c) six += std::string(29, '0') + "110";
    const std::string row = at(rise(12), "rtl.cmt_data_o");
    EXPECT_EQ(row.substr(row.find('1')), six);
    std::filesystem::remove(fst);
    std::filesystem::remove(vcd);
}

}  // namespace
}  // namespace tandem::testbench
