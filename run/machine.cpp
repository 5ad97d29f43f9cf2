// SPDX-License-Identifier: Apache-2.0
#include "run/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/output_file.h"
#include "run/paths.h"

namespace tandem::run {

Machine::Machine(const arch::ChipConfig& config, const RunOptions& options, Setup setup)
    : config_(config),
      options_(options),
      nodes_(std::move(setup.nodes)),
      wave_(options.wave, nodes_),
      timeline_(options.trace_path, nodes_),
      engines_(config_, options, setup.rows_to_inject),
      requantisers_(config_, options.requantise, options.functional) {
    setup.system.functional = options.functional;
    setup.system.arrays = options.arrays;
    setup.system.connect = options.connect;
    setup.system.make_engine = engines_.factory();
    setup.system.make_requantiser = requantisers_.factory();
    system_ = std::make_unique<System>(config_, setup.system);
    options.rtl_arrays.check(static_cast<uint32_t>(chip().cores()),
                             static_cast<uint32_t>(chip().core().arrays()), "--rtl-arrays");
    probes_ = std::make_unique<ChipProbes>(chip());
    engines_.set_probes([this](uint32_t core) { return probes_->list(core); });
    layers_ = std::make_unique<LayerTimes>(nodes_.size());
    bytes_ = std::make_unique<LayerBytes>(nodes_.size(), config_.tile_bytes());
    views_.resize(chip().cores());
}

void Machine::watch(uint32_t core, const ProgramView* view, sim::ChipObserver* observer) {
    views_[core] = view;
    chip().core(core).services().set_observer(observer);
}

void Machine::begin() {
    timeline_.begin(chip(), config_.clock_hz);
    if (engines_.first_rtl() == nullptr || options_.wave.path.empty()) return;
    cosim::WaveRequest request;
    request.period_fs = period_fs(config_);
    request.probes = all_probes();
    wave_.begin(*engines_.first_rtl(), request);
}

/// What comes before depends on the host and on the length of names in the image: what people see
/// counts from the first program on.
void Machine::begin_program(sim::Cycle start) {
    if (std::exchange(program_begun_, true)) return;
    engines_.set_origin(start);
    timeline_.set_origin(start);
}

bool Machine::all_pes() const {
    return uint64_t{config_.mxu.rows} * config_.mxu.cols <= cosim::kMostRecordedPes;
}

/// Probes of the model, and of all PEs if they are few.
std::vector<TandemProbe> Machine::all_probes() {
    auto probes = probes_->list(wave_core());
    for (uint32_t r = 0; all_pes() && r < config_.mxu.rows; ++r)
        for (uint32_t c = 0; c < config_.mxu.cols; ++c)
            pe_probes_.add(engines_.first_rtl()->pe(r, c), config_.mxu.dtype, r, c);
    probes.insert(probes.end(), pe_probes_.list().begin(), pe_probes_.list().end());
    return probes;
}

cosim::SaveFileRequest Machine::save_file(const std::string& wave, uint32_t core) {
    cosim::SaveFileRequest request;
    request.wave = wave;
    request.period_fs = period_fs(config_);
    request.signals = cosim::wave_signals(engines_.first_rtl()->library(), wave);
    request.shape = engines_.first_rtl()->shape();
    request.model_units = probes_->scopes(core);
    request.float_filter = float_filter().string();
    return request;
}

void Machine::collect(RunResult& result, uint64_t runs) {
    try {
        timeline_.finish();
    } catch (const UserError& error) {
        result.not_written.push_back(error.what());
    }
    sim::TpuChip& chip = this->chip();
    result.chip = config_.name;
    result.clock_hz = config_.clock_hz;
    result.cores = static_cast<uint32_t>(chip.cores());
    result.arrays = static_cast<uint32_t>(chip.core().arrays());
    result.peak_macs_per_cycle =
        static_cast<double>(result.cores) * result.arrays * config_.mxu.rows * config_.mxu.cols;
    result.cycles = chip.runner().program_cycles();
    for (uint32_t core = 0; core < result.cores; ++core) collect_core(core, result);
    result.traffic = {.memory_read = chip.device_memory().bytes_read(),
                      .memory_write = chip.device_memory().bytes_written(),
                      .cmem = chip.device_memory().cmem_traffic_bytes(),
                      .host_to_chip = chip.link().bytes_from_host(),
                      .chip_to_host = chip.link().bytes_to_host()};
    result.simulated_seconds = sc_core::sc_time_stamp().to_seconds();
    collect_layers(result, runs);
    collect_cosim(result);
}

void Machine::collect_core(uint32_t index, RunResult& result) {
    sim::Core& core = chip().core(index);
    const uint64_t cycles = core.sequencer().program_cycles();
    result.core_cycles.push_back(cycles);
    result.instructions += core.services().instructions_retired();
    for (size_t array = 0; array < core.arrays(); ++array) {
        result.rows += core.mxu(array).rows_streamed();
        result.tiles += core.weights(array).tiles_fetched();
        result.array_macs += core.mxu(array).macs();
    }
    const auto add = [&](const char* name, const sim::CycleAccount& account) {
        result.units.push_back({fmt::format("core{}.{}", index, name), index, account.cycles()});
    };
    for (const sim::Unit* unit : core.units()) add(unit->basename(), unit->account());
    add("sequencer", core.sequencer().account());
}

void Machine::collect_layers(RunResult& result, uint64_t runs) const {
    const auto cycles = layers_->cycles(result.cycles);
    for (size_t i = 0; i < nodes_.size(); ++i) {
        const RunNode& node = nodes_[i];
        result.layers.push_back({node.index, node.op, node.name, cycles[i], node.macs * runs,
                                 node.output_bytes * runs, bytes_->moved()[i], node.bounds});
        if (auto& bounds = result.layers.back().bounds) *bounds *= runs;
        result.macs += node.macs * runs;
    }
}

void Machine::collect_cosim(RunResult& result) {
    result.array_seconds = engines_.array_seconds() + requantisers_.seconds();
    result.rtl_arrays = engines_.rtl_arrays();
    result.rows_compared = engines_.rows_compared();
    collect_requantise(result);
    if (engines_.diverged()) collect_divergence(result);
    if (engines_.first_rtl() == nullptr) return;
    engines_.close_waves();
    collect_wave(result);
    result.injected = engines_.injected();
    result.assertion = engines_.assertion();
}

void Machine::collect_divergence(RunResult& result) {
    const auto [core, array] = *engines_.diverged();
    LocatedDivergence found{.what = engines_.divergence(),
                            .core = core,
                            .array = array,
                            .instruction = 0,
                            .source = {},
                            .gtkw = {}};
    const auto& what = found.what;
    found.instruction = chip().core(core).mxu(array).instruction_of_block(what.block);
    if (views_[core] != nullptr) found.source = views_[core]->source(found.instruction);
    if (!what.wave.empty()) {
        auto request = save_file(what.wave, core);
        cosim::look_at(request, what);
        try {
            found.gtkw = cosim::write_gtkw(request);
        } catch (const UserError& error) {
            found.what.note += (what.note.empty() ? "" : "; ") + std::string(error.what());
        }
    }
    result.divergence = std::move(found);
}

void Machine::collect_requantise(RunResult& result) {
    result.requantise = options_.requantise;
    result.values_requantised = requantisers_.values_compared();
    if (!requantisers_.diverged()) return;
    const auto& [place, engine] = *requantisers_.diverged();
    LocatedDivergence found{.what = *engine->divergence(),
                            .core = place.core,
                            .array = place.array,
                            .instruction = engine->instruction(),
                            .source = {},
                            .gtkw = {}};
    if (views_[place.core] != nullptr) found.source = views_[place.core]->source(found.instruction);
    result.divergence = std::move(found);
}

void Machine::collect_wave(RunResult& result) {
    const std::string& path = options_.wave.path;
    if (path.empty()) return;
    cosim::RtlMxuEngine& rtl = *engines_.first_rtl();
    WaveResult& wave = result.wave;
    wave.record = rtl.wave_record();
    if (wave.record.failed)
        wave.note = path + ": cannot be written";
    else if (!wave.record.any)
        wave.note = "the run ended before the window of " + path;
    else if (!cosim::finish_wave(rtl.library(), path))
        wave.note = path + ": cannot be written whole; is the disk full?";
    if (!wave.note.empty()) {
        std::error_code error;
        std::filesystem::remove(base::part_of(path), error);
        result.not_written.push_back("--wave: " + wave.note);
        return;
    }
    if (wave.record.too_large)
        wave.note = fmt::format("{} was ended after cycle {}: more than {} MB (--wave-limit)", path,
                                wave.record.to, options_.wave.limit_mb);
    auto request = save_file(path, wave_core());
    request.marker = wave.record.from;
    request.all_pes = all_pes() && rtl.info().form != std::string_view("other");
    try {
        wave.gtkw = cosim::write_gtkw(request);
    } catch (const UserError& error) {
        result.not_written.push_back(error.what());
    }
}

}  // namespace tandem::run
