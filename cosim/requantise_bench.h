// SPDX-License-Identifier: Apache-2.0
// `tpu_requantise` at its ports beside the contract of rtl/README.md: seeded traffic, every port
// compared at every edge.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <string>

#include "cosim/requantise_unit.h"
#include "engine/requantise_engine.h"

namespace tandem::cosim {

/// What stands at the inputs for an edge.
struct RequantiseEdge {
    bool reset = false, valid = false, out_ready = false;
    RequantiseRow row;
};

/// What the contract says of the outputs. Values: arch/numerics.h.
class RequantiseModel {
  public:
    explicit RequantiseModel(const RequantiseShape& shape) : timing_{shape.lanes} {}

    bool row_ready(const RequantiseEdge& edge) const {
        return !edge.reset && advances(edge) && occupied_ == 0;
    }
    void step(const RequantiseEdge& edge);

    /// The row at the output; null: none.
    const RequantiseRow* out() const {
        return !rows_.empty() && rows_.front().due == 0 ? &rows_.front().row : nullptr;
    }
    bool busy() const { return !rows_.empty(); }

  private:
    struct InWork {
        RequantiseRow row;
        uint32_t due;  ///< edges that count until it stands at the output
    };
    bool advances(const RequantiseEdge& edge) const { return out() == nullptr || edge.out_ready; }

    const engine::RequantiseTiming timing_;
    std::deque<InWork> rows_;
    uint32_t occupied_ = 0;  ///< edges that count until the next row is accepted
};

struct RequantiseCounters {
    uint64_t edges = 0, rows = 0, values = 0, stalls = 0, resets = 0;
};

/// Rows that reach the corners: both ends of int32, ties, factors beside powers of two, shifts at
/// their limits, ends of the clamp; rows that come back to back, wait, and are reset.
class RequantiseTraffic {
  public:
    RequantiseTraffic(const RequantiseShape& shape, uint64_t seed) : shape_(shape), random_(seed) {}
    const RequantiseEdge& next();
    /// The row at the input was accepted, or not.
    void note(bool accepted) { waits_ = edge_.valid && !accepted; }

  private:
    void begin_phase();
    void make_row();
    void make_column(uint32_t col);
    int32_t sum_near(double factor);
    int32_t sum_of_two_ties(numerics::ChannelParams& p);
    uint64_t below(uint64_t bound) { return random_() % bound; }
    bool chance(uint32_t percent) { return below(100) < percent; }

    const RequantiseShape shape_;
    std::mt19937_64 random_;
    RequantiseEdge edge_;
    uint32_t phase_edges_ = 0, valid_ = 0, ready_ = 0, reset_edges_ = 2;
    bool waits_ = false;
};

/// The first port that is not what the contract says.
struct RequantiseMismatch {
    std::string signal;  ///< port, or "assertion"
    uint64_t edge = 0;
    std::optional<uint32_t> col;       ///< of data
    int64_t expected = 0, actual = 0;  ///< bits of flags, numbers of int8
    std::string operands;              ///< of data
    std::string note;                  ///< where an assertion stands

    std::string text() const;
};

class RequantiseBench {
  public:
    RequantiseBench(const RequantiseShape& shape, std::shared_ptr<const UnitLibrary> library,
                    uint64_t seed)
        : unit_(shape, std::move(library), seed + 1), model_(shape), traffic_(shape, seed) {}

    /// Nothing: all ports are right.
    std::optional<RequantiseMismatch> run(uint64_t edges, RequantiseCounters& counters);

  private:
    std::optional<RequantiseMismatch> step(uint64_t edge, RequantiseCounters& counters);
    std::optional<RequantiseMismatch> compare(uint64_t edge) const;

    RequantiseUnit unit_;
    RequantiseModel model_;
    RequantiseTraffic traffic_;
};

}  // namespace tandem::cosim
