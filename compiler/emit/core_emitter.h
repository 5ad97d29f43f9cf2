// SPDX-License-Identifier: Apache-2.0
// What every kernel of a core needs to be emitted: transfers, parameters, windows, order.
//
// Scalar registers: s1 device address of the data, s2 host address of the inputs, s3 of the
// outputs.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "arch/chip_config.h"
#include "arch/vector_state.h"
#include "compiler/emit/step.h"
#include "compiler/lower/kernels.h"
#include "compiler/plan/plan.h"

namespace tandem::compiler {

/// A part of a value as one transfer moves it: `rows` runs of `bytes`, `stride` apart.
struct Transfer {
    ValueId value = 0;
    uint64_t offset = 0;  ///< of the first byte in the value
    uint64_t bytes = 0, rows = 1, stride = 0;
    uint32_t address = 0;                   ///< in the buffer, without gaps
    uint64_t planes = 1, plane_stride = 0;  ///< so many times all of that
    bool copy = false;                      ///< of an output for the host: to device memory
};

class CoreEmitter {
  public:
    using Add = std::function<void(const Step&)>;

    CoreEmitter(const KernelGraph& graph, const Plan& plan, const arch::ChipConfig& chip,
                uint32_t core, Add add)
        : graph_(graph),
          plan_(plan),
          chip_(chip),
          core_(core),
          add_(std::move(add)),
          next_accumulator_(chip.mxu.count) {}

    const KernelGraph& graph() const { return graph_; }
    const Plan& plan() const { return plan_; }
    const arch::ChipConfig& chip() const { return chip_; }
    const Kernel& kernel(size_t k) const { return graph_.kernels[k]; }
    const CorePlan& share(const Visit& visit) const {
        return plan_.kernels[visit.kernel].share(core_, visit.round);
    }
    uint32_t core() const { return core_; }
    bool layer_sync() const { return chip_.sequencer.layer_sync; }

    // ---- steps

    Step step(isa::Unit unit, int32_t node, uint32_t array = 0) const;
    void add(const Step& step) { add_(step); }
    Access buffer(uint64_t begin, uint64_t bytes, bool writes = false) const {
        return {{Space::Kind::kBuffer, core_, 0}, begin, begin + bytes, writes};
    }
    Access accumulators(uint32_t array, uint64_t begin, uint64_t rows, bool writes = false) const {
        return {{Space::Kind::kAccumulators, core_, array}, begin, begin + rows, writes};
    }

    // ---- transfers

    /// Loads what stays from the start on: parameters, then inputs.
    void begin_program();
    /// The visit that is being emitted.
    Visit visit;
    /// In the first round parameters of its kernel and of some behind it; inputs that are used here
    /// first, of rounds one ahead.
    void begin_visit();
    /// From where the value lies. In one transfer.
    void load(const Transfer& transfer, int32_t node);
    void store(const Transfer& transfer, int32_t node);
    /// In pieces, so that work on the first one begins while others come.
    void load_in_pieces(ValueId value, const Range& range, uint32_t address, int32_t node);
    /// Bytes of a piece that others need not wait for long, and whose latency others hide.
    uint64_t piece_bytes(ValueId value) const;
    void store_in_pieces(ValueId value, const Range& range, uint32_t address, int32_t node);
    /// Where a byte of this core's part of a value that stays lies.
    uint32_t address_of(ValueId value, uint64_t byte) const;
    /// What a value's part of this core is to whoever waits for it.
    Access part(ValueId value, bool writes = false) const;

    // ---- order

    /// The sequencer waits for what these accesses read: a synchronisation between layers.
    void barrier(const std::vector<Access>& reads, int32_t node);
    /// Loads and products that come wait for what these accesses read.
    void order_after(const std::vector<Access>& reads, int32_t node);
    /// So does what comes on one unit.
    void fence(isa::Unit unit, uint32_t array, const std::vector<Access>& reads, int32_t node);
    /// What the last kernel wrote, for the next one's barrier.
    std::vector<Access> written;

    // ---- vector unit

    /// What the vector unit has been set to; use_vector_state() emits what differs.
    const arch::VectorState& vector_state() const { return vector_state_; }
    void use_vector_state(const arch::VectorState& state, int32_t node);

    // ---- arrays

    void use_window(const isa::Geometry& window, int32_t node);
    const isa::Geometry& window_in_use() const { return *window_; }
    /// The accumulators are used in turns, so that a block is drained while others are computed.
    /// In a ring the block goes on at row 0 where it reaches the end.
    uint32_t take_accumulators(uint32_t array, uint32_t rows, bool ring);
    /// The visit behind the one that is being emitted: its kernel's next time step, or another.
    std::optional<Visit> next_visit;
    /// Weights of the first wave of this visit have been asked for.
    std::optional<Visit> fetched_ahead;

  private:
    struct Far {
        uint64_t offset;
        bool host;
        std::optional<Access> memory;  ///< of a value that the program itself writes
    };
    Far far(const Transfer& transfer, bool writes) const;
    void transfer(const Transfer& transfer, bool in, int32_t node);
    void move(const Transfer& transfer, bool in, int32_t node);
    /// A round of a graph input that stays.
    void load_input(ValueId value, uint32_t round, int32_t node);
    void load_round(ValueId value, int32_t node);
    void load_params_until(size_t kernel);
    void load_params(uint64_t offset, uint64_t bytes, uint32_t address, int32_t node);
    uint64_t pieces_of(uint64_t bytes, ValueId value, bool host) const;
    /// That pass while kPieceLatencies of the value's memory, or of the host, pass.
    double bytes_under_way(ValueId value, bool host) const;
    uint64_t stated_bytes(ValueId value, uint64_t bytes) const;

    const KernelGraph& graph_;
    const Plan& plan_;
    const arch::ChipConfig& chip_;
    const uint32_t core_;
    const Add add_;
    size_t params_loaded_ = 0;
    uint32_t group_ = 0;  ///< of the last visit
    std::optional<isa::Geometry> window_;
    arch::VectorState vector_state_;
    std::vector<uint32_t> next_accumulator_;
};

/// The window of a chunk of an image kernel; row 0 of the product is the chunk's first.
isa::Geometry chunk_window(const ImageWindow& window, const Chunk& chunk, uint32_t channels);

/// Bytes of the buffer that a matmul can read: whole image rows of all channels it takes.
Range window_bytes(const isa::Geometry& window, const isa::Matmul& matmul, uint32_t element_bytes);

}  // namespace tandem::compiler
