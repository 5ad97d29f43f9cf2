// SPDX-License-Identifier: Apache-2.0
// Operators that choose elements by numbers, or are made of the places of elements.
#include <algorithm>

#include "compiler/import/onnx/operators/operators.h"
#include "compiler/import/onnx/tensors.h"

namespace tandem::compiler::onnx_operators {
namespace {

void gather(Maths& m, const NodeReader& n) {
    const int64_t axis = m.axis_in(n.input(0), n.integer("axis", 0));
    m.result(m.gather(n.input(0), n.input(1), axis), 0, m.graph().type(n.input(0)));
}

ValueName from_front(Maths& m, const ValueName& indices, int64_t extent) {
    return m.formula("select(a < 0, a + b, a)", {indices, m.scalar(extent)});
}

/// Places in the flat array: those of the indices, but along `axis` what they say.
ValueName flat_places(Maths& m, const ValueName& data, const ValueName& indices, size_t axis) {
    const Shape shape = m.shape(data), of = m.shape(indices);
    ValueName place = m.formula(
        "a * b", {from_front(m, indices, shape.at(axis)), m.scalar(product(shape, axis + 1))});
    for (size_t i = 0; i < shape.size(); ++i) {
        if (i == axis) continue;
        const ValueName step =
            m.formula("a * b", {m.places(of.at(i), static_cast<int64_t>(i), m.rank(indices)),
                                m.scalar(product(shape, i + 1))});
        place = m.formula("a + b", {place, step});
    }
    return place;
}

ValueName flat(Maths& m, const ValueName& value) {
    return m.reshape(value, {product(m.shape(value))});
}

void gather_elements(Maths& m, const NodeReader& n) {
    const auto axis = static_cast<size_t>(m.axis_in(n.input(0), n.integer("axis", 0)));
    if (m.rank(n.input(1)) != m.rank(n.input(0)))
        n.fail("indices", "as many axes as the data", shape_text(m.shape(n.input(1))));
    const ValueName places = flat_places(m, n.input(0), n.input(1), axis);
    m.result(m.gather(flat(m, n.input(0)), places, 0), 0, m.graph().type(n.input(0)));
}

/// Rows of the flat array by the last axis of the indices, for each of the batch's axes.
ValueName row_places(Maths& m, const ValueName& data, const ValueName& indices, size_t batch_axes) {
    const Shape shape = m.shape(data), of = m.shape(indices);
    const auto depth = static_cast<size_t>(of.back());
    ValueName place;
    for (size_t k = 0; k < depth; ++k) {
        const size_t axis = batch_axes + k;
        const ValueName one =
            m.slice(indices, static_cast<int64_t>(of.size()) - 1, static_cast<int64_t>(k), 1);
        const ValueName step =
            m.formula("a * b", {from_front(m, one, shape.at(axis)),
                                m.scalar(product(shape, axis + 1, batch_axes + depth))});
        place = place.empty() ? step : m.formula("a + b", {place, step});
    }
    for (size_t axis = 0; axis < batch_axes; ++axis) {
        const ValueName batch =
            m.places(shape.at(axis), static_cast<int64_t>(axis), static_cast<int64_t>(of.size()));
        place = m.formula("a + b * c",
                          {place, batch, m.scalar(product(shape, axis + 1, batch_axes + depth))});
    }
    Shape rows(of.begin(), of.end() - 1);
    return m.reshape(place, rows);
}

ValueName as_rows(Maths& m, const ValueName& data, size_t axes) {
    const Shape shape = m.shape(data);
    Shape rows{product(shape, 0, axes)};
    rows.insert(rows.end(), shape.begin() + static_cast<ptrdiff_t>(axes), shape.end());
    return m.reshape(data, rows);
}

void gather_nd(Maths& m, const NodeReader& n) {
    const auto batch = static_cast<size_t>(n.integer("batch_dims", 0));
    const Shape& of = m.shape(n.input(1));
    if (of.empty() || batch + static_cast<size_t>(of.back()) > m.shape(n.input(0)).size())
        n.fail("indices", "at most the axes of the data", shape_text(of));
    const size_t axes = batch + static_cast<size_t>(of.back());
    m.result(
        m.gather(as_rows(m, n.input(0), axes), row_places(m, n.input(0), n.input(1), batch), 0), 0,
        m.graph().type(n.input(0)));
}

/// One row of updates after the other: [rows, width] data, a number and a row each. A row that is
/// meant is replaced or combined, the others stay.
ValueName scattered(Maths& m, ValueName data, const ValueName& places, const ValueName& updates,
                    const std::string& formula) {
    const int64_t rows = m.shape(data).at(0), count = m.shape(places).at(0);
    const ValueName all = m.places(rows, 0, 2);
    for (int64_t i = 0; i < count; ++i) {
        const ValueName place = m.reshape(m.slice(places, 0, i, 1), {1, 1});
        const ValueName row = m.slice(updates, 0, i, 1);
        const ValueName meant = m.formula("a == b", {all, place});
        const ValueName combined = m.formula(formula, {data, row});
        data = m.formula("select(a, b, c)", {meant, combined, data});
    }
    return data;
}

std::string combination(const NodeReader& n) {
    const std::string reduction = n.word("reduction", "none");
    if (reduction == "none") return "select(1, b, a)";
    if (reduction == "add") return "a + b";
    if (reduction == "mul") return "a * b";
    if (reduction == "max") return "max(a, b)";
    if (reduction == "min") return "min(a, b)";
    n.fail("reduction", "none, add, mul, max or min", reduction);
}

constexpr int64_t kMostUpdates = 4096;

void scatter_elements(Maths& m, const NodeReader& n) {
    const auto axis = static_cast<size_t>(m.axis_in(n.input(0), n.integer("axis", 0)));
    const ValueName places = flat(m, flat_places(m, n.input(0), n.input(1), axis));
    const int64_t count = m.shape(places).at(0);
    if (count > kMostUpdates) n.fail("indices", "at most 4096", std::to_string(count));
    const Shape shape = m.shape(n.input(0));
    const ValueName data = m.reshape(n.input(0), {product(shape), 1});
    const ValueName made =
        scattered(m, data, places, m.reshape(n.input(2), {count, 1}), combination(n));
    m.result(m.reshape(made, shape), 0, m.graph().type(n.input(0)));
}

void scatter_nd(Maths& m, const NodeReader& n) {
    const Shape shape = m.shape(n.input(0)), of = m.shape(n.input(1));
    if (of.empty() || static_cast<size_t>(of.back()) > shape.size())
        n.fail("indices", "at most the axes of the data", shape_text(of));
    const auto axes = static_cast<size_t>(of.back());
    const ValueName places = flat(m, row_places(m, n.input(0), n.input(1), 0));
    const int64_t count = m.shape(places).at(0), width = product(shape, axes);
    if (count > kMostUpdates) n.fail("indices", "at most 4096 rows", std::to_string(count));
    const ValueName data = m.reshape(n.input(0), {product(shape, 0, axes), width});
    const ValueName made =
        scattered(m, data, places, m.reshape(n.input(2), {count, width}), combination(n));
    m.result(m.reshape(made, shape), 0, m.graph().type(n.input(0)));
}

/// Which elements a condition takes has to be known, for a shape follows from it.
void compress(Maths& m, const NodeReader& n) {
    const Integers condition = known_integers(m, n, 1, "condition");
    const bool flattened = !n.has("axis");
    const ValueName value = flattened ? flat(m, n.input(0)) : n.input(0);
    const int64_t axis = flattened ? 0 : m.axis_in(value, n.integer("axis", 0));
    Integers places;
    for (size_t i = 0; i < condition.size(); ++i)
        if (condition[i] != 0) places.push_back(static_cast<int64_t>(i));
    if (places.empty()) n.fail("condition", "1 element or more", "none");
    m.result(m.gather(value, m.integers(places, {static_cast<int64_t>(places.size())}), axis), 0,
             m.graph().type(n.input(0)));
}

/// Elements at the places where a pool has found them, zeros elsewhere.
void max_unpool(Maths& m, const NodeReader& n) {
    const Shape shape = m.shape(n.input(0));
    if (shape.size() < 3) n.fail("input", "3 axes or more", shape_text(shape));
    const size_t axes = shape.size() - 2;
    const Integers kernel = n.integers("kernel_shape", {}),
                   strides = n.integers("strides", Integers(axes, 1)),
                   pads = n.integers("pads", Integers(2 * axes, 0));
    if (kernel.size() != axes || strides.size() != axes || pads.size() != 2 * axes)
        n.fail("kernel_shape, strides, pads", "a number per axis", shape_text(kernel));
    Shape made{shape.at(0), shape.at(1)};
    for (size_t i = 0; i < axes; ++i)
        made.push_back((shape.at(i + 2) - 1) * strides[i] + kernel[i] - pads[i] - pads[axes + i]);
    // Places are those of the smaller of the two shapes.
    Shape wanted = made;
    if (n.has_input(2)) wanted = known_integers(m, n, 2, "output_shape");
    const ValueName values = flat(m, n.input(0)), places = flat(m, n.input(1));
    const int64_t count = m.shape(values).at(0), all = product(made);
    if (count > kMostUpdates) n.fail("input", "at most 4096 elements", std::to_string(count));
    if (wanted.size() != made.size())
        n.fail("output_shape", "as many axes as the input", shape_text(wanted));
    const ValueName empty = m.broadcast_to(m.scalar(0.0f), {all, 1});
    const ValueName value =
        scattered(m, empty, places, m.reshape(values, {count, 1}), "select(1, b, a)");
    Integers none(made.size()), behind(made.size());
    for (size_t i = 0; i < made.size(); ++i) behind[i] = wanted.at(i) - made.at(i);
    if (std::ranges::any_of(behind, [](int64_t one) { return one < 0; }))
        n.fail("output_shape", "at least " + shape_text(made), shape_text(wanted));
    m.result(m.pad(m.reshape(value, made), none, behind, 0), 0, m.graph().type(n.input(0)));
}

void one_hot(Maths& m, const NodeReader& n) {
    const auto depth = static_cast<int64_t>(known_real(m, n, 1, "depth"));
    if (depth < 1) n.fail("depth", "1 or more", std::to_string(depth));
    const int64_t axis = m.axis_in(n.input(0), n.integer("axis", -1), true);
    Shape shape = m.shape(n.input(0));
    shape.insert(shape.begin() + axis, 1);
    ValueName indices = n.input(0);
    if (m.is_float(indices)) indices = m.formula("truncate(a)", {indices});
    const ValueName hot =
        m.formula("a == b", {m.reshape(from_front(m, indices, depth), shape),
                             m.places(depth, axis, static_cast<int64_t>(shape.size()))});
    const ValueName off = m.slice(n.input(2), 0, 0, 1), on = m.slice(n.input(2), 0, 1, 1);
    m.result(m.formula("select(a, b, c)", {hot, on, off}), 0, m.graph().type(n.input(2)));
}

/// By doubling: each element takes in that which is 1, 2, 4 ... in front of it.
void cumulative_sum(Maths& m, const NodeReader& n) {
    ValueName value = n.input(0);
    const int64_t axis = m.axis_in(value, known_integer(m, n, 1, "axis"));
    const int64_t extent = m.shape(value).at(static_cast<size_t>(axis));
    const bool reversed = n.integer("reverse", 0) != 0, exclusive = n.integer("exclusive", 0) != 0;
    const auto shifted = [&](const ValueName& one, int64_t by) {
        Integers before(m.shape(one).size()), behind = before;
        before[static_cast<size_t>(axis)] = by;
        return m.slice(m.pad(one, before, behind, 0), axis, 0, extent);
    };
    if (reversed) value = m.slice(value, axis, extent - 1, extent, -1);
    for (int64_t by = 1; by < extent; by *= 2)
        value = m.formula("a + b", {value, shifted(value, by)});
    if (exclusive) value = shifted(value, 1);
    if (reversed) value = m.slice(value, axis, extent - 1, extent, -1);
    m.result(value, 0, m.graph().type(n.input(0)));
}

void triangle(Maths& m, const NodeReader& n) {
    const Shape shape = m.shape(n.input(0));
    if (shape.size() < 2) n.fail("input", "2 axes or more", shape_text(shape));
    const int64_t offset = n.has_input(1) ? known_integer(m, n, 1, "k") : 0;
    const bool upper = n.integer("upper", 1) != 0;
    const ValueName rows = m.places(shape.at(shape.size() - 2), 0, 2),
                    columns = m.places(shape.back(), 1, 2);
    const ValueName kept = m.formula(
        upper ? "less_equal(a + c, b)" : "less_equal(b, a + c)",
        {rows, columns, m.scalar(std::clamp<int64_t>(offset, INT32_MIN / 2, INT32_MAX / 2))});
    m.result(m.formula(m.is_float(n.input(0)) ? "select(a, b, 0.0)" : "select(a, b, 0)",
                       {kept, n.input(0)}),
             0, m.graph().type(n.input(0)));
}

void eye_like(Maths& m, const NodeReader& n) {
    const Shape shape = m.shape(n.input(0));
    if (shape.size() != 2) n.fail("input", "2 axes", shape_text(shape));
    const auto type = static_cast<int32_t>(n.integer("dtype", m.graph().type(n.input(0))));
    const ValueName ones = m.formula(
        "a + c == b",
        {m.places(shape.at(0), 0, 2), m.places(shape.at(1), 1, 2), m.scalar(n.integer("k", 0))});
    m.result(is_float_type(type) ? m.to_float(ones) : ones, 0, type);
}

/// The largest of what is left, again and again.
void top_k(Maths& m, const NodeReader& n) {
    ValueName value = n.input(0);
    const int64_t axis = m.axis_in(value, n.integer("axis", -1));
    const int64_t extent = m.shape(value).at(static_cast<size_t>(axis));
    const int64_t k = n.opset() < 10 ? n.integer("k", 1) : known_integer(m, n, 1, "k");
    if (k < 1 || k > std::min<int64_t>(extent, 1024))
        n.fail("k", "1 to the extent, at most 1024", std::to_string(k));
    const bool largest = n.integer("largest", 1) != 0;
    if (!largest) value = m.formula("-a", {value});
    const ValueName all = m.places(extent, axis, m.rank(value));
    std::vector<ValueName> values, places;
    for (int64_t i = 0; i < k; ++i) {
        places.push_back(m.reduce("ARG_MAX", value, {axis}));
        values.push_back(m.reduce("MAX", value, {axis}));
        const ValueName taken = m.formula("a == b", {all, places.back()});
        value =
            m.formula(m.is_float(value) ? "select(a, -infinity, b)" : "select(a, -2147483648, b)",
                      {taken, value});
    }
    ValueName best = m.concatenate(values, axis);
    if (!largest) best = m.formula("-a", {best});
    m.result(best, 0, m.graph().type(n.input(0)));
    m.result(m.concatenate(places, axis), 1, kOnnxInt64);
}

}  // namespace

std::span<const OnnxOperator> indices() {
    static constexpr OnnxOperator kAll[] = {
        {"Compress", compress},
        {"CumSum", cumulative_sum},
        {"EyeLike", eye_like},
        {"Gather", gather},
        {"GatherElements", gather_elements},
        {"GatherND", gather_nd},
        {"MaxUnpool", max_unpool},
        {"OneHot", one_hot},
        {"Scatter", scatter_elements},
        {"ScatterElements", scatter_elements},
        {"ScatterND", scatter_nd},
        {"TopK", top_k},
        {"Trilu", triangle},
    };
    return kAll;
}

}  // namespace tandem::compiler::onnx_operators
