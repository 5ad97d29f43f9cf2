// SPDX-License-Identifier: Apache-2.0
#include "cosim/rtl_mxu_engine.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace tandem::cosim {

using mxu::MxuEvent;

RtlMxuEngine::RtlMxuEngine(mxu::MxuShape shape, std::shared_ptr<ArrayLibrary> library)
    : shape_(shape), library_(std::move(library)), array_(library_->create()) {
    const TandemArrayInfo& info = library_->info();
    if (info.rows != shape.rows || info.cols != shape.cols ||
        info.acc_depth != shape.accumulator_rows)
        throw std::logic_error("the array does not have the shape of the chip");
    library_->reset(array_);
}

RtlMxuEngine::~RtlMxuEngine() {
    close_wave();
    library_->destroy(array_);
}

void RtlMxuEngine::reset(Cycle cycle) {
    tiles_.clear();
    blocks_.clear();
    reads_.clear();
    in_flight_.clear();
    events_.clear();
    active_tile_.clear();
    shadow_tile_.clear();
    reading_.clear();
    read_data_.clear();
    edge_ = cycle;
    loaded_until_ = cycle;
    array_busy_ = false;
    library_->reset(array_);
}

void RtlMxuEngine::push_weights(const mxu::WeightTile& tile) {
    tiles_.push_back({tile.id, tile.from, {tile.data.begin(), tile.data.end()}});
}

void RtlMxuEngine::push_rows(const mxu::RowBlock& block) {
    blocks_.push_back({block, {block.data.begin(), block.data.end()}});
}

void RtlMxuEngine::push_read(const mxu::AccumulatorRead& read) {
    reads_.push_back({read, 0, read.from});
}

bool RtlMxuEngine::busy() const {
    if (!failure_.empty()) return false;
    return !tiles_.empty() || !blocks_.empty() || !reads_.empty() || !in_flight_.empty() ||
           !events_.empty();
}

std::optional<MxuEvent> RtlMxuEngine::advance(Cycle until) {
    interrupted_ = false;
    while (events_.empty() && edge_ < until && !interrupted_) {
        if (!skip_quiet(until)) step();
    }
    if (!failure_.empty() || events_.empty() || events_.front().cycle >= until) return std::nullopt;
    const MxuEvent event = events_.front();
    events_.pop_front();
    return event;
}

bool RtlMxuEngine::skip_quiet(Cycle until) {
    if (!can_skip()) return false;
    edge_ = std::min(until, next_activity());
    apply_injection();
    return true;
}

/// The first edge at which the array could accept something.
Cycle RtlMxuEngine::next_activity() const {
    const bool tile_complete = !shadow_tile_.empty();
    Cycle next = ~Cycle{0};
    if (!tiles_.empty() && !tile_complete) next = std::min(next, tiles_.front().from);
    if (!blocks_.empty()) {
        const Block& block = blocks_.front();
        const bool waits = block.info.swap && block.rows_done == 0 && !tile_complete;
        if (!waits) next = std::min(next, block.info.from);
    }
    if (!reads_.empty()) next = std::min(next, reads_.front().next);
    return std::max(next, edge_);
}

bool RtlMxuEngine::can_skip() const {
    const bool watched = wave_ || (listener_ != nullptr && listener_->every_edge());
    return quiet() && !watched && next_activity() > edge_;
}

void RtlMxuEngine::step() {
    open_wave_if_due();
    if (listener_ != nullptr && listener_->every_edge()) listener_->before_edge(edge_);
    drive();
    library_->step(array_, &ports_);
    array_busy_ = ports_.busy != 0;
    if (ports_.failure != nullptr) fail();
    observe();
    ++edge_;
    apply_injection();
    if (listener_ != nullptr && listener_->every_edge()) listener_->after_edge(edge_ - 1);
}

/// What an array does after a failed assertion means nothing: the engine tells no more events.
void RtlMxuEngine::fail() {
    if (!failure_.empty()) return;
    failure_ = ports_.failure;
    interrupted_ = true;
    if (listener_ != nullptr) listener_->on_failure(edge_, ports_.failure);
    if (on_failure_) on_failure_();
}

void RtlMxuEngine::drive() {
    ports_.wgt_valid = !tiles_.empty() && tiles_.front().from <= edge_;
    if (ports_.wgt_valid) {
        const Tile& tile = tiles_.front();
        ports_.wgt_data = tile.data.data() + size_t{shape_.rows - 1 - tile.rows_done} * shape_.cols;
    }
    ports_.act_valid = !blocks_.empty() && blocks_.front().info.from <= edge_;
    if (ports_.act_valid) {
        const Block& block = blocks_.front();
        ports_.act_data = block.data.data() + size_t{block.rows_done} * shape_.rows;
        ports_.act_addr = block.info.acc_addr + block.rows_done;
        ports_.act_swap = block.info.swap && block.rows_done == 0;
        ports_.act_accumulate = block.info.accumulate;
    }
    ports_.rd_valid = !reads_.empty() && reads_.front().next <= edge_;
    if (ports_.rd_valid) ports_.rd_addr = reads_.front().info.acc_addr + reads_.front().rows_done;
    ports_.res_ready = 1;
}

void RtlMxuEngine::observe() {
    const size_t first = events_.size();
    observe_inputs();
    observe_outputs();
    std::sort(events_.begin() + static_cast<ptrdiff_t>(first), events_.end());
}

void RtlMxuEngine::observe_inputs() {
    if (ports_.wgt_valid && ports_.wgt_ready) {
        loaded_until_ = edge_ + shape_.rows + shape_.cols;
        Tile& tile = tiles_.front();
        const uint32_t row = shape_.rows - 1 - tile.rows_done;
        if (listener_ != nullptr)
            listener_->on_weight_row(edge_, row, tile.data.data() + size_t{row} * shape_.cols);
        if (++tile.rows_done == shape_.rows) {
            event(MxuEvent::Kind::kTileLoaded, tile.id);
            shadow_tile_ = std::move(tile.data);
            tiles_.pop_front();
        }
    }
    if (ports_.act_valid && ports_.act_ready) {
        Block& block = blocks_.front();
        if (listener_ != nullptr)
            listener_->on_activation_row(edge_, block.info.id,
                                         static_cast<const int8_t*>(ports_.act_data),
                                         ports_.act_swap != 0);
        if (ports_.act_swap) active_tile_ = std::exchange(shadow_tile_, {});
        if (block.rows_done == 0) {
            event(MxuEvent::Kind::kBlockStarted, block.info.id);
            in_flight_.push_back({block.info.id, block.info.rows});
        }
        if (injection_ && injection_->at_row == rows_accepted_) {
            // In the PE's register when this row is there; a partial sum is one edge behind.
            injection_->cycle = edge_ + injection_->pe_row + injection_->pe_col +
                                (injection_->which == PeRegister::kPsum ? 1 : 0);
            injection_->at_row.reset();
        }
        ++rows_accepted_;
        if (++block.rows_done == block.info.rows) blocks_.pop_front();
    }
}

void RtlMxuEngine::observe_outputs() {
    if (ports_.cmt_valid) {
        if (listener_ != nullptr)
            listener_->on_commit(edge_, ports_.cmt_addr,
                                 static_cast<const int32_t*>(ports_.cmt_data));
        if (!in_flight_.empty() && --in_flight_.front().rows == 0) {
            event(MxuEvent::Kind::kBlockCommitted, in_flight_.front().id);
            in_flight_.pop_front();
        }
    }
    if (ports_.rd_valid && ports_.rd_ready) {
        Read& read = reads_.front();
        const auto* row = static_cast<const int32_t*>(ports_.res_data);
        reading_.insert(reading_.end(), row, row + shape_.cols);
        read.next = edge_ + read.info.interval;
        if (++read.rows_done == read.info.rows) {
            event(MxuEvent::Kind::kReadDone, read.info.id);
            read_data_ = std::exchange(reading_, {});
            const Cycle free = edge_ + 1;
            reads_.pop_front();
            if (!reads_.empty()) reads_.front().next = std::max(reads_.front().info.from, free);
        }
    }
}

TandemArrayState RtlMxuEngine::state() const {
    TandemArrayState state{};
    library_->state(array_, &state);
    return state;
}

void RtlMxuEngine::apply_injection() {
    if (!injection_ || injection_->at_row || edge_ <= injection_->cycle) return;
    const TandemArrayState state = this->state();
    const size_t index = size_t{shape_.rows - 1 - injection_->pe_row} * shape_.cols +
                         (shape_.cols - 1 - injection_->pe_col);
    void* plane = nullptr;
    uint32_t bytes = 0;
    switch (injection_->which) {
        case PeRegister::kActivation:
            plane = state.activation, bytes = state.activation_bytes;
            break;
        case PeRegister::kWeight:
            plane = state.weight, bytes = state.weight_bytes;
            break;
        case PeRegister::kShadow:
            plane = state.shadow, bytes = state.weight_bytes;
            break;
        case PeRegister::kPsum:
            plane = state.psum, bytes = state.psum_bytes;
            break;
    }
    static_cast<uint8_t*>(plane)[index * bytes + injection_->bit / 8] ^=
        static_cast<uint8_t>(1u << (injection_->bit % 8));
    injected_ = injection_;
    injection_.reset();
}

void RtlMxuEngine::open_wave_if_due() {
    if (!wave_ || wave_open_ || edge_ < wave_->from) return;
    wave_open_ = library_->trace_open(array_, wave_->path.c_str(), edge_, wave_->period_ps,
                                      wave_->probes.data(), wave_->probes.size()) == 0;
    if (!wave_open_) wave_.reset();
}

void RtlMxuEngine::close_wave() {
    if (!wave_open_) return;
    library_->trace_close(array_);
    wave_open_ = false;
    wave_.reset();
}

}  // namespace tandem::cosim
