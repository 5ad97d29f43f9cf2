// SPDX-License-Identifier: Apache-2.0
// What tandem --version says: with it a run can be repeated and a fault reported.
#pragma once

#include <string>

namespace tandem::jobs {

/// Lines: version; commit of the build ("unknown" outside of a git tree, "-dirty" with changes);
/// compiler; Verilator in PATH or "not found"; SystemC that is linked.
std::string version_text();

}  // namespace tandem::jobs
