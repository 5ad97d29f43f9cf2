// SPDX-License-Identifier: Apache-2.0
#include "run/engines.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "cosim/checkpoint.h"
#include "engine/tlm_mxu_engine.h"

namespace tandem::run {
namespace {

/// "out.fst" for the first array of the first core, "out_core0_mxu1.fst" for others.
std::string wave_path_of(const std::string& path, ArrayPlace place) {
    if (path.empty() || (place.core == 0 && place.array == 0)) return path;
    std::filesystem::path file(path);
    const auto extension = file.extension();
    file.replace_extension();
    return fmt::format("{}_core{}_mxu{}{}", file.string(), place.core, place.array,
                       extension.string());
}

}  // namespace

Engines::Engines(const arch::ChipConfig& config, const RunOptions& options, uint64_t rows)
    : config_(config), options_(options), rows_(rows) {
    if (options.backend == "tlm") {
        if (!options.inject.empty())
            throw UserError("--inject needs --backend rtl or tandem: it flips a bit of the RTL");
        if (!options.rtl_arrays.all())
            throw UserError("--rtl-arrays needs --backend rtl or tandem: tlm has no RTL");
        return;
    }
    if (!options.functional)
        throw UserError("--mode timing moves no data: it goes with --backend tlm only");
    array_ = load_array(config, options.array);
}

EngineFactory Engines::factory() {
    return [this](uint32_t core, uint32_t array) { return make({core, array}); };
}

std::unique_ptr<engine::MxuEngine> Engines::make(ArrayPlace place) {
    if (!array_)
        return std::make_unique<engine::TlmMxuEngine>(array_shape(config_, options_.array));
    if (!options_.rtl_arrays.contains(place))
        return std::make_unique<engine::TlmMxuEngine>(array_->shape);
    if (options_.backend == "tandem") return make_tandem(place);
    auto rtl = std::make_unique<cosim::RtlMxuEngine>(array_->shape, array_->library);
    rtl->await_origin();
    rtl->set_on_failure([] { sc_core::sc_stop(); });
    entries_.push_back({place, rtl.get(), nullptr});
    inject(*rtl);
    return rtl;
}

std::unique_ptr<engine::MxuEngine> Engines::make_tandem(ArrayPlace place) {
    cosim::TandemOptions tandem;
    tandem.wave_path = wave_path_of(options_.divergence_wave, place);
    tandem.period_fs = period_fs(config_);
    tandem.model_probes = [this, core = place.core] { return probes_(core); };
    tandem.on_divergence = [this, place](const cosim::Divergence&) {
        // The replay of another array's difference: it is over.
        if (cosim::Checkpoint::revived()) ::_exit(0);
        if (!diverged_) diverged_ = place;
        sc_core::sc_stop();
    };
    // A copy of the simulation would write to the same file.
    tandem.keep_checkpoints = options_.checkpoints && !options_.wave.whole_run();
    auto engine = std::make_unique<cosim::TandemEngine>(array_->shape, array_->library, tandem);
    engine->rtl().await_origin();
    entries_.push_back({place, &engine->rtl(), engine.get()});
    inject(engine->rtl());
    return engine;
}

/// Into the first array that is made.
void Engines::inject(cosim::RtlMxuEngine& rtl) const {
    if (options_.inject.empty() || entries_.size() != 1) return;
    const auto seed = cosim::parse_injection_seed(options_.inject);
    if (!seed) return rtl.inject(cosim::parse_injection(options_.inject, array_->shape));
    if (rows_ == 0)
        throw UserError("--inject", "seed", "a program with products for the first array with RTL",
                        "none");
    rtl.inject(cosim::random_injection(*seed, array_->shape, rows_));
}

std::vector<std::string> Engines::rtl_arrays() const {
    std::vector<std::string> names;
    for (const Entry& entry : entries_) names.push_back(entry.place.to_string());
    return names;
}

uint64_t Engines::rows_compared() const {
    uint64_t rows = 0;
    for (const Entry& entry : entries_)
        if (entry.tandem != nullptr) rows += entry.tandem->rows_compared();
    return rows;
}

const cosim::Divergence& Engines::divergence() const {
    for (const Entry& entry : entries_)
        if (entry.place.core == diverged_->core && entry.place.array == diverged_->array)
            return *entry.tandem->divergence();
    throw std::logic_error("no engine has diverged");
}

std::string Engines::assertion() const {
    for (const Entry& entry : entries_) {
        if (entry.tandem != nullptr || entry.rtl->failure().empty()) continue;
        if (entry.place.core == 0 && entry.place.array == 0) return entry.rtl->failure();
        return fmt::format("core {}, array {}: {}", entry.place.core, entry.place.array,
                           entry.rtl->failure());
    }
    return {};
}

std::optional<cosim::Injection> Engines::injected() const {
    if (entries_.empty()) return std::nullopt;
    return entries_.front().rtl->injected();
}

void Engines::set_origin(uint64_t cycle) {
    for (const Entry& entry : entries_) entry.rtl->set_origin(cycle);
}

void Engines::close_waves() {
    for (const Entry& entry : entries_) entry.rtl->close_wave();
}

}  // namespace tandem::run
