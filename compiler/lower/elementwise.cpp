// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <optional>
#include <stdexcept>

#include "compiler/graph/arrangement.h"
#include "compiler/lower/array_lowerings.h"
#include "compiler/lower/lattice.h"

namespace tandem::compiler {
namespace {

using arch::VectorType;
using isa::ChainOp;

/// A step of a chain on integers and on floats.
struct ChainOps {
    FormulaOp op;
    ChainOp on_integers, on_floats;
};
constexpr ChainOps kChainOps[] = {
    {FormulaOp::kAdd, ChainOp::kAddI, ChainOp::kAddF},
    {FormulaOp::kSubtract, ChainOp::kSubI, ChainOp::kSubF},
    {FormulaOp::kMultiply, ChainOp::kMulI, ChainOp::kMulF},
    {FormulaOp::kDivide, ChainOp::kNop, ChainOp::kDivF},
    {FormulaOp::kLess, ChainOp::kLessI, ChainOp::kLessF},
    {FormulaOp::kEqual, ChainOp::kEqualI, ChainOp::kEqualF},
    {FormulaOp::kMinimum, ChainOp::kMinI, ChainOp::kMinF},
    {FormulaOp::kMaximum, ChainOp::kMaxI, ChainOp::kMaxF},
    {FormulaOp::kSelect, ChainOp::kSelect, ChainOp::kSelect},
    {FormulaOp::kFloat, ChainOp::kToFloat, ChainOp::kNop},
    {FormulaOp::kTruncate, ChainOp::kNop, ChainOp::kTruncate},
    {FormulaOp::kRound, ChainOp::kNop, ChainOp::kRound},
    {FormulaOp::kFloor, ChainOp::kNop, ChainOp::kFloorF},
    {FormulaOp::kSqrt, ChainOp::kNop, ChainOp::kSqrtF},
    {FormulaOp::kRsqrt, ChainOp::kNop, ChainOp::kRsqrtF},
    {FormulaOp::kExp, ChainOp::kNop, ChainOp::kExpF},
    {FormulaOp::kLog, ChainOp::kNop, ChainOp::kLogF},
    {FormulaOp::kTanh, ChainOp::kNop, ChainOp::kTanhF},
    {FormulaOp::kSigmoid, ChainOp::kNop, ChainOp::kSigmoidF},
    {FormulaOp::kErf, ChainOp::kNop, ChainOp::kErfF},
    {FormulaOp::kShiftLeft, ChainOp::kShiftLeftI, ChainOp::kNop},
};

ChainOp chain_op(FormulaOp op, bool floats) {
    const auto* const found = std::ranges::find(kChainOps, op, &ChainOps::op);
    return floats ? found->on_floats : found->on_integers;
}

/// A chain, and the terms that are its operands a, b, c.
struct Piece {
    uint32_t result = 0;
    std::vector<uint32_t> operands;
    Chain chain;
    size_t terms = 0;  ///< computed by it
};

/// A formula as chains that the unit holds, each of which makes one term of those before it. Where
/// the whole is too long for one chain, the largest part that is not too long comes first, and is
/// an operand of the rest.
class Pieces {
  public:
    explicit Pieces(const Formula& formula) : formula_(formula), known_(formula.terms.size()) {
        for (size_t t = 0; t < known_.size(); ++t)
            known_[t] = formula.terms[t].op == FormulaOp::kOperand;
    }

    std::vector<Piece> run() {
        const auto last = static_cast<uint32_t>(formula_.terms.size() - 1);
        std::vector<Piece> pieces;
        for (;;) {
            if (auto whole = piece(last)) {
                pieces.push_back(std::move(*whole));
                return pieces;
            }
            std::optional<Piece> best;
            for (uint32_t t = 0; t < last; ++t) {
                if (known_[t] || formula_.terms[t].op == FormulaOp::kNumber) continue;
                auto one = piece(t);
                if (one && (!best || one->terms > best->terms)) best = std::move(one);
            }
            if (!best) throw std::logic_error("a formula of which nothing fits into a chain");
            known_[best->result] = true;
            pieces.push_back(std::move(*best));
        }
    }

  private:
    using Term = ChainBuilder::Term;

    std::optional<Piece> piece(uint32_t result) const {
        Piece piece{result, {}, {}, 0};
        ChainBuilder f;
        std::vector<std::optional<Term>> made(formula_.terms.size());
        try {
            if (known_[result]) {
                piece.operands = {result};
                return piece;
            }
            std::vector<bool> needed(result + 1);
            needed[result] = true;
            for (uint32_t t = result + 1; t-- > 0;)
                if (needed[t] && !known_[t])
                    for (uint8_t k = 0; k < formula_.terms[t].count; ++k)
                        needed[formula_.terms[t].of[k]] = true;
            constexpr Term kRegisters[] = {ChainBuilder::a(), ChainBuilder::b(), ChainBuilder::c()};
            for (uint32_t t = 0; t <= result; ++t) {
                if (!needed[t]) continue;
                const FormulaTerm& term = formula_.terms[t];
                if (known_[t]) {
                    if (piece.operands.size() == std::size(kRegisters)) return std::nullopt;
                    made[t] = kRegisters[piece.operands.size()];
                    piece.operands.push_back(t);
                } else if (term.op == FormulaOp::kNumber) {
                    made[t] = term.is_float ? f.constant(static_cast<float>(term.number))
                                            : f.constant(static_cast<int32_t>(term.number));
                } else {
                    const bool floats = formula_.terms[term.of[0]].is_float;
                    std::array<Term, 3> of{ChainBuilder::a(), ChainBuilder::a(), ChainBuilder::a()};
                    for (uint8_t k = 0; k < term.count; ++k) of[k] = *made[term.of[k]];
                    made[t] = f(chain_op(term.op, floats), of[0], of[1], of[2]);
                    ++piece.terms;
                }
            }
            if (formula_.terms[result].op == FormulaOp::kNumber)
                made[result] = f(ChainOp::kCopy, *made[result]);
            piece.chain = f.chain(*made[result]);
        } catch (const std::logic_error&) {  // of ChainBuilder: too long
            return std::nullopt;
        }
        return piece;
    }

    const Formula& formula_;
    std::vector<bool> known_;
};

}  // namespace

VectorKernel lower_elementwise(const LoweredNode& node) {
    const Formula formula = formula_of(node.graph, node.node);
    const Shape& shape = node.out().shape;
    const auto wide = [](const Tensor& tensor) {
        const auto type = vector_type(tensor.type);
        return tensor.is_constant && type == VectorType::kBf16 ? VectorType::kFp32 : type;
    };
    std::vector<LatticeOperand> operands;
    for (size_t i = 0; i < node.node.inputs.size(); ++i)
        operands.push_back({wide(node.in(i)), broadcast_strides(node.in(i).shape, shape), 0,
                            node.in(i).elements(), node.in(i).shape.size() == shape.size(),
                            node.in(i).is_constant});
    const NodeLattice lattice(node, shape, std::move(operands));
    const Extents& line = lattice.line();
    const auto out_type = vector_type(node.out().type);

    VectorKernel kernel;
    VectorWork& work = kernel.work;
    work.lines = lattice.lines();
    work.output_line_bytes = lattice.line_elements() * arch::bytes_of(out_type);
    std::vector<VectorRef> inputs;
    for (size_t i = 0; i < node.node.inputs.size(); ++i) {
        if (node.in(i).is_constant) {
            inputs.push_back(params_ref(lattice.view(i), add_constant_values(kernel, node, i)));
            continue;
        }
        inputs.push_back(
            input_ref(static_cast<uint32_t>(work.input_line_bytes.size()), lattice.view(i)));
        work.input_line_bytes.push_back(lattice.line_bytes(i));
    }
    std::vector<std::optional<VectorRef>> places(formula.terms.size());
    for (size_t t = 0; t < places.size(); ++t)
        if (formula.terms[t].op == FormulaOp::kOperand)
            places[t] = inputs[formula.terms[t].operand];
    const auto pieces = Pieces(formula).run();
    for (const Piece& piece : pieces) {
        Refs in;
        for (const uint32_t term : piece.operands) in.push_back(*places[term]);
        if (in.empty()) in.push_back(inputs[0]);  // a number alone
        VectorRef out = output_ref(lattice.dense_view(out_type));
        if (&piece != &pieces.back()) {
            const auto type =
                formula.terms[piece.result].is_float ? VectorType::kFp32 : VectorType::kInt32;
            out = scratch_ref(static_cast<uint32_t>(work.scratch_line_bytes.size()),
                              lattice.dense_view(type));
            work.scratch_line_bytes.push_back(lattice.line_elements() * sizeof(float));
            places[piece.result] = out;
        }
        work.steps.push_back(map_step(line, std::move(in), piece.chain, std::move(out)));
    }
    return kernel;
}

}  // namespace tandem::compiler
