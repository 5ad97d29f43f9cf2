// SPDX-License-Identifier: Apache-2.0
// An image, run by firmware on all cores that it is for.
#include <fmt/format.h>

#include <algorithm>

#include <deque>

#include "base/error.h"
#include "firmware/include/tandem/platform.h"
#include "run/image_observer.h"
#include "run/job_failure.h"
#include "run/machine.h"

namespace tandem::run {
namespace {

bool is_opcode(const isa::Words& words, isa::Opcode opcode) {
    return isa::opcode_of(words) == static_cast<uint32_t>(opcode);
}

/// Rows of activations that matmuls of a core stream in one run, into all arrays or one.
uint64_t rows_of(const arch::CoreProgram& program, std::optional<uint32_t> array = std::nullopt) {
    uint64_t rows = 0;
    for (const auto& words : program.instructions) {
        if (!is_opcode(words, isa::Opcode::kMatmul)) continue;
        const auto matmul = isa::Matmul::decode(words);
        if (!array || matmul.mxu == *array) rows += matmul.rows;
    }
    return rows;
}

bool has_loops(const arch::Program& program) {
    return std::ranges::any_of(program.cores, [](const arch::CoreProgram& core) {
        return std::ranges::any_of(core.instructions, [](const isa::Words& words) {
            return is_opcode(words, isa::Opcode::kBranchNonzero);
        });
    });
}

void add_needs(const arch::CoreProgram& core, const arch::ChipConfig& chip, uint64_t runs,
               Needs& needs) {
    *needs.rows += rows_of(core) * runs;
    for (const auto& words : core.instructions) {
        if (is_opcode(words, isa::Opcode::kReadWeights))
            needs.memory_read += isa::ReadWeights::decode(words).tiles * chip.tile_bytes() * runs;
        if (!is_opcode(words, isa::Opcode::kReadHost)) continue;
        const auto read = isa::ReadHost::decode(words);
        needs.host_to_chip += uint64_t{read.bytes} * read.rows * read.planes * runs;
    }
}

/// What its instructions ask for, each once; of a program with loops, what the metadata say alone.
Needs needs_of(const ImageJob& job, const arch::ChipConfig& chip) {
    const arch::Program& program = job.program;
    const uint64_t runs = job.runs;
    Needs needs;
    compiler::Bounds all;
    for (const auto& bounds : job.bounds) all += bounds;
    needs.cycles = all.busiest() * static_cast<double>(runs);
    needs.memory = all.least_memory * runs;
    for (const auto& node : program.nodes) needs.macs += node.macs * runs;
    needs.chip_to_host = arch::bytes_of(program.outputs) * runs;
    if (has_loops(program)) return needs;
    needs.rows = 0;
    for (const auto& core : program.cores) add_needs(core, chip, runs, needs);
    return needs;
}

std::vector<RunNode> nodes_of(const ImageJob& job) {
    std::vector<RunNode> nodes;
    for (const auto& node : job.program.nodes)
        nodes.push_back({node.index, node.op, node.name, node.macs, node.output_bytes});
    for (size_t i = 0; i < job.bounds.size(); ++i) nodes.at(i).bounds = job.bounds[i];
    return nodes;
}

/// Image, inputs and outputs; of more than the host can have, about.
uint64_t bytes_of_job(const arch::Program& program, uint64_t runs) {
    const auto data = static_cast<unsigned __int128>(arch::bytes_of(program.inputs) +
                                                     arch::bytes_of(program.outputs)) *
                      runs;
    return arch::serialise(program).size() +
           static_cast<uint64_t>(std::min<unsigned __int128>(data, uint64_t{1} << 62));
}

/// About twice what it needs: the image is checked and copied byte by byte, and a run takes some
/// thousand instructions. Firmware that loops for ever is ended within seconds.
uint64_t firmware_budget(const ImageJob& job) {
    constexpr uint64_t kAnyway = 200'000'000, kForEachByte = 100, kForEachRun = 1'000'000;
    return kAnyway + kForEachByte * bytes_of_job(job.program, job.runs) + kForEachRun * job.runs;
}

Machine::Setup setup_of(const ImageJob& job, const RunOptions& options) {
    Machine::Setup setup;
    setup.system.cores = static_cast<uint32_t>(job.program.cores.size());
    setup.system.host = HostKind::kFirmware;
    setup.system.cpu = options.cpu;
    setup.system.firmware_budget =
        options.firmware_budget != 0 ? options.firmware_budget : firmware_budget(job);
    if (options.level == "lt") setup.system.level = sim::Level::kLt;
    setup.system.quantum_ns = options.quantum_ns.value_or(kQuantumNs);
    setup.system.host_bytes = host_memory_for(job.program, job.runs);
    setup.system.console = options.console;
    setup.system.gdb = options.gdb;
    setup.nodes = nodes_of(job);
    const ArrayPlace injected = options.rtl_arrays.first();
    if (injected.core < job.program.cores.size())
        setup.rows_to_inject = rows_of(job.program.cores[injected.core], injected.array) * job.runs;
    return setup;
}

/// Loosely timed runs are for what firmware and programs compute.
void check_level(const RunOptions& options) {
    const auto need = [](bool holds, const char* option, const char* expected,
                         const std::string& found) {
        if (!holds) throw UserError("--level lt", option, expected, found);
    };
    if (options.level == "at") {
        if (options.quantum_ns) throw UserError("--quantum needs --level lt");
        return;
    }
    need(options.level == "lt", "--level", "at or lt", options.level);
    need(options.functional, "--mode", "functional: its cycles are estimates", "timing");
    need(options.backend == "tlm", "--backend", "tlm: cycles are not compared", options.backend);
    need(options.trace_path.empty(), "--trace", "--level at, which has a timeline",
         options.trace_path);
    need(options.quantum_ns != 0u, "--quantum", "1 ns or more", "0");
}

}  // namespace

uint64_t host_memory_for(const arch::Program& program, uint64_t runs) {
    constexpr uint64_t kPage = 4096, kSlack = 16 * kPage;  // between image, inputs and outputs
    const uint64_t need = platform::kFirmwareBytes + kSlack + bytes_of_job(program, runs);
    if (need > platform::kRamMaxBytes)
        throw UserError(fmt::format(
            "program, inputs and outputs need {} bytes of host memory, it has at most {}: use "
            "--count",
            need, platform::kRamMaxBytes));
    return std::max<uint64_t>(platform::kRamBytes, (need + kPage - 1) / kPage * kPage);
}

RunResult run_image(const arch::ChipConfig& chip, const ImageJob& job, const RunOptions& options) {
    check_level(options);
    const std::vector<uint8_t> image = arch::serialise(job.program);
    Machine machine(chip, options, setup_of(job, options));
    machine.wave().check(job.program, machine.wave_core());
    host::HostSystem& host = *machine.system().firmware_host();
    const uint64_t data = arch::layout_of(job.program).data;
    LayerCheck check(job.program, job.layers, job.keep_layers,
                     [&](LayerCheck::Place place, uint32_t core) -> std::span<const uint8_t> {
                         if (place == LayerCheck::Place::kBuffer)
                             return machine.chip().core(core).unified_buffer().store().bytes();
                         if (place == LayerCheck::Place::kMemory)
                             return machine.chip().device_memory().store().bytes().subspan(data);
                         return host.outputs();
                     });
    ImageProgress progress(job, options, machine.layers(), check);
    std::deque<ImageObserver> observers;
    for (uint32_t core = 0; core < job.program.cores.size(); ++core) {
        auto& observer =
            observers.emplace_back(core, job.program.cores[core], machine.watchers(), progress);
        machine.watch(core, &observer.view(), &observer);
    }
    machine.begin();
    host.load({image, job.inputs, job.runs, arch::bytes_of(job.program.outputs), job.timeout_us});
    // Timers may be pending when the firmware is done.
    sc_core::sc_spawn([&] {
        if (!host.finished()) sc_core::wait(host.finished_event());
        sc_core::sc_stop();
    });
    simulate();
    if (host.killed()) throw UserError("gdb has ended the program (kill)");

    RunResult result;
    result.model = job.program.model;
    result.level = options.level;
    machine.collect(result, job.runs);
    result.host_instructions = host.instructions();
    result.layer_bytes_compared = check.bytes_compared();
    result.layer_mismatch = check.mismatch();
    result.layer_outputs = check.kept();
    result.outputs.assign(host.outputs().begin(), host.outputs().end());
    if (result.completed()) result.failure = failure_of(host.job(), host.fault(), job.runs);
    result.laws_broken = broken_laws(result, needs_of(job, chip));
    return result;
}

}  // namespace tandem::run
