// SPDX-License-Identifier: Apache-2.0
// Loads of images without what strided windows of one tap skip: runs, rows of a plane, planes of
// the DMA engine's transfers.
#pragma once

#include <vector>

#include "compiler/emit/core_emitter.h"

namespace tandem::compiler {

/// What is loaded of the images of a value, in terms of the gathered ones.
struct Gather {
    ImageWindow window;    ///< as the graph has it
    Range pixels;          ///< of all gathered images, one after the other
    uint64_t offset = 0;   ///< of the first byte in a pixel
    uint64_t bytes = 0;    ///< of a pixel
    uint32_t address = 0;  ///< in the buffer, without gaps
};

/// As few transfers as three dimensions allow: parts of lines and whole lines apart, and images
/// too, unless their lines go on at the same distance.
std::vector<Transfer> gathered(ValueId value, const Gather& gather);

}  // namespace tandem::compiler
