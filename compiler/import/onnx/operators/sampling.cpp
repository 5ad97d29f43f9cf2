// SPDX-License-Identifier: Apache-2.0
// GridSample: elements of images at places that are computed.
#include <fmt/format.h>

#include "compiler/import/onnx/operators/operators.h"

namespace tandem::compiler::onnx_operators {
namespace {

struct Grid {
    bool corners;  ///< -1 and 1 are the centres of the outer pixels, not their edges
    std::string padding;
};

/// Pixels of one axis from -1 to 1.
ValueName pixels(Maths& m, const ValueName& grid, int64_t extent, bool corners) {
    return m.formula(corners ? fmt::format("(a + 1) * {} * 0.5", extent - 1)
                             : fmt::format("((a + 1) * {} - 1) * 0.5", extent),
                     {grid});
}

/// Places beyond the edges thrown back.
ValueName reflected(Maths& m, const ValueName& place, int64_t extent, bool corners) {
    if (extent == 1 && corners) return m.formula("a * 0.0", {place});
    const std::string low = corners ? "0.0" : "(-0.5)",
                      span = fmt::format("{}.0", corners ? extent - 1 : extent);
    const ValueName far = m.formula("abs(a - " + low + ")", {place});
    const ValueName turns = m.formula("floor(a / " + span + ")", {far});
    return m.formula("select(floor(b * 0.5) * 2 == b, a - b * " + span + ", (b + 1) * " + span +
                         " - a) + " + low,
                     {far, turns});
}

ValueName clipped(Maths& m, const ValueName& place, int64_t extent) {
    return m.formula(fmt::format("clip(a, 0.0, {}.0)", extent - 1), {place});
}

/// The pixel [samples, rows, columns, channels] at whole places; 0 outside where padding is zeros.
ValueName pixel(Maths& m, const ValueName& image, const ValueName& column, const ValueName& row,
                const Shape& shape, const Grid& grid) {
    const int64_t height = shape.at(2), width = shape.at(3);
    ValueName x = column, y = row;
    if (grid.padding == "reflection")
        x = reflected(m, x, width, grid.corners), y = reflected(m, y, height, grid.corners);
    x = clipped(m, x, width), y = clipped(m, y, height);
    const ValueName sample = m.places(shape.at(0), 0, 3);
    const ValueName place =
        m.formula(fmt::format("truncate(b) * {} + truncate(a) + c * {}", width, height * width),
                  {x, y, sample});
    ValueName taken = m.gather(image, place, 0);
    if (grid.padding != "zeros") return taken;
    const ValueName inside = m.formula(
        fmt::format("and(and(-0.5 < a, a < {}.5), and(-0.5 < b, b < {}.5))", width - 1, height - 1),
        {column, row});
    Shape beside = m.shape(inside);
    beside.push_back(1);
    return m.formula("select(a, b, 0.0)", {m.reshape(inside, beside), taken});
}

ValueName beside_channels(Maths& m, const ValueName& value) {
    Shape shape = m.shape(value);
    shape.push_back(1);
    return m.reshape(value, shape);
}

void grid_sample(Maths& m, const NodeReader& n) {
    const Shape shape = m.shape(n.input(0)), of_grid = m.shape(n.input(1));
    if (shape.size() != 4 || of_grid.size() != 4 || of_grid.at(3) != 2 ||
        of_grid.at(0) != shape.at(0))
        n.fail("inputs", "images of two axes, and a grid of pairs",
               shape_text(shape) + ", " + shape_text(of_grid));
    const Grid grid{n.integer("align_corners", 0) != 0, n.word("padding_mode", "zeros")};
    if (grid.padding != "zeros" && grid.padding != "border" && grid.padding != "reflection")
        n.fail("padding_mode", "zeros, border or reflection", grid.padding);
    const std::string mode = n.word("mode", "bilinear");
    const Shape places{of_grid.at(0), of_grid.at(1), of_grid.at(2)};
    ValueName x =
        pixels(m, m.reshape(m.slice(n.input(1), 3, 0, 1), places), shape.at(3), grid.corners);
    ValueName y =
        pixels(m, m.reshape(m.slice(n.input(1), 3, 1, 1), places), shape.at(2), grid.corners);
    const ValueName image = m.reshape(m.transpose(n.input(0), {0, 2, 3, 1}),
                                      {shape.at(0) * shape.at(2) * shape.at(3), shape.at(1)});
    ValueName value;
    if (mode == "nearest") {
        value = pixel(m, image, m.formula("nearest(a)", {x}), m.formula("nearest(a)", {y}), shape,
                      grid);
    } else {
        // Weights of the neighbours: 1 - t, t; or the cubic ones with a = -3/4.
        const std::vector<std::string> linear{"1 - a", "a"},
            cubic{"((-0.75 * (a + 1) + 3.75) * (a + 1) - 6) * (a + 1) + 3",
                  "(1.25 * a - 2.25) * a * a + 1",
                  "(1.25 * (1 - a) - 2.25) * (1 - a) * (1 - a) + 1",
                  "((-0.75 * (2 - a) + 3.75) * (2 - a) - 6) * (2 - a) + 3"};
        if (mode != "bilinear" && mode != "bicubic")
            n.fail("mode", "nearest, bilinear or bicubic", mode);
        const auto& weights = mode == "bilinear" ? linear : cubic;
        const int first = mode == "bilinear" ? 0 : -1;
        if (grid.padding == "border" && mode == "bilinear")
            x = clipped(m, x, shape.at(3)), y = clipped(m, y, shape.at(2));
        if (grid.padding == "reflection" && mode == "bilinear")
            x = clipped(m, reflected(m, x, shape.at(3), grid.corners), shape.at(3)),
            y = clipped(m, reflected(m, y, shape.at(2), grid.corners), shape.at(2));
        const ValueName left = m.formula("floor(a)", {x}), top = m.formula("floor(a)", {y});
        const ValueName tx = m.formula("a - b", {x, left}), ty = m.formula("a - b", {y, top});
        for (size_t j = 0; j < weights.size(); ++j)
            for (size_t i = 0; i < weights.size(); ++i) {
                const auto shifted = [&](const ValueName& base, size_t by) {
                    return m.formula(
                        "a + b",
                        {base, m.scalar(static_cast<float>(first + static_cast<int>(by)))});
                };
                const ValueName one =
                    pixel(m, image, shifted(left, i), shifted(top, j), shape, grid);
                const ValueName weight =
                    m.formula("a * b", {m.formula(weights[i], {tx}), m.formula(weights[j], {ty})});
                value = value.empty()
                            ? m.formula("a * b", {one, beside_channels(m, weight)})
                            : m.formula("a + b * c", {value, one, beside_channels(m, weight)});
            }
    }
    m.result(m.transpose(value, {0, 3, 1, 2}), 0, m.graph().type(n.input(0)));
}

}  // namespace

std::span<const OnnxOperator> sampling() {
    static constexpr OnnxOperator kAll[] = {{"GridSample", grid_sample}};
    return kAll;
}

}  // namespace tandem::compiler::onnx_operators
