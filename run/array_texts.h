// SPDX-License-Identifier: Apache-2.0
// What is written for one exported array beside what is copied: its top module with fixed
// parameters, its figures for the benches, and its page.
#pragma once

#include <string>
#include <vector>

#include "engine/mxu_engine.h"

namespace tandem::run {

/// "tpu_mxu_8x8_int8"; with what is not the default: "tpu_mxu_8x8_bf16_k4_sum4".
std::string exported_top(const engine::MxuShape& shape);

/// A module of that name around tpu_mxu, in the form given.
std::string top_module(const engine::MxuShape& shape, const std::string& form);

/// Sources of rtl/ for simulators that know parameters of type int only.
std::string with_int_parameters(const std::string& source);

std::string verilog_figures(const engine::MxuShape& shape);
std::string systemc_figures(const engine::MxuShape& shape);
std::string cmake_figures(const engine::MxuShape& shape, const std::vector<std::string>& sources);

/// Markdown: ports and latencies.
std::string ports_page(const engine::MxuShape& shape);

}  // namespace tandem::run
