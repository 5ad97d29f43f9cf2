// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/evaluate.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <type_traits>

#include "compiler/graph/arrangement.h"
#include "compiler/graph/operators.h"

namespace tandem::compiler {
namespace {

/// Either type of an element.
struct Number {
    double real = 0;
    int64_t whole = 0;
};
using Numbers = std::vector<Number>;

Numbers numbers_of(const Tensor& tensor) {
    Numbers numbers(tensor.elements());
    const uint8_t* const bytes = tensor.bytes().data();
    for (size_t i = 0; i < numbers.size(); ++i) {
        if (tensor.type == ElementType::kFloat32) {
            float value = 0;
            std::memcpy(&value, bytes + i * sizeof value, sizeof value);
            numbers[i].real = value;
        } else {
            std::memcpy(&numbers[i].whole, bytes + i * sizeof(int64_t), sizeof(int64_t));
        }
    }
    return numbers;
}

Tensor tensor_of(const Tensor& like, const Numbers& numbers) {
    Tensor tensor = like;
    tensor.is_constant = true;
    std::vector<uint8_t> bytes(numbers.size() * element_type_bytes(like.type));
    for (size_t i = 0; i < numbers.size(); ++i) {
        const auto value = static_cast<float>(numbers[i].real);
        if (like.type == ElementType::kFloat32)
            std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
        else
            std::memcpy(bytes.data() + i * sizeof(int64_t), &numbers[i].whole, sizeof(int64_t));
    }
    tensor.set_bytes(std::move(bytes));
    return tensor;
}

/// Calls `each` with the number of an element and its place by `strides`, the last axis fastest.
template <class Each>
void walk(const Shape& shape, int64_t offset, const std::vector<int64_t>& strides,
          const Each& each) {
    int64_t count = 1;
    for (const int64_t extent : shape) count *= extent;
    for (int64_t i = 0; i < count; ++i) {
        int64_t rest = i, at = offset;
        for (size_t axis = shape.size(); axis-- > 0;) {
            at += rest % shape[axis] * strides[axis];
            rest /= shape[axis];
        }
        each(static_cast<size_t>(i), static_cast<size_t>(at));
    }
}

/// Integers wrap.
int64_t wrapped(FormulaOp op, int64_t x, int64_t y) {
    const auto a = static_cast<uint64_t>(x), b = static_cast<uint64_t>(y);
    const uint64_t result = op == FormulaOp::kAdd        ? a + b
                            : op == FormulaOp::kSubtract ? a - b
                            : op == FormulaOp::kMultiply ? a * b
                                                         : a << (b & 63);
    return static_cast<int64_t>(result);
}

int64_t whole(double value) {
    constexpr double kMost = 9223372036854774784.0;
    return std::isnan(value) ? 0 : static_cast<int64_t>(std::clamp(value, -kMost, kMost));
}

Number apply(const FormulaTerm& term, bool floats, const Number& x, const Number& y,
             const Number& z) {
    const auto real = [](double value) {
        return Number{static_cast<double>(static_cast<float>(value)), 0};
    };
    const auto integer = [](int64_t value) { return Number{0, value}; };
    switch (term.op) {
        case FormulaOp::kAdd:
            return floats ? real(x.real + y.real) : integer(wrapped(term.op, x.whole, y.whole));
        case FormulaOp::kSubtract:
            return floats ? real(x.real - y.real) : integer(wrapped(term.op, x.whole, y.whole));
        case FormulaOp::kMultiply:
            return floats ? real(x.real * y.real) : integer(wrapped(term.op, x.whole, y.whole));
        case FormulaOp::kShiftLeft:
            return integer(wrapped(term.op, x.whole, y.whole));
        case FormulaOp::kDivide:
            return real(x.real / y.real);
        case FormulaOp::kLess:
            return integer(floats ? x.real < y.real : x.whole < y.whole);
        case FormulaOp::kEqual:
            return integer(floats ? x.real == y.real : x.whole == y.whole);
        case FormulaOp::kMinimum:
            return floats ? (std::isnan(x.real) || x.real < y.real ? x : y)
                          : integer(std::min(x.whole, y.whole));
        case FormulaOp::kMaximum:
            return floats ? (std::isnan(x.real) || x.real > y.real ? x : y)
                          : integer(std::max(x.whole, y.whole));
        case FormulaOp::kSelect:
            return x.whole != 0 ? y : z;
        case FormulaOp::kFloat:
            return real(static_cast<double>(x.whole));
        case FormulaOp::kTruncate:
            return integer(whole(std::trunc(x.real)));
        case FormulaOp::kRound:
            return integer(whole(std::nearbyint(x.real)));
        case FormulaOp::kFloor:
            return real(std::floor(x.real));
        case FormulaOp::kSqrt:
            return real(std::sqrt(x.real));
        case FormulaOp::kRsqrt:
            return real(1 / std::sqrt(x.real));
        case FormulaOp::kExp:
            return real(std::exp(x.real));
        case FormulaOp::kLog:
            return real(std::log(x.real));
        case FormulaOp::kTanh:
            return real(std::tanh(x.real));
        case FormulaOp::kSigmoid:
            return real(1 / (1 + std::exp(-x.real)));
        case FormulaOp::kErf:
            return real(std::erf(x.real));
        case FormulaOp::kOperand:
        case FormulaOp::kNumber:
            break;
    }
    throw std::logic_error("a term that computes nothing");
}

class Evaluation {
  public:
    Evaluation(const Graph& graph, const Node& node) : graph_(graph), node_(node) {
        for (size_t i = 0; i < node.inputs.size(); ++i)
            inputs_.push_back(numbers_of(graph.input(node, i)));
    }

    std::optional<Numbers> run() const {
        switch (node_.op) {
            case Operator::kElementwise:
                return elementwise();
            case Operator::kReduce:
                return reduced();
            case Operator::kConcatenation:
                return concatenated();
            case Operator::kPad:
                return padded();
            case Operator::kGather:
                return gathered();
            default:
                return std::nullopt;
        }
    }

  private:
    const Shape& in(size_t i = 0) const { return graph_.input(node_, i).shape; }
    const Shape& out() const { return graph_.output(node_).shape; }
    Numbers empty() const { return Numbers(graph_.output(node_).elements()); }

    Numbers elementwise() const {
        const Formula formula = formula_of(graph_, node_);
        std::vector<std::vector<size_t>> places;
        for (size_t k = 0; k < inputs_.size(); ++k) {
            places.emplace_back(graph_.output(node_).elements());
            walk(out(), 0, broadcast_strides(in(k), out()),
                 [&](size_t i, size_t at) { places[k][i] = at; });
        }
        Numbers result = empty(), terms(formula.terms.size());
        for (size_t i = 0; i < result.size(); ++i) {
            for (size_t t = 0; t < terms.size(); ++t) {
                const FormulaTerm& term = formula.terms[t];
                if (term.op == FormulaOp::kOperand)
                    terms[t] = inputs_[term.operand][places[term.operand][i]];
                else if (term.op == FormulaOp::kNumber)
                    terms[t] = {term.number, term.is_float ? 0 : static_cast<int64_t>(term.number)};
                else
                    terms[t] = apply(term, formula.terms[term.of[0]].is_float, terms[term.of[0]],
                                     terms[term.of[1]], terms[term.of[2]]);
            }
            result[i] = terms.back();
        }
        return result;
    }

    Numbers reduced() const {
        const std::string& function = text_attribute(node_, "function");
        const auto& axes = integers_attribute(node_, "axes");
        const bool floats = graph_.input(node_, 0).type == ElementType::kFloat32;
        std::vector<int64_t> strides(in().size());
        int64_t next = 1;
        for (size_t axis = in().size(); axis-- > 0;)
            if (std::ranges::find(axes, static_cast<int64_t>(axis)) == axes.end()) {
                strides[axis] = next;
                next *= in()[axis];
            }
        Numbers result = empty(), best = empty();
        std::vector<int64_t> seen(result.size());
        walk(in(), 0, strides, [&](size_t i, size_t at) {
            const Number& one = inputs_[0][i];
            Number& to = result[at];
            Number& most = best[at];
            const auto less = [&](const Number& x, const Number& y) {
                return floats ? x.real < y.real : x.whole < y.whole;
            };
            const bool first = seen[at] == 0;
            if (function == "SUM") {
                to.real += one.real;
                to.whole = wrapped(FormulaOp::kAdd, to.whole, one.whole);
            } else if (first || (function == "MIN" ? less(one, most) : less(most, one))) {
                most = one;
                to = function == "ARG_MAX" ? Number{0, seen[at]} : one;
            }
            ++seen[at];
        });
        return result;
    }

    Numbers concatenated() const {
        const auto axis = static_cast<size_t>(integer_attribute(node_, "axis"));
        const auto strides = dense_strides(out());
        Numbers result = empty();
        int64_t first = 0;
        for (size_t k = 0; k < inputs_.size(); ++k) {
            walk(in(k), first * strides[axis], strides,
                 [&](size_t i, size_t at) { result[at] = inputs_[k][i]; });
            first += in(k)[axis];
        }
        return result;
    }

    Numbers padded() const {
        const auto strides = dense_strides(out());
        const float fill = real_attribute(node_, "fill");
        Numbers result(graph_.output(node_).elements(), {fill, static_cast<int64_t>(fill)});
        int64_t offset = 0;
        for (size_t axis = 0; axis < strides.size(); ++axis)
            offset += integers_attribute(node_, "before")[axis] * strides[axis];
        walk(in(), offset, strides, [&](size_t i, size_t at) { result[at] = inputs_[0][i]; });
        return result;
    }

    std::optional<Numbers> gathered() const {
        Numbers result;
        const int64_t rows = in(1)[0];
        const auto row = static_cast<ptrdiff_t>(inputs_[1].size() / static_cast<size_t>(rows));
        for (const Number& index : inputs_[0]) {
            if (index.whole < 0 || index.whole >= rows) return std::nullopt;
            const auto from = inputs_[1].begin() + static_cast<ptrdiff_t>(index.whole) * row;
            result.insert(result.end(), from, from + row);
        }
        return result;
    }

    const Graph& graph_;
    const Node& node_;
    std::vector<Numbers> inputs_;
};

/// The same elements in other places.
Tensor arranged(const Graph& graph, const Node& node) {
    const Tensor& in = graph.input(node, 0);
    Tensor out = graph.output(node);
    out.is_constant = true;
    if (node.op == Operator::kReshape) {
        out.data = in.data;
        return out;
    }
    const Arrangement from = arrangement_of(graph, node);
    const size_t size = element_type_bytes(in.type);
    std::vector<uint8_t> bytes(out.elements() * size);
    walk(out.shape, from.offset, from.strides, [&](size_t i, size_t at) {
        std::memcpy(bytes.data() + i * size, in.bytes().data() + at * size, size);
    });
    out.set_bytes(std::move(bytes));
    return out;
}

}  // namespace

std::optional<Tensor> evaluate(const Graph& graph, const Node& node) {
    switch (node.op) {
        case Operator::kReshape:
        case Operator::kTranspose:
        case Operator::kSlice:
        case Operator::kBroadcastTo:
            return arranged(graph, node);
        default:
            break;
    }
    const bool nothing = std::ranges::any_of(
        node.inputs, [&](TensorId id) { return graph.tensors[id].elements() == 0; });
    if (graph.output(node).elements() == 0) return tensor_of(graph.output(node), {});
    // A sum of nothing is 0; the largest of nothing is not there.
    const bool sums = node.op == Operator::kReduce && text_attribute(node, "function") == "SUM";
    if (nothing && !sums && node.op != Operator::kConcatenation && node.op != Operator::kPad)
        return std::nullopt;
    const auto numbers = Evaluation(graph, node).run();
    if (!numbers) return std::nullopt;
    return tensor_of(graph.output(node), *numbers);
}

}  // namespace tandem::compiler
