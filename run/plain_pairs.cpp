// SPDX-License-Identifier: Apache-2.0
#include "run/plain_pairs.h"

#include <algorithm>

#include "compiler/graph/operators.h"

namespace tandem::run {
namespace {

using compiler::Shape;

size_t natural(int64_t value) { return static_cast<size_t>(value); }

/// One input: a matrix for each index in front of it, an extent of 1 standing for any.
struct Operand {
    const std::vector<uint8_t>& bytes;
    size_t samples, element;
    size_t rows, row_step, k, k_step;  ///< of K elements; in elements

    std::vector<uint8_t> rows_at(size_t place) const {
        std::vector<uint8_t> result;
        result.reserve(rows * k * element);
        for (size_t row = 0; row < rows; ++row)
            for (size_t i = 0; i < k; ++i) {
                const auto from =
                    bytes.begin() +
                    static_cast<ptrdiff_t>((place + row * row_step + i * k_step) * element);
                result.insert(result.end(), from, from + static_cast<ptrdiff_t>(element));
            }
        return result;
    }

    void collect(const Shape& shape, const Shape& out,
                 std::vector<std::vector<uint8_t>>& matrices) const {
        const size_t missing = out.size() - shape.size();
        const size_t of_sample = bytes.size() / element / samples;
        std::vector<size_t> places{0};  // of a sample's matrices, in the order of the output's
        size_t step = of_sample;
        for (size_t i = 0; i + 2 < out.size(); ++i) {
            const size_t own = i < missing ? 1 : natural(shape[i - missing]);
            step /= own;
            std::vector<size_t> next;
            for (const size_t place : places)
                for (size_t index = 0; index < natural(out[i]); ++index)
                    next.push_back(place + (own == 1 ? 0 : index * step));
            places = std::move(next);
        }
        for (size_t sample = 0; sample < samples; ++sample)
            for (const size_t place : places)
                matrices.push_back(rows_at(sample * of_sample + place));
    }
};

}  // namespace

PlainPairs plain_pairs(const compiler::Graph& graph, const compiler::Node& node, uint32_t batch,
                       const std::vector<uint8_t>& a, const std::vector<uint8_t>& b) {
    const Shape &of_a = graph.input(node, 0).shape, &of_b = graph.input(node, 1).shape;
    const Shape& out = graph.output(node).shape;
    const bool adj_x = compiler::integer_attribute(node, "adj_x") != 0;
    const bool adj_y = compiler::integer_attribute(node, "adj_y") != 0;
    const size_t element = compiler::element_type_bytes(graph.input(node, 0).type);
    PlainPairs pairs;
    pairs.m = natural(out[out.size() - 2]);
    pairs.n = natural(out.back());
    pairs.k = natural(of_a[of_a.size() - (adj_x ? 2 : 1)]);
    const size_t m = pairs.m, n = pairs.n, k = pairs.k;
    Operand{a, batch, element, m, adj_x ? 1 : k, k, adj_x ? m : 1}.collect(of_a, out, pairs.a);
    Operand{b, batch, element, n, adj_y ? k : 1, k, adj_y ? 1 : n}.collect(of_b, out, pairs.b);
    return pairs;
}

std::vector<float> plain_bf16_pairs(const PlainPairs& pairs, const PlainArray& array,
                                    const PlainStep& step) {
    PlainProduct product;
    product.window.images = pairs.m;
    product.window.channels = pairs.k;
    product.n = pairs.n;
    std::vector<float> result;
    for (size_t p = 0; p < pairs.a.size(); ++p) {
        const auto sums = plain_bf16_product(product, pairs.a[p], pairs.b[p], array, step);
        result.insert(result.end(), sums.begin(), sums.end());
    }
    return result;
}

std::vector<uint8_t> plain_int8_pairs(const PlainPairs& pairs, int32_t zero_a, int32_t zero_b,
                                      const std::function<uint8_t(int32_t sum)>& finish,
                                      const PlainStep& step) {
    const auto beyond = [](uint8_t byte, int32_t zero) { return static_cast<int8_t>(byte) - zero; };
    std::vector<uint8_t> result;
    for (size_t p = 0; p < pairs.a.size(); ++p) {
        for (size_t row = 0; row < pairs.m; ++row)
            for (size_t column = 0; column < pairs.n; ++column) {
                uint32_t sum = 0;
                for (size_t i = 0; i < pairs.k; ++i)
                    sum += static_cast<uint32_t>(beyond(pairs.a[p][row * pairs.k + i], zero_a) *
                                                 beyond(pairs.b[p][column * pairs.k + i], zero_b));
                result.push_back(finish(static_cast<int32_t>(sum)));
            }
        step(pairs.m * pairs.n * pairs.k);
    }
    return result;
}

}  // namespace tandem::run
