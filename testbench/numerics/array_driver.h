// SPDX-License-Identifier: Apache-2.0
// A bf16 array at its ports (rtl/README.md), without the model: tiles and rows in, commits out.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "cosim/array_library.h"
#include "engine/mxu_engine.h"

namespace tandem::testbench {

/// The array does not do its work at all: nothing more can be judged.
class ArrayFault : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

class ArrayDriver {
  public:
    /// Called for every accumulator row that was written: its number, and Cols fp32.
    using OnCommit = std::function<void(uint32_t address, std::span<const uint32_t> row)>;

    ArrayDriver(engine::MxuShape shape, std::shared_ptr<cosim::ArrayLibrary> library,
                OnCommit on_commit);
    ~ArrayDriver();
    ArrayDriver(const ArrayDriver&) = delete;
    ArrayDriver& operator=(const ArrayDriver&) = delete;

    // Each returns when the array has accepted it; throws ArrayFault naming the port when it does
    // not for many times its latency, or when an assertion of the RTL fails.

    /// rows x cols elements, row 0 first; the shadow plane has to be free.
    void load(std::span<const uint16_t> tile);
    /// `swap`: the first row with the tile that was loaded last.
    void push(std::span<const uint16_t> activations, bool swap, uint32_t address, bool accumulate);
    /// Edges until nothing is under way.
    void drain();
    uint64_t edges() const { return edges_; }

  private:
    void step(TandemArrayPorts& ports);
    template <class Done>
    void step_until(TandemArrayPorts& ports, const char* port, Done done);

    const engine::MxuShape shape_;
    std::shared_ptr<cosim::ArrayLibrary> library_;
    OnCommit on_commit_;
    TandemArray* array_;
    std::vector<uint16_t> no_weights_, no_activations_;
    std::vector<uint32_t> row_;
    uint64_t edges_ = 0;
};

}  // namespace tandem::testbench
