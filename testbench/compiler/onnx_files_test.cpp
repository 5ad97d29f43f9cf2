// SPDX-License-Identifier: Apache-2.0
// Models that are wrong as a whole, and models in several files.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "base/error.h"
#include "compiler/import/onnx/onnx_import.h"
#include "testbench/compiler/tiny_onnx.h"

namespace tandem::testbench {
namespace {

namespace fs = std::filesystem;
using Change = std::function<void(TinyOnnx&)>;

/// Rows of four through a product with eight weights, and an activation.
TinyOnnx product() {
    TinyOnnx model;
    model.input("x", {1, 4});
    model.constant("w", {4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
    model.node("MatMul", {"x", "w"}, "p");
    model.node("Relu", {"p"}, "y");
    model.output("y", {1, 2});
    return model;
}

/// As bytes.
std::string weights() {
    const TinyOnnx model = product();
    const auto& values = model.model.graph().initializer(0).float_data();
    return {reinterpret_cast<const char*>(values.data()),
            static_cast<size_t>(values.size()) * sizeof(float)};
}

std::string error_of(const std::function<compiler::Graph()>& import) {
    try {
        import();
    } catch (const UserError& error) {
        return error.what();
    }
    return "no error";
}

std::string error_with(const Change& change) {
    TinyOnnx model = product();
    change(model);
    return error_of([&] { return compiler::import_onnx_bytes(model.bytes(), "m.onnx"); });
}

TEST(OnnxStructure, ACycleIsRefused) {
    EXPECT_EQ(error_with([](TinyOnnx&) {}), "no error");
    EXPECT_EQ(error_with([](TinyOnnx& m) { m.graph().mutable_node(0)->set_input(0, "y"); }),
              "m.onnx: node 0 (MatMul 'p'): input 'y': expected a value that stands before the "
              "node, found none of this name");
    EXPECT_EQ(error_with([](TinyOnnx& m) { m.graph().mutable_node(1)->set_input(0, "y"); }),
              "m.onnx: node 1 (Relu 'y'): input 'y': expected a value that stands before the "
              "node, found none of this name");
}

TEST(OnnxStructure, ANameHasOneOrigin) {
    const Change changes[] = {
        [](TinyOnnx& m) { m.graph().mutable_node(1)->set_output(0, "p"); },
        [](TinyOnnx& m) { m.graph().mutable_node(1)->set_output(0, "x"); },
        [](TinyOnnx& m) { m.graph().mutable_node(1)->set_output(0, "w"); },
        [](TinyOnnx& m) { *m.graph().add_initializer() = m.graph().initializer(0); },
        [](TinyOnnx& m) { *m.graph().add_input() = m.graph().input(0); }};
    const char* const names[] = {"'p'", "'x'", "'w'", "'w'", "'x'"};
    for (size_t i = 0; i < std::size(changes); ++i)
        EXPECT_NE(
            error_with(changes[i]).find(std::string(names[i]) + ": expected one origin, found two"),
            std::string::npos)
            << i << ": " << error_with(changes[i]);
    EXPECT_NE(error_with([](TinyOnnx& m) {
                  m.graph().mutable_input(0)->set_name("");
              }).find("expected a name"),
              std::string::npos);
}

TEST(OnnxStructure, TypesHaveToFit) {
    for (const auto type : {onnx::TensorProto::INT64, onnx::TensorProto::STRING,
                            onnx::TensorProto::COMPLEX64, onnx::TensorProto::UNDEFINED}) {
        const std::string error = error_with([&](TinyOnnx& m) {
            auto& tensor = *m.graph().mutable_input(0)->mutable_type()->mutable_tensor_type();
            tensor.set_elem_type(type);
        });
        EXPECT_NE(error.find("m.onnx: "), std::string::npos) << error;
        EXPECT_NE(error.find(", found "), std::string::npos) << error;
    }
    EXPECT_NE(error_with([](TinyOnnx& m) {
                  m.graph().mutable_initializer(0)->set_data_type(onnx::TensorProto::STRING);
              }).find("initialiser 'w': type"),
              std::string::npos);
    EXPECT_NE(error_with([](TinyOnnx& m) {
                  m.graph().mutable_input(0)->mutable_type()->mutable_sequence_type();
              }).find("input 'x': expected a tensor"),
              std::string::npos);
}

TEST(OnnxStructure, ExtentsAreNumbers) {
    const auto with_extent = [](const std::function<void(onnx::TensorShapeProto&)>& change) {
        return error_with([&](TinyOnnx& m) {
            change(*m.graph()
                        .mutable_input(0)
                        ->mutable_type()
                        ->mutable_tensor_type()
                        ->mutable_shape());
        });
    };
    EXPECT_EQ(with_extent([](auto& shape) { shape.mutable_dim(0)->set_dim_param("batch"); }),
              "no error");
    EXPECT_EQ(with_extent([](auto& shape) { shape.mutable_dim(1)->set_dim_param("n"); }),
              "m.onnx: input 'x': expected numbers as extents, found 'n'");
    EXPECT_EQ(with_extent([](auto& shape) { shape.mutable_dim(1)->clear_value(); }),
              "m.onnx: input 'x': expected numbers as extents, found an open one");
    for (const int64_t extent : {int64_t{-1}, int64_t{-4}, INT64_MIN})
        EXPECT_NE(with_extent([&](auto& shape) {
                      shape.mutable_dim(1)->set_dim_value(extent);
                  }).find("input 'x': expected extents from 0 on"),
                  std::string::npos);
    for (const int64_t extent : {int64_t{1} << 31, int64_t{1} << 62, INT64_MAX})
        EXPECT_NE(with_extent([&](auto& shape) {
                      shape.mutable_dim(1)->set_dim_value(extent);
                  }).find("input 'x': expected at most 2^31 - 1 elements"),
                  std::string::npos);
    EXPECT_NE(error_with([](TinyOnnx& m) {
                  m.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
              }).find("input 'x': expected a shape"),
              std::string::npos);
}

TEST(OnnxStructure, NumbersStayInBounds) {
    const auto with_axis = [](int64_t axis) {
        return error_with([&](TinyOnnx& m) {
            auto& node = *m.graph().mutable_node(1);
            node.set_op_type("Softmax");
            TinyOnnx::set(node, "axis", axis);
        });
    };
    EXPECT_EQ(with_axis(1), "no error");
    EXPECT_NE(
        with_axis(INT64_MIN).find("attribute axis: expected 32 bits, found -9223372036854775808"),
        std::string::npos)
        << with_axis(INT64_MIN);
    // Sums of such pads did not fit into 64 bits.
    TinyOnnx image;
    image.input("x", {1, 1, 4, 4});
    auto& pool = image.node("MaxPool", {"x"}, "y");
    TinyOnnx::set(pool, "kernel_shape", {2, 2});
    TinyOnnx::set(pool, "pads", {INT64_MAX, 0, INT64_MAX, 0});
    image.output("y", {1, 1, 1, 3});
    const std::string padded =
        error_of([&] { return compiler::import_onnx_bytes(image.bytes(), "m.onnx"); });
    EXPECT_NE(padded.find("m.onnx: node 0"), std::string::npos) << padded;
    // Each row of 2^16 elements with each of 2^16 others.
    TinyOnnx model;
    model.input("a", {1, 1 << 16, 1});
    model.input("b", {1, 1, 1 << 16});
    model.node("MatMul", {"a", "b"}, "y").set_name("large");
    model.output("y", {1, 1 << 16, 1 << 16});
    EXPECT_EQ(error_of([&] { return compiler::import_onnx_bytes(model.bytes(), "m.onnx"); }),
              "m.onnx: node 0 ('large'): expected at most 2^31 - 1 elements, found 1x65536x65536");
}

TEST(OnnxStructure, TheOpsetIsKnown) {
    const auto with_opset = [](int64_t version) {
        return error_with(
            [&](TinyOnnx& m) { m.model.mutable_opset_import(0)->set_version(version); });
    };
    EXPECT_EQ(with_opset(13), "no error");
    for (const int64_t version : {int64_t{0}, int64_t{-1}, int64_t{1000}, INT64_MAX})
        EXPECT_NE(with_opset(version).find(", found " + std::to_string(version)), std::string::npos)
            << with_opset(version);
    EXPECT_EQ(error_with([](TinyOnnx& m) { m.model.clear_opset_import(); }),
              "m.onnx: opset: expected a version of the standard operators, found none");
}

/// A folder with a model whose weights lie in `w.bin`, behind 16 other bytes.
class OnnxExternalData : public testing::Test {
  protected:
    OnnxExternalData() {
        fs::create_directories(folder_ / "model");
        write("model/w.bin", std::string(16, '\x7f') + weights_);
        write("outside.bin", weights_);
        auto& tensor = *model_.graph().mutable_initializer(0);
        tensor.clear_float_data();
        tensor.set_data_location(onnx::TensorProto::EXTERNAL);
        set("location", "w.bin");
        set("offset", "16");
        set("length", "32");
    }
    ~OnnxExternalData() override { fs::remove_all(folder_); }

    void write(const std::string& name, const std::string& bytes) const {
        std::ofstream(folder_ / name, std::ios::binary) << bytes;
    }
    void set(const std::string& key, const std::string& value) {
        auto& tensor = *model_.graph().mutable_initializer(0);
        for (auto& entry : *tensor.mutable_external_data())
            if (entry.key() == key) return entry.set_value(value);
        auto& entry = *tensor.add_external_data();
        entry.set_key(key);
        entry.set_value(value);
    }
    compiler::Graph import() const {
        write("model/m.onnx", model_.model.SerializeAsString());
        return compiler::import_onnx(folder_ / "model/m.onnx");
    }
    /// Behind the tensor's name.
    std::string error() const {
        const std::string text = error_of([&] { return import(); });
        const std::string where = "m.onnx: initialiser 'w': ";
        const size_t at = text.find(where);
        return at == std::string::npos ? text : text.substr(at + where.size());
    }
    std::string error_of_location(const std::string& location) {
        set("location", location);
        return error();
    }

    const fs::path folder_ =
        fs::path(testing::TempDir()) / ("onnx_external_data_" + std::to_string(::getpid()));
    const std::string weights_ = weights();
    TinyOnnx model_ = product();
};

TEST_F(OnnxExternalData, ItIsReadFromBesideTheModel) {
    const auto inside = compiler::import_onnx_bytes(product().bytes(), "m.onnx");
    const auto outside = import();
    ASSERT_EQ(outside.tensors.size(), inside.tensors.size());
    size_t constants = 0;
    for (size_t i = 0; i < inside.tensors.size(); ++i)
        if (inside.tensors[i].is_constant) {
            EXPECT_EQ(outside.tensors[i].bytes(), inside.tensors[i].bytes());
            ++constants;
        }
    EXPECT_GE(constants, 1u);
}

TEST_F(OnnxExternalData, NodesHaveSomeToo) {
    auto& attribute = *model_.graph().mutable_node(0)->add_attribute();
    attribute.set_name("branch");
    attribute.set_type(onnx::AttributeProto::GRAPH);
    auto& inner = *attribute.mutable_g()->add_node();
    inner.set_name("inside");
    auto& value = *inner.add_attribute();
    value.set_name("value");
    *value.mutable_t() = model_.graph().initializer(0);
    value.mutable_t()->mutable_external_data(0)->set_value("none.bin");
    const std::string text = error_of([&] { return import(); });
    EXPECT_NE(text.find("m.onnx: node 'inside', attribute 'value': values in 'none.bin': expected "
                        "a file beside the model"),
              std::string::npos)
        << text;
}

TEST_F(OnnxExternalData, WithoutALengthItGoesToTheEnd) {
    model_.graph().mutable_initializer(0)->mutable_external_data()->RemoveLast();
    EXPECT_EQ(error(), "no error");
    write("model/w.bin", weights_);
    EXPECT_NE(error().find("32 bytes for shape 4x2, found 16"), std::string::npos) << error();
}

TEST_F(OnnxExternalData, AMissingFileIsNamed) {
    fs::remove(folder_ / "model/w.bin");
    EXPECT_EQ(error(), "values in 'w.bin': expected a file beside the model, found none");
    fs::create_directory(folder_ / "model/w.bin");
    EXPECT_EQ(error(), "values in 'w.bin': expected a file beside the model, found none");
}

TEST_F(OnnxExternalData, NothingOutsideTheFolderIsRead) {
    fs::create_directory(folder_ / "model/within");
    fs::create_symlink(folder_ / "outside.bin", folder_ / "model/link.bin");
    set("offset", "0");
    EXPECT_EQ(error_of_location("within/../w.bin"), "no error");
    for (const std::string& location :
         {std::string("../outside.bin"), (folder_ / "outside.bin").string(),
          std::string("within/../../outside.bin"), std::string("link.bin"),
          std::string("w.bin\0x", 7)}) {
        const std::string text = error_of_location(location);
        EXPECT_NE(text.find("': expected a path within the model's folder, found another"),
                  std::string::npos)
            << text;
    }
}

TEST_F(OnnxExternalData, OffsetAndLengthAreThoseOfTheFile) {
    set("offset", "17");
    EXPECT_EQ(error(),
              "values in 'w.bin': expected 32 bytes behind the first 17, found a file of 48");
    set("offset", "18446744073709551615");
    EXPECT_NE(error().find("found a file of 48"), std::string::npos) << error();
    for (const char* const text : {"-1", "", "1e2", "18446744073709551616", "16 "}) {
        set("offset", text);
        EXPECT_EQ(error(), std::string("offset: expected a number of bytes, found '") + text + "'");
    }
    set("offset", "16");
    set("length", "28");
    EXPECT_NE(error().find("expected 32 bytes for shape 4x2, found 28"), std::string::npos);
}

TEST_F(OnnxExternalData, ALocationIsNeeded) {
    model_.graph().mutable_initializer(0)->clear_external_data();
    EXPECT_EQ(error(), "values: expected a location, found none");
}

TEST_F(OnnxExternalData, BytesWithoutAFolderHaveNone) {
    const std::string text =
        error_of([&] { return compiler::import_onnx_bytes(model_.bytes(), "m.onnx"); });
    EXPECT_NE(text.find("initialiser 'w': values: expected values inside the file"),
              std::string::npos)
        << text;
}

}  // namespace
}  // namespace tandem::testbench
