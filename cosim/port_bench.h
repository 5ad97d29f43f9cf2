// SPDX-License-Identifier: Apache-2.0
// An array at its ports beside the contract: every port is compared at every edge, and every edge
// is clocked. A stream that fails is made as small as it gets.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cosim/array_library.h"
#include "cosim/failure_probes.h"
#include "cosim/pe_oracle.h"
#include "cosim/port_model.h"
#include "cosim/port_traffic.h"
#include "cosim/unit_oracle.h"

namespace tandem::cosim {

/// The first port that is not what the contract says.
struct PortMismatch {
    std::string signal;  ///< port, or "assertion"
    uint64_t edge = 0;
    uint32_t col = 0;                  ///< of data
    int64_t expected = 0, actual = 0;  ///< sums: numbers of int32, bits of fp32
    std::string note{};                ///< where an assertion stands
};

/// What was found wrong inside Tandem's own array, when the ports were right for longer.
struct PortDiagnosis {
    std::optional<PeMismatch> pe;
    std::optional<UnitMismatch> net;
};

class PortBench {
  public:
    /// `initial`: seed of all registers of the array, which no reset sets.
    PortBench(engine::MxuShape shape, std::shared_ptr<ArrayLibrary> library, uint64_t initial);
    ~PortBench();
    PortBench(const PortBench&) = delete;
    PortBench& operator=(const PortBench&) = delete;

    /// One edge; nothing: all ports are right. A read that is the caller's fault does not happen.
    std::optional<PortMismatch> step(const PortEdge& edge);
    const PortModel& model() const { return model_; }
    const PortsShown& shown() const { return shown_; }
    /// As the array left them at the last edge.
    const TandemArrayPorts& ports() const { return ports_; }

    /// Looks into Tandem's own array as well, from now on; before the first edge.
    void look_inside();
    PortDiagnosis diagnosis() const;

    /// Records all edges from now, before the first one, to finish_record(), with what the contract
    /// expects at each (failure_probes.h). `pe`: row and column of the one to look at, in
    /// Tandem's own array; none: all, if they are few.
    void record(const std::filesystem::path& wave, std::optional<std::pair<uint32_t, uint32_t>> pe);
    /// True: the file stands there whole.
    bool finish_record();

  private:
    std::optional<PortMismatch> compare(uint64_t edge) const;
    std::optional<PortMismatch> compare_ports(uint64_t edge) const;
    void judge_inside(uint64_t edge, uint32_t beat_row);
    void new_oracles();
    TandemPeRegisters pe(uint32_t row, uint32_t col) const;
    bool own_array() const;
    std::span<const TandemTap> watch_nets();

    const engine::MxuShape shape_;
    std::shared_ptr<ArrayLibrary> library_;
    TandemArray* array_;
    PortModel model_;
    PortEdge edge_;
    TandemArrayPorts ports_{};
    PortsShown shown_{};
    std::unique_ptr<PeOracle> pe_oracle_;
    std::unique_ptr<UnitOracle> unit_oracle_;
    PeTable pes_;
    PortDiagnosis diagnosis_;
    std::unique_ptr<FailureProbes> failure_probes_;
    std::filesystem::path wave_;
    bool recording_ = false;
};

/// A stream from the seeded registers on: everything that repeats a run.
struct PortStream {
    uint64_t initial = 0;
    std::vector<PortEdge> edges;
};

/// A failure of the same port with fewer edges and less at each, as far as ten seconds go.
PortStream shrink(const PortStream& stream, const PortMismatch& found,
                  const engine::MxuShape& shape, const std::shared_ptr<ArrayLibrary>& library);

/// Runs a stream; nothing: all ports are right.
std::optional<PortMismatch> replay(const PortStream& stream, PortBench& bench);

/// A text file, a line for each edge; lines with # are for people.
void write_port_stream(const std::filesystem::path& file, const PortStream& stream,
                       const std::string& comment);
/// Throws UserError naming file and line.
PortStream read_port_stream(const std::filesystem::path& file, const engine::MxuShape& shape);

}  // namespace tandem::cosim
