// SPDX-License-Identifier: Apache-2.0
// The MAC array at transaction level: values by whole tiles, times from the port contract's
// formulas (timing() of the shape). It never steps cycles and yet names the edge of every event.
//
//   a beat is accepted at the later of two edges: the one from which it stands at the port, and the
//     first one at which the array is ready for it
//   beat i of a tile     ready weight_interval edges after beat i-1; beat 0 after the swap that
//   used
//                        the tile before it
//   row m of a block     always ready, but a swap weight_latency edges after the tile's last beat
//   a row's commit       commit_latency edges after its acceptance
//   request j of a read  ready 1 + hold edges after request j-1
#pragma once

#include <deque>
#include <functional>
#include <queue>
#include <vector>

#include "engine/gemm_bf16.h"
#include "engine/gemm_int8.h"
#include "engine/mxu_engine.h"

namespace tandem::engine {

class TlmMxuEngine : public MxuEngine {
  public:
    /// What the model says of a block.
    struct BlockResult {
        uint64_t id;
        uint32_t acc_addr;
        uint32_t rows;
        Cycle first_edge;              ///< at which row 0 is accepted
        std::span<const Cycle> edges;  ///< of all rows; empty: one after another
        std::span<const int32_t>
            sums;  ///< accumulator rows as committed, rows x cols; empty: time only
        Cycle edge(uint32_t row) const { return edges.empty() ? first_edge + row : edges[row]; }
    };
    using BlockListener = std::function<void(const BlockResult&)>;

    explicit TlmMxuEngine(MxuShape shape);
    /// Told of every block that has rows, in order, before its last commit comes out.
    void set_block_listener(BlockListener listener) { listener_ = std::move(listener); }
    /// The next block in order, as soon as its first edge is certain: computes what its rows get in
    /// the accumulators. Valid until the next call of a function that is not const. Null: there is
    /// none. Blocks that nobody asks for are computed when they are committed.
    const BlockResult* next_block();

    std::string_view name() const override { return "tlm"; }
    MxuShape shape() const override { return shape_; }
    void reset(Cycle cycle) override;
    void push_weights(const WeightTile& tile) override {
        push_weights(tile, share(tile.data, tile.owner));
    }
    void push_rows(const RowBlock& block) override {
        push_rows(block, share(block.data, block.owner));
    }
    /// With data that is shared instead of copied; that of the first argument does not count.
    void push_weights(const WeightTile& tile, SharedData data);
    void push_rows(const RowBlock& block, SharedData data);
    void push_read(const AccumulatorRead& read) override;
    std::optional<MxuEvent> advance(Cycle until) override;
    std::optional<Cycle> next_event() const override {
        return events_.empty() ? kNever : events_.top().cycle;
    }
    std::span<const int32_t> read_data() const override { return read_data_; }
    bool busy() const override { return !events_.empty() || !tiles_.empty() || !blocks_.empty(); }

  private:
    struct PendingTile {
        uint64_t id;
        Cycle from;
        SharedData data;
        std::vector<uint32_t> gaps;
    };
    struct PendingBlock {
        RowBlock block;
        SharedData data;
        std::vector<uint32_t> gaps;
    };
    /// Its edges are certain, its values are not computed yet.
    struct TimedBlock {
        RowBlock block;
        SharedData data, weights;
        uint64_t tile;  ///< number of the weights, from 1
        Cycle first_edge;
        std::vector<Cycle> edges;
    };
    struct PendingRead {
        uint64_t id;
        uint32_t acc_addr;
        uint32_t rows;
    };

    void resolve();
    bool load_next_tile();
    bool start_next_block();
    Cycle last_beat(const PendingTile& tile) const;
    void start_rows(PendingBlock& pending);
    void multiply(const TimedBlock& timed);
    void emit(Cycle cycle, MxuEvent::Kind kind, uint64_t id) { events_.push({cycle, kind, id}); }
    size_t element(uint32_t accumulator_row) const { return size_t{accumulator_row} * shape_.cols; }

    const MxuShape shape_;
    const MxuTiming timing_;
    BlockListener listener_;
    std::deque<PendingTile> tiles_;
    std::deque<PendingBlock> blocks_;
    std::deque<TimedBlock> timed_;
    std::deque<PendingRead> reads_;
    std::priority_queue<MxuEvent, std::vector<MxuEvent>, std::greater<>> events_;

    // First edges at which a beat can stand at its port, or is taken there.
    Cycle weight_port_free_ = 0, weight_ready_ = 0;
    Cycle swap_ready_ = 0;
    Cycle row_port_free_ = 0;
    Cycle read_port_free_ = 0;
    Cycle last_commit_ = 0;
    bool shadow_full_ = false;
    SharedData shadow_, weights_;
    uint64_t tiles_used_ = 0;  ///< since construction; a product packs a tile once
    GemmInt8 gemm_int8_;
    GemmBf16 gemm_bf16_;
    std::vector<int32_t> accumulators_;
    TimedBlock computed_{};  ///< whose result was told last
    BlockResult result_{};
    std::span<const int32_t> read_data_;
};

}  // namespace tandem::engine
