// SPDX-License-Identifier: Apache-2.0
// BATCH_MATMUL by plain loops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "compiler/graph/graph.h"
#include "run/plain_products.h"

namespace tandem::run {

/// The operands of each product, one after the other: m rows and n rows of k elements.
struct PlainPairs {
    size_t m = 1, n = 1, k = 1;
    std::vector<std::vector<uint8_t>> a, b;
};

/// `a`, `b`: the node's inputs, of all samples.
PlainPairs plain_pairs(const compiler::Graph& graph, const compiler::Node& node, uint32_t batch,
                       const std::vector<uint8_t>& a, const std::vector<uint8_t>& b);

/// fp32 sums, in the order of the array.
std::vector<float> plain_bf16_pairs(const PlainPairs& pairs, const PlainArray& array,
                                    const PlainStep& step);

/// `finish` gets the sums, which wrap, of what is beyond the zero points.
std::vector<uint8_t> plain_int8_pairs(const PlainPairs& pairs, int32_t zero_a, int32_t zero_b,
                                      const std::function<uint8_t(int32_t sum)>& finish,
                                      const PlainStep& step);

}  // namespace tandem::run
