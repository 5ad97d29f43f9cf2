// SPDX-License-Identifier: Apache-2.0
#include "run/layer_bytes.h"

namespace tandem::run {
namespace {

uint64_t bytes_of(const isa::Words& words, uint64_t tile_bytes) {
    switch (static_cast<isa::Opcode>(isa::opcode_of(words))) {
        case isa::Opcode::kReadWeights:
            return isa::ReadWeights::decode(words).tiles * tile_bytes;
        case isa::Opcode::kReadHost:
        case isa::Opcode::kWriteHost:
        case isa::Opcode::kReadMemory:
        case isa::Opcode::kWriteMemory: {
            const auto op = isa::ReadHost::decode(words);  // all four have the same fields
            return uint64_t{op.bytes} * op.rows * op.planes;
        }
        default:
            return 0;
    }
}

}  // namespace

void LayerBytes::retired(int32_t node, const isa::Words& words) {
    const size_t index = node < 0 ? 0 : static_cast<size_t>(node);
    if (index < moved_.size()) moved_[index] += bytes_of(words, tile_bytes_);
}

}  // namespace tandem::run
