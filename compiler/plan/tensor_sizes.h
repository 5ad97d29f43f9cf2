// SPDX-License-Identifier: Apache-2.0
// What a kernel that has no room consists of, for messages.
#pragma once

#include <string>

#include "compiler/lower/kernels.h"

namespace tandem::compiler {

/// "tensors 'in' (256 bytes), 'out' (80 bytes), parameters (120 bytes)": of the whole batch.
std::string tensors_text(const KernelGraph& graph, const Kernel& kernel);

}  // namespace tandem::compiler
