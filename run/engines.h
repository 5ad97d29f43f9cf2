// SPDX-License-Identifier: Apache-2.0
// The engines behind all arrays of a system, by the backend's name: transaction-level, RTL, or both
// in lock-step; and what they found.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "cosim/rtl_mxu_engine.h"
#include "cosim/tandem_engine.h"
#include "run/run.h"
#include "run/system.h"

namespace tandem::run {

class Engines {
  public:
    struct Place {
        uint32_t core, array;
    };

    /// `rows`: of activations in the first array, for an injection by seed. Throws UserError for
    /// options that do not go together.
    Engines(const arch::ChipConfig& config, const RunOptions& options, uint64_t rows);

    EngineFactory factory();
    /// Signals of the model for the wave of a divergence; call before the run.
    void set_probes(std::function<std::vector<TandemProbe>(uint32_t core)> probes) {
        probes_ = std::move(probes);
    }

    /// Of the first array of the first core; null: the backend has none.
    cosim::RtlMxuEngine* first_rtl() { return entries_.empty() ? nullptr : entries_.front().rtl; }
    uint64_t rows_compared() const;
    /// Of the engine that stopped the run, if one did.
    const std::optional<Place>& diverged() const { return diverged_; }
    const cosim::Divergence& divergence() const;
    /// Of RTL without a model beside it; empty: none failed.
    std::string assertion() const;
    std::optional<cosim::Injection> injected() const;
    void close_waves();

  private:
    struct Entry {
        Place place;
        cosim::RtlMxuEngine* rtl;
        cosim::TandemEngine* tandem;
    };

    std::unique_ptr<engine::MxuEngine> make(Place place);
    std::unique_ptr<engine::MxuEngine> make_tandem(Place place);
    void inject(cosim::RtlMxuEngine& rtl) const;

    const arch::ChipConfig& config_;
    const RunOptions& options_;
    const uint64_t rows_;
    std::optional<LoadedArray> array_;  ///< loaded once for all
    std::vector<Entry> entries_;        ///< of backends with RTL
    std::optional<Place> diverged_;
    std::function<std::vector<TandemProbe>(uint32_t core)> probes_;
};

/// Of a wave's time axis.
inline uint64_t period_fs(const arch::ChipConfig& chip) {
    return 1'000'000'000'000'000ull / chip.clock_hz;
}

}  // namespace tandem::run
