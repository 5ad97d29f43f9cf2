// SPDX-License-Identifier: Apache-2.0
// Verilated `tpu_requantise` behind the RequantiseEngine seam: alone, or beside the model. Rows
// stand at its port as the vector unit reads them, one every `interval` edges of the unit's own
// count; a row that is not accepted at that edge, or not at the output after the declared latency,
// breaks what the vector unit promised its program, and ends the run like a wrong value.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "cosim/divergence.h"
#include "cosim/requantise_unit.h"
#include "engine/requantise_engine.h"

namespace tandem::cosim {

struct RequantiseOptions {
    bool compare = false;  ///< the values as well, with those of the model
    /// Called once, from inside requantise(); the engine does nothing afterwards.
    std::function<void()> on_divergence;
};

class RtlRequantiseEngine final : public engine::RequantiseEngine {
  public:
    RtlRequantiseEngine(const RequantiseShape& shape, std::shared_ptr<const UnitLibrary> library,
                        RequantiseOptions options);

    std::string_view name() const override { return options_.compare ? "tandem" : "rtl"; }
    /// Writes what the RTL made of the rows. Adjoining instructions have no idle edge between them
    /// but those that empty the pipeline.
    void requantise(const engine::RequantiseRows& rows) override;

    uint64_t values_compared() const { return values_compared_; }
    /// Of unit "requantise": row, column and edges of the unit; the operands are its note.
    const std::optional<Divergence>& divergence() const { return divergence_; }
    /// Whose rows these are.
    uint32_t instruction() const { return instruction_; }

  private:
    void begin(const engine::RequantiseRows& rows);
    static void load_sums(const engine::RequantiseRows& rows, uint32_t row, RequantiseRow& into);
    bool take(const engine::RequantiseRows& rows, uint32_t row);
    /// Edges: as the model says, and as the RTL did; 0: it did not.
    void diverge(const char* what, uint32_t row, const char* signal, std::string note,
                 std::pair<uint64_t, uint64_t> edges);

    RequantiseUnit unit_;
    const RequantiseOptions options_;
    const engine::RequantiseTiming timing_;
    uint64_t edge_ = 0;  ///< of the next one
    uint64_t values_compared_ = 0;
    std::optional<Divergence> divergence_;
    uint32_t instruction_ = 0;
    RequantiseRow in_, out_;  ///< at the input, at the output
};

}  // namespace tandem::cosim
