// SPDX-License-Identifier: Apache-2.0
// The matrix unit at its ports against MxuReference: values, and the edge of every event.
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>

#include "testbench/rtl/mxu_harness.h"

namespace tandem::testbench {
namespace {

struct Size {
    unsigned rows, cols;
};

std::ostream& operator<<(std::ostream& out, Size size) {
    return out << size.rows << 'x' << size.cols;
}

std::string size_name(const testing::TestParamInfo<Size>& info) {
    return std::to_string(info.param.rows) + "x" + std::to_string(info.param.cols);
}

const auto kSizes = testing::Values(Size{1, 1}, Size{3, 5}, Size{8, 8}, Size{16, 16}, Size{5, 2});

class MxuPorts : public testing::TestWithParam<Size> {
  protected:
    MxuPorts() : rows(GetParam().rows), cols(GetParam().cols), mxu(rows, cols) {}

    /// Offers the beats of a tile one per edge, last row first.
    void load(const Matrix8& tile) {
        for (unsigned k = rows; k-- > 0;) {
            Stimulus in;
            in.weight = tile[k];
            mxu.step(in);
        }
    }

    void send(const Row8& data, bool swap, unsigned addr, bool accumulate = false) {
        Stimulus in;
        in.activation = ActRow{data, swap, accumulate, addr};
        mxu.step(in);
    }

    const unsigned rows, cols;
    CheckedMxu mxu;
};

/// Chances in percent that a port is active at an edge.
struct Traffic {
    unsigned weight, activation, swap, read, take;
};

constexpr Traffic kTraffic[] = {
    {100, 100, 10, 100, 100},  // everything flows
    {30, 100, 50, 50, 100},    // weights late: rows that swap wait
    {100, 30, 50, 50, 100},    // bubbles between activations
    {100, 100, 100, 100, 20},  // one row per tile, results blocked
    {5, 5, 60, 10, 50},        // mostly idle: the planes stop and start again
    {60, 60, 30, 60, 60},
};

/// A random stream in the given traffic. Rows offered with swap wait at the port until taken.
void stream(CheckedMxu& mxu, Random& random, const Traffic& traffic, unsigned edges,
            bool& tile_used) {
    std::optional<Row8> weight;
    std::optional<ActRow> row;
    for (unsigned n = 0; n < edges && !testing::Test::HasFailure(); ++n) {
        Stimulus in;
        if (!weight) weight = random.row(mxu.rtl.cols);
        if (!row) {
            const bool swap = !tile_used || random.chance(traffic.swap);
            // Now and then a run of rows into the same accumulator row.
            row = ActRow{random.row(mxu.rtl.rows), swap, random.chance(50),
                         random.chance(50) ? 3 : random.below(kAccDepth)};
            if (!mxu.reference.written(row->addr)) row->accumulate = false;
        }
        if (random.chance(traffic.weight)) in.weight = weight;
        if (random.chance(traffic.activation)) in.activation = row;
        if (random.chance(traffic.read)) {
            const unsigned addr = random.below(kAccDepth);
            if (mxu.reference.readable(addr)) in.read = addr;
        }
        in.res_ready = random.chance(traffic.take);
        const Expected out = mxu.step(in);
        if (in.weight && out.wgt_ready) weight.reset();
        if (in.activation && out.act_ready) {
            tile_used = true;
            row.reset();
        }
    }
}

TEST_P(MxuPorts, RandomStreamsMatchTheReferenceAtEveryEdge) {
    for (unsigned seed = 0; seed < 12; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random(seed);
        CheckedMxu unit(rows, cols);
        bool tile_used = false;
        for (unsigned phase = 0; phase < 8; ++phase) {
            const Traffic& traffic = kTraffic[random.below(std::size(kTraffic))];
            stream(unit, random, traffic, 60 + random.below(200), tile_used);
        }
        unit.idle(rows + cols + 4);
        if (HasFailure()) return;
    }
}

TEST_P(MxuPorts, ResetInFlightDropsRowsAndTiles) {
    for (unsigned seed = 0; seed < 12; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random(seed);
        CheckedMxu unit(rows, cols);
        for (unsigned pass = 0; pass < 4; ++pass) {
            bool tile_used = false;
            stream(unit, random, kTraffic[random.below(std::size(kTraffic))], 40 + random.below(80),
                   tile_used);
            unit.reset();
            if (random.chance(50)) unit.idle(random.below(rows + cols + 4));
        }
        if (HasFailure()) return;
    }
}

TEST_P(MxuPorts, RowIsCommittedRowsPlusColsPlusOneEdgesAfterAcceptance) {
    Random random(0);
    const Matrix8 tile = random.tile(rows, cols);
    const Row8 row = random.row(rows);
    Mxu unit(rows, cols);
    for (unsigned k = rows; k-- > 0;) {
        Stimulus in;
        in.weight = tile[k];
        EXPECT_TRUE(unit.step(in).wgt_ready);
    }
    Stimulus in;
    in.activation = ActRow{row, true, false, 7};
    EXPECT_TRUE(unit.step(in).act_ready) << "swap one edge after the last beat";
    for (unsigned after = 1; after <= rows + cols; ++after)
        EXPECT_FALSE(unit.step({}).cmt_valid) << after << " edges after acceptance";
    EXPECT_TRUE(unit.ports.busy);
    EXPECT_TRUE(unit.step({}).cmt_valid);
    EXPECT_EQ(unit.ports.cmt_addr, 7u);
    EXPECT_EQ(unit.commit(), multiply(row, tile));
    EXPECT_FALSE(unit.ports.busy);
    Stimulus read;
    read.read = 7;
    EXPECT_TRUE(unit.step(read).rd_ready);
    EXPECT_TRUE(unit.ports.res_valid);
    EXPECT_EQ(unit.result(), multiply(row, tile));
}

TEST_P(MxuPorts, SwapWaitsForTheLastBeatAndTakesTheNextEdge) {
    Random random(1);
    const Matrix8 tile = random.tile(rows, cols);
    for (unsigned k = rows; k-- > 0;) {
        Stimulus in;
        in.weight = tile[k];
        in.activation = ActRow{random.row(rows), true, false, 0};
        const Expected out = mxu.step(in);
        EXPECT_FALSE(out.act_ready) << "tile row " << k << " is accepted at this very edge";
    }
    Stimulus in;
    in.weight = tile[0];
    in.activation = ActRow{random.row(rows), true, false, 0};
    Expected out = mxu.step(in);
    EXPECT_TRUE(out.act_ready);
    EXPECT_FALSE(out.wgt_ready) << "the shadow plane is free one edge after the swap";
    out = mxu.step(in);
    EXPECT_TRUE(out.wgt_ready);
    mxu.idle(rows + cols + 2);
}

TEST_P(MxuPorts, TilesOfOneRowFollowEachOtherEveryRowsPlusOneEdges) {
    Random random(2);
    uint64_t last = 0;
    unsigned tiles = 0;
    for (unsigned edge = 0; edge < 40 * (rows + 1); ++edge) {
        Stimulus in;
        in.weight = random.row(cols);
        in.activation = ActRow{random.row(rows), true, false, edge % kAccDepth};
        if (!mxu.step(in).act_ready) continue;
        if (tiles++ > 0) {
            EXPECT_EQ(edge - last, rows + 1);
        }
        last = edge;
    }
    EXPECT_EQ(tiles, 39u + 1u);
    mxu.idle(rows + cols + 2);
}

TEST_P(MxuPorts, AccumulationAddsEveryRowInFlightAndOverwriteStartsAgain) {
    Random random(3);
    load(random.tile(rows, cols));
    send(random.row(rows), true, 5);
    for (unsigned n = 0; n < 3 * (rows + cols); ++n) send(random.row(rows), false, 5, true);
    send(random.row(rows), false, 5, false);
    send(random.row(rows), false, 5, true);
    mxu.idle(rows + cols + 2);
    Stimulus in;
    in.read = 5;
    mxu.step(in);
}

TEST_P(MxuPorts, AccumulatorsWrapAtThirtyTwoBits) {
    const Row8 lowest(rows, -128);
    load(Matrix8(rows, Row8(cols, -128)));
    send(lowest, true, 1);
    // 2^14 per PE and row: past 2^31 after 2^17 / Rows rows. One PE would take too long.
    const unsigned count = rows < 3 ? 64 : (1u << 17) / rows + 2;
    bool negative = false;
    for (unsigned n = 0; n < count; ++n) {
        send(lowest, false, 1, true);
        negative = negative || (mxu.rtl.ports.cmt_valid && mxu.rtl.commit()[0] < 0);
        if (HasFailure()) return;
    }
    for (unsigned n = 0; n < rows + cols + 2; ++n) {
        mxu.step({});
        negative = negative || (mxu.rtl.ports.cmt_valid && mxu.rtl.commit()[0] < 0);
    }
    EXPECT_EQ(negative, rows >= 3);
}

TEST_P(MxuPorts, BlockedResultStaysAndHoldsTheNextReadBack) {
    Random random(4);
    load(random.tile(rows, cols));
    send(random.row(rows), true, 0);
    send(random.row(rows), false, 1);
    mxu.idle(rows + cols + 2);
    Stimulus in;
    in.read = 0;
    in.res_ready = false;
    EXPECT_TRUE(mxu.step(in).rd_ready);
    const Row32 first = mxu.rtl.result();
    in.read = 1;
    for (unsigned n = 0; n < 5; ++n) {
        EXPECT_FALSE(mxu.step(in).rd_ready);
        EXPECT_EQ(mxu.rtl.result(), first);
    }
    in.res_ready = true;
    EXPECT_TRUE(mxu.step(in).rd_ready) << "taken and replaced at one edge";
}

INSTANTIATE_TEST_SUITE_P(Sizes, MxuPorts, kSizes, size_name);

TEST(MxuValues, EveryProductOfTwoInt8IsExact) {
    Mxu unit(1, 1);
    for (int weight = -128; weight < 128; ++weight) {
        Stimulus in;
        in.weight = Row8{static_cast<int8_t>(weight)};
        unit.step(in);
        int expected = -128;
        for (int value = -128; expected < 128; ++value) {
            Stimulus row;
            if (value < 128)
                row.activation = ActRow{{static_cast<int8_t>(value)}, value == -128, false, 0};
            if (!unit.step(row).cmt_valid) continue;
            ASSERT_EQ(unit.commit()[0], weight * expected) << expected << " * " << weight;
            ++expected;
        }
    }
}

///////////////////////////////////////////////////////////////////////////////////////////////////
// State: a written register acts like an upset of that register.

class MxuState : public testing::TestWithParam<Size> {
  protected:
    static constexpr unsigned kRowCount = 24;

    /// Streams kRowCount rows, one per edge, row n to accumulator row n; `upset` is called after
    /// every edge with its number, counted from the edge that accepts row 0. A second tile is
    /// loaded meanwhile and swapped in by row `swap_at`. Returns the rows as committed.
    template <typename Upset>
    std::vector<Row32> run(unsigned seed, unsigned swap_at, Upset upset) {
        const auto [rows, cols] = GetParam();
        Random random(seed);
        Mxu unit(rows, cols);
        const Matrix8 first = random.tile(rows, cols), second = random.tile(rows, cols);
        for (unsigned k = rows; k-- > 0;) {
            Stimulus in;
            in.weight = first[k];
            unit.step(in);
        }
        activations.clear();
        std::vector<Row32> out;
        for (unsigned edge = 0; out.size() < kRowCount; ++edge) {
            Stimulus in;
            if (edge >= 1 && edge <= rows) in.weight = second[rows - edge];
            if (edge < kRowCount) {
                activations.push_back(random.row(rows));
                in.activation =
                    ActRow{activations.back(), edge == 0 || edge == swap_at, false, edge};
            }
            unit.step(in);
            if (in.activation) {
                EXPECT_TRUE(unit.ports.act_ready);
            }
            if (unit.ports.cmt_valid) out.push_back(unit.commit());
            upset(unit, static_cast<int>(edge));
        }
        tiles = {first, second};
        return out;
    }

    template <typename T>
    static void flip(void* plane, std::size_t index, unsigned bit) {
        static_cast<T*>(plane)[index] ^= static_cast<T>(T{1} << bit);
    }

    /// Checks that exactly the elements of `delta` (row, column -> difference) differ.
    static void expect_difference(const std::vector<Row32>& clean, const std::vector<Row32>& upset,
                                  const std::map<std::pair<unsigned, unsigned>, uint32_t>& delta) {
        for (unsigned n = 0; n < clean.size(); ++n)
            for (unsigned c = 0; c < clean[n].size(); ++c) {
                const auto at = delta.find({n, c});
                const uint32_t want = at == delta.end() ? 0 : at->second;
                ASSERT_EQ(uint32_t(upset[n][c]) - uint32_t(clean[n][c]), want)
                    << "row " << n << " column " << c;
            }
    }

    static constexpr unsigned kSwapAt = 18;  // the second tile is loaded by then at every size
    Matrix8 activations;
    std::vector<Matrix8> tiles;
};

TEST_P(MxuState, FlippedPartialSumChangesExactlyOneElement) {
    const auto [rows, cols] = GetParam();
    for (unsigned seed = 0; seed < 24; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random pick(seed);
        const unsigned r = pick.below(rows), c = pick.below(cols), bit = pick.below(32);
        const unsigned row = pick.below(kRowCount);
        const auto clean = run(seed, kSwapAt, [](Mxu&, int) {});
        uint32_t before = 0, after = 0;
        const auto upset = run(seed, kSwapAt, [&](Mxu& unit, int edge) {
            if (edge != int(row + r + c + 1)) return;  // PE(r,c) holds the sum of this row
            auto* const psum = static_cast<uint32_t*>(unit.state().psum);
            before = psum[unit.index(r, c)];
            flip<uint32_t>(psum, unit.index(r, c), bit);
            after = psum[unit.index(r, c)];
        });
        uint32_t sum = 0;
        for (unsigned k = 0; k <= r; ++k)
            sum += uint32_t(activations[row][k] * tiles[row >= kSwapAt][k][c]);
        EXPECT_EQ(before, sum) << "partial sum of rows 0.." << r << " one edge after its inputs";
        expect_difference(clean, upset, {{{row, c}, after - before}});
        if (HasFailure()) return;
    }
}

TEST_P(MxuState, FlippedActivationChangesItsRowFromThatColumnOn) {
    const auto [rows, cols] = GetParam();
    for (unsigned seed = 0; seed < 24; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random pick(seed);
        const unsigned r = pick.below(rows), c = pick.below(cols), bit = pick.below(8);
        const unsigned row = pick.below(kRowCount);
        const auto clean = run(seed, kSwapAt, [](Mxu&, int) {});
        int difference = 0;
        const auto upset = run(seed, kSwapAt, [&](Mxu& unit, int edge) {
            if (edge != int(row + r + c)) return;
            auto* const value = static_cast<int8_t*>(unit.state().activation) + unit.index(r, c);
            EXPECT_EQ(*value, activations[row][r]);
            difference = -*value;
            flip<uint8_t>(unit.state().activation, unit.index(r, c), bit);
            difference += *value;
        });
        std::map<std::pair<unsigned, unsigned>, uint32_t> delta;
        for (unsigned column = c; column < cols; ++column)
            delta[{row, column}] = uint32_t(difference * tiles[row >= kSwapAt][r][column]);
        expect_difference(clean, upset, delta);
        if (HasFailure()) return;
    }
}

TEST_P(MxuState, FlippedWeightChangesItsColumnUntilTheNextSwap) {
    const auto [rows, cols] = GetParam();
    for (unsigned seed = 0; seed < 24; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random pick(seed);
        const unsigned r = pick.below(rows), c = pick.below(cols), bit = pick.below(8);
        const unsigned row = pick.below(kSwapAt);  // the first row that sees the flipped weight
        const auto clean = run(seed, kSwapAt, [](Mxu&, int) {});
        int difference = 0;
        const auto upset = run(seed, kSwapAt, [&](Mxu& unit, int edge) {
            if (edge != int(row + r + c)) return;
            auto* const value = static_cast<int8_t*>(unit.state().weight) + unit.index(r, c);
            difference = -*value;
            flip<uint8_t>(unit.state().weight, unit.index(r, c), bit);
            difference += *value;
        });
        std::map<std::pair<unsigned, unsigned>, uint32_t> delta;
        for (unsigned n = row; n < kSwapAt; ++n)
            delta[{n, c}] = uint32_t(difference * activations[n][r]);
        expect_difference(clean, upset, delta);
        if (HasFailure()) return;
    }
}

TEST_P(MxuState, FlippedShadowWeightTakesEffectWithTheSwap) {
    const auto [rows, cols] = GetParam();
    for (unsigned seed = 0; seed < 24; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random pick(seed);
        const unsigned r = pick.below(rows), c = pick.below(cols), bit = pick.below(8);
        const auto clean = run(seed, kSwapAt, [](Mxu&, int) {});
        int difference = 0;
        const auto upset = run(seed, kSwapAt, [&](Mxu& unit, int edge) {
            if (edge != int(kSwapAt + r + c) - 1) return;  // the swap takes it at the next edge
            auto* const value = static_cast<int8_t*>(unit.state().shadow) + unit.index(r, c);
            difference = -*value;
            flip<uint8_t>(unit.state().shadow, unit.index(r, c), bit);
            difference += *value;
        });
        std::map<std::pair<unsigned, unsigned>, uint32_t> delta;
        for (unsigned n = kSwapAt; n < kRowCount; ++n)
            delta[{n, c}] = uint32_t(difference * activations[n][r]);
        expect_difference(clean, upset, delta);
        if (HasFailure()) return;
    }
}

INSTANTIATE_TEST_SUITE_P(Sizes, MxuState, kSizes, size_name);

///////////////////////////////////////////////////////////////////////////////////////////////////
// Assertions, several arrays, waveform

// A failing assertion is reported at the step in which it fails: its place in `failure`, its name
// and text on stdout.

TEST(MxuAssertions, ReadOfARowInFlightIsReportedOneEdgeLater) {
    Mxu unit(3, 5);
    Stimulus beat, row, read;
    beat.weight = Row8(5, 1);
    row.activation = ActRow{Row8(3, 1), true, false, 2};
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
    const cosim::ArrayLibrary odd(cosim::ensure_array({2, 2, 5, "int8"}, build_options()));
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

TEST(MxuLibraries, ArraysOfDifferentSizesWorkSideBySide) {
    Random random(5);
    CheckedMxu small(3, 5), large(16, 16), second(16, 16);
    bool small_used = false, large_used = false, second_used = false;
    for (unsigned n = 0; n < 20 && !HasFailure(); ++n) {
        stream(small, random, kTraffic[5], 20, small_used);
        stream(large, random, kTraffic[5], 20, large_used);
        stream(second, random, kTraffic[4], 20, second_used);
    }
}

TEST(MxuLibraries, LargeArrayMatchesTheReference) {
    // Beyond 64 elements the loops of the model are not unrolled any more.
    const Size size{100, 70};
    for (unsigned seed = 0; seed < 3; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random(seed);
        CheckedMxu unit(size.rows, size.cols);
        bool tile_used = false;
        for (unsigned phase = 0; phase < 6; ++phase)
            stream(unit, random, kTraffic[phase], 300, tile_used);
        unit.idle(size.rows + size.cols + 2);
        if (HasFailure()) return;
    }
}

TEST(MxuLibraries, InfoNamesTheParameters) {
    const TandemArrayInfo& info = library(3, 5).info();
    EXPECT_EQ(info.rows, 3u);
    EXPECT_EQ(info.cols, 5u);
    EXPECT_EQ(info.acc_depth, kAccDepth);
    EXPECT_STREQ(info.dtype, "int8");
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

    constexpr uint64_t kPeriodPs = 1430, kFirst = 100;
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
    Mxu unit(3, 5);
    unit.step({});
    ASSERT_EQ(unit.lib().trace_open(unit.array(), "/nonexistent/x.fst", 0, 1000, nullptr, 0), -1);
    ASSERT_EQ(unit.lib().trace_open(unit.array(), fst.c_str(), kFirst, kPeriodPs, probes, 4), 0);
    for (unsigned n = 0; n < kEdges; ++n) {
        flag = n & 1;
        count = 1000 * n;
        wide = uint64_t{n} << 33;
        std::snprintf(text, sizeof text, "edge %u", n);
        Stimulus in;
        if (n < 3) in.weight = Row8(5, static_cast<int8_t>(n + 1));
        if (n == 3) in.activation = ActRow{{1, 1, 1}, true, false, 9};
        unit.step(in);
    }
    unit.lib().trace_close(unit.array());
    unit.step({});  // goes on without a trace

    ASSERT_EQ(std::system(("fst2vcd -f " + fst + " -o " + vcd).c_str()), 0);
    std::ifstream in(vcd);
    const auto changes = read_vcd(in);
    const auto rise = [](unsigned n) { return (kFirst + n) * kPeriodPs; };
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
            EXPECT_EQ(at(rise(n) - kPeriodPs / 2, "rtl.clk_i"), "0");
            EXPECT_EQ(at(rise(n) - kPeriodPs / 2 - 1, "rtl.clk_i"), "1");
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
