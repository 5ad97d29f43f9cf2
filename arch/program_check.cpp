// SPDX-License-Identifier: Apache-2.0
#include "arch/program_check.h"

#include <fmt/format.h>

#include "arch/instruction_check.h"
#include "arch/program_machine.h"
#include "base/error.h"

namespace tandem::arch {
namespace {

using Wide = unsigned __int128;

class MetadataCheck {
  public:
    MetadataCheck(const ChipConfig& chip, const Program& program, const std::string& origin)
        : chip_(chip), program_(program), origin_(origin) {}

    void run() const {
        require(program_.batch != 0, "batch", "1 or more", 0);
        require(program_.rounding == "single" || program_.rounding == "gemmlowp", "rounding",
                "single or gemmlowp", program_.rounding);
        require(!program_.cores.empty() && program_.cores.size() <= chip_.cores, "CODE",
                fmt::format("programs of 1 to {} cores, which the chip has", chip_.cores),
                program_.cores.size());
        for (const CoreProgram& core : program_.cores)
            require(!core.instructions.empty(), "CODE", "instructions for every core", "none");
        for (const auto* tensors : {&program_.inputs, &program_.outputs}) check_tensors(*tensors);
        check_nodes();
        check_sources();
    }

    /// `data_address` is where DATA begins in device memory, whole MiB of which the driver sees.
    void check_data(uint64_t data_address) const {
        const uint64_t memory = chip_.memory.bytes >> 20 << 20;
        const Wide end = Wide{data_address} + program_.data.size();
        require(end <= memory, "DATA", fmt::format("code and data of at most {} bytes", memory),
                static_cast<uint64_t>(end));
    }

    void check_macs(uint64_t issued) const {
        Wide needed = 0;
        for (const ProgramNode& node : program_.nodes) needed += node.macs;
        require(needed <= issued, "nodes",
                fmt::format("MACs of at most {}, which the instructions do", issued), "more");
    }

  private:
    template <class Value>
    void require(bool holds, const std::string& where, const std::string& expected,
                 const Value& found) const {
        if (!holds) throw UserError(origin_, where, expected, fmt::format("{}", found));
    }

    void check_tensors(const std::vector<ProgramTensor>& tensors) const {
        require(bytes_of(tensors) != 0, "inputs and outputs", "some bytes of each", "none");
        for (const ProgramTensor& tensor : tensors) {
            const std::string where = "tensor \"" + tensor.name + "\"";
            require(tensor.bytes % program_.batch == 0, where,
                    fmt::format("bytes for a batch of {}", program_.batch), tensor.bytes);
            if (tensor.shape.empty()) continue;
            Wide elements = 1;
            for (const uint32_t size : tensor.shape)
                elements = elements > tensor.bytes ? elements : elements * size;
            require(elements == 0 ? tensor.bytes == 0 : tensor.bytes % elements == 0, where,
                    "bytes that its shape explains", tensor.bytes);
        }
    }

    void check_nodes() const {
        for (size_t i = 0; i < program_.nodes.size(); ++i) {
            const ProgramNode& node = program_.nodes[i];
            const std::string where = fmt::format("node {}", i);
            for (const NodePart& part : node.parts) check_part(node, part, where);
        }
    }

    void check_part(const ProgramNode& node, const NodePart& part, const std::string& where) const {
        require(part.core < program_.cores.size(), where, "a core of the program", part.core);
        require(part.last_instruction < program_.cores[part.core].instructions.size(), where,
                "an instruction of the program as its last", part.last_instruction);
        if (node.place != ProgramNode::Place::kBuffer) return;
        require(Wide{part.offset} + part.bytes <= node.output_bytes, where,
                "a part of the output on every core", part.bytes);
        require(Wide{node.output_address} + part.bytes <= chip_.unified_buffer_bytes, where,
                "an output inside the unified buffer", node.output_address);
    }

    void check_sources() const {
        for (const CoreProgram& core : program_.cores) {
            require(core.sources.size() == core.instructions.size(), "sources",
                    "one for each instruction", core.sources.size());
            for (size_t i = 0; i < core.sources.size(); ++i) {
                const int64_t node = core.sources[i].node;
                require(node >= -1 && node < static_cast<int64_t>(program_.nodes.size()),
                        fmt::format("source of instruction {}", i), "a node, or -1", node);
            }
        }
    }

    const ChipConfig& chip_;
    const Program& program_;
    const std::string& origin_;
};

}  // namespace

ProgramWork check_program(const ChipConfig& chip, const Program& program,
                          const std::string& origin) {
    const MetadataCheck metadata(chip, program, origin);
    metadata.run();
    ProgramCheck check(chip, program, origin);
    metadata.check_data(check.layout.data);
    ProgramMachine machine(check);
    machine.run();
    check.finish();
    metadata.check_macs(check.work.macs);
    return check.work;
}

}  // namespace tandem::arch
