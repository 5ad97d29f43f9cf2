// SPDX-License-Identifier: Apache-2.0
#include "arch/disassembler.h"

#include <fmt/format.h>

namespace tandem::arch {
namespace {

std::string flags(const char* verb, uint32_t a, uint32_t b) {
    if (a == 0 && b == 0) return {};
    if (a == 0 || b == 0) return fmt::format(" {} {}", verb, a == 0 ? b : a);
    return fmt::format(" {} {},{}", verb, a, b);
}

std::string field(const isa::FieldInfo& info, int64_t value) {
    const bool address = info.unit == "byte address" || info.name == "offset";
    return address && value >= 0 ? fmt::format(" {}=0x{:x}", info.name, value)
                                 : fmt::format(" {}={}", info.name, value);
}

std::string source_of(const Program& program, const InstructionSource& source) {
    if (source.node < 0 || static_cast<size_t>(source.node) >= program.nodes.size()) return {};
    const ProgramNode& node = program.nodes[static_cast<size_t>(source.node)];
    return fmt::format("  ; #{} {} m={} n={} k={}", node.index, node.op, source.m_start,
                       source.n_start, source.k_start);
}

const char* place_of(const ProgramNode& node) {
    switch (node.place) {
        case ProgramNode::Place::kMemory:
            return "memory";
        case ProgramNode::Place::kHost:
            return "host";
        case ProgramNode::Place::kBuffer:
            break;
    }
    return "buffer";
}

}  // namespace

std::string disassemble(const isa::Words& words) {
    for (const auto& info : isa::kInstructions) {
        if (static_cast<uint32_t>(info.opcode) != isa::opcode_of(words)) continue;
        std::string text(info.name);
        for (uint32_t i = 0; i < info.field_count; ++i)
            text += field(info.fields[i], isa::get(words, info.fields[i].position));
        const isa::Header header = isa::header_of(words);
        return text + flags("wait", header.wait_a, header.wait_b) +
               flags("signal", header.signal_a, header.signal_b) +
               (header.core != 0 ? fmt::format(" of core {}", header.core - 1) : "");
    }
    return fmt::format(".words {:08x}", fmt::join(words, " "));
}

std::string disassemble(const Program& program) {
    std::string text =
        fmt::format("; {} for {} (hash {:016x}), batch {}, rounding {}\n", program.model,
                    program.chip, program.chip_hash, program.batch, program.rounding);
    text += fmt::format("; {} core{}, {} instructions, {} bytes of data\n", program.cores.size(),
                        program.cores.size() == 1 ? "" : "s", instructions_of(program),
                        program.data.size());
    for (const auto& node : program.nodes)
        text += fmt::format("; node #{} {} {} macs={} output={} 0x{:x}+{}\n", node.index, node.op,
                            node.name, node.macs, place_of(node), node.output_address,
                            node.output_bytes);
    for (size_t c = 0; c < program.cores.size(); ++c) {
        const CoreProgram& core = program.cores[c];
        text += fmt::format("; core {}\n", c);
        for (size_t i = 0; i < core.instructions.size(); ++i)
            text += fmt::format("{:6}: {}{}\n", i, disassemble(core.instructions[i]),
                                source_of(program, core.sources[i]));
    }
    return text;
}

}  // namespace tandem::arch
