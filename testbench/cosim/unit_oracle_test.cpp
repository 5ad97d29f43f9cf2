// SPDX-License-Identifier: Apache-2.0
// The unit oracle against units that are stepped edge by edge as delay lines. Every net is once
// shown wrong, in each of its lanes: the oracle has to name unit, net, lane and edge.
#include "cosim/unit_oracle.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <sstream>
#include <utility>

#include "testbench/support/seeded.h"

namespace tandem::cosim {
namespace {

using engine::Cycle;
using Bytes = std::vector<std::byte>;

/// What was pushed at edge t comes out before edge t + length; length 0: at once.
template <typename T>
class Delay {
  public:
    explicit Delay(size_t length = 0) : line_(length) {}
    T out(const T& now) const { return line_.empty() ? now : line_.back(); }
    void push(const T& now) {
        if (line_.empty()) return;
        line_.insert(line_.begin(), now);
        line_.pop_back();
    }

  private:
    std::vector<T> line_;
};

/// The ports' inputs of one edge.
struct Drive {
    bool wgt_valid = false, act_valid = false, act_swap = false, act_accumulate = false;
    bool rd_valid = false, res_ready = true;
    uint32_t act_addr = 0, rd_addr = 0;
    Bytes wgt_data, act_data;
};

struct Item {
    bool valid = false, swap = false, accumulate = false;
    uint32_t address = 0, load = 0;
    Bytes data;
    std::vector<int32_t> sums;
};

class Machine {
  public:
    explicit Machine(engine::MxuShape shape)
        : shape_(shape), left_(shape.rows), accumulators_(shape.accumulator_rows) {
        const uint32_t k = shape.pipeline;
        const uint32_t rows = (shape.rows - 1) / k, cols = (shape.cols - 1) / k;
        for (uint32_t r = 0; r < shape.rows; ++r) act_.emplace_back(r / k), load_.emplace_back(r);
        for (uint32_t c = 0; c < shape.cols; ++c) {
            wgt_.emplace_back(c / k);
            bottom_.emplace_back(rows + c / k + 2);
        }
        emit_ = Delay<Item>(rows + cols + 2);
        write_ = Delay<Item>(rows + cols + 3);
        for (auto& row : accumulators_) row.assign(shape.cols, 7);
        shown_res_.assign(shape.cols, 0);
        add("tile_complete", 1), add("tile_partial", 1), add("wgt_fire", 1), add("load", 8);
        add("act_fire", 1), add("swap", 1);
        add("rows_active", 1), add("swap_active", 1), add("load_active", 1);
        add("act_skewed", 8 * shape.rows), add("swap_skewed", shape.rows);
        add("wgt_skewed", 8 * shape.cols), add("load_skewed", shape.rows);
        add("bottom", 32 * shape.cols), add("emit", 1), add("row", 32 * shape.cols);
        add("wr_valid", 1), add("wr_accumulate", 1), add("wr_addr", 8);
        for (auto& [name, words] : nets_)
            taps_.push_back({name.c_str(), words.data(), static_cast<uint32_t>(words.size() * 32)});
    }

    std::span<const TandemTap> taps() const { return taps_; }
    std::vector<uint32_t>& net(const std::string& name) { return nets_.at(name); }

    const TandemArrayPorts& step(const Drive& in) {
        for (auto& [name, words] : nets_) std::fill(words.begin(), words.end(), 0);
        drive(in);
        accept(in);
        before_edge();
        after_edge(in);
        return ports_;
    }

  private:
    void add(const std::string& name, uint32_t bits) { nets_[name].resize((bits + 31) / 32); }
    void set(const std::string& name, size_t bit, uint32_t bits, uint64_t value) {
        for (uint32_t i = 0; i < bits; ++i, ++bit)
            nets_.at(name)[bit / 32] |= static_cast<uint32_t>(value >> i & 1) << bit % 32;
    }

    void drive(const Drive& in) {
        ports_ = {};
        ports_.wgt_valid = in.wgt_valid, ports_.wgt_data = in.wgt_data.data();
        ports_.act_valid = in.act_valid, ports_.act_data = in.act_data.data();
        ports_.act_swap = in.act_swap, ports_.act_accumulate = in.act_accumulate;
        ports_.act_addr = in.act_addr;
        ports_.rd_valid = in.rd_valid, ports_.rd_addr = in.rd_addr;
        ports_.res_ready = in.res_ready;
        ports_.wgt_ready = left_ != 0;
        ports_.act_ready = !in.act_swap || left_ == 0;
        ports_.rd_ready = !res_valid_ || in.res_ready;
    }

    void accept(const Drive& in) {
        beat_ = {}, row_ = {};
        set("tile_complete", 0, 1, left_ == 0);
        set("tile_partial", 0, 1, left_ != 0 && left_ != shape_.rows);
        if (in.wgt_valid && ports_.wgt_ready) {
            beat_.valid = true, beat_.load = left_--, beat_.data = in.wgt_data;
            shadow_.insert(shadow_.begin(), in.wgt_data.begin(), in.wgt_data.end());
        }
        if (in.act_valid && ports_.act_ready) {
            row_ = {true, in.act_swap, in.act_accumulate, in.act_addr, 0, in.act_data, {}};
            if (in.act_swap) weights_ = std::exchange(shadow_, {}), left_ = shape_.rows;
            if (!weights_.empty()) multiply();
        }
        set("wgt_fire", 0, 1, beat_.valid), set("load", 0, 8, beat_.load);
        set("act_fire", 0, 1, row_.valid), set("swap", 0, 1, row_.swap);
        for (const char* name : {"rows_active", "swap_active", "load_active"}) set(name, 0, 1, 1);
    }

    void multiply() {
        row_.sums.assign(shape_.cols, 0);
        for (uint32_t i = 0; i < shape_.rows * shape_.cols; ++i)
            row_.sums[i % shape_.cols] +=
                static_cast<int8_t>(row_.data[i / shape_.cols]) * static_cast<int8_t>(weights_[i]);
    }

    void before_edge() {
        for (uint32_t r = 0; r < shape_.rows; ++r) {
            const Item row = act_[r].out(row_), beat = load_[r].out(beat_);
            if (row.valid) set("act_skewed", r * 8, 8, static_cast<uint8_t>(row.data[r]));
            set("swap_skewed", r, 1, row.swap);
            set("load_skewed", r, 1, beat.load > r);
            act_[r].push(row_), load_[r].push(beat_);
        }
        for (uint32_t c = 0; c < shape_.cols; ++c) {
            const Item beat = wgt_[c].out(beat_), row = bottom_[c].out({});
            if (beat.valid) set("wgt_skewed", c * 8, 8, static_cast<uint8_t>(beat.data[c]));
            if (!row.sums.empty()) set("bottom", c * 32, 32, static_cast<uint32_t>(row.sums[c]));
            wgt_[c].push(beat_), bottom_[c].push(row_);
        }
        written_ = write_.out({});
        set("emit", 0, 1, emit_.out({}).valid), set("wr_valid", 0, 1, written_.valid);
        set("wr_accumulate", 0, 1, written_.accumulate), set("wr_addr", 0, 8, written_.address);
        for (uint32_t c = 0; c < written_.sums.size(); ++c)
            set("row", c * 32, 32, static_cast<uint32_t>(written_.sums[c]));
        emit_.push(row_), write_.push(row_);
        in_flight_ += row_.valid;
    }

    void after_edge(const Drive& in) {
        const bool read = in.rd_valid && ports_.rd_ready;
        if (read) shown_res_ = accumulators_[in.rd_addr];
        res_valid_ = read || (res_valid_ && !in.res_ready);
        if (written_.valid) {
            auto& row = accumulators_[written_.address];
            for (uint32_t c = 0; c < shape_.cols; ++c) {
                const int32_t sum = written_.sums.empty() ? 0 : written_.sums[c];
                row[c] = written_.accumulate ? row[c] + sum : sum;
            }
            shown_cmt_ = row;
            --in_flight_;
        }
        ports_.cmt_valid = written_.valid, ports_.cmt_addr = written_.address;
        ports_.cmt_data = shown_cmt_.data();
        ports_.res_valid = res_valid_, ports_.res_data = shown_res_.data();
        ports_.busy = in_flight_ != 0 || (left_ != 0 && left_ != shape_.rows);
    }

    const engine::MxuShape shape_;
    uint32_t left_;
    Bytes shadow_, weights_;
    std::vector<Delay<Item>> act_, load_, wgt_, bottom_;
    Delay<Item> emit_, write_;
    Item beat_, row_, written_;
    std::vector<std::vector<int32_t>> accumulators_;
    std::vector<int32_t> shown_res_, shown_cmt_;
    bool res_valid_ = false;
    int in_flight_ = 0;
    TandemArrayPorts ports_{};
    std::map<std::string, std::vector<uint32_t>> nets_;
    std::vector<TandemTap> taps_;
};

Drive random_drive(engine::MxuShape shape, testbench::Seeded& random, bool swapped) {
    const auto bytes = [&](uint32_t count) {
        Bytes data;
        for (const int8_t value : random.int8s(count)) data.push_back(std::byte(value));
        return data;
    };
    Drive in;
    in.wgt_valid = random.chance(60), in.wgt_data = bytes(shape.cols);
    in.act_swap = random.chance(swapped ? 30 : 100), in.act_valid = random.chance(70);
    in.act_data = bytes(shape.rows), in.act_accumulate = random.chance(50);
    const auto half = shape.accumulator_rows / 2;
    in.act_addr = static_cast<uint32_t>(random.below(half));
    in.rd_valid = random.chance(50);
    in.rd_addr = static_cast<uint32_t>(random.below(half));
    in.res_ready = random.chance(60);
    return in;
}

class UnitOracleSizes : public testing::TestWithParam<engine::MxuShape> {
  protected:
    static constexpr Cycle kEdges = 300;
    using Spoil = std::function<void(Cycle, Machine&, TandemArrayPorts&)>;

    std::optional<UnitMismatch> run(const Spoil& spoil) {
        const engine::MxuShape shape = GetParam();
        testbench::Seeded random(5);
        Machine machine(shape);
        UnitOracle oracle(shape, {}, {});
        oracle.watch(machine.taps());
        oracle.accumulators(std::vector<int32_t>(size_t{shape.accumulator_rows} * shape.cols, 7));
        bool swapped = false;
        for (Cycle edge = 0; edge < kEdges; ++edge) {
            const Drive drive = random_drive(shape, random, swapped);
            TandemArrayPorts ports = machine.step(drive);
            swapped |= ports.act_valid && ports.act_ready && ports.act_swap;
            spoil(edge, machine, ports);
            if (auto found = oracle.before(edge, ports)) return found;
            if (auto found = oracle.after(edge, ports)) return found;
        }
        return std::nullopt;
    }

    /// The net's bit is shown inverted from edge `from` on; nothing behind it follows.
    std::optional<UnitMismatch> run_with_wrong_bit(const std::string& net, uint32_t bit,
                                                   Cycle from) {
        return run([&](Cycle edge, Machine& machine, TandemArrayPorts&) {
            if (edge >= from) machine.net(net)[bit / 32] ^= 1u << bit % 32;
        });
    }
};

TEST_P(UnitOracleSizes, IsSilentWhenAllUnitsAreRight) {
    const auto found = run([](Cycle, Machine&, TandemArrayPorts&) {});
    EXPECT_FALSE(found) << found->signal << " lane " << found->lane << " edge " << found->cycle;
}

TEST_P(UnitOracleSizes, NamesTheFirstWrongNet) {
    const engine::MxuShape shape = GetParam();
    struct Case {
        const char* net;
        Unit unit;
        uint32_t lanes, lane_bits;
    };
    const Case cases[] = {{"tile_complete", Unit::kWeightLoader, 1, 1},
                          {"tile_partial", Unit::kWeightLoader, 1, 1},
                          {"wgt_fire", Unit::kWeightLoader, 1, 1},
                          {"load", Unit::kWeightLoader, 1, 8},
                          {"load_active", Unit::kControl, 1, 1},
                          {"act_fire", Unit::kControl, 1, 1},
                          {"swap", Unit::kControl, 1, 1},
                          {"rows_active", Unit::kControl, 1, 1},
                          {"swap_active", Unit::kControl, 1, 1},
                          {"act_skewed", Unit::kSkew, shape.rows, 8},
                          {"swap_skewed", Unit::kSkew, shape.rows, 1},
                          {"wgt_skewed", Unit::kSkew, shape.cols, 8},
                          {"load_skewed", Unit::kSkew, shape.rows, 1},
                          {"bottom", Unit::kPe, shape.cols, 32},
                          {"emit", Unit::kControl, 1, 1},
                          {"row", Unit::kSkew, shape.cols, 32},
                          {"wr_valid", Unit::kControl, 1, 1},
                          {"wr_accumulate", Unit::kControl, 1, 1},
                          {"wr_addr", Unit::kControl, 1, 8}};
    for (const Case& c : cases)
        for (uint32_t lane = 0; lane < c.lanes; ++lane) {
            SCOPED_TRACE(testing::Message() << c.net << " lane " << lane);
            const auto found = run_with_wrong_bit(c.net, lane * c.lane_bits + c.lane_bits - 1, 100);
            ASSERT_TRUE(found);
            EXPECT_EQ(to_string(found->unit), std::string(to_string(c.unit)));
            EXPECT_EQ(found->signal, c.net);
            EXPECT_EQ(found->lane, lane);
            EXPECT_GE(found->cycle, 100u);
        }
}

TEST_P(UnitOracleSizes, JudgesNetsThatAreNeverIdleAtEveryEdge) {
    for (const char* net : {"tile_complete", "tile_partial", "act_fire", "swap", "wgt_fire", "load",
                            "emit", "wr_valid", "swap_skewed", "load_skewed"})
        for (Cycle edge = 20; edge < 40; ++edge) {
            const auto found = run_with_wrong_bit(net, 0, edge);
            ASSERT_TRUE(found) << net;
            EXPECT_EQ(found->signal, net);
            EXPECT_EQ(found->cycle, edge) << net;
        }
}

TEST_P(UnitOracleSizes, NamesTheFirstWrongPort) {
    const struct {
        const char* port;
        Unit unit;
        std::function<void(TandemArrayPorts&)> spoil;
    } cases[] = {
        {"wgt_ready_o", Unit::kWeightLoader, [](auto& p) { p.wgt_ready ^= 1; }},
        {"act_ready_o", Unit::kControl, [](auto& p) { p.act_ready ^= 1; }},
        {"rd_ready_o", Unit::kAccumulators, [](auto& p) { p.rd_ready ^= 1; }},
        {"cmt_valid_o", Unit::kAccumulators, [](auto& p) { p.cmt_valid ^= 1; }},
        {"res_valid_o", Unit::kAccumulators, [](auto& p) { p.res_valid ^= 1; }},
        {"busy_o", Unit::kControl, [](auto& p) { p.busy ^= 1; }},
        {"cmt_addr_o", Unit::kAccumulators, [](auto& p) { p.cmt_addr ^= 1; }},
    };
    for (const auto& c : cases) {
        const auto found = run([&](Cycle edge, Machine&, TandemArrayPorts& ports) {
            if (edge >= 100) c.spoil(ports);
        });
        ASSERT_TRUE(found) << c.port;
        EXPECT_EQ(found->unit, c.unit) << c.port;
        EXPECT_EQ(found->signal, c.port);
        if (found->signal != "cmt_addr_o") {
            EXPECT_EQ(found->cycle, 100u) << c.port;
        }
    }
}

TEST_P(UnitOracleSizes, AccumulatorsAnswerForWhatTheyAddAndDeliver) {
    for (const bool read : {false, true}) {
        std::vector<int32_t> wrong;
        const auto found = run([&](Cycle edge, Machine&, TandemArrayPorts& ports) {
            const void*& data = read ? ports.res_data : ports.cmt_data;
            if (edge < 100 || !(read ? ports.res_valid : ports.cmt_valid)) return;
            const auto* right = static_cast<const int32_t*>(data);
            wrong.assign(right, right + GetParam().cols);
            wrong.back() += 1;
            data = wrong.data();
        });
        ASSERT_TRUE(found);
        EXPECT_EQ(found->unit, Unit::kAccumulators);
        EXPECT_EQ(found->signal, read ? "res_data_o" : "cmt_data_o");
        EXPECT_EQ(found->lane, GetParam().cols - 1);
        EXPECT_EQ(found->actual, (found->expected + 1) & 0xffffffff);
    }
}

INSTANTIATE_TEST_SUITE_P(Shapes, UnitOracleSizes,
                         testing::Values(engine::MxuShape{1, 1, 4}, engine::MxuShape{3, 4, 8},
                                         engine::MxuShape{5, 2, 8},
                                         engine::MxuShape{5, 7, 8, arch::Dtype::kInt8, 2},
                                         engine::MxuShape{4, 3, 8, arch::Dtype::kInt8, 4}));

// A wrong net makes everything behind it wrong as well: at one edge the producer is named.
TEST(UnitOracle, NamesTheProducerAmongNetsOfOneEdge) {
    const engine::MxuShape shape{2, 2, 4};
    Machine machine(shape);
    UnitOracle oracle(shape, {}, {});
    oracle.watch(machine.taps());
    Drive in;
    in.wgt_valid = true, in.wgt_data = Bytes(2), in.act_data = Bytes(2);
    const TandemArrayPorts ports = machine.step(in);
    for (const char* net : {"wgt_fire", "load", "load_skewed"}) machine.net(net)[0] ^= 1;
    const auto found = oracle.before(0, ports);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->signal, "wgt_fire");
}

TEST(UnitOracle, KnowsTheTilesOfAReplayThatStartsLate) {
    const engine::MxuShape shape{2, 2, 4};
    Machine machine(shape);
    UnitOracle fresh(shape, {}, {}), loaded(shape, Bytes(4), Bytes(4));
    Drive in;
    in.act_swap = in.act_valid = true, in.act_data = Bytes(2), in.wgt_data = Bytes(2);
    const TandemArrayPorts ports = machine.step(in);
    EXPECT_FALSE(fresh.before(0, ports));
    const auto found = loaded.before(0, ports);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->signal, "wgt_ready_o");
}

TEST(UnitMismatch, SurvivesThePipe) {
    const UnitMismatch sent{Unit::kSkew, "act_skewed", 3, 77, 0x80, 0xffffffffu};
    std::istringstream in(to_text(sent));
    const auto got = parse_unit_mismatch(in);
    ASSERT_TRUE(got);
    EXPECT_EQ(to_text(*got), to_text(sent));
    EXPECT_EQ(got->unit, Unit::kSkew);
    std::istringstream none("");
    EXPECT_FALSE(parse_unit_mismatch(none));
}

TEST(UnitMismatch, AssertionsStandInTheFileOfAUnit) {
    EXPECT_EQ(unit_of_assertion("tpu_weight_loader.sv:57"), Unit::kWeightLoader);
    EXPECT_EQ(unit_of_assertion("../rtl/tpu_mxu_control.sv:99"), Unit::kControl);
    EXPECT_EQ(unit_of_assertion("tpu_accumulators.sv:1"), Unit::kAccumulators);
    EXPECT_EQ(unit_of_assertion("tpu_load_chain.sv:1"), Unit::kSkew);
    EXPECT_FALSE(unit_of_assertion("tree_mxu.sv:12"));
}

}  // namespace
}  // namespace tandem::cosim
