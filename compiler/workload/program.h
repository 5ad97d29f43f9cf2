// SPDX-License-Identifier: Apache-2.0
// A planned workload as a program for one core, made while it runs, a wave at a time. Only its time
// means anything: addresses are those of whole layers, and no data belong to it.
//
// Arguments: s1 is the address of the weights in device memory, s2 of what goes through it, s3 a
// host address.
//
// A block is the product of some rows and one column tile over all K tiles. Blocks go to the arrays
// in turns, one each in a wave; half of an array's accumulators is drained while the other half is
// filled. Between layers the sequencer waits for what the layer before wrote; with `layer_sync` it
// does so before it issues anything of the next layer, else the first weights are asked for before.
#pragma once

#include <deque>
#include <functional>
#include <vector>

#include "arch/chip_config.h"
#include "arch/program_source.h"
#include "compiler/workload/plan.h"
#include "workload/workload.h"

namespace tandem::compiler {

class WorkloadProgram final : public arch::ProgramSource {
  public:
    /// A layer is finished when this instruction is.
    struct Mark {
        uint32_t layer;
        uint64_t instruction;
    };

    /// `workload` and `chip` must outlive the program.
    WorkloadProgram(const workload::Workload& workload, const arch::ChipConfig& chip,
                    WorkloadPlan plan);

    size_t next(std::span<isa::Words> words) override;
    /// Told whenever the instructions of a wave of blocks have been made.
    void set_on_wave(std::function<void()> listener) { on_wave_ = std::move(listener); }
    /// Waves of the whole program, about.
    uint64_t waves() const;
    const WorkloadPlan& plan() const { return plan_; }
    /// Of the layers whose instructions have been made, in order.
    const std::vector<Mark>& marks() const { return marks_; }

  private:
    struct Block {
        uint32_t array;
        uint64_t column_tile, row_block;
        uint32_t rows, cols;
    };
    using Wave = std::vector<Block>;

    /// Makes more instructions; false at the end.
    bool advance();
    void begin_run();
    void await_layer();
    void begin_chunk();
    void end_chunk();
    void end_run();
    void elementwise();
    void add(uint64_t elements, const isa::Header& header);
    void pool(uint64_t elements, const isa::Header& header);

    Wave wave_at(uint64_t index) const;
    void fetch(const Wave& wave);
    void multiply(const Wave& wave);
    void multiply(const Block& block, uint64_t k_tile, uint64_t pass, uint8_t signal = 0);
    void drain(const Wave& wave);
    void activate(const Block& block, uint64_t pass);
    bool loads_tiles(const Block& block) const;
    uint64_t row_blocks(uint64_t chunk) const;

    // With an input that comes in slices of K.
    void multiply_slices(const Wave& wave);
    void ask_slice();
    bool sliced() const { return layer_plan().slice_tiles != 0; }
    uint64_t slices_of_wave() const;
    uint64_t slices_of_layer() const;

    void read_in(uint64_t bytes, uint8_t wait_for);
    void write_out(uint64_t bytes, uint8_t wait_for);
    void transfer(isa::Words (WorkloadProgram::*make)(uint64_t bytes, const isa::Header&),
                  uint64_t bytes, uint8_t wait_for, uint8_t signal);
    isa::Words read_piece(uint64_t bytes, const isa::Header& header);
    isa::Words write_piece(uint64_t bytes, const isa::Header& header);
    uint32_t memory_offset(uint64_t bytes);
    uint32_t inside(uint64_t address, uint64_t bytes) const;
    void emit(const isa::Words& words) {
        pending_.push_back(words);
        ++made_;
    }

    const workload::Layer& shape() const { return workload_.layers[layer_]; }
    const LayerPlan& layer_plan() const { return plan_.layers[layer_]; }
    uint64_t chunks() const;
    uint64_t chunk_rows(uint64_t chunk) const;

    const workload::Workload& workload_;
    const arch::ChipConfig& chip_;
    const WorkloadPlan plan_;
    std::vector<Mark> marks_;
    std::function<void()> on_wave_;
    std::deque<isa::Words> pending_;
    uint64_t made_ = 0;
    uint64_t memory_at_ = 0;  ///< where the next transfer through device memory begins

    // Where the program stands: a run of a layer (one of its repetitions), a chunk of its rows, a
    // wave of the chunk.
    uint32_t layer_ = 0;
    uint64_t run_ = 0, chunk_ = 0, wave_ = 0;
    bool in_run_ = false, halted_ = false;
    uint64_t inputs_awaited_ = 0;         ///< pieces of the chunk's input that work has waited for
    uint64_t slices_asked_ = 0;           ///< of the layer
    Wave slice_before_;                   ///< the blocks of the last slice that has been multiplied
    bool layer_pending_ = false;          ///< the next layer has to wait for the one before
    bool fetched_ahead_ = false;          ///< the first wave's weights have been asked for
    std::vector<uint64_t> blocks_given_;  ///< per array, since the program began
};

}  // namespace tandem::compiler
