// SPDX-License-Identifier: Apache-2.0
// Model and RTL in lock-step behind one seam: every accumulator row, its value, its order and its
// edge, and every event are compared while they happen. The first difference stops the run.
//
// For that moment a frozen copy of the simulation (Checkpoint) is kept from a time when the array
// was quiet and its weight planes were proven right. Revived, it repeats the run up to the
// difference three times: once comparing every PE register after every edge, which names the PE and
// the edge, once for the mistake that explains it, and once recording the waveform of the window
// around it. A run without difference pays for none of them.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cosim/checkpoint.h"
#include "cosim/divergence.h"
#include "cosim/failure_probes.h"
#include "cosim/rtl_mxu_engine.h"
#include "cosim/unit_oracle.h"
#include "cosim/witness.h"
#include "engine/tlm_mxu_engine.h"

namespace tandem::cosim {

struct TandemOptions {
    std::string wave_path;           ///< FST of the window; empty: none
    uint64_t period_fs = 1'000'000;  ///< of the clock, for the wave's time axis
    Cycle edges_before = 150;        ///< window around the first wrong register
    Cycle edges_after = 150;         ///< after the row that showed it
    bool keep_checkpoints = true;    ///< false: no fork, hence no PE and no wave
    /// Model signals for the waveform; asked for once.
    std::function<std::vector<TandemProbe>()> model_probes;
    /// Called once, from inside advance(); the engine is dead afterwards.
    std::function<void(const Divergence&)> on_divergence;
};

class TandemEngine final : public engine::MxuEngine, private ArrayListener {
  public:
    TandemEngine(engine::MxuShape shape, std::shared_ptr<ArrayLibrary> library,
                 TandemOptions options);

    std::string_view name() const override { return "tandem"; }
    engine::MxuShape shape() const override { return tlm_.shape(); }
    void reset(Cycle cycle) override;
    void push_weights(const engine::WeightTile& tile) override;
    void push_rows(const engine::RowBlock& block) override;
    void push_read(const engine::AccumulatorRead& read) override;
    std::optional<engine::MxuEvent> advance(Cycle until) override;
    std::span<const int32_t> read_data() const override { return rtl_.read_data(); }
    bool busy() const override { return !divergence_ && rtl_.busy(); }

    RtlMxuEngine& rtl() { return rtl_; }
    uint64_t rows_compared() const { return rows_compared_; }
    const std::optional<Divergence>& divergence() const { return divergence_; }

  private:
    enum class Mode { kCompare, kDiagnose, kExplain, kRecord };

    // What the RTL does, as it happens.
    void on_weight_row(Cycle edge, uint32_t row, const std::byte* data) override;
    void on_activation_row(Cycle edge, const std::byte* data, bool swap) override;
    void on_failure(Cycle edge, const std::string& what, const char* port) override;
    void on_commit(Cycle edge, uint32_t address, const int32_t* row) override;
    void on_step(Cycle edge, const TandemArrayPorts& ports) override;
    void after_edge(Cycle edge, const TandemArrayPorts& ports) override;

    void next_row();
    void explain_row(Cycle edge, uint32_t address, const int32_t* row);
    uint64_t block_in_work();
    void compare_event(const std::optional<engine::MxuEvent>& rtl, Cycle until);
    void compare_read(const engine::MxuEvent& event);
    void diverge(Divergence divergence);

    // The checkpoint and its lives.
    void checkpoint_if_due(Cycle until);
    bool planes_are_right();
    const PeTable& pes();
    void begin_life(const std::string& command);
    void new_oracles();
    bool own_array() const { return std::string_view(rtl_.info().form) != "other"; }
    void answer_first_wrong(Cycle edge, const std::optional<PeMismatch>& pe);
    void take_answer(const std::string& answer);
    void finish_record();
    void answer_hint();
    void ask_for_hint(Cycle edge);
    void diagnose_and_record();
    void begin_record(const std::string& wave, Cycle from);
    void on_moment(const TandemArrayPorts& ports, bool rose);

    TandemOptions options_;
    engine::TlmMxuEngine tlm_;
    RtlMxuEngine rtl_;
    /// The block whose rows the RTL commits next, as the model has it; null: none, or done.
    const engine::TlmMxuEngine::BlockResult* block_ = nullptr;
    uint32_t row_ = 0;                   ///< of that block, the next one
    const int32_t* expected_ = nullptr;  ///< its values
    Cycle expected_edge_ = 0;
    const Cycle commit_latency_;
    const size_t row_bytes_;  ///< of an accumulator row
    uint64_t rows_compared_ = 0;
    std::optional<Divergence> divergence_;
    bool reported_ = false;

    Checkpoint checkpoint_;
    std::chrono::steady_clock::time_point next_checkpoint_{};
    long faults_at_checkpoint_ = 0;
    PeTable pes_{};
    Mode mode_ = Mode::kCompare;
    std::unique_ptr<PeOracle> oracle_;
    std::unique_ptr<Witness> witness_;                        ///< of a life that explains
    std::unique_ptr<UnitOracle> units_;                       ///< diagnosis of Tandem's own arrays
    std::optional<UnitMismatch> wrong_before_, wrong_after_;  ///< the edge that was just stepped
    Cycle last_edge_ = 0;                                     ///< of this life
    Cycle divergence_edge_ = 0;                      ///< where the run that is repeated stopped
    PeMismatch focus_{};                             ///< PE shown in the wave
    std::unique_ptr<FailureProbes> failure_probes_;  ///< while it is recorded
};

}  // namespace tandem::cosim
