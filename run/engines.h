// SPDX-License-Identifier: Apache-2.0
// The engines behind all arrays of a system, by the backend's name: transaction-level, RTL, or both
// in lock-step, behind all or some of them; and what they found.
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
    /// `rows`: of activations in the first array with RTL, for an injection by seed. Throws
    /// UserError for options that do not go together.
    Engines(const arch::ChipConfig& config, const RunOptions& options, uint64_t rows);

    EngineFactory factory();
    /// Signals of the model for the wave of a divergence; call before the run.
    void set_probes(std::function<std::vector<TandemProbe>(uint32_t core)> probes) {
        probes_ = std::move(probes);
    }

    /// The first in the order of cores and arrays; null: the backend has none.
    cosim::RtlMxuEngine* first_rtl() { return entries_.empty() ? nullptr : entries_.front().rtl; }
    /// Until the array was found or built; 0: there is none.
    double array_seconds() const { return array_ ? array_->seconds : 0; }
    /// Names of the arrays with RTL.
    std::vector<std::string> rtl_arrays() const;
    uint64_t rows_compared() const;
    /// Place of the engine that stopped the run, if one did.
    const std::optional<ArrayPlace>& diverged() const { return diverged_; }
    const cosim::Divergence& divergence() const;
    /// Failed assertion of RTL without a model beside it; empty: none failed.
    std::string assertion() const;
    std::optional<cosim::Injection> injected() const;
    void close_waves();
    /// Cycles of waves, injections and divergences count from here. Until then nothing is flipped
    /// or recorded.
    void set_origin(uint64_t cycle);

  private:
    struct Entry {
        ArrayPlace place;
        cosim::RtlMxuEngine* rtl;
        cosim::TandemEngine* tandem;
    };

    std::unique_ptr<engine::MxuEngine> make(ArrayPlace place);
    std::unique_ptr<engine::MxuEngine> make_tandem(ArrayPlace place);
    void inject(cosim::RtlMxuEngine& rtl) const;

    const arch::ChipConfig& config_;
    const RunOptions& options_;
    const uint64_t rows_;
    std::optional<LoadedArray> array_;  ///< loaded once for all
    std::vector<Entry> entries_;        ///< of backends with RTL
    std::optional<ArrayPlace> diverged_;
    std::function<std::vector<TandemProbe>(uint32_t core)> probes_;
};

/// One cycle on a wave's time axis.
inline uint64_t period_fs(const arch::ChipConfig& chip) {
    return 1'000'000'000'000'000ull / chip.clock_hz;
}

}  // namespace tandem::run
