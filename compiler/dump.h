// SPDX-License-Identifier: Apache-2.0
// What stands between the passes, for people.
#pragma once

#include <string>
#include <string_view>

#include "compiler/pipeline.h"

namespace tandem::compiler {

std::string kernels_text(const KernelGraph& graph);
std::string plan_text(const Planned& planned);
std::string_view name_of(Way way);

}  // namespace tandem::compiler
