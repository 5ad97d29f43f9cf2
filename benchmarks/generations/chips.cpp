// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/generations/chips.h"

namespace tandem::generations {

arch::ChipConfig with_cmem(arch::ChipConfig chip, uint64_t mib) {
    if (mib == 0)
        chip.cmem = {};
    else
        chip.cmem.bytes = mib << 20;
    return chip;
}

arch::ChipConfig with_arrays(arch::ChipConfig chip, uint32_t count, uint32_t side) {
    auto& mxu = chip.mxu;
    mxu.accumulator_rows = mxu.accumulator_rows * side / mxu.cols;
    mxu.rows = mxu.cols = side;
    mxu.count = count;
    return chip;
}

}  // namespace tandem::generations
