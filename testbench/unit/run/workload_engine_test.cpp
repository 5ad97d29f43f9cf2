// SPDX-License-Identifier: Apache-2.0
// The arrays inside a run of a random workload: what is pushed into them and what they tell is
// written down, and every edge is worked out again from the rules of docs/timing.md. One simulation
// per process.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/error.h"
#include "compiler/stream.h"
#include "engine/tlm_mxu_engine.h"
#include "run/graph_run.h"
#include "run/system.h"
#include "testbench/unit/run/random_workload.h"

namespace tandem::run {
namespace {

using engine::Cycle;
using Kind = engine::MxuEvent::Kind;

struct Record {
    struct Rows {
        Cycle from;
        uint32_t rows, every;  ///< a row every so many cycles
        bool swap;
    };
    struct Read {
        Cycle from;
        uint32_t rows, interval;
    };
    std::vector<Cycle> tiles;  ///< from when on they stand at the port
    std::vector<Rows> blocks;
    std::vector<Read> reads;
    std::map<Kind, std::vector<Cycle>> events;
};

class RecordingEngine final : public engine::MxuEngine {
  public:
    RecordingEngine(const engine::MxuShape& shape, Record& record)
        : engine_(shape), record_(record) {}

    std::string_view name() const override { return "recording"; }
    engine::MxuShape shape() const override { return engine_.shape(); }
    void reset(Cycle cycle) override { engine_.reset(cycle); }
    void push_weights(const engine::WeightTile& tile) override {
        record_.tiles.push_back(tile.from);
        engine_.push_weights(tile);
    }
    void push_rows(const engine::RowBlock& block) override {
        const uint32_t gap = block.gaps.size() < 2 ? 0 : block.gaps[1];
        record_.blocks.push_back({block.from, block.rows, 1 + gap, block.swap});
        engine_.push_rows(block);
    }
    void push_read(const engine::AccumulatorRead& read) override {
        record_.reads.push_back({read.from, read.rows, read.interval});
        engine_.push_read(read);
    }
    std::optional<engine::MxuEvent> advance(Cycle until) override {
        const auto event = engine_.advance(until);
        if (event) record_.events[event->kind].push_back(event->cycle);
        return event;
    }
    std::optional<Cycle> next_event() const override { return engine_.next_event(); }
    std::span<const int32_t> read_data() const override { return engine_.read_data(); }
    bool busy() const override { return engine_.busy(); }

  private:
    engine::TlmMxuEngine engine_;
    Record& record_;
};

/// Cycles in which matmuls ended, in order.
struct MatmulEnds : sim::ChipObserver {
    std::vector<Cycle> starts, ends;
    void on_retire(isa::Unit unit, uint32_t, Cycle start, Cycle end) override {
        if (unit != isa::Unit::kMxu || end == start + 1) return;  // set_window
        starts.push_back(start);
        ends.push_back(end);
    }
};

void expect_rules(const Record& record, const arch::ChipConfig::Mxu& mxu) {
    std::vector<Cycle> loaded, started, committed, read_done;
    Cycle next_row = 0, next_load = 0;
    size_t tile = 0;
    for (const auto& block : record.blocks) {
        Cycle start = std::max(block.from, next_row);
        if (block.swap) {
            ASSERT_LT(tile, record.tiles.size()) << "a block without a tile";
            loaded.push_back(std::max(record.tiles[tile++], next_load) + mxu.rows - 1);
            start = std::max(start, loaded.back() + 1);
            next_load = start + 1;
        }
        const Cycle last = start + Cycle{block.rows - 1} * block.every;
        started.push_back(start);
        committed.push_back(last + mxu.rows + mxu.cols + 1);
        next_row = last + 1;
    }
    Cycle next_read = 0;
    for (const auto& read : record.reads) {
        const Cycle first = std::max(read.from, next_read);
        read_done.push_back(first + Cycle{read.rows - 1} * read.interval);
        next_read = read_done.back() + 1;
    }
    ASSERT_EQ(tile, record.tiles.size()) << "tiles without a block";
    const auto events = [&](Kind kind) {
        const auto at = record.events.find(kind);
        return at == record.events.end() ? std::vector<Cycle>{} : at->second;
    };
    EXPECT_EQ(events(Kind::kTileLoaded), loaded);
    EXPECT_EQ(events(Kind::kBlockStarted), started);
    EXPECT_EQ(events(Kind::kBlockCommitted), committed);
    EXPECT_EQ(events(Kind::kReadDone), read_done);
}

class WorkloadEngine : public testing::TestWithParam<uint64_t> {};

TEST_P(WorkloadEngine, EventsObeyTheRules) {
    testbench::RandomRun run = testbench::random_run(GetParam());
    run.chip.cores = 1;
    run.chip.unified_buffer_bytes += 1 << 14;
    const engine::MxuShape shape{run.chip.mxu.rows, run.chip.mxu.cols,
                                 run.chip.mxu.accumulator_rows, run.chip.mxu.dtype};
    std::vector<Record> records(run.chip.mxu.count);
    run::SystemOptions options;
    options.functional = false;
    options.make_engine = [&](uint32_t, uint32_t array) -> std::unique_ptr<engine::MxuEngine> {
        return std::make_unique<RecordingEngine>(shape, records.at(array));
    };
    run::System system(run.chip, options);
    sim::TpuChip& chip = system.chip();
    MatmulEnds ends;
    chip.services().set_observer(&ends);
    compiler::StreamedProgram program(
        compiler::plan_graph(graph_of(run.workload, run::element_type_of(run.chip)), run.chip, {}));
    std::optional<sim::ProgramError> error;
    sc_core::sc_spawn([&] {
        error = chip.sequencer().run({.address = 0,
                                      .instructions = ~uint64_t{0},
                                      .args = {compiler::kStreamDataBase, 0, 0},
                                      .source = &program.core(0)});
        sc_core::sc_stop();
    });
    sc_core::sc_start();
    ASSERT_FALSE(error);
    std::multiset<Cycle> committed, started;
    for (const Record& record : records) {
        expect_rules(record, run.chip.mxu);
        for (const auto& [kind, cycles] : record.events)
            for (const Cycle cycle : cycles) {
                if (kind == Kind::kBlockCommitted) committed.insert(cycle + 1);
                if (kind == Kind::kBlockStarted) started.insert(cycle);
            }
    }
    // The observer hears of every matmul: its first row, and one cycle behind its last commit.
    EXPECT_EQ(std::multiset<Cycle>(ends.ends.begin(), ends.ends.end()), committed);
    EXPECT_EQ(std::multiset<Cycle>(ends.starts.begin(), ends.starts.end()), started);
}

INSTANTIATE_TEST_SUITE_P(Seeds, WorkloadEngine, testing::Range(uint64_t{0}, uint64_t{40}));

}  // namespace
}  // namespace tandem::run
