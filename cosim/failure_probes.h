// SPDX-License-Identifier: Apache-2.0
// What the waveform of a failure has beside the RTL's signals: registers of the PEs around the one
// in question (pe.rR_cC), and what the model expects of that PE, of those above it and to its left
// (expected.rR_cC), of the nets between the units and of the ports (expected).
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "cosim/expected_signals.h"
#include "cosim/pe_oracle.h"
#include "cosim/pe_probes.h"
#include "cosim/port_model.h"
#include "cosim/unit_oracle.h"

namespace tandem::cosim {

/// Of an array, at the time from which on its edges are told; tiles as in PeOracle.
struct FailurePlace {
    engine::MxuShape shape;
    std::function<TandemPeRegisters(uint32_t row, uint32_t col)> pe;
    std::span<const TandemTap> taps{};  ///< being watched; empty: not Tandem's own array
    std::span<const std::byte> active{}, shadow{};
    uint32_t pe_row = 0, pe_col = 0;  ///< in question
    bool whole = false;  ///< no PE is: the registers of all, if they are few, and nothing expected
};

class FailureProbes {
  public:
    explicit FailureProbes(FailurePlace place);

    /// For trace_open(); valid as long as this object lives.
    std::vector<TandemProbe> list() const;
    /// Nothing is in the array any more.
    void reset();
    /// Both moments of every edge, in order; arguments as in TandemTraceCall.
    void before(engine::Cycle edge, const TandemArrayPorts& ports);
    void after(engine::Cycle edge, const TandemArrayPorts& ports);
    /// After after(): the row that is written at this edge is known better.
    void expect_commit(uint32_t address, std::span<const int32_t> row);

  private:
    struct Pe {
        std::string scope;
        uint32_t row, col;
        std::vector<PeRegister> registers;
    };

    void add_pes();
    void add_pes_around();
    void expect_pe(uint32_t r, uint32_t c);
    void add_ports();
    void add_nets();
    void new_oracles(std::span<const std::byte> active, std::span<const std::byte> shadow);
    void expect_ports_before();
    void expect_ports_after();
    void expect(const char* port, uint32_t bits, uint64_t value);
    void expect_net(const char* signal, uint32_t lane, uint64_t value);
    void accept(engine::Cycle edge, const TandemArrayPorts& ports);

    const FailurePlace place_;
    std::unique_ptr<PeOracle> pe_oracle_;
    std::unique_ptr<UnitOracle> unit_oracle_;  ///< of Tandem's own array
    const PeTable no_registers_;               ///< the oracle has nothing to judge
    PortModel port_model_;
    PortsShown shown_{};  ///< at this edge
    uint32_t beats_ = 0;  ///< accepted since the last complete tile
    const uint32_t address_bits_;
    PeProbes pe_probes_;
    ExpectedSignals expected_;
    std::vector<Pe> pes_;
};

}  // namespace tandem::cosim
