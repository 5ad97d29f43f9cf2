// SPDX-License-Identifier: Apache-2.0
// Imported graphs against loops over NCHW, written from ONNX's definitions. All numbers are small
// integers, so that bf16 holds every one exactly and answers have to be equal.
#include "compiler/import/onnx/onnx_import.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>

#include "base/error.h"
#include "compiler/graph/narrow.h"
#include "compiler/graph/operators.h"
#include "testbench/compiler/machine_run.h"
#include "testbench/compiler/test_chips.h"
#include "testbench/compiler/tiny_onnx.h"

namespace tandem::testbench {
namespace {

using compiler::import_onnx_bytes;
using Floats = std::vector<float>;

Floats small_numbers(size_t count, int least, int most, uint32_t seed) {
    std::mt19937 random(seed);
    Floats values(count);
    for (float& value : values)
        value = static_cast<float>(
            least + static_cast<int>(random() % static_cast<uint32_t>(most - least + 1)));
    return values;
}

/// NCHW: the image, and what slides over it.
struct Image {
    int64_t c, h, w;
    Floats values;
    float at(int64_t channel, int64_t y, int64_t x, float outside) const {
        if (y < 0 || x < 0 || y >= h || x >= w) return outside;
        return values[static_cast<size_t>((channel * h + y) * w + x)];
    }
};

Image slide(const Image& in, int64_t channels, int64_t kernel, int64_t stride, int64_t pad,
            const std::function<float(int64_t c, int64_t y, int64_t x)>& one) {
    Image out{channels,
              (in.h + 2 * pad - kernel) / stride + 1,
              (in.w + 2 * pad - kernel) / stride + 1,
              {}};
    for (int64_t c = 0; c < channels; ++c)
        for (int64_t y = 0; y < out.h; ++y)
            for (int64_t x = 0; x < out.w; ++x)
                out.values.push_back(one(c, y * stride - pad, x * stride - pad));
    return out;
}

Image convolved(const Image& in, const Floats& weights, const Floats& bias, int64_t outputs,
                int64_t kernel, int64_t stride, int64_t pad, int64_t groups) {
    const int64_t of_group = in.c / groups;
    return slide(in, outputs, kernel, stride, pad, [&](int64_t c, int64_t y, int64_t x) {
        float sum = bias.empty() ? 0 : bias[static_cast<size_t>(c)];
        const int64_t first = c / (outputs / groups) * of_group;
        for (int64_t i = 0; i < of_group; ++i)
            for (int64_t ky = 0; ky < kernel; ++ky)
                for (int64_t kx = 0; kx < kernel; ++kx)
                    sum += in.at(first + i, y + ky, x + kx, 0) *
                           weights[static_cast<size_t>(((c * of_group + i) * kernel + ky) * kernel +
                                                       kx)];
        return sum;
    });
}

Image largest(const Image& in, int64_t kernel, int64_t stride) {
    return slide(in, in.c, kernel, stride, 0, [&](int64_t c, int64_t y, int64_t x) {
        float most = in.at(c, y, x, 0);
        for (int64_t ky = 0; ky < kernel; ++ky)
            for (int64_t kx = 0; kx < kernel; ++kx)
                most = std::max(most, in.at(c, y + ky, x + kx, 0));
        return most;
    });
}

Image relu(Image image) {
    for (float& value : image.values) value = std::max(value, 0.0f);
    return image;
}

arch::ChipConfig float_chip() {
    auto chip = test_chip(8, 8);
    chip.mxu.dtype = arch::Dtype::kBf16;
    return chip;
}

/// Of an imported model with one input and one output, by the interpreter.
Floats answer(const TinyOnnx& model, const Floats& input) {
    const auto graph = compiler::narrow(import_onnx_bytes(model.bytes(), "tiny.onnx"));
    Int8s bytes(input.size() * sizeof(float));
    std::memcpy(bytes.data(), input.data(), bytes.size());
    const auto chip = float_chip();
    const Int8s out = run_image(chip, compiler::compile(graph, chip), bytes, Order::number(0));
    Floats values(out.size() / sizeof(float));
    std::memcpy(values.data(), out.data(), out.size());
    return values;
}

std::string error_of(const TinyOnnx& model) {
    try {
        import_onnx_bytes(model.bytes(), "tiny.onnx");
    } catch (const UserError& error) {
        return error.what();
    }
    return "no error";
}

TEST(OnnxImport, AConvolutionalNetworkIsThatOfItsDefinition) {
    const Image image{3, 9, 7, small_numbers(3 * 9 * 7, -2, 2, 1)};
    const Floats w1 = small_numbers(4 * 3 * 9, -1, 1, 2), b1 = small_numbers(4, -3, 3, 3),
                 w2 = small_numbers(4 * 9, -1, 1, 4), w3 = small_numbers(4 * 2 * 5 * 6, -1, 1, 5),
                 b3 = small_numbers(5, -3, 3, 6);
    TinyOnnx model;
    model.input("x", {1, 3, 9, 7});
    model.constant("w1", {4, 3, 3, 3}, w1);
    model.constant("b1", {1, 4, 1, 1}, b1);
    model.constant("w2", {4, 1, 3, 3}, w2);
    TinyOnnx::set(model.node("Conv", {"x", "w1"}, "c1"), "pads", {1, 1, 1, 1});
    model.node("Add", {"b1", "c1"}, "a1");
    model.node("Relu", {"a1"}, "r1");
    auto& depthwise = model.node("Conv", {"r1", "w2"}, "c2");
    TinyOnnx::set(depthwise, "group", 4);
    TinyOnnx::set(depthwise, "pads", {1, 1, 1, 1});
    auto& pool = model.node("MaxPool", {"c2"}, "p");
    TinyOnnx::set(pool, "kernel_shape", {2, 2});
    TinyOnnx::set(pool, "strides", {2, 2});

    Image right = relu(convolved(image, w1, b1, 4, 3, 1, 1, 1));
    right = largest(convolved(right, w2, {}, 4, 3, 1, 1, 4), 2, 2);
    const auto count = static_cast<int64_t>(right.values.size());
    model.constant("w3", {5, count}, small_numbers(static_cast<size_t>(5 * count), -1, 1, 7));
    model.constant("b3", {5}, b3);
    model.node("Flatten", {"p"}, "f");
    TinyOnnx::set(model.node("Gemm", {"f", "w3", "b3"}, "y"), "transB", 1);
    model.output("y", {1, 5});

    const Floats rows = small_numbers(static_cast<size_t>(5 * count), -1, 1, 7);
    Floats expected = b3;
    for (size_t n = 0; n < 5; ++n)
        for (size_t k = 0; k < right.values.size(); ++k)
            expected[n] += right.values[k] * rows[n * right.values.size() + k];
    for (const float value : right.values) ASSERT_LE(std::abs(value), 256) << "exact in bf16";
    EXPECT_EQ(answer(model, image.values), expected);
}

TEST(OnnxImport, OutputsStandInTheFilesOrder) {
    const Image image{2, 4, 3, small_numbers(24, -9, 9, 1)};
    const Floats weights = small_numbers(2 * 2, -1, 1, 2);
    TinyOnnx model;
    model.input("x", {1, 2, 4, 3});
    model.constant("w", {2, 2, 1, 1}, weights);
    model.node("Conv", {"x", "w"}, "c");
    model.node("Add", {"c", "x"}, "y");
    model.output("y", {1, 2, 4, 3});
    Image right = convolved(image, weights, {}, 2, 1, 1, 0, 1);
    for (size_t i = 0; i < right.values.size(); ++i) right.values[i] += image.values[i];
    EXPECT_EQ(answer(model, image.values), right.values);
}

TEST(OnnxImport, ShapesAndOrders) {
    const Floats values = small_numbers(24, -99, 99, 1);
    TinyOnnx model;
    model.input("x", {2, 3, 4});
    model.integers("s", {0, -1});
    TinyOnnx::set(model.node("Transpose", {"x"}, "t"), "perm", {0, 2, 1});
    model.node("Reshape", {"t", "s"}, "y");
    model.output("y", {2, 12});
    Floats expected;
    for (size_t b = 0; b < 2; ++b)
        for (size_t j = 0; j < 4; ++j)
            for (size_t i = 0; i < 3; ++i) expected.push_back(values[(b * 3 + i) * 4 + j]);
    EXPECT_EQ(answer(model, values), expected);
}

TEST(OnnxImport, MistakesAreNamed) {
    const auto with = [](const std::function<void(TinyOnnx&)>& change) {
        TinyOnnx model;
        model.input("x", {1, 4});
        model.constant("w", {4, 2}, Floats(8, 1));
        model.node("MatMul", {"x", "w"}, "y").set_name("product");
        model.output("y", {1, 2});
        change(model);
        return error_of(model);
    };
    EXPECT_EQ(with([](TinyOnnx&) {}), "no error");
    const auto expect = [&](const std::function<void(TinyOnnx&)>& change,
                            const std::vector<std::string>& texts) {
        const std::string error = with(change);
        for (const auto& text : texts) EXPECT_NE(error.find(text), std::string::npos) << error;
    };
    expect([](TinyOnnx& m) { m.graph().mutable_node(0)->set_op_type("Unique"); },
           {"tiny.onnx", "node 0 (Unique 'product')", "MatMul", "found Unique"});
    expect([](TinyOnnx& m) { m.graph().mutable_node(0)->set_domain("com.example"); },
           {"found com.example.MatMul"});
    expect([](TinyOnnx& m) { m.graph().mutable_node(0)->set_input(0, "z"); },
           {"input 'z'", "stands before the node"});
    expect([](TinyOnnx& m) { m.node("Relu", {"later"}, "r"), m.node("Relu", {"r"}, "later"); },
           {"node 1", "input 'later'"});
    expect([](TinyOnnx& m) { m.node("Relu", {"x"}, "y"); },
           {"'y': expected one origin, found two"});
    expect([](TinyOnnx& m) { m.graph().mutable_output(0)->set_name("z"); }, {"output 'z'"});
    expect([](TinyOnnx& m) { m.graph().mutable_output(0)->set_name(std::string("z\0\x1b", 3)); },
           {"output 'z\\x00\\x1b'", "expected a value of the graph"});
    expect([](TinyOnnx& m) { m.graph().mutable_node(0)->set_op_type(std::string("Mat\0Mul", 7)); },
           {"Mat\\x00Mul 'product'", "expected one of"});
    expect([](TinyOnnx& m) { m.model.mutable_opset_import(0)->set_version(99); },
           {"opset", "found 99"});
    expect([](TinyOnnx& m) { m.graph().mutable_initializer(0)->add_float_data(1); },
           {"initialiser 'w'", "expected 8 for shape 4x2", "found 9"});
    expect([](TinyOnnx& m) { m.graph().mutable_initializer(0)->set_dims(0, -4); },
           {"positive extents"});
    expect(
        [](TinyOnnx& m) {
            m.graph().mutable_initializer(0)->set_data_location(onnx::TensorProto::EXTERNAL);
        },
        {"values inside the file"});
    expect(
        [](TinyOnnx& m) {
            m.graph()
                .mutable_input(0)
                ->mutable_type()
                ->mutable_tensor_type()
                ->mutable_shape()
                ->mutable_dim(1)
                ->set_dim_param("n");
        },
        {"input 'x'", "'n'"});
    EXPECT_THROW(import_onnx_bytes({1, 2, 3}, "x.onnx"), UserError);
}

}  // namespace
}  // namespace tandem::testbench
