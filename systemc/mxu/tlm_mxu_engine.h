// SPDX-License-Identifier: Apache-2.0
// The MAC array at transaction level: values by whole tiles, times from the port contract's
// formulas. It never steps cycles and yet names the edge of every event.
//
//   tile i starts at   max(from, edge of the swap that used tile i-1, plus 1)   and takes `rows`
//   edges block b starts at  max(from, last row of block b-1 plus 1, with swap: last row of the
//   tile plus 1) row m of a block is in its accumulator commit_latency() edges after it entered
//   read r delivers its j-th row at  max(from, last row of read r-1 plus 1) + j * interval
#pragma once

#include <deque>
#include <functional>
#include <queue>
#include <vector>

#include "systemc/mxu/gemm_int8.h"
#include "systemc/mxu/mxu_engine.h"

namespace tandem::mxu {

class TlmMxuEngine final : public MxuEngine {
  public:
    /// What the model knows of a block once its first edge is certain.
    struct BlockResult {
        uint64_t id;
        Cycle first_edge;  ///< at which row 0 entered
        uint32_t acc_addr;
        uint32_t rows;
        std::span<const int32_t>
            sums;  ///< accumulator rows as committed, rows x cols; empty: time only
    };
    using BlockListener = std::function<void(const BlockResult&)>;

    explicit TlmMxuEngine(MxuShape shape);
    /// Told of every block in order, at the latest when its first event comes out.
    void set_block_listener(BlockListener listener) { listener_ = std::move(listener); }

    std::string_view name() const override { return "tlm"; }
    MxuShape shape() const override { return shape_; }
    void reset(Cycle cycle) override;
    void push_weights(const WeightTile& tile) override;
    void push_rows(const RowBlock& block) override;
    void push_read(const AccumulatorRead& read) override;
    std::optional<MxuEvent> advance(Cycle until) override;
    std::span<const int32_t> read_data() const override { return read_data_; }
    bool busy() const override { return !events_.empty() || !tiles_.empty() || !blocks_.empty(); }

  private:
    struct PendingTile {
        uint64_t id;
        Cycle from;
        std::vector<int8_t> data;
    };
    struct PendingBlock {
        RowBlock block;
        std::vector<int8_t> data;
    };
    struct PendingRead {
        uint64_t id;
        uint32_t acc_addr;
        uint32_t rows;
    };

    void resolve();
    bool load_next_tile();
    bool start_next_block();
    void multiply(const PendingBlock& pending);
    void emit(Cycle cycle, MxuEvent::Kind kind, uint64_t id) { events_.push({cycle, kind, id}); }

    const MxuShape shape_;
    BlockListener listener_;
    std::deque<PendingTile> tiles_;
    std::deque<PendingBlock> blocks_;
    std::deque<PendingRead> reads_;
    std::priority_queue<MxuEvent, std::vector<MxuEvent>, std::greater<>> events_;

    Cycle shadow_free_ = 0;   ///< first edge at which the shadow plane takes a row
    Cycle shadow_ready_ = 0;  ///< first edge at which the complete shadow tile can be swapped in
    bool shadow_full_ = false;
    Cycle row_port_free_ = 0;  ///< first edge at which the next activation row can enter
    Cycle read_port_free_ = 0;
    GemmInt8 gemm_;
    std::vector<int8_t> shadow_;
    std::vector<int8_t> weights_;
    std::vector<int32_t> accumulators_;
    std::vector<int32_t> read_data_;
};

}  // namespace tandem::mxu
