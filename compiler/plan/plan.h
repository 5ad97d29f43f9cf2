// SPDX-License-Identifier: Apache-2.0
// Who does what, in which pieces, and what lies where. Every mistake that a chip's sizes make of a
// graph is told here, before any work is done.
//
// Rules (docs/timing_model.md):
//   cores    share the lines of a kernel, or its column tiles, whichever moves fewer bytes
//   buffer   what a kernel writes stays for those that read it if every core makes what it reads
//            and there is room; else it goes through device memory: in chunks of lines, or in
//            slices of K, whichever moves fewer bytes. Of either there are two in the buffer, so
//            that transfers overlap with work
//   weights  in CMEM if those of the whole graph fit there, else in device memory. Of plans that
//            are searched, values that go through memory lie there, too, as it has room
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "arch/chip_config.h"
#include "compiler/lower/kernels.h"
#include "compiler/plan/core_plan.h"

namespace tandem::compiler {

/// Where a value lies between its kernels.
struct ValuePlan {
    bool resident = false;  ///< in the unified buffer, each core with its part
    uint32_t rounds = 1;    ///< in which its bytes come one after the other; 1: all at once
    uint32_t places = 1;    ///< that rounds take in turns, so that inputs come ahead of their use
    /// Round by round, core by core: bytes that a core makes, or loads; empty: in columns, or none.
    std::vector<Range> parts;
    uint32_t address = 0;      ///< of every core's part in its buffer, if resident
    uint64_t place_bytes = 0;  ///< from one place to the next
    size_t first_reader = 0;   ///< kernel; of inputs
    /// In device memory, or CMEM behind it, from the data's base on; of values that go through it,
    /// or live there.
    uint64_t memory_offset = 0;
    bool in_cmem = false;
    bool shares_place = false;  ///< with others that live at other times
    bool copied = false;        ///< of an output for the host that kernels read from there as well
    uint64_t host_offset = 0;   ///< among the graph's inputs, or its outputs

    const Range& part(uint32_t core, uint32_t round) const {
        return parts[round * (parts.size() / rounds) + core];
    }
    uint32_t address_in(uint32_t round) const {
        return address + static_cast<uint32_t>(round % places * place_bytes);
    }
};

struct KernelPlan {
    uint32_t rounds = 1;          ///< of the batch
    std::vector<CorePlan> cores;  ///< round by round, core by core
    std::vector<ColumnTile> tiles;
    uint64_t data_tiles = 0;     ///< weight tiles that are data: all, or none
    uint64_t weight_offset = 0;  ///< of its first tile, from the data's base on
    uint32_t params_address = 0;
    uint64_t params_offset = 0;

    const CorePlan& share(uint32_t core, uint32_t round) const {
        return cores[round * (cores.size() / rounds) + core];
    }
};

/// One round of a kernel. They follow one another in the order of the plan's visits.
struct Visit {
    uint32_t kernel = 0, round = 0;
    bool operator==(const Visit&) const = default;
};

/// Neighbouring kernels through which the batch goes in rounds: all of them for some samples, then
/// all of them for the next ones.
struct Segment {
    size_t begin = 0, end = 0;  ///< kernels
    uint32_t rounds = 1;
};

/// How decisions are made.
enum class PlanMode : uint8_t {
    kSearch,  ///< the best of candidates, by a closed-form cost
    kRules,   ///< fixed rules: on TPU v1 the program of 2015
};

struct Plan {
    PlanMode mode = PlanMode::kSearch;
    uint32_t groups = 1;  ///< of samples, that go through all segments one after the other
    std::vector<Segment> segments;  ///< of all kernels; rounds of a group
    std::vector<Visit> visits;
    std::vector<ValuePlan> values;
    std::vector<KernelPlan> kernels;
    uint32_t cores = 1;
    bool params_stay = false;  ///< all blocks side by side, loaded at once
    uint32_t params_base = 0;
    uint64_t params_bytes = 0;
    uint32_t prefetch_kernels = 0;  ///< else: so many kernels ahead of their use
    uint64_t data_bytes = 0;        ///< parameters and weights
    bool weights_in_cmem = false;
    Range cmem;                 ///< of the values there, from the data's base on
    uint64_t memory_bytes = 0;  ///< of device memory from the data's base on
    uint64_t peak_buffer_bytes = 0;
    uint64_t host_input_bytes = 0, host_output_bytes = 0;

    /// The round of a value that a visit works on.
    uint32_t round_of(const ValuePlan& value, const Visit& visit) const {
        return visit.round * value.rounds / kernels[visit.kernel].rounds;
    }
    const Range& part(const ValuePlan& value, uint32_t core, const Visit& visit) const {
        return value.part(core, round_of(value, visit));
    }
    uint32_t address(const ValuePlan& value, const Visit& visit) const {
        return value.address_in(round_of(value, visit));
    }
};

class ProductMemo;

struct PlanOptions {
    ProductMemo* memo = nullptr;  ///< product_search.h
    PlanMode mode = PlanMode::kSearch;
    uint32_t cores = 1;        ///< of the chip, that take part
    uint64_t memory_base = 0;  ///< bytes of device memory in front of the data
    bool use_cmem = false;
    uint32_t rounds = 0;  ///< of a graph whose batch can be split; 0: what is best
    /// For tests: every product that is searched takes this candidate, modulo their number.
    std::optional<uint64_t> forced{};
};

/// A search may make packed products (packing.h). Throws UserError naming the kernel,
/// what it needs and what there is.
Plan make_plan(KernelGraph& graph, const arch::ChipConfig& chip, const PlanOptions& options);

/// Rows of the accumulators that a block may take, so that one is drained while the next is filled.
inline uint32_t half_accumulators(const arch::ChipConfig& chip) {
    return std::max(1u, chip.mxu.accumulator_rows / 2);
}

/// Blocks into which the rows of a chunk are cut: none longer than `block_rows`, and more if arrays
/// would else have nothing to do, as long as a block is no shorter than the array is deep.
uint64_t row_blocks(uint64_t rows, uint64_t tiles, uint32_t block_rows,
                    const arch::ChipConfig& chip);

/// Blocks that run at the same time, one on each array, make a wave.
uint64_t waves(uint64_t blocks, uint64_t tiles, const arch::ChipConfig& chip);

/// Bytes of the input that `lines` of the output read; of whole lines.
Range input_of_lines(const ImageWindow& window, const Range& lines);

/// What `lines` of a kernel write, in bytes of its output.
Range output_of_lines(const Kernel& kernel, const KernelGraph& graph, const Range& lines);
/// What they read of an operand.
Range operand_of_lines(const Kernel& kernel, const KernelGraph& graph, size_t operand,
                       const Range& lines);
/// Bytes that the kernel writes for them: more than output_of_lines() if the output is shorter than
/// its lines.
uint64_t result_room(const Kernel& kernel, const KernelGraph& graph, const Range& lines);
/// Bytes of the first `count` scratch memories of a kernel, for a chunk of so many lines.
uint64_t scratch_offset(const VectorWork& work, size_t count, uint64_t lines);

/// A chunk of an image kernel as images of its own.
struct ChunkImages {
    uint64_t images = 1;
    uint64_t in_rows = 1, out_rows = 1;
    uint64_t above = 0;  ///< rows of padding above
};
ChunkImages chunk_images(const ImageWindow& window, const Chunk& chunk);

/// Weight tiles of all its columns; with weights_per_image those of an image.
inline uint64_t tiles_of(const KernelPlan& kernel) {
    return kernel.tiles.empty() ? 0 : kernel.tiles.back().first_tile + kernel.tiles.back().k_tiles;
}

/// Lines of the whole kernel.
uint64_t lines_of(const Kernel& kernel);

}  // namespace tandem::compiler
