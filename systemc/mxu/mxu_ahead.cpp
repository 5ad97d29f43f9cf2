// SPDX-License-Identifier: Apache-2.0
// Loosely timed products: the engine is asked at once for all that follows from what is pushed.
#include <algorithm>

#include "systemc/mxu/mxu.h"

namespace tandem::sim {

std::optional<Performed> Mxu::perform(const Dispatched& instruction, Cycle start) {
    prepare_reader();
    switch (static_cast<isa::Opcode>(isa::opcode_of(instruction.words))) {
        case isa::Opcode::kMatmul:
            return matmul_ahead(instruction, start);
        case isa::Opcode::kSetWindow:
            set_window(instruction);
            return Performed{start, start + 1, start + 1};
        default:
            services_.fail(arch::DeviceError::kBadInstruction, instruction.index);
    }
}

std::optional<Performed> Mxu::matmul_ahead(const Dispatched& instruction, Cycle start) {
    const auto matmul = isa::Matmul::decode(instruction.words);
    check(matmul, instruction.index);
    if (matmul.new_weights != 0) {
        if (tiles_swapped_ == tiles_pushed_) return std::nullopt;
        ++tiles_swapped_;
    }
    set_gaps(matmul.rows);
    count(matmul);
    push_rows(matmul, blocks_pushed_++, start + 1);
    Cycle first = start, committed = start;
    while (const auto event = engine_->advance(engine::MxuEngine::kNever)) {
        if (event->kind == engine::MxuEvent::Kind::kTileLoaded) note_loaded(*event);
        if (event->kind == engine::MxuEvent::Kind::kBlockStarted) first = event->cycle;
        if (event->kind == engine::MxuEvent::Kind::kBlockCommitted) committed = event->cycle;
    }
    account_.charge(Cause::kIdle, start + 1);
    account_.charge(matmul.new_weights != 0 ? Cause::kWaitWeights : Cause::kWaitPort, first);
    account_.charge(Cause::kBusy, first + matmul.rows);
    return Performed{first, first + 1, committed + 1};
}

void Mxu::push_tile_ahead(std::span<const int8_t> data, Cycle from) {
    engine_->push_weights({tiles_pushed_++, from, std::as_bytes(data)});
    while (const auto event = engine_->advance(engine::MxuEngine::kNever)) note_loaded(*event);
}

std::optional<Cycle> Mxu::fifo_room_from(uint32_t tiles) const {
    if (tiles_waiting() >= tiles) return std::nullopt;
    return tiles_pushed_ < tiles ? 0 : loaded_[(tiles_pushed_ - tiles) % loaded_.size()] + 1;
}

Mxu::ReadRows Mxu::read_accumulators_ahead(uint32_t acc_addr, uint32_t rows, uint32_t interval,
                                           uint32_t instruction, Cycle from) {
    check_range(acc_addr, rows, services_.config().mxu.accumulator_rows,
                arch::DeviceError::kAccAddress, instruction);
    engine_->push_read({reads_pushed_++, from, acc_addr, rows, interval});
    return {engine_->advance(engine::MxuEngine::kNever)->cycle, engine_->read_data()};
}

}  // namespace tandem::sim
