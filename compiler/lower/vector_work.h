// SPDX-License-Identifier: Apache-2.0
// A kernel of the vector unit: a few steps over its inputs, its parameter block, scratch memory and
// its output. All of them run line by line, so that lines can be shared out among cores and taken
// in chunks: plan/ and emit/ need no more of an operator than this.
//
// Axis 0 of every step counts lines: elements, rows, whatever the operator chooses. With a window
// lines are the output rows of images: axis 0 counts images and axis 1 output rows; 2 is free for
// output pixels, 3 and 4 for taps, 5 for channels. A chunk holds whole images or rows of one.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "arch/vector_state.h"
#include "compiler/lower/chain_builder.h"
#include "compiler/lower/image_window.h"

namespace tandem::compiler {

/// What an operand of a step is a part of.
enum class VectorPlace : uint8_t { kInput, kOutput, kParams, kScratch };

/// An operand of a step.
struct VectorRef {
    VectorPlace place = VectorPlace::kInput;
    uint32_t index = 0;      ///< which of the kernel's inputs, which scratch memory
    uint64_t offset = 0;     ///< bytes in front of the first element of line 0
    arch::VectorView view;   ///< of input 0 through taps: bytes between lines and pixels of images
    int32_t zero_point = 0;  ///< of int8: taken off what is read, added to what is written
};

/// As `kind` of reduce counts them.
enum class Reduction : uint8_t { kSum, kLargest, kSmallest, kPlaceOfLargest };

struct VectorStep {
    enum class Kind : uint8_t { kMap, kReduce, kLookup, kMove };

    Kind kind = Kind::kMap;
    /// Elements along each axis; along those of lines of one line, or one image and its rows.
    std::array<uint64_t, arch::kVectorAxes> shape{1, 1, 1, 1, 1, 1};
    VectorRef out;
    std::vector<VectorRef> in;  ///< a, b, c; of lookup: a, the table
    Chain chain;                ///< of map and reduce
    Reduction reduction = Reduction::kSum;
    std::vector<uint8_t> reduced_axes;   ///< of reduce; not axis 0
    bool taps = false;                   ///< a is input 0, read through the work's window
    std::optional<arch::Taps> own_taps;  ///< with taps: through these instead
    uint32_t fill = 0;                   ///< with taps: what map and move read outside
    /// Of move: rows of a from which in[1], an int32 per line, chooses; 0: lines go one by one.
    uint64_t gather_rows = 0;
    int32_t clamp_min = -128, clamp_max = 127;  ///< of an int8 result
};

struct VectorWork {
    uint64_t lines = 0;
    std::optional<ImageWindow> window;  ///< through which input 0 is read
    /// Bytes of each input that belong to a line (of input 0 with a window: not used); 0: every
    /// line may read all of it.
    std::vector<uint64_t> input_line_bytes;
    /// With a window, of inputs of which all lines of an image read the same: bytes for each image;
    /// 0, or left out: input_line_bytes says it.
    std::vector<uint64_t> input_image_bytes;
    /// The output may be shorter than all of its lines together: their first bytes are it.
    uint64_t output_line_bytes = 0;
    std::vector<uint64_t> scratch_line_bytes;  ///< of each scratch memory
    std::vector<VectorStep> steps;

    /// Lines that one window describes together.
    uint64_t lines_per_image() const { return window ? window->out_h : 1; }
};

}  // namespace tandem::compiler
