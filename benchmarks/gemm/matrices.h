// SPDX-License-Identifier: Apache-2.0
// Square matrices of a product, and their tiles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tandem::benchmarks {

inline constexpr uint64_t kSeed = 1;
inline constexpr uint32_t kTile =
    256;  ///< of the kernels alone: rows and columns of tpu_v1's array

/// Matrices of one product, all row after row; B as k x n.
template <class In, class Out>
struct Matrices {
    explicit Matrices(uint32_t n)
        : size(n), a(size_t{n} * n), b(size_t{n} * n), c(size_t{n} * n), plain(size_t{n} * n) {}
    uint32_t size;
    std::vector<In> a, b;
    std::vector<Out> c, plain;
};

/// Weight tiles and blocks of rows as an array gets them.
template <class Element>
struct Tiled {
    explicit Tiled(const Matrices<Element, int32_t>& m)
        : count((m.size + kTile - 1) / kTile), size(m.size) {
        for (uint32_t n = 0; n < count; ++n)
            for (uint32_t k = 0; k < count; ++k) tiles.push_back(block(m.b, k, n, kTile));
        for (uint32_t k = 0; k < count; ++k) rows.push_back(block(m.a, 0, k, size));
        sums.resize(count, std::vector<int32_t>(size_t{size} * kTile));
    }
    /// Zero where the matrix has ended.
    std::vector<Element> block(const std::vector<Element>& from, uint32_t row, uint32_t column,
                               uint32_t height) const {
        std::vector<Element> out(size_t{height} * kTile);
        for (size_t r = 0; r < height && row * kTile + r < size; ++r)
            for (size_t c = 0; c < kTile && column * kTile + c < size; ++c)
                out[r * kTile + c] = from[(row * kTile + r) * size + column * kTile + c];
        return out;
    }
    bool equals(const std::vector<int32_t>& plain) const {
        for (size_t i = 0; i < size; ++i)
            for (size_t j = 0; j < size; ++j)
                if (sums[j / kTile][i * kTile + j % kTile] != plain[i * size + j]) return false;
        return true;
    }
    template <class Multiply>
    void run(Multiply multiply) {
        for (uint32_t n = 0; n < count; ++n)
            for (uint32_t k = 0; k < count; ++k)
                multiply(rows[k].data(), tiles[n * count + k].data(), k != 0, sums[n].data());
    }
    uint32_t count, size;
    std::vector<std::vector<Element>> tiles, rows;
    std::vector<std::vector<int32_t>> sums;
};

}  // namespace tandem::benchmarks
