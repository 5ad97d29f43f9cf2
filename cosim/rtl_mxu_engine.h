// SPDX-License-Identifier: Apache-2.0
// A Verilated MAC array behind the MxuEngine seam: drives the ports of rtl/README.md edge by edge
// and tells what it saw. Times and values are those of the RTL alone.
//
// Edges at which nothing can happen (array not busy, nothing at its ports that it could accept) are
// skipped, unless a wave is being recorded.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "cosim/array_abi.h"
#include "cosim/array_builder.h"
#include "cosim/injection.h"
#include "systemc/mxu/mxu_engine.h"

namespace tandem::cosim {

using mxu::Cycle;

/// Hears what happens at the ports. Pointers are valid during the call.
class ArrayListener {
  public:
    virtual ~ArrayListener() = default;
    virtual void on_weight_row(Cycle, uint32_t /*row*/, const int8_t* /*data*/) {}
    virtual void on_activation_row(Cycle, uint64_t /*block*/, const int8_t* /*data*/,
                                   bool /*swap*/) {}
    /// An assertion of the RTL failed; `where` is file and line.
    virtual void on_failure(Cycle, const char* /*where*/) {}
    virtual void on_commit(Cycle, uint32_t /*address*/, const int32_t* /*row*/) {}
    /// True: no edge is skipped; before_edge() and after_edge() are called for each.
    virtual bool every_edge() const { return false; }
    virtual void before_edge(Cycle) {}
    virtual void after_edge(Cycle) {}
};

struct WaveRequest {
    std::string path;
    Cycle from = 0;
    uint64_t period_ps = 1000;
    std::vector<TandemProbe> probes;
};

class RtlMxuEngine final : public mxu::MxuEngine {
  public:
    RtlMxuEngine(mxu::MxuShape shape, std::shared_ptr<ArrayLibrary> library);
    ~RtlMxuEngine() override;

    std::string_view name() const override { return "rtl"; }
    mxu::MxuShape shape() const override { return shape_; }
    void reset(Cycle cycle) override;
    void push_weights(const mxu::WeightTile& tile) override;
    void push_rows(const mxu::RowBlock& block) override;
    void push_read(const mxu::AccumulatorRead& read) override;
    std::optional<mxu::MxuEvent> advance(Cycle until) override;
    std::span<const int32_t> read_data() const override { return read_data_; }
    bool busy() const override;

    /// Flips one register bit, once.
    void inject(const Injection& injection) { injection_ = injection; }
    /// The injection with the cycle at which it happened; nothing before that.
    const std::optional<Injection>& injected() const { return injected_; }
    /// Called once, from inside advance(), when an assertion of the RTL fails.
    void set_on_failure(std::function<void()> call) { on_failure_ = std::move(call); }
    void set_listener(ArrayListener* listener) { listener_ = listener; }
    /// File and line of the first assertion of the RTL that failed; empty: none did.
    const std::string& failure() const { return failure_; }
    /// Stops advance() after the current edge; used by a listener.
    void interrupt() { interrupted_ = true; }
    /// Records an FST from `request.from` on. False when the file could not be opened by then.
    void record(const WaveRequest& request) { wave_ = request; }
    bool wave_open() const { return wave_open_; }
    void close_wave();

    /// Passes over edges before `until` at which nothing can happen. False: the next edge is not
    /// one.
    bool skip_quiet(Cycle until);
    /// One clock edge, whatever is pending.
    void step();
    Cycle edge() const { return edge_; }
    /// Nothing moves inside the array: no row, no weight row on its way down the shadow planes.
    bool quiet() const { return !array_busy_ && edge_ >= loaded_until_; }
    TandemArrayState state() const;
    /// Tile in use by the PEs and the last complete one in the shadow plane, row 0 first; empty:
    /// none yet.
    const std::vector<int8_t>& active_tile() const { return active_tile_; }
    const std::vector<int8_t>& shadow_tile() const { return shadow_tile_; }

  private:
    struct Tile {
        uint64_t id;
        Cycle from;
        std::vector<int8_t> data;
        uint32_t rows_done = 0;
    };
    struct Block {
        mxu::RowBlock info;
        std::vector<int8_t> data;
        uint32_t rows_done = 0;
    };
    struct Read {
        mxu::AccumulatorRead info;
        uint32_t rows_done = 0;
        Cycle next = 0;
    };
    struct InFlight {
        uint64_t id;
        uint32_t rows;
    };

    void fail();
    void drive();
    void observe();
    void observe_inputs();
    void observe_outputs();
    bool can_skip() const;
    Cycle next_activity() const;
    void apply_injection();
    void open_wave_if_due();
    void event(mxu::MxuEvent::Kind kind, uint64_t id) { events_.push_back({edge_, kind, id}); }

    const mxu::MxuShape shape_;
    std::shared_ptr<ArrayLibrary> library_;
    TandemArray* array_;
    TandemArrayPorts ports_{};
    Cycle edge_ = 0;  ///< next edge
    bool array_busy_ = false;
    Cycle loaded_until_ = 0;  ///< the last weight row has rippled through by this edge
    bool interrupted_ = false;
    std::deque<Tile> tiles_;
    std::deque<Block> blocks_;
    std::deque<Read> reads_;
    std::deque<InFlight> in_flight_;
    std::deque<mxu::MxuEvent> events_;
    std::vector<int8_t> active_tile_, shadow_tile_;
    std::vector<int32_t> reading_, read_data_;
    uint64_t rows_accepted_ = 0;
    std::optional<Injection> injection_, injected_;
    ArrayListener* listener_ = nullptr;
    std::optional<WaveRequest> wave_;
    bool wave_open_ = false;
    std::string failure_;
    std::function<void()> on_failure_;
};

}  // namespace tandem::cosim
