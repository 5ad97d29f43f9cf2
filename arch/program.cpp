// SPDX-License-Identifier: Apache-2.0
#include "arch/program.h"

#include <fmt/format.h>
#include <zlib.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "arch/container.h"
#include "arch/generated/registers.h"
#include "base/error.h"
#include "base/file.h"
#include "base/output_file.h"

namespace tandem::arch {

NLOHMANN_JSON_SERIALIZE_ENUM(ProgramNode::Place, {{ProgramNode::Place::kBuffer, "buffer"},
                                                  {ProgramNode::Place::kMemory, "memory"},
                                                  {ProgramNode::Place::kHost, "host"}})
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(NodePart, core, last_instruction, offset, bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ProgramNode, index, op, name, macs, place, output_address,
                                   output_bytes, parts)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ProgramTensor, name, type, shape, scale, zero_point, bytes)

namespace {

template <class T>
void append(std::vector<uint8_t>& out, T value) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
    out.insert(out.end(), bytes, bytes + sizeof value);
}

void append_section(std::vector<uint8_t>& out, uint32_t tag, const void* data, size_t bytes) {
    append(out, tag);
    append(out, static_cast<uint32_t>(crc32_z(0, static_cast<const Bytef*>(data), bytes)));
    append(out, static_cast<uint64_t>(bytes));
    const auto* first = static_cast<const uint8_t*>(data);
    out.insert(out.end(), first, first + bytes);
}

/// Reads the container front to back and says where it ends too early.
class Reader {
  public:
    Reader(const std::vector<uint8_t>& bytes, std::string origin)
        : bytes_(bytes), origin_(std::move(origin)) {}

    const uint8_t* take(size_t count, const std::string& what) {
        if (count > bytes_.size() - position_)
            throw UserError(origin_, what,
                            std::to_string(count) + " bytes at offset " + std::to_string(position_),
                            std::to_string(bytes_.size() - position_) + " (truncated program)");
        const uint8_t* at = bytes_.data() + position_;
        position_ += count;
        return at;
    }

    size_t left() const { return bytes_.size() - position_; }

    template <class T>
    T number(const std::string& what) {
        T value;
        std::memcpy(&value, take(sizeof value, what), sizeof value);
        return value;
    }

    std::pair<const uint8_t*, size_t> section(uint32_t tag, const std::string& name) {
        if (number<uint32_t>(name) != tag)
            throw UserError(origin_, name, "section " + name, "another tag");
        const auto crc = number<uint32_t>(name);
        const auto bytes = number<uint64_t>(name);
        const uint8_t* data = take(bytes, name);
        if (crc32_z(0, data, bytes) != crc)
            throw UserError(origin_, name, "matching checksum", "corrupt bytes");
        return {data, bytes};
    }

  private:
    const std::vector<uint8_t>& bytes_;
    std::string origin_;
    size_t position_ = 0;
};

std::string metadata(const Program& program) {
    nlohmann::json json;
    // Repeated under the checksum.
    json["isa_hash"] = program.isa_hash;
    json["chip_hash"] = program.chip_hash;
    json["chip"] = program.chip;
    json["model"] = program.model;
    json["batch"] = program.batch;
    json["rounding"] = program.rounding;
    json["nodes"] = program.nodes;
    json["inputs"] = program.inputs;
    json["outputs"] = program.outputs;
    auto& cores = json["sources"] = nlohmann::json::array();
    for (const CoreProgram& core : program.cores) {
        auto& sources = cores.emplace_back(nlohmann::json::array());
        for (const auto& source : core.sources)
            sources.push_back(
                {source.node, source.round, source.m_start, source.n_start, source.k_start});
    }
    // Names come from other people's files and may be no UTF-8.
    return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void read_metadata(const nlohmann::json& json, Program& program) {
    program.chip = json.at("chip").get<std::string>();
    program.model = json.at("model").get<std::string>();
    program.batch = json.at("batch").get<uint32_t>();
    program.rounding = json.at("rounding").get<std::string>();
    program.nodes = json.at("nodes").get<std::vector<ProgramNode>>();
    program.inputs = json.at("inputs").get<std::vector<ProgramTensor>>();
    program.outputs = json.at("outputs").get<std::vector<ProgramTensor>>();
    for (size_t core = 0; core < program.cores.size(); ++core)
        for (const auto& entry : json.at("sources").at(core))
            program.cores[core].sources.push_back(
                {entry.at(0).get<int32_t>(), entry.at(1).get<uint32_t>(),
                 entry.at(2).get<uint32_t>(), entry.at(3).get<uint32_t>(),
                 entry.at(4).get<uint32_t>()});
}

std::vector<uint8_t> code_section(const Program& program) {
    const ProgramLayout layout = layout_of(program);
    std::vector<uint8_t> out;
    append(out, static_cast<uint32_t>(program.cores.size()));
    append(out, uint32_t{0});
    for (size_t core = 0; core < program.cores.size(); ++core) {
        append(out, layout.code[core]);
        append(out, uint64_t{program.cores[core].instructions.size()});
    }
    const size_t first = out.size();
    out.resize(first + layout.code_bytes);
    for (size_t core = 0; core < program.cores.size(); ++core) {
        const auto& code = program.cores[core].instructions;
        if (!code.empty())
            std::memcpy(out.data() + first + layout.code[core], code.data(),
                        code.size() * isa::kInstructionBytes);
    }
    return out;
}

/// Its only form is the one that code_section() writes.
void read_code(const std::vector<uint8_t>& section, const std::string& origin, Program& program) {
    const auto require = [&](bool holds, const char* expected, const std::string& found) {
        if (!holds) throw UserError(origin, "CODE", expected, found);
    };
    Reader reader(section, origin);
    const auto cores = reader.number<uint32_t>("CODE");
    require(cores >= 1 && cores <= container::kMostCores, "programs of 1 to 256 cores",
            std::to_string(cores));
    require(reader.number<uint32_t>("CODE") == 0, "zero behind the number of cores", "other bytes");
    uint64_t most = section.size() / isa::kInstructionBytes;
    for (uint32_t core = 0; core < cores; ++core) {
        (void)reader.number<uint64_t>("CODE");  // written anew below
        const auto instructions = reader.number<uint64_t>("CODE");
        require(instructions <= most, "whole instructions",
                std::to_string(section.size()) + " bytes");
        most -= instructions;
        program.cores.emplace_back().instructions.resize(instructions);
    }
    const ProgramLayout layout = layout_of(program);
    require(reader.left() == layout.code_bytes, "whole instructions",
            std::to_string(reader.left()) + " bytes");
    const uint8_t* code = reader.take(reader.left(), "CODE");
    for (uint32_t core = 0; core < cores; ++core) {
        auto& instructions = program.cores[core].instructions;
        if (!instructions.empty())
            std::memcpy(instructions.data(), code + layout.code[core],
                        instructions.size() * isa::kInstructionBytes);
    }
    require(code_section(program) == section, "programs one behind the other, with zeros between",
            "another layout");
}

/// Field by field in the order of arch/container.h.
void read_header(Reader& reader, const std::string& origin, Program& program) {
    if (reader.number<uint32_t>("header") != container::kMagic)
        throw UserError(origin, "header", "a Tandem program (TPUP)", "another kind of file");
    const auto version = reader.number<uint32_t>("header");
    if (version != container::kVersion)
        throw UserError(origin, "container version", std::to_string(container::kVersion),
                        std::to_string(version) + "; compile the model again");
    program.isa_hash = reader.number<uint64_t>("header");
    program.chip_hash = reader.number<uint64_t>("header");
    if (program.isa_hash != isa::kHash)
        throw UserError(
            origin, "instruction set",
            fmt::format("version {} (hash {:016x})", isa::kVersion, isa::kHash),
            fmt::format("another one (hash {:016x}); compile the model again", program.isa_hash));
}

}  // namespace

uint32_t element_bytes(const ProgramTensor& tensor, uint32_t batch) {
    uint64_t elements = batch;
    for (const uint32_t extent : tensor.shape) elements *= extent;
    return static_cast<uint32_t>(tensor.bytes / elements);
}

uint64_t bytes_of(const std::vector<ProgramTensor>& tensors) {
    uint64_t bytes = 0;
    for (const auto& tensor : tensors) bytes += tensor.bytes;
    return bytes;
}

uint64_t instructions_of(const Program& program) {
    uint64_t instructions = 0;
    for (const CoreProgram& core : program.cores) instructions += core.instructions.size();
    return instructions;
}

ProgramLayout layout_of(const Program& program) {
    ProgramLayout layout;
    for (const CoreProgram& core : program.cores) {
        layout.code.push_back(container::aligned(layout.code_bytes, container::kCodeAlignment));
        layout.code_bytes = layout.code.back() + core.instructions.size() * isa::kInstructionBytes;
    }
    layout.table = container::aligned(layout.code_bytes, container::kTableAlignment);
    layout.data = container::aligned(layout.table + program.cores.size() * TANDEM_CORE_ENTRY_BYTES,
                                     container::kDataAlignment);
    return layout;
}

std::vector<uint8_t> serialise(const Program& program) {
    std::vector<uint8_t> out;
    append(out, container::kMagic);
    append(out, container::kVersion);
    append(out, program.isa_hash);
    append(out, program.chip_hash);
    const auto code = code_section(program);
    append_section(out, container::kCode, code.data(), code.size());
    append_section(out, container::kData, program.data.data(), program.data.size());
    const std::string meta = metadata(program);
    append_section(out, container::kMeta, meta.data(), meta.size());
    return out;
}

Program deserialise(const std::vector<uint8_t>& bytes, const std::string& origin) {
    Reader reader(bytes, origin);
    Program program;
    read_header(reader, origin, program);
    const auto [code, code_bytes] = reader.section(container::kCode, "CODE");
    read_code({code, code + code_bytes}, origin, program);
    const auto [data, data_bytes] = reader.section(container::kData, "DATA");
    program.data.assign(data, data + data_bytes);
    uint64_t stated_isa = 0, stated_chip = 0;
    const auto [meta, meta_bytes] = reader.section(container::kMeta, "META");
    try {
        const auto json = nlohmann::json::parse(meta, meta + meta_bytes);
        stated_isa = json.at("isa_hash").get<uint64_t>();
        stated_chip = json.at("chip_hash").get<uint64_t>();
        read_metadata(json, program);
    } catch (const nlohmann::json::exception& error) {
        throw UserError(origin, "META", "program metadata", error.what());
    }
    if (stated_isa != program.isa_hash || stated_chip != program.chip_hash)
        throw UserError(origin, "hashes", "the same in header and metadata",
                        "different ones (corrupt bytes)");
    if (reader.left() != 0)
        throw UserError(origin, "end", "nothing behind the last section",
                        std::to_string(reader.left()) + " bytes");
    for (const CoreProgram& core : program.cores)
        if (core.sources.size() != core.instructions.size())
            throw UserError(origin, "META",
                            std::to_string(core.instructions.size()) + " instruction sources",
                            std::to_string(core.sources.size()));
    return program;
}

void write_program(const Program& program, const std::filesystem::path& file) {
    base::write_file(file, serialise(program));
}

Program read_program(const std::filesystem::path& file) {
    return deserialise(base::read_file(file), file.string());
}

}  // namespace tandem::arch
