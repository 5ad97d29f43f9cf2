// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/onnx/control_flow.h"

#include <optional>

#include "compiler/import/onnx/operators/operators.h"
#include "compiler/import/onnx/tensors.h"

namespace tandem::compiler {
namespace {

constexpr int64_t kMostIterations = 4096;

const onnx::GraphProto& body_of(const NodeReader& n, const char* name) {
    const auto* const found = n.find(name);
    if (found == nullptr || !found->has_g()) n.fail(name, "a graph", "none");
    return found->g();
}

void need_inputs(const NodeReader& n, const onnx::GraphProto& body, size_t count) {
    if (static_cast<size_t>(body.input_size()) != count)
        n.fail("body", std::to_string(count) + " inputs", std::to_string(body.input_size()));
}

void add_if(Maths& m, const NodeReader& n, const RunBody& run) {
    const bool holds = onnx_operators::known_integer(m, n, 0, "cond") != 0;
    const onnx::GraphProto& body = body_of(n, holds ? "then_branch" : "else_branch");
    run(body);
    for (int i = 0; i < std::min(n.outputs(), body.output_size()); ++i)
        m.result(body.output(i).name(), i);
}

/// Elements that iterations made, side by side along a new axis in front.
ValueName stacked(Maths& m, const NodeReader& n, const std::vector<ValueName>& values) {
    if (values.empty()) n.fail("body", "1 iteration or more, for what it collects", "none");
    std::vector<ValueName> rows;
    for (const ValueName& value : values) {
        Shape shape = m.shape(value);
        shape.insert(shape.begin(), 1);
        rows.push_back(m.reshape(value, shape));
    }
    return m.concatenate(rows, 0);
}

/// Last states, then what the iterations made.
void set_results(Maths& m, const NodeReader& n, const std::vector<ValueName>& state,
                 const std::vector<std::vector<ValueName>>& collected) {
    int output = 0;
    for (const ValueName& one : state) m.result(one, output++);
    for (const auto& values : collected) m.result(stacked(m, n, values), output++);
}

/// What an iteration made, under names that the next one does not take.
std::vector<ValueName> outputs_of(Maths& m, const onnx::GraphProto& body) {
    std::vector<ValueName> outputs;
    for (const auto& one : body.output()) {
        outputs.push_back(m.graph().fresh());
        m.graph().rename(one.name(), outputs.back());
    }
    return outputs;
}

void add_loop(Maths& m, const NodeReader& n, const RunBody& run) {
    const onnx::GraphProto& body = body_of(n, "body");
    const auto states = static_cast<size_t>(std::max(0, n.inputs() - 2));
    need_inputs(n, body, states + 2);
    if (static_cast<size_t>(body.output_size()) < states + 1)
        n.fail("body", "an output for each state", std::to_string(body.output_size()));
    const bool counted = n.has_input(0);
    const int64_t trips = counted ? onnx_operators::known_integer(m, n, 0, "M") : kMostIterations;
    if (trips > kMostIterations) n.fail("M", "at most 4096", std::to_string(trips));
    ValueName condition = n.has_input(1) ? n.input(1) : m.integers({1}, {});
    std::vector<ValueName> state;
    for (size_t s = 0; s < states; ++s) state.push_back(n.input(static_cast<int>(s) + 2));
    std::vector<std::vector<ValueName>> collected(static_cast<size_t>(body.output_size()) - 1 -
                                                  states);
    for (int64_t i = 0; i < trips; ++i) {
        const Tensor* const holds = m.graph().known(condition);
        if (holds == nullptr && (n.has_input(1) || !counted))
            n.fail("cond", "a condition that is known beforehand", "one that is computed");
        if (holds != nullptr && onnx_operators::one_integer(n, *holds, "cond") == 0) break;
        m.graph().rename(m.scalar(i), body.input(0).name());
        m.graph().rename(condition, body.input(1).name());
        for (size_t s = 0; s < states; ++s)
            m.graph().rename(state[s], body.input(static_cast<int>(s) + 2).name());
        run(body);
        const auto outputs = outputs_of(m, body);
        condition = outputs[0];
        for (size_t s = 0; s < states; ++s) state[s] = outputs[s + 1];
        for (size_t k = 0; k < collected.size(); ++k)
            collected[k].push_back(outputs[states + 1 + k]);
    }
    set_results(m, n, state, collected);
}

void add_scan(Maths& m, const NodeReader& n, const RunBody& run) {
    if (n.opset() < 9) n.fail("opset", "9 or later", std::to_string(n.opset()));
    const onnx::GraphProto& body = body_of(n, "body");
    const int64_t scanned = n.integer("num_scan_inputs", 0);
    if (scanned < 1 || scanned > n.inputs())
        n.fail("num_scan_inputs", "1 to the inputs", std::to_string(scanned));
    const auto states = static_cast<size_t>(n.inputs() - scanned);
    need_inputs(n, body, static_cast<size_t>(n.inputs()));
    if (static_cast<size_t>(body.output_size()) < states)
        n.fail("body", "an output for each state", std::to_string(body.output_size()));
    const auto in_axes = n.integers("scan_input_axes",
                                    std::vector<int64_t>(static_cast<size_t>(scanned), 0)),
               backwards = n.integers("scan_input_directions",
                                      std::vector<int64_t>(static_cast<size_t>(scanned), 0));
    if (n.has("scan_output_axes") || n.has("scan_output_directions"))
        n.fail("scan_output_axes, scan_output_directions", "none", "some");
    if (in_axes.size() != static_cast<size_t>(scanned) || backwards.size() != in_axes.size())
        n.fail("scan_input_axes, scan_input_directions", "one per scan input",
               std::to_string(in_axes.size()) + ", " + std::to_string(backwards.size()));
    const auto axis = [&](size_t k) {
        return m.axis_in(n.input(static_cast<int>(states + k)), in_axes.at(k));
    };
    const int64_t trips = m.shape(n.input(static_cast<int>(states)))[static_cast<size_t>(axis(0))];
    if (trips > kMostIterations)
        n.fail("scan inputs", "at most 4096 elements", std::to_string(trips));
    std::vector<ValueName> state;
    for (size_t s = 0; s < states; ++s) state.push_back(n.input(static_cast<int>(s)));
    std::vector<std::vector<ValueName>> collected(static_cast<size_t>(body.output_size()) - states);
    for (int64_t i = 0; i < trips; ++i) {
        for (size_t s = 0; s < states; ++s)
            m.graph().rename(state[s], body.input(static_cast<int>(s)).name());
        for (size_t k = 0; k < static_cast<size_t>(scanned); ++k) {
            const ValueName& input = n.input(static_cast<int>(states + k));
            const ValueName one =
                m.slice(input, axis(k), backwards.at(k) != 0 ? trips - 1 - i : i, 1);
            Shape shape = m.shape(one);
            shape.erase(shape.begin() + axis(k));
            m.graph().rename(m.reshape(one, shape),
                             body.input(static_cast<int>(states + k)).name());
        }
        run(body);
        const auto outputs = outputs_of(m, body);
        for (size_t s = 0; s < states; ++s) state[s] = outputs[s];
        for (size_t k = 0; k < collected.size(); ++k) collected[k].push_back(outputs[states + k]);
    }
    set_results(m, n, state, collected);
}

}  // namespace

bool is_control_flow(const std::string& type) {
    return type == "If" || type == "Loop" || type == "Scan";
}

void add_control_flow(Maths& m, const NodeReader& n, const RunBody& run) {
    n.type() == "If"     ? add_if(m, n, run)
    : n.type() == "Loop" ? add_loop(m, n, run)
                         : add_scan(m, n, run);
}

}  // namespace tandem::compiler
