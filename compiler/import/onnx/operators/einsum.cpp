// SPDX-License-Identifier: Apache-2.0
// Einsum: products of two operands over a shared letter as matrices, everything else by the vector
// unit.
#include <algorithm>
#include <cctype>

#include "compiler/import/onnx/operators/operators.h"

namespace tandem::compiler::onnx_operators {
namespace {

/// An operand, and a letter for each of its axes; those of "..." are capitals from Z on backwards.
struct Term {
    ValueName value;
    std::string letters;
};

std::string expanded(const NodeReader& n, std::string text, size_t rank) {
    std::erase_if(text, [](unsigned char c) { return std::isspace(c) != 0; });
    const size_t dots = text.find("...");
    if (dots == std::string::npos) return text;
    const size_t named = text.size() - 3;
    if (rank < named || rank - named > 8) n.fail("equation", "an axis for each letter", text);
    std::string letters;
    for (size_t i = rank - named; i-- > 0;) letters += static_cast<char>('Z' - i);
    return text.replace(dots, 3, letters);
}

/// The axis of the second of two equal letters goes: elements where both places are the same.
void take_diagonals(Maths& m, Term& term) {
    for (size_t i = 0; i < term.letters.size(); ++i) {
        const size_t j = term.letters.find(term.letters[i], i + 1);
        if (j == std::string::npos) continue;
        const int64_t count = m.shape(term.value).at(i), rank = m.rank(term.value);
        const ValueName same =
            m.formula("a == b", {m.places(count, static_cast<int64_t>(i), rank),
                                 m.places(count, static_cast<int64_t>(j), rank)});
        const ValueName kept = m.formula(
            m.is_float(term.value) ? "select(a, b, 0.0)" : "select(a, b, 0)", {same, term.value});
        term.value = m.reduce("SUM", kept, {static_cast<int64_t>(j)}, false);
        term.letters.erase(j, 1);
        --i;
    }
}

/// With axes in the order of `letters`, one of 1 element for each that it does not have.
ValueName aligned(Maths& m, const Term& term, const std::string& letters) {
    Integers perm;
    Shape shape;
    for (const char letter : letters) {
        const size_t at = term.letters.find(letter);
        if (at != std::string::npos) perm.push_back(static_cast<int64_t>(at));
        shape.push_back(at == std::string::npos ? 1 : m.shape(term.value).at(at));
    }
    return m.reshape(m.transpose(term.value, perm), shape);
}

Term summed(Maths& m, const Term& term, const std::string& kept) {
    Integers axes;
    std::string rest;
    for (size_t i = 0; i < term.letters.size(); ++i)
        if (kept.find(term.letters[i]) == std::string::npos)
            axes.push_back(static_cast<int64_t>(i));
        else
            rest += term.letters[i];
    return {m.reduce("SUM", term.value, axes, false), rest};
}

/// Letters of both that stay are the batch; of both that go, the reduction.
Term product(Maths& m, const Term& a, const Term& b, const std::string& kept) {
    std::string batch, reduced, left, right;
    for (const char c : a.letters) {
        const bool shared = b.letters.find(c) != std::string::npos,
                   stays = kept.find(c) != std::string::npos;
        (shared ? stays ? batch : reduced : left) += c;
    }
    for (const char c : b.letters)
        if (a.letters.find(c) == std::string::npos) right += c;
    if (reduced.empty() || !m.is_float(a.value)) {
        const std::string all = batch + left + right + reduced;
        Term both{m.formula("a * b", {aligned(m, a, all), aligned(m, b, all)}), all};
        return summed(m, both, kept + left + right);
    }
    const auto matrix = [&](const Term& term, const std::string& rows, const std::string& columns) {
        const ValueName laid = aligned(m, term, batch + rows + columns);
        Shape shape = m.shape(laid),
              flat(shape.begin(), shape.begin() + static_cast<ptrdiff_t>(batch.size()));
        flat.insert(flat.end(), {1, 1});
        for (size_t i = batch.size(); i < shape.size(); ++i)
            flat[batch.size() + (i < batch.size() + rows.size() ? 0 : 1)] *= shape.at(i);
        return m.reshape(laid, flat);
    };
    const ValueName made = m.matmul(matrix(a, left, reduced), matrix(b, reduced, right));
    Shape shape;
    const std::string letters = batch + left + right;
    for (const char c : letters) {
        const Term& of = a.letters.find(c) != std::string::npos ? a : b;
        shape.push_back(m.shape(of.value).at(of.letters.find(c)));
    }
    return {m.reshape(made, shape), letters};
}

void einsum(Maths& m, const NodeReader& n) {
    std::string equation = n.word("equation", "");
    const size_t arrow = equation.find("->");
    std::string inputs = equation.substr(0, arrow);
    std::vector<Term> terms;
    size_t most = 0;
    for (int i = 0; i < n.inputs(); ++i) {
        const size_t comma = inputs.find(',');
        Term term{n.input(i), expanded(n, inputs.substr(0, comma), m.shape(n.input(i)).size())};
        inputs = comma == std::string::npos ? "" : inputs.substr(comma + 1);
        if (term.letters.size() != m.shape(term.value).size())
            n.fail("equation", "a letter for each axis of " + shape_text(m.shape(term.value)),
                   equation);
        most = std::max(most, static_cast<size_t>(std::ranges::count_if(
                                  term.letters, [](char c) { return c > 'R' && c <= 'Z'; })));
        take_diagonals(m, term);
        terms.push_back(std::move(term));
    }
    if (terms.empty() || !inputs.empty())
        n.fail("equation", "as many operands as inputs", equation);
    std::string dots;
    for (size_t i = most; i-- > 0;) dots += static_cast<char>('Z' - i);
    std::string result;
    if (arrow != std::string::npos) {
        result = equation.substr(arrow + 2);
        std::erase_if(result, [](unsigned char c) { return std::isspace(c) != 0; });
        if (const size_t at = result.find("..."); at != std::string::npos)
            result.replace(at, 3, dots);
    } else {
        std::string all;
        for (const Term& term : terms) all += term.letters;
        std::ranges::sort(all);
        for (const char c : all)
            if (std::ranges::count(all, c) == 1 && dots.find(c) == std::string::npos) result += c;
        result = dots + result;
    }
    Term made = terms[0];
    for (size_t i = 1; i < terms.size(); ++i) {
        std::string kept = result;
        for (size_t k = i + 1; k < terms.size(); ++k) kept += terms[k].letters;
        made = product(m, made, terms[i], kept);
    }
    made = summed(m, made, result);
    if (!std::ranges::is_permutation(made.letters, result))
        n.fail("equation", "letters of the operands on the right", equation);
    m.result(aligned(m, made, result), 0, m.graph().type(n.input(0)));
}

}  // namespace

std::span<const OnnxOperator> einsums() {
    static constexpr OnnxOperator kAll[] = {{"Einsum", einsum}};
    return kAll;
}

}  // namespace tandem::compiler::onnx_operators
