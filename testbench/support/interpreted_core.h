// SPDX-License-Identifier: Apache-2.0
// What instructions do to the memories of one core, by the text of arch/README.md: plain loops,
// arithmetic of the oracle. An instruction takes place at two moments: it reads, and later it
// writes; what happens in between to what it has read, or is about to write, shows.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <vector>

#include "arch/chip_config.h"
#include "arch/generated/isa.h"
#include "testbench/support/interpreted_memory.h"
#include "testbench/support/interpreted_vector.h"
#include "testbench/support/naive_ops.h"

namespace tandem::testbench {

/// An instruction that a unit has started.
struct Execution {
    uint32_t index = 0;
    isa::Words words{};
    uint64_t base = 0;  ///< value of its base register at dispatch
    isa::Geometry window;
    std::shared_ptr<const std::vector<uint8_t>> tile;  ///< of a matmul
    bool has_read = false;
    /// What it writes, in its own order: runs of bytes, or rows of accumulators.
    std::vector<uint8_t> bytes;
    std::vector<uint32_t> sums;
};

class InterpretedCore {
  public:
    /// Fills its memories with rubbish, so that reading what was never written shows.
    InterpretedCore(const arch::ChipConfig& chip, InterpretedMemory& device,
                    InterpretedMemory& host, std::mt19937& random);

    void read(Execution& e);
    void write(Execution& e);

    /// The next tile of a read_weights into its array's FIFO.
    void fetch_tile(const Execution& e, uint32_t tile);
    bool fifo_full(uint32_t array) const;
    bool fifo_empty(uint32_t array) const { return arrays_.at(array).fifo.empty(); }
    /// Takes the next tile if the matmul switches to one; sets Execution::tile.
    void begin_matmul(Execution& e);

    std::vector<uint8_t>& buffer() { return buffer_; }
    uint64_t macs() const { return macs_; }
    size_t tiles_left() const;

  private:
    using Tile = std::shared_ptr<const std::vector<uint8_t>>;
    struct Array {
        std::vector<uint32_t> accumulators;
        std::deque<Tile> fifo;
        Tile tile;
    };

    void transfer_in(Execution& e);
    void transfer_out(Execution& e, bool writes);
    void read_matmul(Execution& e);
    void write_matmul(const Execution& e);
    void read_requantise(Execution& e);
    void read_convert(Execution& e);
    uint32_t converted(const isa::Convert& op, uint32_t sum, uint32_t column);
    /// Rows of bytes, `stride` apart.
    void write_rows(const Execution& e, uint64_t address, uint64_t rows, uint64_t stride);

    std::vector<uint32_t> row_of(const isa::Matmul& m, const isa::Geometry& g, uint64_t position);
    uint32_t element(const isa::Matmul& m, const isa::Geometry& g, uint64_t position, uint32_t k);
    std::vector<uint32_t> products_int8(const std::vector<uint32_t>& row, const Execution& e) const;
    std::vector<uint32_t> products_bf16(const std::vector<uint32_t>& row, const Execution& e) const;
    uint8_t* at(uint64_t address, uint64_t bytes);
    int8_t value(uint64_t address) { return static_cast<int8_t>(*at(address, 1)); }
    int32_t word(uint64_t address);
    bool is_bf16() const { return chip_.mxu.dtype == arch::Dtype::kBf16; }
    Array& array(uint32_t index);
    uint32_t* accumulator_rows(uint32_t array, uint64_t first, uint64_t rows);

    const arch::ChipConfig& chip_;
    InterpretedMemory& device_;
    InterpretedMemory& host_;
    std::vector<uint8_t> buffer_;
    std::vector<Array> arrays_;
    InterpretedVector vector_;
    uint64_t macs_ = 0;
};

}  // namespace tandem::testbench
