// SPDX-License-Identifier: Apache-2.0
// Recurrent layers, step by step.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/graph/formula.h"
#include "compiler/import/onnx/operators/operators.h"
#include "compiler/import/onnx/tensors.h"

namespace tandem::compiler::onnx_operators {
namespace {

constexpr int64_t kMostSteps = 4096;

/// What the three kinds have in common: sizes, inputs in order of time, one direction at a time.
class Layer {
  public:
    Layer(Maths& m, const NodeReader& n, int64_t gates) : m_(m), n_(n), gates_(gates) {
        by_batch_ = n.integer("layout", 0) != 0;
        input_ = n.input(0);
        if (m.rank(input_) != 3 || m.rank(n.input(1)) != 3 || m.rank(n.input(2)) != 3)
            n.fail("X, W, R", "3 axes", "others");
        if (by_batch_) input_ = m.transpose(input_, {1, 0, 2});
        const Shape &x = m.shape(input_), &r = m.shape(n.input(2));
        steps_ = x.at(0), batch_ = x.at(1), hidden_ = r.at(2), directions_ = r.at(0);
        const std::string direction = n.word("direction", "forward");
        const bool both = direction == "bidirectional";
        if ((!both && direction != "forward" && direction != "reverse") ||
            directions_ != (both ? 2 : 1))
            n.fail("direction", "forward, reverse, or bidirectional with two sets of weights",
                   direction);
        reversed_ = direction == "reverse";
        if (m.shape(n.input(1)) != Shape{directions_, gates * hidden_, x.at(2)} ||
            r != Shape{directions_, gates * hidden_, hidden_})
            n.fail("W, R", fmt::format("{} gates of {}", gates, hidden_),
                   shape_text(m.shape(n.input(1))) + ", " + shape_text(r));
        if (std::ranges::find(x, 0) != x.end()) n.fail("X", "1 element or more", shape_text(x));
        if (steps_ > kMostSteps) n.fail("X", "at most 4096 steps", std::to_string(steps_));
        if (n.integer("input_forget", 0) != 0) n.fail("input_forget", "0", "1");
        if (n.has_input(4)) lengths_ = n.input(4);
    }

    int64_t directions() const { return directions_; }
    int64_t hidden() const { return hidden_; }
    int64_t steps() const { return steps_; }
    bool backwards(int64_t direction) const { return direction == 1 || reversed_; }

    /// A direction's part of an input that has one for each; empty: left out.
    ValueName part(int input, int64_t direction) {
        if (!n_.has_input(input)) return {};
        const ValueName one = m_.slice(n_.input(input), 0, direction, 1);
        Shape shape = m_.shape(one);
        shape.erase(shape.begin());
        return m_.reshape(one, shape);
    }
    /// [batch, hidden], zero where it is left out.
    ValueName state(int input, int64_t direction) {
        if (!n_.has_input(input)) return m_.broadcast_to(m_.scalar(0.0f), {batch_, hidden_});
        if (!by_batch_) return part(input, direction);
        return m_.reshape(m_.slice(n_.input(input), 1, direction, 1), {batch_, hidden_});
    }
    /// Weights [gates * hidden, columns] as [columns, gates * hidden].
    ValueName turned(int input, int64_t direction) {
        return m_.transpose(part(input, direction), {1, 0});
    }
    ValueName input_at(int64_t step) {
        return m_.reshape(m_.slice(input_, 0, step, 1), {batch_, m_.shape(input_).at(2)});
    }
    ValueName gate(const ValueName& gates, int64_t which) {
        return m_.slice(gates, 1, which * hidden_, hidden_);
    }
    /// A half of the bias: of the inputs, or of the state.
    ValueName bias(int64_t direction, int half) {
        if (!n_.has_input(3)) return m_.broadcast_to(m_.scalar(0.0f), {gates_ * hidden_});
        return m_.slice(part(3, direction), 0, half * gates_ * hidden_, gates_ * hidden_);
    }
    ValueName peephole(int64_t direction, int64_t which) {
        if (!n_.has_input(7)) return {};
        return m_.slice(part(7, direction), 0, which * hidden_, hidden_);
    }
    /// Behind a sequence's end the state stays, and its output is 0.
    ValueName kept(int64_t step, const ValueName& fresh, const ValueName& old) {
        if (lengths_.empty()) return fresh;
        const ValueName inside =
            m_.formula("b < a", {m_.reshape(lengths_, {batch_, 1}), m_.scalar(step)});
        return m_.formula("select(a, b, c)", {inside, fresh, old});
    }
    ValueName output_of(int64_t step, const ValueName& state) {
        return lengths_.empty()
                   ? state
                   : kept(step, state, m_.broadcast_to(m_.scalar(0.0f), {batch_, hidden_}));
    }

    /// `outputs`: by direction and time. `last`: of each state, by direction.
    void finish(const std::vector<std::vector<ValueName>>& outputs,
                const std::vector<std::vector<ValueName>>& last) {
        std::vector<ValueName> all;
        for (const auto& of_direction : outputs) {
            std::vector<ValueName> steps;
            for (const ValueName& one : of_direction)
                steps.push_back(m_.reshape(one, {1, 1, batch_, hidden_}));
            all.push_back(m_.concatenate(steps, 0));
        }
        const ValueName y = m_.concatenate(all, 1);  // steps, directions, batch, hidden
        m_.result(by_batch_ ? m_.transpose(y, {2, 0, 1, 3}) : y, 0);
        for (size_t s = 0; s < last.size(); ++s) {
            std::vector<ValueName> states;
            for (const ValueName& one : last[s])
                states.push_back(m_.reshape(one, {1, batch_, hidden_}));
            const ValueName together = m_.concatenate(states, 0);
            m_.result(by_batch_ ? m_.transpose(together, {1, 0, 2}) : together,
                      static_cast<int>(s) + 1);
        }
    }

    /// The activation number `which` of a direction, as a formula.
    std::string activation(int64_t direction, size_t which,
                           const std::vector<std::string>& otherwise, const std::string& of) {
        std::vector<std::string> names;
        if (const auto* const found = n_.find("activations"))
            names.assign(found->strings().begin(), found->strings().end());
        const size_t at = static_cast<size_t>(direction) * otherwise.size() + which;
        const std::string name = at < names.size() ? names[at] : otherwise[which];
        const auto alphas = n_.reals("activation_alpha", {}),
                   betas = n_.reals("activation_beta", {});
        const auto alpha = [&](float standard) {
            return formula_number(at < alphas.size() ? alphas[at] : standard);
        };
        const auto beta = [&](float standard) {
            return formula_number(at < betas.size() ? betas[at] : standard);
        };
        static const std::map<std::string, std::string> kPlain = {
            {"Relu", "relu"}, {"Tanh", "tanh"}, {"Sigmoid", "sigmoid"}, {"Softplus", "softplus"}};
        if (const auto plain = kPlain.find(name); plain != kPlain.end())
            return plain->second + "(" + of + ")";
        if (name == "Affine") return alpha(1) + " * (" + of + ") + " + beta(0);
        if (name == "LeakyRelu")
            return fmt::format("select({0} < 0, {1} * ({0}), {0})", of, alpha(0.01f));
        if (name == "ThresholdedRelu")
            return fmt::format("select({1} < {0}, {0}, 0.0)", of, alpha(1));
        if (name == "ScaledTanh") return alpha(1) + " * tanh(" + beta(1) + " * (" + of + "))";
        if (name == "HardSigmoid")
            return "hard_sigmoid(" + of + ", " + alpha(0.2f) + ", " + beta(0.5f) + ")";
        if (name == "Elu") return "elu(" + of + ", " + alpha(1) + ")";
        if (name == "Softsign") return fmt::format("({0}) / (1 + abs({0}))", of);
        n_.fail("activations", "one that ONNX names", name);
    }
    /// Between -clip and clip, where there is one.
    std::string clipped(const std::string& of) const {
        const float clip = n_.real("clip", 0);
        return clip == 0 ? of
                         : fmt::format("clip({}, {}, {})", of, formula_number(-clip),
                                       formula_number(clip));
    }

  private:
    Maths& m_;
    const NodeReader& n_;
    int64_t gates_, steps_ = 0, batch_ = 0, hidden_ = 0, directions_ = 0;
    bool by_batch_ = false, reversed_ = false;
    ValueName input_, lengths_;
};

/// Steps of one direction in their order; `step` computes states from those before.
using States = std::vector<ValueName>;

template <class Step>
void run(Layer& layer, size_t states, const Step& make_step) {
    std::vector<std::vector<ValueName>> outputs, last(states);
    for (int64_t d = 0; d < layer.directions(); ++d) {
        auto step = make_step(d);
        States state;
        for (size_t s = 0; s < states; ++s)
            state.push_back(layer.state(static_cast<int>(s) + 5, d));
        std::vector<ValueName> made(static_cast<size_t>(layer.steps()));
        for (int64_t i = 0; i < layer.steps(); ++i) {
            const int64_t t = layer.backwards(d) ? layer.steps() - 1 - i : i;
            const States fresh = step(t, state);
            for (size_t s = 0; s < states; ++s) state[s] = layer.kept(t, fresh[s], state[s]);
            made[static_cast<size_t>(t)] = layer.output_of(t, state[0]);
        }
        outputs.push_back(std::move(made));
        for (size_t s = 0; s < states; ++s) last[s].push_back(state[s]);
    }
    layer.finish(outputs, last);
}

void rnn(Maths& m, const NodeReader& n) {
    Layer layer(m, n, 1);
    run(layer, 1, [&](int64_t d) {
        const ValueName w = layer.turned(1, d), r = layer.turned(2, d);
        const ValueName bias = m.formula("a + b", {layer.bias(d, 0), layer.bias(d, 1)});
        const std::string formula = layer.activation(d, 0, {"Tanh"}, layer.clipped("(a + b + c)"));
        return [&, w, r, bias, formula](int64_t t, const States& state) {
            return States{
                m.formula(formula, {m.matmul(layer.input_at(t), w), m.matmul(state[0], r), bias})};
        };
    });
}

/// Gates z, r, h.
void gru(Maths& m, const NodeReader& n) {
    Layer layer(m, n, 3);
    const bool after = n.integer("linear_before_reset", 0) != 0;
    run(layer, 1, [&](int64_t d) {
        const ValueName w = layer.turned(1, d), r = layer.turned(2, d),
                        of_inputs = layer.bias(d, 0), of_state = layer.bias(d, 1);
        const std::string gate =
            layer.activation(d, 0, {"Sigmoid", "Tanh"}, layer.clipped("(a + b)"));
        const std::string fresh =
            layer.activation(d, 1, {"Sigmoid", "Tanh"}, layer.clipped("(a + b)"));
        return [&, w, r, of_inputs, of_state, gate, fresh](int64_t t, const States& state) {
            const ValueName x = m.formula("a + b", {m.matmul(layer.input_at(t), w), of_inputs});
            const ValueName h = m.formula("a + b", {m.matmul(state[0], r), of_state});
            const ValueName z = m.formula(gate, {layer.gate(x, 0), layer.gate(h, 0)});
            const ValueName reset = m.formula(gate, {layer.gate(x, 1), layer.gate(h, 1)});
            ValueName past;
            if (after) {
                past = m.formula("a * b", {reset, layer.gate(h, 2)});
            } else {
                const ValueName kept =
                    m.matmul(m.formula("a * b", {reset, state[0]}), layer.gate(r, 2));
                past = m.formula("a + b",
                                 {kept, m.slice(of_state, 0, 2 * layer.hidden(), layer.hidden())});
            }
            const ValueName proposed = m.formula(fresh, {layer.gate(x, 2), past});
            return States{m.formula("(1 - a) * b + a * c", {z, proposed, state[0]})};
        };
    });
}

/// Gates i, o, f, c; states h and c.
void lstm(Maths& m, const NodeReader& n) {
    Layer layer(m, n, 4);
    run(layer, 2, [&](int64_t d) {
        const std::vector<std::string> standard{"Sigmoid", "Tanh", "Tanh"};
        const ValueName w = layer.turned(1, d), r = layer.turned(2, d);
        const ValueName bias = m.formula("a + b", {layer.bias(d, 0), layer.bias(d, 1)});
        const auto peeped =
            [&m, gate = layer.activation(d, 0, standard, layer.clipped("(a + b * c)")),
             plain = layer.activation(d, 0, standard, layer.clipped("a"))](
                const ValueName& sum, const ValueName& cell, const ValueName& peephole) {
                return peephole.empty() ? m.formula(plain, {sum})
                                        : m.formula(gate, {sum, cell, peephole});
            };
        const ValueName pi = layer.peephole(d, 0), po = layer.peephole(d, 1),
                        pf = layer.peephole(d, 2);
        const std::string fresh = layer.activation(d, 1, standard, layer.clipped("a")),
                          out = layer.activation(d, 2, standard, "a");
        return [&, w, r, bias, peeped, pi, po, pf, fresh, out](int64_t t, const States& state) {
            const ValueName sums = m.formula(
                "a + b + c", {m.matmul(layer.input_at(t), w), m.matmul(state[0], r), bias});
            const ValueName i = peeped(layer.gate(sums, 0), state[1], pi),
                            f = peeped(layer.gate(sums, 2), state[1], pf);
            const ValueName proposed = m.formula(fresh, {layer.gate(sums, 3)});
            const ValueName cell =
                m.formula("a + b * c", {m.formula("a * b", {f, state[1]}), i, proposed});
            const ValueName o = peeped(layer.gate(sums, 1), cell, po);
            return States{m.formula("a * b", {o, m.formula(out, {cell})}), cell};
        };
    });
}

}  // namespace

std::span<const OnnxOperator> recurrent() {
    static constexpr OnnxOperator kAll[] = {{"GRU", gru}, {"LSTM", lstm}, {"RNN", rnn}};
    return kAll;
}

}  // namespace tandem::compiler::onnx_operators
