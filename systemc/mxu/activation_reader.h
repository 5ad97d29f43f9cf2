// SPDX-License-Identifier: Apache-2.0
// Address generation of the activation side: turns output positions and elements of the reduction
// into bytes of the unified buffer (im2col on the fly). The rule is in arch/README.md, "matmul".
#pragma once

#include <cstdint>
#include <span>

#include "arch/generated/isa.h"
#include "arch/geometry.h"

namespace tandem::sim {

class ActivationReader {
  public:
    ActivationReader(std::span<const uint8_t> buffer, uint32_t array_rows)
        : buffer_(buffer), array_rows_(array_rows) {}

    /// Geometry is usable: no zero sizes, strides, dilations.
    static bool valid(const isa::Geometry& geometry);
    void set_geometry(const isa::Geometry& geometry) { geometry_ = geometry; }
    const isa::Geometry& geometry() const { return geometry_; }
    /// Elements of the reduction that the geometry has.
    uint64_t reduction() const {
        return uint64_t{geometry_.kernel_h} * geometry_.kernel_w * geometry_.channels;
    }
    /// All images that the matmul touches lie inside the buffer.
    bool inside_buffer(const isa::Matmul& matmul) const;
    /// rows x array_rows int8 into `out`, zero beyond k_len.
    void read(const isa::Matmul& matmul, int8_t* out) const;

  private:
    void read_row(const isa::Matmul& matmul, uint64_t position, int8_t* out) const;

    std::span<const uint8_t> buffer_;
    uint32_t array_rows_;
    isa::Geometry geometry_ = isa::kSinglePixel;
};

}  // namespace tandem::sim
