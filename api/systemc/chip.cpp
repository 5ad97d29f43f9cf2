// SPDX-License-Identifier: Apache-2.0
#include "tandem/chip.h"

#include <fmt/format.h>

#include "api/systemc/chip_parameters.h"
#include "arch/chip_modes.h"
#include "base/error.h"
#include "run/engines.h"
#include "systemc/chip/tpu_chip.h"
#include "systemc/kernel/resolution.h"

namespace tandem::api {
namespace {

using modules::ParameterScope;

std::string one_of(const std::string& parameter, const std::string& value,
                   std::initializer_list<const char*> choices) {
    std::string expected;
    for (const char* choice : choices) {
        if (value == choice) return value;
        expected += expected.empty() ? choice : std::string(", ") + choice;
    }
    throw UserError("parameter " + parameter + ": expected " + expected + ", found \"" + value +
                    "\"");
}

run::RunOptions run_options(ParameterScope& scope, const ChipOptions& options) {
    run::RunOptions run;
    run.checkpoints = false;  // a copy of the user's process is not ours to run
    run.backend =
        one_of(scope.full_name("backend"),
               scope.take("backend", options.backend, "", "of the MAC arrays: tlm, rtl, tandem"),
               {"tlm", "rtl", "tandem"});
    run.functional =
        one_of(scope.full_name("mode"),
               scope.take("mode", options.mode, "", "functional, or timing: no data move"),
               {"functional", "timing"}) == "functional";
    return run;
}

arch::ChipConfig config_of(ParameterScope& scope, const ChipOptions& options) {
    const std::string name =
        scope.take("chip", options.chip, "", "shipped chip by name, or a file");
    const std::string dtype = scope.take("dtype", options.dtype, "",
                                         "of the programs' products; none: the chip's mxu.dtype");
    arch::ChipConfig chip = modules::chip_with_presets(scope, name);
    if (dtype.empty()) return chip;
    const auto known = arch::parse_dtype(dtype);
    const auto mode = known ? arch::for_dtype(chip, *known) : std::nullopt;
    if (!mode)
        throw UserError("parameter " + scope.full_name("dtype") + ": expected a type that " +
                        chip.name + " multiplies, found \"" + dtype + "\"");
    return *mode;
}

}  // namespace

struct Chip::Impl {
    Impl(const char* module, const ChipOptions& given)
        : scope(module),
          options(run_options(scope, given)),
          config(config_of(scope, given)),
          engines(config, options, 0) {
        scope.refuse_unknown();
        chip = std::make_unique<sim::TpuChip>(
            "chip", config, sim::ChipOptions{options.functional, 0, 0, {}}, engines.factory());
        // The wave of a divergence has no signals of the model here.
        engines.set_probes([](uint32_t) { return std::vector<TandemProbe>{}; });
    }

    modules::ParameterScope scope;
    const run::RunOptions options;
    const arch::ChipConfig config;
    run::Engines engines;
    std::unique_ptr<sim::TpuChip> chip;
};

Chip::Chip(sc_core::sc_module_name name, const ChipOptions& options)
    : sc_module((sim::require_femtoseconds(), name)),
      registers_in("registers_in"),
      host_out("host_out"),
      irq_out("irq_out"),
      impl_(std::make_unique<Impl>(this->name(), options)) {
    registers_in.bind(impl_->chip->registers_in());
    impl_->chip->host_out().bind(host_out);
    impl_->chip->irq_out().bind(irq_out);
}

Chip::~Chip() = default;

uint64_t Chip::program_cycles() const { return impl_->chip->runner().program_cycles(); }

uint64_t Chip::rows_compared() const { return impl_->engines.rows_compared(); }

std::string Chip::failure() const {
    if (!impl_->engines.diverged()) return impl_->engines.assertion();
    const cosim::Divergence& what = impl_->engines.divergence();
    return fmt::format("array {}: model and RTL part ({}) at cycle {}, row {}, column {}",
                       impl_->engines.diverged()->to_string(), what.what, what.cycle_tlm, what.row,
                       what.col);
}

void Chip::end_of_simulation() { impl_->engines.close_waves(); }

}  // namespace tandem::api
