// SPDX-License-Identifier: Apache-2.0
// A Verilated MAC array behind the MxuEngine seam: drives the ports of rtl/README.md edge by edge
// and tells what it saw. Times and values are those of the RTL alone.
//
// Edges at which nothing can happen (array not busy, nothing at its ports that it could accept) are
// skipped, unless a wave is being recorded or a listener follows every edge.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cosim/array_abi.h"
#include "cosim/array_library.h"
#include "cosim/injection.h"
#include "engine/mxu_engine.h"

namespace tandem::cosim {

using engine::Cycle;

/// Hears what happens at the ports. Pointers are valid during the call.
class ArrayListener {
  public:
    virtual ~ArrayListener() = default;
    /// An assertion of the RTL failed; or a port is wrong, which then is named.
    virtual void on_failure(Cycle, const std::string& /*what*/, const char* /*port*/) {}
    virtual void on_commit(Cycle, uint32_t /*address*/, const int32_t* /*row*/) {}

    // Only when it follows every edge; data points to elements of the shape's type.
    virtual void on_weight_row(Cycle, uint32_t /*row*/, const std::byte* /*data*/) {}
    virtual void on_activation_row(Cycle, const std::byte* /*data*/, bool /*swap*/) {}
    /// Right after the step of an edge that is followed; what the inputs point to is still there.
    virtual void on_step(Cycle, const TandemArrayPorts&) {}
    /// After its step, the ports hold what it gave.
    virtual void after_edge(Cycle, const TandemArrayPorts&) {}
};

/// Edges count from the engine's origin.
struct WaveRequest {
    std::string path;
    Cycle from = 0;
    uint64_t period_fs = 1'000'000;
    std::vector<TandemProbe> probes;
    Cycle to = ~Cycle{0};            ///< last edge
    uint64_t most_bytes = ~0ull;     ///< recording ends before the file gets larger
    TandemTraceCall call = nullptr;  ///< for probes that are written at each moment
    void* user = nullptr;            ///< its first argument
};

struct WaveRecord {
    bool any = false;
    Cycle from = 0, to = 0;  ///< from the engine's origin
    bool too_large = false;
    bool failed = false;  ///< the file could not be written
};

class RtlMxuEngine final : public engine::MxuEngine {
  public:
    RtlMxuEngine(engine::MxuShape shape, std::shared_ptr<ArrayLibrary> library);
    ~RtlMxuEngine() override;

    std::string_view name() const override { return "rtl"; }
    engine::MxuShape shape() const override { return shape_; }
    void reset(Cycle cycle) override;
    void push_weights(const engine::WeightTile& tile) override {
        push_weights(tile, engine::share(tile.data, tile.owner));
    }
    void push_rows(const engine::RowBlock& block) override {
        push_rows(block, engine::share(block.data, block.owner));
    }
    /// With data that is shared instead of copied; that of the first argument does not count.
    void push_weights(const engine::WeightTile& tile, engine::SharedData data);
    void push_rows(const engine::RowBlock& block, engine::SharedData data);
    void push_read(const engine::AccumulatorRead& read) override;
    std::optional<engine::MxuEvent> advance(Cycle until) override;
    std::span<const int32_t> read_data() const override { return read_data_; }
    bool busy() const override;

    /// The edge that is 0 in injections, in what is recorded, and on a wave's time axis. It is that
    /// of the reset unless it is awaited; until it is set nothing is flipped or recorded.
    void await_origin() { origin_.reset(); }
    void set_origin(Cycle edge) { origin_ = edge; }
    Cycle origin() const { return origin_.value_or(0); }
    /// It is not awaited any more.
    bool has_origin() const { return origin_.has_value(); }
    /// Flips one register bit, once; activation rows count from here on. Throws UserError when the
    /// array has no such register.
    void inject(const Injection& injection);
    /// The injection with the cycle at which it happened; nothing before that.
    const std::optional<Injection>& injected() const { return injected_; }
    /// Called once, from inside advance(), at a failure().
    void set_on_failure(std::function<void()> call) { on_failure_ = std::move(call); }
    void set_listener(ArrayListener* listener) { listener_ = listener; }
    /// No edge is skipped, and the listener is told of each.
    void follow_every_edge() { every_edge_ = true; }
    /// What failed: file and line of the RTL's assertion, or a text; empty: nothing did.
    const std::string& failure() const { return failure_; }
    /// The failure is one of the RTL's assertions.
    bool assertion_failed() const { return assertion_failed_; }
    /// Stops advance() after the current edge; used by a listener.
    void interrupt() { interrupted_ = true; }
    /// Records an FST from `request.from` on. False when the file could not be opened by then.
    void record(const WaveRequest& request) { wave_ = request; }
    bool wave_open() const { return wave_open_; }
    /// Ends the recording after `edge`, counted from the origin, or forgets one that has not begun
    /// by then.
    void record_until(Cycle edge);
    void close_wave();
    /// For a replay: what was to be recorded is not.
    void forget_wave() { wave_.reset(); }
    /// First and last edge on the last waveform; its end came early because it grew too large.
    const WaveRecord& wave_record() const { return wave_record_; }

    /// Passes over edges before `until` at which nothing can happen. False: the next edge is not
    /// one.
    bool skip_quiet(Cycle until);
    /// One clock edge, whatever is pending.
    void step();
    Cycle edge() const { return edge_; }
    /// Nothing moves inside the array: no row, no weight row on its way down the shadow planes.
    bool quiet() const { return !array_busy_ && edge_ >= loaded_until_; }
    TandemPeRegisters pe(uint32_t row, uint32_t col) const;
    /// From now on these nets hold what stood before the last edge.
    std::span<const TandemTap> watch_nets();
    const TandemArrayInfo& info() const { return library_->info(); }
    /// The functions of the array, for taps.
    const ArrayLibrary& library() const { return *library_; }
    TandemArray* array() const { return array_; }
    /// Tile in use by the PEs and the last complete one in the shadow plane, row 0 first; empty:
    /// none yet.
    std::span<const std::byte> active_tile() const { return tile(active_tile_); }
    std::span<const std::byte> shadow_tile() const { return tile(shadow_tile_); }

  private:
    struct Tile {
        uint64_t id;
        Cycle from;
        engine::SharedData data;
        std::vector<uint32_t> gaps;
        uint32_t rows_done = 0;
    };
    struct Block {
        engine::RowBlock info;
        engine::SharedData data;
        std::vector<uint32_t> gaps;
        uint32_t rows_done = 0;
    };
    struct Read {
        engine::AccumulatorRead info;
        std::vector<uint32_t> holds;
        uint32_t rows_done = 0;
    };
    struct InFlight {
        uint64_t id;
        uint32_t rows;
    };

    std::span<const std::byte> tile(const engine::SharedData& data) const {
        return {data.get(), data == nullptr ? 0 : shape_.tile_bytes()};
    }
    void fail(const std::string& what, const char* port = "");
    void drive();
    void observe();
    void check_busy();
    void accept_beat();
    void accept_row();
    void commit();
    void accept_read();
    void check_held_result();
    void finish_read();
    void pass_empty_work();
    void present_tile();
    void present_block();
    void present_read();
    bool can_skip() const;
    Cycle next_activity() const;
    void apply_injection(Cycle next_edge);
    void on_trace(const TandemArrayPorts& ports, bool rose);
    void open_wave_if_due();
    void close_wave_if_due();
    bool recording() const { return wave_ && (wave_open_ || edge_ >= wave_begin()); }
    /// Of the array, from reset on.
    Cycle wave_begin() const { return origin_ ? wave_->from + *origin_ : ~Cycle{0}; }
    void event(engine::MxuEvent::Kind kind, uint64_t id) { events_.push_back({edge_, kind, id}); }

    const engine::MxuShape shape_;
    const size_t row_bytes_, beat_bytes_;
    std::shared_ptr<ArrayLibrary> library_;
    TandemArray* array_;
    TandemArrayPorts ports_{};
    Cycle edge_ = 0;  ///< next edge
    std::optional<Cycle> origin_ = 0;
    bool array_busy_ = false;
    Cycle loaded_until_ = 0;  ///< the last weight row has rippled through by this edge
    bool interrupted_ = false;
    bool every_edge_ = false;
    std::deque<Tile> tiles_;
    std::deque<Block> blocks_;
    std::deque<Read> reads_;
    // First edges at which the next beat stands at its port, and at which the port is free.
    Cycle beat_from_ = 0, row_from_ = 0, request_from_ = 0;
    Cycle weight_port_free_ = 0, row_port_free_ = 0, read_port_free_ = 0;
    uint32_t holding_ = 0;  ///< edges for which the last result is still not taken
    std::deque<InFlight> in_flight_;
    std::deque<engine::MxuEvent> events_;
    engine::SharedData active_tile_, shadow_tile_;
    std::vector<int32_t> reading_, read_data_;
    std::deque<std::vector<int32_t>> done_reads_;  ///< whose events were not told yet
    uint64_t rows_accepted_ = 0;
    uint64_t rows_inside_ = 0;  ///< accepted and not committed
    std::optional<Injection> injection_, injected_;
    ArrayListener* listener_ = nullptr;
    std::optional<WaveRequest> wave_;
    bool wave_open_ = false;
    WaveRecord wave_record_;
    uint64_t wave_bytes_ = 0,
             wave_growth_ = 0;  ///< of the file: at the last look; most between two
    std::string failure_;
    bool assertion_failed_ = false;
    std::function<void()> on_failure_;
};

}  // namespace tandem::cosim
