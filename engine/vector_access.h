// SPDX-License-Identifier: Apache-2.0
// Elements of operands from the unified buffer into registers of a chain, and results back.
#pragma once

#include <cstdint>
#include <span>

#include "arch/vector_state.h"
#include "engine/vector_kernel.h"
#include "engine/vector_lattice.h"

namespace tandem::engine {

/// Elements of `run` as a chain holds them: int32 less `zero` (int8), int32, or fp32.
void load_run(arch::VectorType type, int32_t zero, std::span<const uint8_t> buffer, const Run& run,
              uint32_t* to, VectorKernel kernel);

/// Elements of 1, 2 or 4 bytes as they are; one row of them.
void load_bits(uint32_t bytes, std::span<const uint8_t> buffer, const Run& run, uint32_t* to,
               VectorKernel kernel);
void store_bits(uint32_t bytes, const uint32_t* from, std::span<uint8_t> buffer, const Run& run,
                VectorKernel kernel);

/// An operand, block by block.
class ElementReader {
  public:
    ElementReader(arch::VectorType type, int32_t zero, uint32_t fill, const Lattice& lattice,
                  std::span<const uint8_t> buffer, VectorKernel kernel)
        : type_(type), zero_(zero), fill_(fill), runs_(lattice), buffer_(buffer), kernel_(kernel) {}
    /// Up to `most` elements; returns how many.
    size_t next(uint32_t* to, size_t most);
    void read(uint32_t* to, size_t count);

  private:
    arch::VectorType type_;
    int32_t zero_;
    uint32_t fill_;
    Runs runs_;
    std::span<const uint8_t> buffer_;
    VectorKernel kernel_;
};

/// What results become on their way out.
struct OutputForm {
    arch::VectorType type;
    int32_t zero, clamp_min, clamp_max;  ///< of int8
};

/// Results of a chain to bits of their type.
void finish(const OutputForm& form, uint32_t* values, size_t count, VectorKernel kernel);

class ElementWriter {
  public:
    ElementWriter(const OutputForm& form, const Lattice& lattice, std::span<uint8_t> buffer,
                  VectorKernel kernel)
        : form_(form), runs_(lattice), buffer_(buffer), kernel_(kernel) {}
    /// Results of a chain; changes `from`.
    void write(uint32_t* from, size_t count);
    /// Bits, of as many bytes as the type has.
    void write_bits(const uint32_t* from, size_t count);

  private:
    OutputForm form_;
    Runs runs_;
    std::span<uint8_t> buffer_;
    VectorKernel kernel_;
};

}  // namespace tandem::engine
