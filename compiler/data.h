// SPDX-License-Identifier: Apache-2.0
// What a program brings along into device memory: parameter blocks and weight tiles.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/pipeline.h"

namespace tandem::compiler {

struct DataPiece {
    uint64_t offset = 0;  ///< from the data's base on
    std::vector<uint8_t> bytes;
};

/// In the order of their offsets; weights in CMEM are a piece of their own. The graph has data.
std::vector<DataPiece> make_data(const Planned& planned);

}  // namespace tandem::compiler
