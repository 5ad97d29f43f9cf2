// SPDX-License-Identifier: Apache-2.0
#include "run/requantisers.h"

#include <unistd.h>

#include <algorithm>

#include "base/error.h"
#include "base/stopwatch.h"
#include "base/terminal.h"
#include "cosim/checkpoint.h"
#include "cosim/unit_builder.h"
#include "run/paths.h"

namespace tandem::run {
namespace {

/// The vector unit's times hold for whatever stands behind it (docs/decisions/0031).
void check_pace(const arch::ChipConfig& config, const cosim::RequantiseShape& shape) {
    const uint32_t needed = engine::RequantiseTiming{shape.lanes}.drain_latency(shape.cols);
    if (config.vector.latency_cycles < needed)
        throw UserError("--requantise", "vector.latency",
                        "at least " + std::to_string(needed) + " cycles, which the RTL needs",
                        std::to_string(config.vector.latency_cycles));
}

}  // namespace

std::shared_ptr<const cosim::UnitLibrary> load_requantise(const cosim::RequantiseShape& shape,
                                                          const RequantiseChoice& choice) {
    cosim::check(shape);
    cosim::UnitSpec spec{data_dir() / "rtl" / "requantise.f",
                         "tpu_requantise",
                         {{"Cols", shape.cols}, {"Lanes", shape.lanes}}};
    if (!choice.rtl.empty()) {
        spec.filelist = choice.rtl;
        spec.top = choice.rtl_top;
    }
    cosim::BuildOptions options;
    options.shim_dir = data_dir() / "cosim";
    options.cache_dir = array_cache_dir();
    options.progress = [](std::string_view text) { base::tell("rtl: {}\n", text); };
    try {
        auto library =
            std::make_shared<const cosim::UnitLibrary>(cosim::ensure_unit(spec, options));
        const cosim::RequantiseUnit has_the_ports(shape, library);
        return library;
    } catch (const UserError&) {
        throw;
    } catch (const std::runtime_error& error) {
        throw UserError(error.what());
    }
}

Requantisers::Requantisers(const arch::ChipConfig& config, const std::string& kind, bool functional)
    : kind_(kind), shape_{config.mxu.cols, std::min(config.mxu.cols, config.drain_lanes())} {
    if (kind == "tlm") return;
    if (!functional)
        throw UserError("--mode timing moves no data: it goes with --requantise tlm only");
    check_pace(config, shape_);
    const base::Stopwatch watch;
    library_ = load_requantise(shape_);
    seconds_ = watch.seconds();
}

sim::RequantiserFactory Requantisers::factory() {
    if (!library_) return {};
    return [this](uint32_t core, uint32_t array) {
        const ArrayPlace place{core, array};
        cosim::RequantiseOptions options;
        options.compare = kind_ == "tandem";
        options.on_divergence = [this, place, number = engines_.size()] {
            // The replay of an array's difference: it is over.
            if (cosim::Checkpoint::revived()) ::_exit(0);
            if (!diverged_) diverged_ = Diverged{place, engines_[number]};
            sc_core::sc_stop();
        };
        auto engine = std::make_unique<cosim::RtlRequantiseEngine>(shape_, library_, options);
        engines_.push_back(engine.get());
        return engine;
    };
}

uint64_t Requantisers::values_compared() const {
    uint64_t values = 0;
    for (const auto* engine : engines_) values += engine->values_compared();
    return values;
}

}  // namespace tandem::run
