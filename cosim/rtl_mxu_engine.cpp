// SPDX-License-Identifier: Apache-2.0
#include "cosim/rtl_mxu_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "base/error.h"

namespace tandem::cosim {

using engine::MxuEvent;

namespace {

uint32_t at(const std::vector<uint32_t>& waits, uint32_t index) {
    return index < waits.size() ? waits[index] : 0;
}

bool fits(const TandemArrayInfo& info, const engine::MxuShape& shape) {
    // Another array need not know our parameters.
    const bool ours = info.form != std::string_view("other");
    return info.rows == shape.rows && info.cols == shape.cols &&
           info.acc_depth == shape.accumulator_rows && info.dtype == to_string(shape.dtype) &&
           (!ours || (info.pipeline == shape.pipeline && (info.sum4 != 0) == shape.sum4));
}

}  // namespace

RtlMxuEngine::RtlMxuEngine(engine::MxuShape shape, std::shared_ptr<ArrayLibrary> library)
    : shape_(shape),
      row_bytes_(shape.row_bytes()),
      beat_bytes_(shape.beat_bytes()),
      library_(std::move(library)) {
    if (!fits(library_->info(), shape))
        throw std::logic_error("the array does not have the shape of the chip");
    array_ = library_->create();
    library_->reset(array_);
}

RtlMxuEngine::~RtlMxuEngine() {
    close_wave();
    library_->destroy(array_);
}

void RtlMxuEngine::reset(Cycle cycle) {
    if (cycle != edge_) close_wave();  // its edges would have other numbers
    tiles_.clear();
    blocks_.clear();
    reads_.clear();
    in_flight_.clear();
    events_.clear();
    active_tile_ = shadow_tile_ = nullptr;
    reading_.clear();
    done_reads_.clear();
    read_data_.clear();
    edge_ = cycle;
    weight_port_free_ = row_port_free_ = read_port_free_ = cycle;
    holding_ = 0;
    loaded_until_ = cycle;
    rows_inside_ = 0;
    array_busy_ = false;
    library_->reset(array_);
}

void RtlMxuEngine::push_weights(const engine::WeightTile& tile, engine::SharedData data) {
    tiles_.push_back({tile.id, tile.from, std::move(data), {tile.gaps.begin(), tile.gaps.end()}});
    if (tiles_.size() == 1) present_tile();
}

void RtlMxuEngine::push_rows(const engine::RowBlock& block, engine::SharedData data) {
    blocks_.push_back({block, std::move(data), {block.gaps.begin(), block.gaps.end()}});
    if (blocks_.size() == 1) present_block();
}

void RtlMxuEngine::push_read(const engine::AccumulatorRead& read) {
    reads_.push_back({read, {read.holds.begin(), read.holds.end()}});
    if (reads_.size() == 1) present_read();
}

void RtlMxuEngine::present_tile() {
    if (tiles_.empty()) return;
    const Tile& tile = tiles_.front();
    beat_from_ = std::max(tile.from, weight_port_free_) + at(tile.gaps, 0);
}

void RtlMxuEngine::present_block() {
    if (blocks_.empty()) return;
    const Block& block = blocks_.front();
    row_from_ = std::max(block.info.from, row_port_free_) + at(block.gaps, 0);
}

void RtlMxuEngine::present_read() {
    if (!reads_.empty()) request_from_ = std::max(reads_.front().info.from, read_port_free_);
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
    if (event.kind == MxuEvent::Kind::kReadDone) {
        read_data_ = std::move(done_reads_.front());
        done_reads_.pop_front();
    }
    return event;
}

bool RtlMxuEngine::skip_quiet(Cycle until) {
    if (!can_skip()) return false;
    edge_ = std::min(until, next_activity());
    if (injection_) apply_injection(edge_);
    return true;
}

/// The first edge at which the array could accept something.
Cycle RtlMxuEngine::next_activity() const {
    const bool tile_complete = shadow_tile_ != nullptr;
    Cycle next = wave_ ? wave_begin() : ~Cycle{0};
    if (!tiles_.empty() && !tile_complete) next = std::min(next, beat_from_);
    if (!blocks_.empty()) {
        const Block& block = blocks_.front();
        const bool waits = block.info.swap && block.rows_done == 0 && !tile_complete;
        if (!waits) next = std::min(next, row_from_);
    }
    if (!reads_.empty()) next = std::min(next, request_from_);
    return std::max(next, edge_);
}

/// Of another array nobody knows whether it rests while nothing happens at its ports.
bool RtlMxuEngine::can_skip() const {
    if (info().form == std::string_view("other")) return false;
    return quiet() && holding_ == 0 && !recording() && !every_edge_ && next_activity() > edge_;
}

void RtlMxuEngine::step() {
    open_wave_if_due();
    const size_t known = events_.size();
    pass_empty_work();
    drive();
    library_->step(array_, &ports_);
    array_busy_ = ports_.busy != 0;
    if (ports_.failure != nullptr) {
        if (failure_.empty()) assertion_failed_ = true;
        fail(ports_.failure);
    }
    if (every_edge_ && listener_ != nullptr) listener_->on_step(edge_, ports_);
    observe();
    check_busy();
    if (events_.size() > known + 1)
        std::sort(events_.begin() + static_cast<ptrdiff_t>(known), events_.end());
    ++edge_;
    if (injection_) apply_injection(edge_);
    if (every_edge_ && listener_ != nullptr) listener_->after_edge(edge_ - 1, ports_);
}

/// What an array does after a failed assertion means nothing: the engine tells no more events.
void RtlMxuEngine::fail(const std::string& what, const char* port) {
    if (!failure_.empty()) return;
    failure_ = what;
    interrupted_ = true;
    if (listener_ != nullptr) listener_->on_failure(edge_, failure_, port);
    if (on_failure_) on_failure_();
}

/// Only a wrong busy_o that is low could be felt otherwise, and not always.
void RtlMxuEngine::check_busy() {
    const bool tile_open = !tiles_.empty() && tiles_.front().rows_done != 0;
    if (array_busy_ != (rows_inside_ != 0 || tile_open))
        fail(array_busy_ ? "busy_o without a row or an open tile inside"
                         : "busy_o is low with a row or an open tile inside",
             "busy_o");
}

/// Blocks and reads without rows that are due: they take no edge of a port.
void RtlMxuEngine::pass_empty_work() {
    while (!blocks_.empty() && blocks_.front().info.rows == 0 && row_from_ <= edge_) {
        const uint64_t id = blocks_.front().info.id;
        event(MxuEvent::Kind::kBlockStarted, id);
        if (in_flight_.empty())
            event(MxuEvent::Kind::kBlockCommitted, id);
        else
            in_flight_.push_back({id, 0});
        blocks_.pop_front();
        present_block();
    }
    while (!reads_.empty() && reads_.front().info.rows == 0 && request_from_ <= edge_)
        finish_read();
}

void RtlMxuEngine::drive() {
    ports_.wgt_valid = !tiles_.empty() && beat_from_ <= edge_;
    if (ports_.wgt_valid) {
        const Tile& tile = tiles_.front();
        ports_.wgt_data = tile.data.get() + (shape_.rows - 1 - tile.rows_done) * beat_bytes_;
    }
    ports_.act_valid = !blocks_.empty() && row_from_ <= edge_;
    if (ports_.act_valid) {
        const Block& block = blocks_.front();
        ports_.act_data = block.data.get() + block.rows_done * row_bytes_;
        ports_.act_addr = block.info.acc_addr + block.rows_done;
        ports_.act_swap = block.info.swap && block.rows_done == 0;
        ports_.act_accumulate = block.info.accumulate;
    }
    // A request stands there even while the result of the last one waits: the array must refuse it.
    ports_.rd_valid = !reads_.empty() && request_from_ <= edge_ &&
                      reads_.front().rows_done < reads_.front().info.rows;
    if (ports_.rd_valid) ports_.rd_addr = reads_.front().info.acc_addr + reads_.front().rows_done;
    ports_.res_ready = holding_ == 0;
}

void RtlMxuEngine::observe() {
    if (ports_.wgt_valid && ports_.wgt_ready) accept_beat();
    if (ports_.act_valid && ports_.act_ready) accept_row();
    if (ports_.cmt_valid) commit();
    if (ports_.rd_valid && ports_.rd_ready)
        accept_read();
    else if (holding_ != 0)
        check_held_result();
}

void RtlMxuEngine::accept_beat() {
    loaded_until_ =
        edge_ + std::max<Cycle>(Cycle{shape_.rows} + shape_.cols, timing(shape_).weight_latency);
    Tile& tile = tiles_.front();
    if (every_edge_ && listener_ != nullptr)
        listener_->on_weight_row(edge_, shape_.rows - 1 - tile.rows_done,
                                 static_cast<const std::byte*>(ports_.wgt_data));
    weight_port_free_ = edge_ + 1;
    if (++tile.rows_done < shape_.rows) {
        beat_from_ = weight_port_free_ + at(tile.gaps, tile.rows_done);
        return;
    }
    event(MxuEvent::Kind::kTileLoaded, tile.id);
    shadow_tile_ = std::move(tile.data);
    tiles_.pop_front();
    present_tile();
}

void RtlMxuEngine::accept_row() {
    Block& block = blocks_.front();
    if (every_edge_ && listener_ != nullptr)
        listener_->on_activation_row(edge_, static_cast<const std::byte*>(ports_.act_data),
                                     ports_.act_swap != 0);
    if (ports_.act_swap) active_tile_ = std::exchange(shadow_tile_, {});
    if (block.rows_done == 0) {
        event(MxuEvent::Kind::kBlockStarted, block.info.id);
        in_flight_.push_back({block.info.id, block.info.rows});
    }
    if (injection_ && injection_->at_row == rows_accepted_) {
        // In the PE's register when this row is there; a partial sum is one edge behind.
        injection_->cycle = edge_ - origin() + shape_.row_delay(injection_->pe_row) +
                            shape_.col_delay(injection_->pe_col) +
                            (injection_->which == PeRegister::kPsum ? 1 : 0);
        injection_->at_row.reset();
    }
    ++rows_accepted_;
    ++rows_inside_;
    row_port_free_ = edge_ + 1;
    if (++block.rows_done < block.info.rows) {
        row_from_ = row_port_free_ + at(block.gaps, block.rows_done);
        return;
    }
    blocks_.pop_front();
    present_block();
}

void RtlMxuEngine::commit() {
    if (listener_ != nullptr)
        listener_->on_commit(edge_, ports_.cmt_addr, static_cast<const int32_t*>(ports_.cmt_data));
    if (rows_inside_ != 0) --rows_inside_;
    if (in_flight_.empty() || --in_flight_.front().rows != 0) return;
    do {  // and blocks without rows behind it
        event(MxuEvent::Kind::kBlockCommitted, in_flight_.front().id);
        in_flight_.pop_front();
    } while (!in_flight_.empty() && in_flight_.front().rows == 0);
}

void RtlMxuEngine::accept_read() {
    Read& read = reads_.front();
    if (!ports_.res_valid)
        fail("no result after an accepted read request (res_valid_o)", "res_valid_o");
    if (read.rows_done == 0) reading_.reserve(size_t{read.info.rows} * shape_.cols);
    const auto* row = static_cast<const int32_t*>(ports_.res_data);
    reading_.insert(reading_.end(), row, row + shape_.cols);
    request_from_ = edge_ + read.info.interval;
    holding_ = at(read.holds, read.rows_done);
    if (++read.rows_done == read.info.rows && holding_ == 0) finish_read();
}

void RtlMxuEngine::check_held_result() {
    if (!ports_.res_valid)
        fail("a result went away before it was taken (res_valid_o)", "res_valid_o");
    else if (std::memcmp(ports_.res_data, reading_.data() + reading_.size() - shape_.cols,
                         shape_.cols * sizeof(int32_t)) != 0)
        fail("a result changed before it was taken (res_data_o)", "res_data_o");
    const Read& read = reads_.front();
    if (--holding_ == 0 && read.rows_done == read.info.rows) finish_read();
}

void RtlMxuEngine::finish_read() {
    const engine::AccumulatorRead& info = reads_.front().info;
    event(MxuEvent::Kind::kReadDone, info.id);
    if (info.rows != 0) read_port_free_ = edge_ + 1;
    done_reads_.push_back(std::exchange(reading_, {}));
    reads_.pop_front();
    present_read();
}

}  // namespace tandem::cosim
