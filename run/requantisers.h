// SPDX-License-Identifier: Apache-2.0
// What stands behind the requantisation of all arrays of a system: the model, Verilated
// `tpu_requantise`, or the RTL beside the model; and what was found.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arch/chip_config.h"
#include "cosim/requantise_engines.h"
#include "run/array_places.h"
#include "systemc/chip/tpu_chip.h"

namespace tandem::run {

/// Which RTL: Tandem's own, or that of a file list with the same ports.
struct RequantiseChoice {
    std::string rtl;      ///< file list; empty: Tandem's own
    std::string rtl_top;  ///< its top module
};

/// Builds it when it is not in the cache; prints progress on stderr. Throws UserError.
std::shared_ptr<const cosim::UnitLibrary> load_requantise(const cosim::RequantiseShape& shape,
                                                          const RequantiseChoice& choice = {});

class Requantisers {
  public:
    /// `kind`: tlm, rtl, tandem. Throws UserError for a chip whose vector unit allows less time
    /// than the RTL takes, and without data.
    Requantisers(const arch::ChipConfig& config, const std::string& kind, bool functional);

    /// Empty for tlm.
    sim::RequantiserFactory factory();

    /// Until the RTL was found or built; 0: there is none.
    double seconds() const { return seconds_; }
    uint64_t values_compared() const;
    /// Whose RTL parted from the model first, if one did.
    struct Diverged {
        ArrayPlace place;
        const cosim::RtlRequantiseEngine* engine;
    };
    const std::optional<Diverged>& diverged() const { return diverged_; }

  private:
    const std::string kind_;
    cosim::RequantiseShape shape_;
    std::shared_ptr<const cosim::UnitLibrary> library_;  ///< null: tlm
    double seconds_ = 0;
    std::vector<const cosim::RtlRequantiseEngine*> engines_;
    std::optional<Diverged> diverged_;
};

}  // namespace tandem::run
