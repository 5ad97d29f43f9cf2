// SPDX-License-Identifier: Apache-2.0
// Operators that move elements, or say something of shapes.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "compiler/import/compose/limits.h"
#include "compiler/import/onnx/operators/operators.h"
#include "compiler/import/onnx/tensors.h"

namespace tandem::compiler::onnx_operators {
namespace {

void same(Maths& m, const NodeReader& n) {
    m.result(n.input(0));
    if (n.type() == "Dropout" && n.has_output(1))
        m.result(m.broadcast_to(m.scalar(int64_t{1}), m.shape(n.input(0))), 1, kOnnxBool);
}

void constant(Maths& m, const NodeReader& n) {
    const ValueName& name = n.output();
    GraphBuilder& graph = m.graph();
    const auto* const value = n.find("value");
    if (value != nullptr && value->has_t())
        return graph.add_constant(name, constant_of(value->t(), n.text()), value->t().data_type());
    if (n.has("value_float"))
        return graph.add_constant(name, real_tensor({n.real("value_float", 0)}, {}), kOnnxFloat);
    if (value == nullptr && n.find("value_int") != nullptr)
        return graph.add_constant(name, integer_tensor({n.find("value_int")->i()}, {}), kOnnxInt64);
    if (n.has("value_floats")) {
        const auto values = n.reals("value_floats", {});
        return graph.add_constant(name, real_tensor(values, {static_cast<int64_t>(values.size())}),
                                  kOnnxFloat);
    }
    if (n.has("value_ints")) {
        const Integers values = n.integers("value_ints", {});
        return graph.add_constant(
            name, integer_tensor(values, {static_cast<int64_t>(values.size())}), kOnnxInt64);
    }
    n.fail("value", "numbers", "none");
}

void constant_of_shape(Maths& m, const NodeReader& n) {
    const Shape shape = known_integers(m, n, 0, "shape");
    const auto* const value = n.find("value");
    ValueName one = m.scalar(0.0f);
    int32_t type = kOnnxFloat;
    if (value != nullptr && value->has_t()) {
        one = m.graph().fresh();
        type = value->t().data_type();
        m.graph().add_constant(one, constant_of(value->t(), n.text()), type);
    }
    m.result(m.broadcast_to(m.reshape(one, {}), shape), 0, type);
}

void shape_of(Maths& m, const NodeReader& n) {
    const Shape shape = m.shape(n.input(0));
    const auto rank = static_cast<int64_t>(shape.size());
    const auto place = [&](int64_t at) {
        return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
    };
    const int64_t begin = place(n.integer("start", 0)), end = place(n.integer("end", rank));
    Integers values;
    for (int64_t i = begin; i < end; ++i) values.push_back(shape.at(static_cast<size_t>(i)));
    m.result(m.integers(values, {static_cast<int64_t>(values.size())}));
}

void size_of(Maths& m, const NodeReader& n) { m.result(m.scalar(product(m.shape(n.input(0))))); }

void with_shape(Maths& m, const NodeReader& n, const Shape& shape) {
    m.result(m.reshape(n.input(0), shape), 0, m.graph().type(n.input(0)));
}

void reshape(Maths& m, const NodeReader& n) {
    Shape shape = n.opset() < 5 ? n.integers("shape", {}) : known_integers(m, n, 1, "shape");
    const Shape& from = m.shape(n.input(0));
    int64_t rest = 1;
    for (size_t i = 0; i < shape.size(); ++i) {
        if (shape.at(i) == 0 && n.integer("allowzero", 0) == 0 && i < from.size())
            shape.at(i) = from.at(i);
        if (shape.at(i) < -1) n.fail("shape", "extents, 0 or -1", shape_text(shape));
        if (shape.at(i) > INT32_MAX || rest > INT32_MAX)
            n.fail("shape", "at most 2^31 - 1 elements", shape_text(shape));
        if (shape.at(i) != -1) rest *= shape.at(i);
    }
    const auto open = std::ranges::find(shape, -1);
    if (open != shape.end() && rest != 0) *open = product(from) / rest;
    if (product(shape) != product(from) || std::ranges::count(shape, -1) != 0)
        n.fail("shape", std::to_string(product(from)) + " elements", shape_text(shape));
    with_shape(m, n, shape);
}

void flatten(Maths& m, const NodeReader& n) {
    const Shape& from = m.shape(n.input(0));
    const auto rank = static_cast<int64_t>(from.size());
    const int64_t named = n.integer("axis", 1), axis = named < 0 ? named + rank : named;
    if (axis < 0 || axis > rank)
        n.fail("axis", "an axis of " + shape_text(from), std::to_string(named));
    with_shape(m, n, flattened(from, axis));
}

Integers axes_of(Maths& m, const NodeReader& n) {
    if (n.opset() < 13) return n.integers("axes", {});
    return n.has_input(1) ? known_integers(m, n, 1, "axes") : Integers{};
}

void squeeze(Maths& m, const NodeReader& n) {
    const Shape& from = m.shape(n.input(0));
    Integers axes = axes_of(m, n);
    for (int64_t& axis : axes) axis = m.axis_in(n.input(0), axis);
    Shape shape;
    for (size_t i = 0; i < from.size(); ++i) {
        const bool named = std::ranges::find(axes, static_cast<int64_t>(i)) != axes.end();
        if (!named && (!axes.empty() || from.at(i) != 1)) shape.push_back(from.at(i));
    }
    if (product(shape) != product(from)) n.fail("axes", "axes of 1 element", shape_text(axes));
    with_shape(m, n, shape);
}

void unsqueeze(Maths& m, const NodeReader& n) {
    Integers axes = axes_of(m, n);
    Shape shape = m.shape(n.input(0));
    const auto rank = static_cast<int64_t>(shape.size() + axes.size());
    for (int64_t& axis : axes) {
        if (axis < -rank || axis >= rank)
            n.fail("axes", "axes of the result", std::to_string(axis));
        if (axis < 0) axis += rank;
    }
    std::ranges::sort(axes);
    if (std::ranges::adjacent_find(axes) != axes.end())
        n.fail("axes", "each axis once", shape_text(axes));
    for (const int64_t axis : axes) shape.insert(shape.begin() + axis, 1);
    with_shape(m, n, shape);
}

void transpose(Maths& m, const NodeReader& n) {
    Integers reversed = all_axes(m, n.input(0));
    const Integers axes = reversed;
    std::ranges::reverse(reversed);
    const Integers perm = n.integers("perm", reversed);
    if (!std::ranges::is_permutation(perm, axes))
        n.fail("perm", "every axis of " + shape_text(m.shape(n.input(0))) + " once",
               shape_text(perm));
    m.result(m.transpose(n.input(0), perm), 0, m.graph().type(n.input(0)));
}

void concat(Maths& m, const NodeReader& n) {
    std::vector<ValueName> inputs;
    for (int i = 0; i < n.inputs(); ++i)
        if (product(m.shape(n.input(i))) != 0) inputs.push_back(n.input(i));
    if (inputs.empty()) return m.result(n.input(0));
    const int64_t axis = m.axis_in(inputs[0], n.integer("axis", 1));
    m.result(m.concatenate(inputs, axis), 0, m.graph().type(inputs[0]));
}

void split(Maths& m, const NodeReader& n) {
    const int64_t axis = m.axis_in(n.input(0), n.integer("axis", 0));
    const int64_t extent = m.shape(n.input(0)).at(static_cast<size_t>(axis));
    Integers sizes = n.integers("split", {});
    if (n.opset() >= 13 && n.has_input(1)) sizes = known_integers(m, n, 1, "split");
    if (sizes.empty()) {
        // The last one may be smaller.
        const int64_t count = std::max(1, n.outputs()), each = (extent + count - 1) / count;
        for (int64_t i = 0; i < count; ++i)
            sizes.push_back(std::clamp<int64_t>(extent - i * each, 0, each));
    }
    if (std::accumulate(sizes.begin(), sizes.end(), int64_t{0}) != extent ||
        static_cast<int>(sizes.size()) != n.outputs())
        n.fail("split",
               std::to_string(n.outputs()) + " sizes of " + std::to_string(extent) + " together",
               shape_text(sizes));
    int64_t begin = 0;
    for (size_t i = 0; i < sizes.size(); ++i) {
        if (sizes[i] > 0)
            m.result(m.slice(n.input(0), axis, begin, sizes[i]), static_cast<int>(i),
                     m.graph().type(n.input(0)));
        begin += sizes[i];
    }
}

void slice(Maths& m, const NodeReader& n) {
    ValueName value = n.input(0);
    const bool as_inputs = n.opset() >= 10;
    const Integers starts =
        as_inputs ? known_integers(m, n, 1, "starts") : n.integers("starts", {});
    const Integers ends = as_inputs ? known_integers(m, n, 2, "ends") : n.integers("ends", {});
    Integers axes(starts.size()), steps(starts.size(), 1);
    std::iota(axes.begin(), axes.end(), 0);
    if (!as_inputs) axes = n.integers("axes", axes);
    if (as_inputs && n.has_input(3)) axes = known_integers(m, n, 3, "axes");
    if (as_inputs && n.has_input(4)) steps = known_integers(m, n, 4, "steps");
    if (ends.size() != starts.size() || axes.size() != starts.size() ||
        steps.size() != starts.size())
        n.fail("starts, ends, axes, steps", "as many of each", shape_text(starts));
    for (size_t i = 0; i < starts.size(); ++i) {
        const int64_t axis = m.axis_in(value, axes[i]), step = steps[i];
        const int64_t extent = m.shape(value).at(static_cast<size_t>(axis));
        if (step == 0) n.fail("steps", "other numbers than 0", "0");
        const auto place = [&](int64_t at) {
            if (at < 0) at += extent;
            return step > 0 ? std::clamp<int64_t>(at, 0, extent)
                            : std::clamp<int64_t>(at, -1, extent - 1);
        };
        const int64_t begin = place(starts[i]);
        const int64_t end = step < 0 && ends[i] < -extent ? -1 : place(ends[i]);
        const int64_t size =
            step > 0 ? (end - begin + step - 1) / step : (end - begin + step + 1) / step;
        value = m.slice(value, axis, begin, std::max<int64_t>(size, 0), step);
    }
    m.result(value, 0, m.graph().type(n.input(0)));
}

void expand(Maths& m, const NodeReader& n) {
    const Shape wanted = known_integers(m, n, 1, "shape");
    const Shape& own = m.shape(n.input(0));
    Shape both(std::max(own.size(), wanted.size()), 1);
    for (const Shape* const one : {&own, &wanted})
        for (size_t i = 0; i < one->size(); ++i) {
            int64_t& extent = both.at(both.size() - 1 - i);
            extent = std::max(extent, (*one)[one->size() - 1 - i]);
        }
    m.result(m.broadcast_to(n.input(0), both), 0, m.graph().type(n.input(0)));
}

/// Copies along each axis: an axis of copies beside it.
ValueName tiled(Maths& m, const ValueName& value, const Integers& repeats) {
    ValueName copies = value;
    for (size_t i = 0; i < repeats.size(); ++i) {
        if (repeats[i] == 1) continue;
        Shape apart = m.shape(copies), result = apart;
        apart.insert(apart.begin() + static_cast<ptrdiff_t>(i), 1);
        Shape wide = apart;
        wide.at(i) = repeats[i];
        result[i] *= repeats[i];
        copies = m.reshape(m.broadcast_to(m.reshape(copies, apart), wide), result);
    }
    return copies;
}

void tile(Maths& m, const NodeReader& n) {
    const Integers repeats = known_integers(m, n, 1, "repeats");
    if (repeats.size() != m.shape(n.input(0)).size())
        n.fail("repeats", "one number per axis", shape_text(repeats));
    m.result(tiled(m, n.input(0), repeats), 0, m.graph().type(n.input(0)));
}

void depth_to_space(Maths& m, const NodeReader& n) {
    const Shape s = m.shape(n.input(0));
    const int64_t b = n.integer("blocksize", 1);
    if (s.size() != 4 || b < 1 || s.at(1) % (b * b) != 0)
        n.fail("input", "4 axes, channels that blocksize^2 divides", shape_text(s));
    const int64_t channels = s.at(1) / (b * b);
    const bool crd = n.word("mode", "DCR") == "CRD";
    const ValueName apart =
        m.reshape(n.input(0), crd ? Shape{s.at(0), channels, b, b, s.at(2), s.at(3)}
                                  : Shape{s.at(0), b, b, channels, s.at(2), s.at(3)});
    const ValueName turned =
        m.transpose(apart, crd ? Integers{0, 1, 4, 2, 5, 3} : Integers{0, 3, 4, 1, 5, 2});
    m.result(m.reshape(turned, {s.at(0), channels, s.at(2) * b, s.at(3) * b}), 0,
             m.graph().type(n.input(0)));
}

void space_to_depth(Maths& m, const NodeReader& n) {
    const Shape s = m.shape(n.input(0));
    const int64_t b = n.integer("blocksize", 1);
    if (s.size() != 4 || b < 1 || s.at(2) % b != 0 || s.at(3) % b != 0)
        n.fail("input", "4 axes, images that blocksize divides", shape_text(s));
    const ValueName apart =
        m.reshape(n.input(0), {s.at(0), s.at(1), s.at(2) / b, b, s.at(3) / b, b});
    m.result(m.reshape(m.transpose(apart, {0, 3, 5, 1, 2, 4}),
                       {s.at(0), s.at(1) * b * b, s.at(2) / b, s.at(3) / b}),
             0, m.graph().type(n.input(0)));
}

/// Numbers on both sides of each axis; negative ones cut.
void pad(Maths& m, const NodeReader& n) {
    ValueName value = n.input(0);
    const auto rank = m.shape(value).size();
    const Integers pads = n.opset() < 11 ? n.integers("pads", n.integers("paddings", {}))
                                         : known_integers(m, n, 1, "pads");
    if (pads.size() != 2 * rank)
        n.fail("pads", std::to_string(2 * rank) + " numbers", std::to_string(pads.size()));
    const float fill = n.opset() < 11   ? n.real("value", 0)
                       : n.has_input(2) ? known_real(m, n, 2, "value")
                                        : 0;
    const std::string mode = n.word("mode", "constant");
    Integers before(rank), behind(rank);
    for (size_t i = 0; i < rank; ++i) {
        before[i] = pads[i];
        behind[i] = pads[rank + i];
        const auto axis = static_cast<int64_t>(i);
        const int64_t cut_before = std::max<int64_t>(-before[i], 0),
                      cut_behind = std::max<int64_t>(-behind[i], 0);
        if (cut_before + cut_behind >= m.shape(value).at(i))
            n.fail("pads", "something that is left", shape_text(pads));
        value = m.slice(value, axis, cut_before, m.shape(value).at(i) - cut_before - cut_behind);
        before[i] = std::max<int64_t>(before[i], 0), behind[i] = std::max<int64_t>(behind[i], 0);
        if (mode == "constant") continue;
        if (mode != "edge" && mode != "reflect") n.fail("mode", "constant, edge or reflect", mode);
        const int64_t extent = m.shape(value).at(i);
        if (mode == "reflect" && std::max(before[i], behind[i]) >= extent)
            n.fail("pads", "less than the extent, to reflect", shape_text(pads));
        std::vector<ValueName> parts;
        const auto edge = [&](int64_t at, int64_t count) {
            Shape wide = m.shape(value);
            wide.at(i) = count;
            parts.push_back(m.broadcast_to(m.slice(value, axis, at, 1), wide));
        };
        if (before[i] > 0)
            mode == "edge" ? edge(0, before[i])
                           : parts.push_back(m.slice(value, axis, before[i], before[i], -1));
        parts.push_back(value);
        if (behind[i] > 0)
            mode == "edge" ? edge(extent - 1, behind[i])
                           : parts.push_back(m.slice(value, axis, extent - 2, behind[i], -1));
        value = m.concatenate(parts, axis);
        before[i] = behind[i] = 0;
    }
    m.result(m.pad(value, before, behind, fill), 0, m.graph().type(n.input(0)));
}

void range(Maths& m, const NodeReader& n) {
    if (!m.is_float(n.input(0))) {
        const int64_t start = known_integer(m, n, 0, "start"),
                      limit = known_integer(m, n, 1, "limit"),
                      delta = known_integer(m, n, 2, "delta");
        if (delta == 0) n.fail("delta", "another number than 0", "0");
        m.need_at_most((limit - start) / delta, kMostMade, "limit", "steps");
        Integers values;
        for (int64_t at = start; delta > 0 ? at < limit : at > limit; at += delta)
            values.push_back(at);
        return m.result(m.integers(values, {static_cast<int64_t>(values.size())}), 0,
                        m.graph().type(n.input(0)));
    }
    const float start = known_real(m, n, 0, "start"), limit = known_real(m, n, 1, "limit"),
                delta = known_real(m, n, 2, "delta");
    const double count = std::max(0.0, std::ceil((double{limit} - double{start}) / double{delta}));
    if (!(count < 1e6)) n.fail("delta", "a million steps at most", std::to_string(delta));
    std::vector<float> values;
    for (int i = 0; i < static_cast<int>(count); ++i)
        values.push_back(start + static_cast<float>(i) * delta);
    m.result(m.reals(values, {static_cast<int64_t>(values.size())}), 0, m.graph().type(n.input(0)));
}

/// Each sequence's first elements the other way round.
void reverse_sequence(Maths& m, const NodeReader& n) {
    const int64_t batch_axis = n.integer("batch_axis", 1), time_axis = n.integer("time_axis", 0);
    const Integers lengths = known_integers(m, n, 1, "sequence_lens");
    m.need_at_most(static_cast<int64_t>(lengths.size()), kMostParts, "sequence_lens", "sequences");
    std::vector<ValueName> all;
    for (size_t b = 0; b < lengths.size(); ++b) {
        const ValueName one = m.slice(n.input(0), batch_axis, static_cast<int64_t>(b), 1);
        const int64_t extent = m.shape(one).at(static_cast<size_t>(time_axis)), length = lengths[b];
        std::vector<ValueName> parts{m.slice(one, time_axis, length - 1, length, -1)};
        if (length < extent) parts.push_back(m.slice(one, time_axis, length, extent - length));
        all.push_back(m.concatenate(parts, time_axis));
    }
    m.result(m.concatenate(all, batch_axis), 0, m.graph().type(n.input(0)));
}

}  // namespace

std::span<const OnnxOperator> shapes() {
    static constexpr OnnxOperator kAll[] = {
        {"Concat", concat},
        {"Constant", constant},
        {"ConstantOfShape", constant_of_shape},
        {"DepthToSpace", depth_to_space},
        {"Dropout", same},
        {"Expand", expand},
        {"Flatten", flatten},
        {"Identity", same},
        {"Pad", pad},
        {"Range", range},
        {"Reshape", reshape},
        {"ReverseSequence", reverse_sequence},
        {"Shape", shape_of},
        {"Size", size_of},
        {"Slice", slice},
        {"SpaceToDepth", space_to_depth},
        {"Split", split},
        {"Squeeze", squeeze},
        {"Tile", tile},
        {"Transpose", transpose},
        {"Unsqueeze", unsqueeze},
    };
    return kAll;
}

}  // namespace tandem::compiler::onnx_operators
