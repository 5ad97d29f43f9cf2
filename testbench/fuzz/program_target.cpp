// SPDX-License-Identifier: Apache-2.0
// .tpu: hashes and checksums are made right, so that what is behind them is reached. What is
// accepted ends by its halt, as docs say of every program that passes the check.
#include <zlib.h>

#include <cstring>

#include "arch/chip_modes.h"
#include "arch/container.h"
#include "arch/disassembler.h"
#include "arch/program_check.h"
#include "base/error.h"
#include "compiler/pipeline.h"
#include "testbench/compiler/machine_run.h"
#include "testbench/fuzz/graphs.h"
#include "testbench/support/mutated_program.h"

namespace tandem::fuzz {
namespace {

using testbench::Seeded;

// Of the interpreter, which takes a quarter of a microsecond for an element.
constexpr uint64_t kMostInstructions = 20'000, kMostMacs = 1 << 22, kMostElements = 1 << 20;

std::vector<Bytes> seeds() {
    std::vector<Bytes> all;
    const auto chip = small_chip();
    compiler::CompileOptions options;
    options.plan = compiler::PlanMode::kRules;
    for (const auto& graph : sample_graphs()) {
        try {
            const auto program = compiler::compile(graph, chip, options);
            all.push_back(arch::serialise(program));
        } catch (const UserError&) {
            continue;  // of floats, or too large
        }
    }
    return all;
}

/// Walks over the sections as far as there are any.
void repair(Bytes& bytes, uint64_t chip_hash) {
    using namespace container;
    if (bytes.size() < kHeaderBytes) return;
    std::memcpy(bytes.data() + kMagicOffset, &kMagic, 4);
    std::memcpy(bytes.data() + kVersionOffset, &kVersion, 4);
    std::memcpy(bytes.data() + kIsaHashOffset, &isa::kHash, 8);
    std::memcpy(bytes.data() + kChipHashOffset, &chip_hash, 8);
    size_t at = kHeaderBytes;
    for (const uint32_t tag : {kCode, kData, kMeta}) {
        uint64_t length = 0;
        if (bytes.size() - at < kSectionHeaderBytes) return;
        std::memcpy(&length, bytes.data() + at + kLengthOffset, 8);
        const size_t left = bytes.size() - at - kSectionHeaderBytes;
        if (length > left || tag == kMeta) length = left;
        const auto sum =
            static_cast<uint32_t>(crc32_z(0, bytes.data() + at + kSectionHeaderBytes, length));
        std::memcpy(bytes.data() + at + kTagOffset, &tag, 4);
        std::memcpy(bytes.data() + at + kChecksumOffset, &sum, 4);
        std::memcpy(bytes.data() + at + kLengthOffset, &length, 8);
        at += kSectionHeaderBytes + length;
    }
}

/// Hashes in the metadata are those of the project now, whatever they were.
Bytes renewed(Bytes bytes, uint64_t chip_hash) {
    std::string text = text_of(bytes);
    for (const auto& [key, hash] :
         {std::pair{std::string("\"isa_hash\":"), isa::kHash}, {"\"chip_hash\":", chip_hash}}) {
        const size_t at = text.rfind(key);
        if (at == text.npos) continue;
        const size_t from = at + key.size();
        size_t to = from;
        while (to < text.size() && text[to] >= '0' && text[to] <= '9') ++to;
        text.replace(from, to - from, std::to_string(hash));
    }
    bytes = bytes_of(text);
    repair(bytes, chip_hash);
    return bytes;
}

void change(Bytes& bytes, Seeded& random) {
    try {
        const auto program = arch::deserialise(renewed(bytes, small_chip().hash()), "program");
        if (arch::instructions_of(program) != 0) bytes = testbench::mutated_file(program, random);
    } catch (const UserError&) {
        return;
    }
}

/// A vector instruction works on many elements.
bool has_large_shape(const arch::Program& program) {
    for (const auto& core : program.cores)
        for (const isa::Words& words : core.instructions) {
            if (isa::opcode_of(words) != static_cast<uint32_t>(isa::Opcode::kSetShape)) continue;
            const auto shape = isa::SetShape::decode(words);
            uint64_t elements = 1;
            for (const uint64_t extent :
                 {shape.n0, shape.n1, shape.n2, shape.n3, shape.n4, shape.n5})
                if ((elements *= extent) > kMostElements) return true;
        }
    return false;
}

std::string run(const Bytes& bytes) {
    try {
        (void)arch::deserialise(bytes, "raw.tpu");
    } catch (const UserError&) {
        // As expected of most.
    }
    const auto chip = small_chip();
    const auto program = arch::deserialise(renewed(bytes, chip.hash()), "program.tpu");
    const std::string text = arch::disassemble(program);
    require(!text.empty(), "no text of a program");
    const arch::ProgramWork work = arch::check_program(chip, program, "program.tpu");
    for (const arch::ProgramTensor& tensor : program.inputs)
        (void)arch::element_bytes(tensor, program.batch);
    if (work.instructions > kMostInstructions || work.macs > kMostMacs || has_large_shape(program))
        return "long";
    if (arch::bytes_of(program.inputs) + arch::bytes_of(program.outputs) > kMostMacs)
        return "large inputs and outputs";
    const testbench::Int8s inputs(arch::bytes_of(program.inputs), 1);
    const auto programs = testbench::programs_of(program);
    testbench::IsaInterpreter machine(chip, programs, testbench::setting_of(program, chip, inputs),
                                      {});
    machine.run();
    return "ran";
}

}  // namespace

Target program_target() {
    return {.name = "program",
            .extension = ".tpu",
            .words = {"\"batch\":", "\"bytes\":", "\"shape\":[", "\"parts\":[", "\"core\":", "-1",
                      "4294967295", "[]", "{}", "null", "true", "1e9"},
            .seeds = seeds,
            .change = change,
            .run = run,
            .command = {"run", "FILE", "--chip", "test_8x8", "--set", "memory.size=1 MiB", "--mode",
                        "timing", "--host", "native"}};
}

}  // namespace tandem::fuzz
