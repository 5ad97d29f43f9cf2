// SPDX-License-Identifier: Apache-2.0
// One kernel, made by hand or lowered, through plan, emission and the interpreter.
#pragma once

#include <vector>

#include "arch/chip_config.h"
#include "compiler/lower/kernels.h"
#include "testbench/support/naive_ops.h"

namespace tandem::testbench {

/// Between `inputs` and one output, on all cores of the chip. Throws std::runtime_error if the
/// program breaks a law, UserError if it does not fit.
Int8s run_kernel(const arch::ChipConfig& chip, compiler::Kernel kernel,
                 const std::vector<Int8s>& inputs, size_t output_bytes);

}  // namespace tandem::testbench
