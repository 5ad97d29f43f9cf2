// SPDX-License-Identifier: Apache-2.0
// Attention and what goes with it in transformers.
#include <cmath>
#include <limits>

#include "compiler/graph/formula.h"
#include "compiler/import/onnx/operators/operators.h"
#include "compiler/import/onnx/tensors.h"

namespace tandem::compiler::onnx_operators {
namespace {

/// [batch, heads, length, depth] of that, or of [batch, length, heads * depth].
ValueName heads_apart(Maths& m, const NodeReader& n, const ValueName& value, const char* heads) {
    if (m.rank(value) == 4) return value;
    const Shape shape = m.shape(value);
    const int64_t count = n.integer(heads, 0);
    if (shape.size() != 3 || count < 1 || shape.at(2) % count != 0)
        n.fail(heads, "a number of heads that divides the last of 3 axes", shape_text(shape));
    return m.transpose(m.reshape(value, {shape.at(0), shape.at(1), count, shape.at(2) / count}),
                       {0, 2, 1, 3});
}

/// Each head for `times` heads of the queries.
ValueName repeated(Maths& m, const ValueName& value, int64_t times) {
    if (times == 1) return value;
    const Shape s = m.shape(value);
    return m.reshape(m.broadcast_to(m.reshape(value, {s.at(0), s.at(1), 1, s.at(2), s.at(3)}),
                                    {s.at(0), s.at(1), times, s.at(2), s.at(3)}),
                     {s.at(0), s.at(1) * times, s.at(2), s.at(3)});
}

/// Truth, or what is added; keys behind its end are not seen.
ValueName masked(Maths& m, const ValueName& scores, const ValueName& mask) {
    if (m.is_float(mask)) return m.formula("a + b", {scores, mask});
    return m.formula("select(a, b, -infinity)", {mask, scores});
}

void attention(Maths& m, const NodeReader& n) {
    const ValueName q = heads_apart(m, n, n.input(0), "q_num_heads");
    ValueName k = heads_apart(m, n, n.input(1), "kv_num_heads"),
              v = heads_apart(m, n, n.input(2), "kv_num_heads");
    for (int i : {4, 5})
        if (n.has_input(i) && m.rank(n.input(i)) != 4)
            n.fail("past", "4 axes", shape_text(m.shape(n.input(i))));
    const int64_t past = n.has_input(4) ? m.shape(n.input(4)).at(2) : 0;
    if (n.has_input(4)) k = m.concatenate({n.input(4), k}, 2);
    if (n.has_input(5)) v = m.concatenate({n.input(5), v}, 2);
    if (n.has_input(6)) n.fail("nonpad_kv_seqlen", "none", "an input");
    m.result(k, 1);
    m.result(v, 2);
    const Shape of_q = m.shape(q), of_k = m.shape(k);
    if (of_q.at(1) % of_k.at(1) != 0 || of_q.at(3) != of_k.at(3) || m.shape(v).at(1) != of_k.at(1))
        n.fail("Q, K, V", "heads of keys and values that divide those of queries",
               shape_text(of_q) + ", " + shape_text(of_k));
    const int64_t times = of_q.at(1) / of_k.at(1);
    const float scale =
        n.has("scale") ? n.real("scale", 1) : 1 / std::sqrt(static_cast<float>(of_q.at(3)));
    ValueName scores = m.matmul(q, m.transpose(repeated(m, k, times), {0, 1, 3, 2}));
    scores = m.formula("a * b", {scores, m.scalar(scale)});
    if (const float cap = n.real("softcap", 0); cap != 0)
        scores = m.formula("b * tanh(a / b)", {scores, m.scalar(cap)});
    if (n.integer("is_causal", 0) != 0) {
        const ValueName seen =
            m.formula("less_equal(b, a + c)",
                      {m.places(of_q.at(2), 0, 2), m.places(of_k.at(2), 1, 2), m.scalar(past)});
        scores = masked(m, scores, seen);
    }
    if (n.has_input(3)) scores = masked(m, scores, n.input(3));
    const ValueName weights = softmax(m, scores, 3);
    ValueName result = m.matmul(weights, repeated(m, v, times));
    if (m.rank(n.input(0)) == 3) {
        const Shape s = m.shape(result);
        result =
            m.reshape(m.transpose(result, {0, 2, 1, 3}), {s.at(0), s.at(2), s.at(1) * s.at(3)});
    }
    m.result(result, 0, m.graph().type(n.input(0)));
    if (n.has_output(3)) n.fail("qk_matmul_output", "none", "an output");
}

/// Pairs of numbers turned by an angle that grows with the place.
void rotary(Maths& m, const NodeReader& n) {
    const ValueName& input = n.input(0);
    const bool flat = m.rank(input) == 3;
    ValueName value = flat ? heads_apart(m, n, input, "num_heads") : input;
    if (m.rank(value) != 4) n.fail("input", "3 or 4 axes", shape_text(m.shape(value)));
    value = m.transpose(value, {0, 2, 1, 3});  // batch, length, heads, depth
    const Shape s = m.shape(value);
    ValueName cosines = n.input(1), sines = n.input(2);
    if (n.has_input(3))
        cosines = m.gather(cosines, n.input(3), 0), sines = m.gather(sines, n.input(3), 0);
    const int64_t turned = n.integer("rotary_embedding_dim", 0) == 0
                               ? s.at(3)
                               : n.integer("rotary_embedding_dim", 0),
                  half = turned / 2;
    if (turned < 2 || turned > s.at(3) || turned % 2 != 0)
        n.fail("rotary_embedding_dim", "an even number of the depth's", std::to_string(turned));
    const Shape beside{s.at(0), s.at(1), 1, half};
    cosines = m.reshape(m.slice(cosines, m.rank(cosines) - 1, 0, half), beside);
    sines = m.reshape(m.slice(sines, m.rank(sines) - 1, 0, half), beside);
    const bool interleaved = n.integer("interleaved", 0) != 0;
    const ValueName front = m.slice(value, 3, 0, turned);
    const ValueName x = interleaved ? m.slice(front, 3, 0, half, 2) : m.slice(front, 3, 0, half);
    const ValueName y = interleaved ? m.slice(front, 3, 1, half, 2) : m.slice(front, 3, half, half);
    const ValueName real =
        m.formula("a - b", {m.formula("a * b", {x, cosines}), m.formula("a * b", {y, sines})});
    const ValueName imaginary =
        m.formula("a + b", {m.formula("a * b", {x, sines}), m.formula("a * b", {y, cosines})});
    ValueName result;
    if (interleaved) {
        const Shape pair{s.at(0), s.at(1), s.at(2), half, 1};
        result = m.reshape(m.concatenate({m.reshape(real, pair), m.reshape(imaginary, pair)}, 4),
                           {s.at(0), s.at(1), s.at(2), turned});
    } else {
        result = m.concatenate({real, imaginary}, 3);
    }
    if (turned < s.at(3))
        result = m.concatenate({result, m.slice(value, 3, turned, s.at(3) - turned)}, 3);
    m.result(flat ? m.reshape(result, m.shape(input)) : m.transpose(result, {0, 2, 1, 3}), 0,
             m.graph().type(input));
}

void rms(Maths& m, const NodeReader& n) {
    const ValueName& value = n.input(0);
    const Integers axes = axes_from(m, value, m.axis_in(value, n.integer("axis", -1)));
    const ValueName squares = m.mean(m.formula("a * a", {value}), axes);
    const ValueName inverse =
        m.formula("rsqrt(a + " + formula_number(n.real("epsilon", 1e-5f)) + ")", {squares});
    m.result(m.formula("a * b * c", {value, inverse, n.input(1)}), 0, m.graph().type(value));
}

void gelu(Maths& m, const NodeReader& n) {
    const bool approximate = n.word("approximate", "none") == "tanh";
    m.result(m.formula(approximate ? "0.5 * a * (1 + tanh(0.7978846 * (a + 0.044715 * a * a * a)))"
                                   : "0.5 * a * (1 + erf(a * 0.70710677))",
                       {n.input(0)}),
             0, m.graph().type(n.input(0)));
}

}  // namespace

std::span<const OnnxOperator> attentions() {
    static constexpr OnnxOperator kAll[] = {{"Attention", attention},
                                            {"Gelu", gelu},
                                            {"RMSNormalization", rms},
                                            {"RotaryEmbedding", rotary}};
    return kAll;
}

}  // namespace tandem::compiler::onnx_operators
