// SPDX-License-Identifier: Apache-2.0
// Products of matrices.
#include "compiler/graph/arrangement.h"
#include "compiler/import/onnx/operators/operators.h"
#include "compiler/import/onnx/tensors.h"

namespace tandem::compiler::onnx_operators {
namespace {

/// One axis means a row or a column, and goes away again.
void matmul(Maths& m, const NodeReader& n) {
    ValueName a = n.input(0), b = n.input(1);
    const bool row = m.rank(a) == 1, column = m.rank(b) == 1;
    if (m.rank(a) == 0 || m.rank(b) == 0) n.fail("inputs", "1 axis or more", "a scalar");
    if (row) a = m.reshape(a, {1, m.shape(a).at(0)});
    if (column) b = m.reshape(b, {m.shape(b).at(0), 1});
    ValueName product = m.matmul(a, b);
    Shape shape = m.shape(product);
    if (column) shape.pop_back();
    if (row) shape.erase(shape.end() - (column ? 1 : 2));
    m.result(m.reshape(product, shape), 0, m.graph().type(n.input(0)));
}

void gemm(Maths& m, const NodeReader& n) {
    ValueName a = n.input(0), b = n.input(1);
    if (m.rank(a) != 2 || m.rank(b) != 2)
        n.fail("inputs", "2 axes", shape_text(m.shape(a)) + ", " + shape_text(m.shape(b)));
    if (n.integer("transA", 0) != 0) a = m.transpose(a, {1, 0});
    if (n.integer("transB", 0) != 0) b = m.transpose(b, {1, 0});
    const float alpha = n.real("alpha", 1), beta = n.real("beta", 1);
    if (alpha != 1) b = m.formula("a * b", {b, m.scalar(alpha)});
    ValueName product = m.matmul(a, b);
    if (n.has_input(2)) {
        const ValueName addend =
            beta == 1 ? n.input(2) : m.formula("a * b", {n.input(2), m.scalar(beta)});
        Node* const producer = &m.graph().graph().nodes.back();
        const Tensor* const bias = m.graph().constant(addend);
        if (bias != nullptr && producer->op == Operator::kFullyConnected &&
            broadcast(bias->shape, {1, m.shape(product).at(1)}) ==
                Shape{1, m.shape(product).at(1)} &&
            static_cast<int64_t>(bias->elements()) == m.shape(product).at(1))
            producer->inputs.push_back(
                m.graph().graph().add(real_tensor(reals_of(*bias), {m.shape(product).at(1)})));
        else
            product = m.formula("a + b", {product, addend});
    }
    m.result(product, 0, m.graph().type(n.input(0)));
}

}  // namespace

std::span<const OnnxOperator> products() {
    static constexpr OnnxOperator kAll[] = {{"Gemm", gemm}, {"MatMul", matmul}};
    return kAll;
}

}  // namespace tandem::compiler::onnx_operators
