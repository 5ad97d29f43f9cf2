// SPDX-License-Identifier: Apache-2.0
#include "testbench/support/naive_pairs.h"

namespace tandem::testbench {

namespace {

using compiler::Shape;

size_t size(int64_t extent) { return static_cast<size_t>(extent); }

/// Index of the first element of the matrix that meets the output's matrix `number`.
size_t matrix_place(const Shape& shape, const Shape& out, size_t number) {
    size_t place = 0, step = size(shape[shape.size() - 2]) * size(shape.back());
    for (size_t back = 3; back <= out.size(); ++back) {
        const size_t extent = size(out[out.size() - back]), index = number % extent;
        number /= extent;
        if (back > shape.size()) continue;
        const size_t own = size(shape[shape.size() - back]);
        if (own != 1) place += index * step;
        step *= own;
    }
    return place;
}

}  // namespace

std::vector<NaivePair> naive_pairs(const Shape& a, const Shape& b, const Shape& out, bool adj_x,
                                   bool adj_y) {
    const size_t m = size(out[out.size() - 2]), n = size(out.back());
    const size_t k = size(adj_x ? a[a.size() - 2] : a.back());
    size_t count = 1;
    for (size_t i = 0; i + 2 < out.size(); ++i) count *= size(out[i]);
    std::vector<NaivePair> pairs;
    for (size_t p = 0; p < count; ++p) {
        NaivePair pair;
        pair.k = static_cast<int>(k), pair.n = static_cast<int>(n);
        const size_t in_a = matrix_place(a, out, p), in_b = matrix_place(b, out, p);
        for (size_t row = 0; row < m; ++row)
            for (size_t i = 0; i < k; ++i)
                pair.a.push_back(in_a + (adj_x ? i * m + row : row * k + i));
        for (size_t column = 0; column < n; ++column)
            for (size_t i = 0; i < k; ++i)
                pair.b.push_back(in_b + (adj_y ? column * k + i : i * n + column));
        pairs.push_back(std::move(pair));
    }
    return pairs;
}

}  // namespace tandem::testbench
