// SPDX-License-Identifier: Apache-2.0
// The oracle's view of BATCH_MATMUL: which elements of its inputs each product multiplies.
#pragma once

#include <cstddef>
#include <vector>

#include "compiler/graph/graph.h"

namespace tandem::testbench {

/// Places in the two inputs: m rows of k, and n rows of k.
struct NaivePair {
    std::vector<size_t> a, b;
    int k = 1, n = 1;

    template <class T>
    static std::vector<T> at(const std::vector<T>& values, const std::vector<size_t>& places) {
        std::vector<T> result;
        for (const size_t place : places) result.push_back(values.at(place));
        return result;
    }
};

/// In the order of the output's matrices. An extent of 1, or one that is missing, in front of an
/// input's matrices repeats them.
std::vector<NaivePair> naive_pairs(const compiler::Shape& a, const compiler::Shape& b,
                                   const compiler::Shape& out, bool adj_x, bool adj_y);

}  // namespace tandem::testbench
