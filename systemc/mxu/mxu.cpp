// SPDX-License-Identifier: Apache-2.0
#include "systemc/mxu/mxu.h"

#include <algorithm>

namespace tandem::sim {
namespace {

bool overlap(uint32_t a, uint32_t a_rows, uint32_t b, uint32_t b_rows) {
    return a < b + b_rows && b < a + a_rows;
}

}  // namespace

Mxu::Mxu(sc_core::sc_module_name name, ChipServices& services, UnifiedBuffer& rows_from,
         std::unique_ptr<engine::MxuEngine> engine)
    : Unit(name, isa::Unit::kMxu, services),
      buffer("buffer"),
      rows_from_(rows_from),
      engine_(std::move(engine)),
      loaded_(services.config().mxu.weight_fifo_tiles) {
    SC_HAS_PROCESS(Mxu);
    SC_THREAD(engine_thread);
}

void Mxu::reset() {
    Unit::reset();
    engine_->reset(now() + 1);
    blocks_.clear();
    reads_.clear();
    tiles_pushed_ = tiles_loaded_ = tiles_swapped_ = reads_pushed_ = 0;
    blocks_pushed_ = 0;
    engine_process_.reset();
}

uint64_t Mxu::push_tile(std::span<const int8_t> data) {
    const uint64_t id = tiles_pushed_++;
    engine_->push_weights({id, now() + 1, std::as_bytes(data)});
    input_.notify(sc_core::SC_ZERO_TIME);
    return id;
}

void Mxu::wait_tile_loaded(uint64_t id) {
    while (tiles_loaded_ <= id) sc_core::wait(happened_);
}

void Mxu::read_accumulators(uint32_t acc_addr, uint32_t rows, uint32_t interval,
                            uint32_t instruction, AccumulatorTaker& taker, uint64_t number) {
    check_range(acc_addr, rows, services_.config().mxu.accumulator_rows,
                arch::DeviceError::kAccAddress, instruction);
    for (const Block& block : blocks_)
        if (overlap(acc_addr, rows, block.acc_addr, block.rows))
            services_.fail(arch::DeviceError::kAccHazard, instruction);
    reads_.push_back({acc_addr, rows, &taker, number});
    engine_->push_read({reads_pushed_++, now() + 1, acc_addr, rows, interval});
    input_.notify(sc_core::SC_ZERO_TIME);
}

void Mxu::prepare_reader() {
    if (reader_ == nullptr)
        reader_ =
            std::make_unique<engine::ActivationReader>(buffer.direct(), services_.config().mxu.rows,
                                                       element_bytes(services_.config().mxu.dtype));
}

void Mxu::execute(const Dispatched& instruction) {
    prepare_reader();
    switch (static_cast<isa::Opcode>(isa::opcode_of(instruction.words))) {
        case isa::Opcode::kMatmul:
            matmul(instruction);
            break;
        case isa::Opcode::kSetWindow:
            set_window(instruction);
            wait_until(now() + 1);
            charge(Cause::kIdle);
            break;
        default:
            services_.fail(arch::DeviceError::kBadInstruction, instruction.index);
    }
}

void Mxu::set_window(const Dispatched& instruction) {
    const auto window = isa::SetWindow::decode(instruction.words);
    if (!engine::ActivationReader::valid(window.geometry))
        services_.fail(arch::DeviceError::kBadInstruction, instruction.index);
    reader_->set_geometry(window.geometry);
}

void Mxu::check(const isa::Matmul& matmul, uint32_t index) {
    const auto& shape = services_.config().mxu;
    if (matmul.rows == 0 || matmul.k_len == 0 || matmul.k_len > shape.rows ||
        matmul.n_len > shape.cols || uint64_t{matmul.k_start} + matmul.k_len > reader_->reduction())
        services_.fail(arch::DeviceError::kBadInstruction, index);
    check_range(matmul.acc_addr, matmul.rows, shape.accumulator_rows,
                arch::DeviceError::kAccAddress, index);
    if (!reader_->inside_buffer(matmul)) services_.fail(arch::DeviceError::kUbAddress, index);
    for (const Read& read : reads_)
        if (overlap(matmul.acc_addr, matmul.rows, read.acc_addr, read.rows))
            services_.fail(arch::DeviceError::kAccHazard, index);
}

void Mxu::matmul(const Dispatched& instruction) {
    const auto matmul = isa::Matmul::decode(instruction.words);
    check(matmul, instruction.index);
    PortSchedule& port = rows_from_.read_port;
    // Behind the other arrays whose first row enters in this cycle.
    if (port.limited() && services_.config().mxu.count > 1) sc_core::wait(sc_core::SC_ZERO_TIME);
    set_gaps(matmul.rows);
    const Cycle from = port.free_from(now(), now() + 1);
    const uint64_t id = blocks_pushed_++;
    instruction_of_block_[id % instruction_of_block_.size()] = instruction.index;
    blocks_.push_back(
        {id, matmul.acc_addr, matmul.rows, instruction, from, matmul.new_weights != 0});
    push_rows(matmul, id, from);
    input_.notify(sc_core::SC_ZERO_TIME);
    account_.charge(Cause::kIdle, now() + 1);  // the cycle of the issue
    count(matmul);

    const auto block = [&] {
        return std::find_if(blocks_.begin(), blocks_.end(),
                            [&](const Block& b) { return b.id == id; });
    };
    // With a single row the block may be committed before this process runs again.
    while (block() != blocks_.end() && !block()->started) sc_core::wait(happened_);
}

void Mxu::set_gaps(uint32_t rows) {
    const uint32_t beat = rows_from_.read_port.beat_cycles(services_.config().row_bytes());
    gaps_.clear();
    if (beat == 1) return;
    gaps_.assign(rows, beat - 1);
    gaps_[0] = 0;
}

void Mxu::count(const isa::Matmul& matmul) {
    macs_ += uint64_t{matmul.rows} * matmul.k_len * matmul.n_len;
    rows_streamed_ += matmul.rows;
}

/// The rows are read once and handed over. Apart from matmul(), so that nothing on the stack of its
/// process owns memory while it waits.
void Mxu::push_rows(const isa::Matmul& matmul, uint64_t id, Cycle from) {
    engine::RowBlock block{id,
                           from,
                           matmul.rows,
                           matmul.k_len,
                           matmul.acc_addr,
                           matmul.new_weights != 0,
                           matmul.accumulate != 0,
                           {},
                           gaps_};
    if (services_.functional()) {
        const size_t bytes = matmul.rows * services_.config().row_bytes();
        auto rows = std::make_shared_for_overwrite<std::byte[]>(bytes);
        reader_->read(matmul, rows.get());
        block.data = {rows.get(), bytes};
        block.owner = std::move(rows);
    }
    engine_->push_rows(block);
}

// Lets the engine run as far ahead as nobody else can interfere: what is pushed at the time of the
// next pending activity stands at the array one edge later.
void Mxu::engine_thread() {
    engine_process_ = sc_core::sc_get_current_process_handle();
    const Clock& clock = services_.clock();
    constexpr Cycle kLongest = 1u << 20;
    for (;;) {
        while (!engine_->busy()) sc_core::wait(input_);
        if (const auto next = engine_->next_event()) {
            sleep_until_event(*next);
            continue;
        }
        const Cycle now_cycle = now();
        const sc_core::sc_time pending = sc_core::sc_time_to_pending_activity();
        Cycle until = now_cycle + kLongest;
        if (pending < clock.time_of(until) - sc_core::sc_time_stamp())
            until = clock.at_or_after(sc_core::sc_time_stamp() + pending) + 1;
        until = std::max(until, now_cycle + 1);
        const auto event = engine_->advance(until);
        const Cycle visible = event ? event->cycle + 1 : until;
        if (visible > now_cycle) sc_core::wait(clock.time_of(visible) - sc_core::sc_time_stamp());
        if (event) deliver(*event);
    }
}

/// Accounts for the time before the first row, and takes the port for all of them.
void Mxu::start_block(Block& block, Cycle first_row) {
    const uint64_t row_bytes = services_.config().row_bytes();
    PortSchedule& port = rows_from_.read_port;
    block.started = true;
    block.first_row = first_row;
    account_.charge(Cause::kWaitPort, std::min(block.from, first_row));
    if (block.swap) {
        const Cycle beats =
            engine::timing(engine_->shape()).weight_interval * (services_.config().mxu.rows - 1);
        const Cycle shift_start = tile_loaded_ > beats ? tile_loaded_ - beats : 0;
        account_.charge(Cause::kWaitWeights, std::min(shift_start, first_row));
        account_.charge(Cause::kWaitShift, first_row);
    }
    account_.charge(Cause::kWaitPort, first_row);
    account_.charge(Cause::kBusy, first_row + block.rows);
    account_.charge(Cause::kWaitPort,
                    first_row + uint64_t{block.rows} * port.beat_cycles(row_bytes));
    port.take(now(), first_row, port.beat_bytes(block.rows, row_bytes));
}

/// For an engine that knows when it will tell something: nobody else's activity has to wake it.
void Mxu::sleep_until_event(Cycle next) {
    if (next == engine::MxuEngine::kNever) return sc_core::wait(input_);
    const sc_core::sc_time visible = services_.clock().time_of(next + 1);
    if (visible > sc_core::sc_time_stamp()) {
        sc_core::wait(visible - sc_core::sc_time_stamp(), input_);
        if (visible > sc_core::sc_time_stamp()) return;  // what was pushed may come before
    }
    deliver(*engine_->advance(next + 1));
}

void Mxu::note_loaded(const engine::MxuEvent& event) {
    tiles_loaded_ = event.id + 1;
    tile_loaded_ = event.cycle;
    loaded_[event.id % loaded_.size()] = event.cycle;
}

void Mxu::deliver(const engine::MxuEvent& event) {
    switch (event.kind) {
        case engine::MxuEvent::Kind::kTileLoaded:
            note_loaded(event);
            break;
        case engine::MxuEvent::Kind::kBlockStarted:
            for (Block& block : blocks_)
                if (block.id == event.id) start_block(block, event.cycle);
            break;
        case engine::MxuEvent::Kind::kBlockCommitted: {
            const Block block = blocks_.front();
            blocks_.pop_front();
            retire(block.instruction, block.first_row);
            retire_fences(block.id);
            break;
        }
        case engine::MxuEvent::Kind::kReadDone: {
            const Read read = reads_.front();
            reads_.pop_front();
            read.taker->take_rows(read.number, engine_->read_data());
            break;
        }
    }
    happened_.notify(sc_core::SC_ZERO_TIME);
}

}  // namespace tandem::sim
