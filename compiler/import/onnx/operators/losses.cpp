// SPDX-License-Identifier: Apache-2.0
// Losses: what the logarithm of a class's probability lacks.
#include "compiler/import/onnx/operators/operators.h"
#include "compiler/import/onnx/tensors.h"

namespace tandem::compiler::onnx_operators {
namespace {

/// Of log probabilities [samples, classes, ...] and the right classes [samples, ...]. A class that
/// is none is ignored.
ValueName loss_of(Maths& m, const NodeReader& n, const ValueName& logs, const ValueName& target,
                  int weight_input) {
    const Shape shape = m.shape(logs);
    if (shape.size() < 2) n.fail("input", "2 axes or more", shape_text(shape));
    Shape beside = m.shape(target);
    beside.insert(beside.begin() + 1, 1);
    const ValueName classes = m.places(shape.at(1), 1, m.rank(logs));
    ValueName chosen = m.formula("float(a == b)", {m.reshape(target, beside), classes});
    if (n.has("ignore_index")) {
        const ValueName counted = m.formula(
            "not(a == b)", {m.reshape(target, beside), m.scalar(n.integer("ignore_index", 0))});
        chosen = m.formula("select(a, b, 0.0)", {counted, chosen});
    }
    const bool weighted = n.has_input(weight_input);
    if (weighted) {
        Shape of_class(shape.size(), 1);
        of_class.at(1) = shape.at(1);
        chosen = m.formula("a * b", {chosen, m.reshape(n.input(weight_input), of_class)});
    }
    // What is chosen of infinite logarithms counts alone.
    ValueName losses =
        m.reduce("SUM", m.formula("select(b == 0, 0.0, -a * b)", {logs, chosen}), {1}, false);
    const std::string reduction = n.word("reduction", "mean");
    if (reduction == "none") return losses;
    ValueName sum = m.reduce("SUM", losses, all_axes(m, losses), false);
    if (reduction == "sum") return sum;
    if (!weighted && !n.has("ignore_index")) {
        const int64_t count = product(m.shape(losses));
        return m.formula("a / b", {sum, m.scalar(static_cast<float>(count))});
    }
    return m.formula("a / b", {sum, m.reduce("SUM", chosen, all_axes(m, chosen), false)});
}

void negative_log_likelihood(Maths& m, const NodeReader& n) {
    m.result(loss_of(m, n, n.input(0), n.input(1), 2), 0, m.graph().type(n.input(0)));
}

void softmax_cross_entropy(Maths& m, const NodeReader& n) {
    const ValueName logs = log_softmax(m, n.input(0), 1);
    m.result(loss_of(m, n, logs, n.input(1), 2), 0, m.graph().type(n.input(0)));
    m.result(logs, 1);
}

}  // namespace

std::span<const OnnxOperator> losses() {
    static constexpr OnnxOperator kAll[] = {{"NegativeLogLikelihoodLoss", negative_log_likelihood},
                                            {"SoftmaxCrossEntropyLoss", softmax_cross_entropy}};
    return kAll;
}

}  // namespace tandem::compiler::onnx_operators
