// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/onnx/onnx_import.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/terminal.h"
#include "compiler/graph/verify.h"
#include "compiler/import/compose/limits.h"
#include "compiler/import/onnx/control_flow.h"
#include "compiler/import/onnx/external_data.h"
#include "compiler/import/onnx/operators/operators.h"
#include "compiler/import/onnx/tensors.h"

namespace tandem::compiler {
namespace {

constexpr const char* kTraining = "ai.onnx.preview.training";
constexpr int64_t kOldestOpset = 1, kNewestOpset = 26;

class Importer {
  public:
    Importer(const onnx::ModelProto& model, const std::string& file, const OnnxOptions& options)
        : source_(model.graph()),
          file_(file),
          options_(options),
          graph_(file, [this](size_t input) { return given(input); }) {
        opset_ = standard_opset(model);
    }

    Graph run() {
        check_nodes(source_);
        std::map<std::string, uint32_t> readers;
        count_readers(source_, readers);
        graph_.count_readers(std::move(readers));
        add_initializers(source_);
        // Initialisers may stand among the inputs, too: they have their values.
        for (const auto& one : source_.input())
            if (graph_.constant(one.name()) == nullptr) add_input(one);
        for (int i = 0; i < source_.node_size(); ++i)
            add_node(source_.node(i), static_cast<uint32_t>(i));
        add_outputs();
        graph_.finish();
        graph_.graph().name =
            source_.name().empty() ? std::filesystem::path(file_).stem().string() : source_.name();
        tell_specialised();
        verify(graph_.graph());
        return std::move(graph_.graph());
    }

  private:
    [[noreturn]] void fail(const std::string& where, const std::string& expected,
                           const std::string& found) const {
        throw UserError(file_, base::printable(where), expected, base::printable(found));
    }

    void add_initializers(const onnx::GraphProto& graph) {
        for (const auto& one : graph.initializer()) {
            const std::string where = "initialiser '" + one.name() + "'";
            define(one.name(), where);
            graph_.add_constant(one.name(), constant_of(one, file_ + ": " + base::printable(where)),
                                one.data_type());
        }
    }

    /// In place of the node that it belongs to. Its names may come again, in the next iteration.
    void add_body(const onnx::GraphProto& body, uint32_t index) {
        constexpr int kMostDepth = 16;
        if (++depth_ > kMostDepth) fail("bodies", "at most 16 within each other", "more");
        if (++bodies_ > kMostBodies) fail("bodies", "at most 65536 iterations", "more");
        const std::set<std::string> outer = defined_;
        add_initializers(body);
        for (const auto& node : body.node()) add_node(node, index);
        for (const auto& out : body.output())
            if (!graph_.knows(out.name()))
                fail("output '" + out.name() + "' of a body", "a value", "none of this name");
        defined_ = outer;
        --depth_;
    }

    int64_t standard_opset(const onnx::ModelProto& model) const {
        if (model.opset_import_size() == 1 && model.opset_import(0).domain() == kTraining)
            return kNewestOpset;
        for (const auto& one : model.opset_import()) {
            if (!one.domain().empty() && one.domain() != "ai.onnx") continue;
            if (one.version() < kOldestOpset || one.version() > kNewestOpset)
                fail("opset", fmt::format("{} to {}", kOldestOpset, kNewestOpset),
                     std::to_string(one.version()));
            return one.version();
        }
        fail("opset", "a version of the standard operators", "none");
    }

    /// First of all: an operator that Tandem does not run is the message that helps most.
    void check_nodes(const onnx::GraphProto& graph) const {
        for (int i = 0; i < graph.node_size(); ++i) {
            const auto& node = graph.node(i);
            for (const auto& attribute : node.attribute())
                if (attribute.has_g()) check_nodes(attribute.g());
            const bool standard =
                node.domain().empty() || node.domain() == "ai.onnx" || node.domain() == kTraining;
            const bool known =
                is_control_flow(node.op_type()) || onnx_operators::find(node.op_type()) != nullptr;
            if (!standard || !known)
                fail(NodeReader(node, static_cast<uint32_t>(i), file_, opset_).text(),
                     "one of " + onnx_operators::names(),
                     standard ? node.op_type() : node.domain() + "." + node.op_type());
        }
    }

    void add_node(const onnx::NodeProto& source, uint32_t index) {
        const NodeReader node(source, index, file_, opset_);
        for (int k = 0; k < node.inputs(); ++k)
            if (node.has_input(k) && !graph_.knows(node.input(k)))
                node.fail("input '" + node.input(k) + "'", "a value that stands before the node",
                          "none of this name");
        for (int k = 0; k < node.outputs(); ++k)
            if (node.has_output(k))
                define(node.output(k), node.text() + ": output '" + node.output(k) + "'");
        graph_.at({node.index(), node.name(), file_ + ": " + node.text()});
        try {
            compute(node, index);
        } catch (const std::out_of_range&) {
            node.fail("inputs", "as many axes and numbers as ONNX says", "fewer");
        }
        for (int k = 0; k < node.outputs(); ++k)
            if (node.has_output(k) && !graph_.knows(node.output(k)))
                node.fail("output '" + node.output(k) + "'", "an output that Tandem computes",
                          "one that it does not");
    }

    void compute(const NodeReader& node, uint32_t index) {
        Maths maths(graph_, node);
        if (is_control_flow(node.type()))
            add_control_flow(maths, node,
                             [&](const onnx::GraphProto& body) { add_body(body, index); });
        else
            onnx_operators::find(node.type())->add(maths, node);
    }

    std::shared_ptr<const Tensor> given(size_t input) const {
        const size_t number = file_inputs_.at(input);
        if (number >= options_.given.size()) return nullptr;
        const std::filesystem::path file = options_.given[number];
        if (file.extension() != ".pb") return nullptr;
        return std::make_shared<const Tensor>(read_onnx_tensor(file));
    }

    void tell_specialised() const {
        if (graph_.specialised().empty() || !options_.note) return;
        std::string names;
        for (const std::string& name : graph_.specialised())
            names += (names.empty() ? "'" : ", '") + name + "'";
        options_.note(file_ + ": made for the given values of " + names +
                      ", which shapes or constants depend on");
    }

    static void count_readers(const onnx::GraphProto& graph,
                              std::map<std::string, uint32_t>& count) {
        for (const auto& node : graph.node()) {
            for (const auto& name : node.input()) ++count[name];
            for (const auto& attribute : node.attribute())
                if (attribute.has_g()) count_readers(attribute.g(), count);
        }
        for (const auto& out : graph.output()) ++count[out.name()];
    }

    void define(const std::string& name, const std::string& where) {
        if (name.empty()) fail(where, "a name", "none");
        if (!defined_.insert(name).second) fail(where, "one origin", "two");
    }

    void add_input(const onnx::ValueInfoProto& source) {
        const std::string where = "input '" + source.name() + "'";
        define(source.name(), where);
        if (!source.type().has_tensor_type()) fail(where, "a tensor", "another type");
        const auto& type = source.type().tensor_type();
        if (!is_number_type(type.elem_type()))
            fail(where, "a type of numbers or BOOL", std::to_string(type.elem_type()));
        if (!type.has_shape()) fail(where, "a shape", "none");
        Shape shape;
        for (int i = 0; i < type.shape().dim_size(); ++i) {
            const auto& dim = type.shape().dim(i);
            if (!dim.has_dim_value() && i != 0)
                fail(where, "numbers as extents",
                     dim.dim_param().empty() ? "an open one" : "'" + dim.dim_param() + "'");
            shape.push_back(dim.has_dim_value() ? dim.dim_value() : 1);
            if (shape.back() < 0) fail(where, "extents from 0 on", shape_text(shape));
            if (!fits_onnx_limit(shape))
                fail(where, "at most 2^31 - 1 elements", shape_text(shape));
        }
        const size_t number = inputs_++;
        if (std::ranges::find(shape, 0) != shape.end()) {
            if (options_.drop) options_.drop(number);
            return graph_.add_constant(source.name(),
                                       is_float_type(type.elem_type()) ? real_tensor({}, shape)
                                                                       : integer_tensor({}, shape),
                                       type.elem_type());
        }
        file_inputs_.push_back(number);
        graph_.add_input(source.name(), shape, type.elem_type());
    }

    void add_outputs() {
        for (const auto& out : source_.output()) {
            if (!graph_.knows(out.name()))
                fail("output '" + out.name() + "'", "a value of the graph", "none of this name");
            graph_.add_output(out.name());
        }
    }

    const onnx::GraphProto& source_;
    const std::string file_;
    const OnnxOptions& options_;
    GraphBuilder graph_;
    int64_t opset_ = 0;
    std::set<std::string> defined_;
    int depth_ = 0;
    int64_t bodies_ = 0;
    size_t inputs_ = 0;
    std::vector<size_t> file_inputs_;  ///< of the graph's inputs: which of the file's they are
};

onnx::ModelProto parsed(const std::vector<uint8_t>& bytes, const std::string& origin) {
    if (bytes.size() > INT32_MAX)
        throw UserError(origin, "file", "at most 2 GiB", std::to_string(bytes.size()) + " bytes");
    google::protobuf::io::CodedInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
    onnx::ModelProto model;
    if (!model.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage() ||
        !model.has_graph())
        throw UserError(origin, "file", "an ONNX model", "another file, or a part of one");
    return model;
}

}  // namespace

Tensor read_onnx_tensor(const std::filesystem::path& file, bool real) {
    const std::vector<uint8_t> bytes = base::read_file(file);
    onnx::TensorProto source;
    if (bytes.size() > INT32_MAX ||
        !source.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
        throw UserError(file.string(), "file", "a tensor of ONNX",
                        "another file, or a part of one");
    if (real && source.data_type() == onnx::TensorProto::UINT16)
        source.set_data_type(onnx::TensorProto::BFLOAT16);
    return constant_of(source, file.string());
}

Graph import_onnx_bytes(const std::vector<uint8_t>& bytes, const std::string& origin,
                        const OnnxOptions& options) {
    return Importer(parsed(bytes, origin), origin, options).run();
}

Graph import_onnx(const std::filesystem::path& file, const OnnxOptions& options) {
    onnx::ModelProto model = parsed(base::read_file(file), file.string());
    load_external_data(model, file);
    return Importer(model, file.string(), options).run();
}

}  // namespace tandem::compiler
