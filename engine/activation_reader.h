// SPDX-License-Identifier: Apache-2.0
// Address generation of the activation side: turns output positions and elements of the reduction
// into bytes of the unified buffer (im2col on the fly). The rule is in arch/README.md, "matmul".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "arch/generated/isa.h"
#include "arch/geometry.h"

namespace tandem::engine {

class ActivationReader {
  public:
    /// Channels count elements of `element_bytes`: 1 for int8, 2 for bf16.
    ActivationReader(std::span<const uint8_t> buffer, uint32_t array_rows,
                     uint32_t element_bytes = 1)
        : buffer_(buffer), array_rows_(array_rows), element_bytes_(element_bytes) {}

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
    /// rows x array_rows elements into `out`, zero beyond k_len. Outside the image: pad_value, or
    /// zero where elements are bf16.
    void read(const isa::Matmul& matmul, std::byte* out) const;

  private:
    /// Neighbouring channels of one kernel tap.
    struct Run {
        int64_t down, right;  ///< pixels from the window's origin
        uint64_t offset;      ///< bytes into the pixel
        uint32_t bytes;
    };
    /// An output position.
    struct Position {
        uint64_t image;
        uint32_t row, column;
    };
    std::vector<Run> runs_of(const isa::Matmul& matmul) const;
    Position position(uint64_t number) const;
    void advance(Position& position) const;
    void read_row(const uint8_t* image, const Position& position, std::span<const Run> runs,
                  std::byte* out) const;
    void read_pixels(const isa::Matmul& matmul, const Run& run, std::byte* out) const;

    size_t row_bytes() const { return size_t{array_rows_} * element_bytes_; }
    /// Every output position reads one pixel inside the image.
    bool one_pixel() const;

    std::span<const uint8_t> buffer_;
    uint32_t array_rows_, element_bytes_;
    isa::Geometry geometry_ = isa::kSinglePixel;
};

}  // namespace tandem::engine
