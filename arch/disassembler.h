// SPDX-License-Identifier: Apache-2.0
// Instructions as text.
#pragma once

#include <string>

#include "arch/generated/isa.h"
#include "arch/program.h"

namespace tandem::arch {

/// One line, e.g. "matmul ub_addr=0x400 rows=128 ... wait 3 signal 4". Unknown opcodes are shown as
/// words.
std::string disassemble(const isa::Words& words);

/// The whole program: header, nodes, and every instruction with its source as a comment.
std::string disassemble(const Program& program);

}  // namespace tandem::arch
