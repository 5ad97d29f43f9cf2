// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/tflite/tflite_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "base/error.h"
#include "base/file.h"
#include "compiler/graph/operators.h"
#include "compiler/graph/verify.h"
#include "compiler/import/tflite/dequantise.h"
#include "compiler/import/tflite/operator_names.h"
#include "compiler/import/tflite/operator_options.h"
#include "compiler/import/tflite/tflite_generated.h"

namespace tandem::compiler {

namespace {

constexpr size_t kMaxRank = 8;
constexpr int64_t kMaxElements = std::numeric_limits<int32_t>::max();

std::optional<ElementType> element_type(tflite::TensorType type) {
    switch (type) {
        case tflite::TensorType::FLOAT32:
            return ElementType::kFloat32;
        case tflite::TensorType::INT8:
            return ElementType::kInt8;
        case tflite::TensorType::UINT8:
            return ElementType::kUint8;
        case tflite::TensorType::INT16:
            return ElementType::kInt16;
        case tflite::TensorType::INT32:
            return ElementType::kInt32;
        case tflite::TensorType::INT64:
            return ElementType::kInt64;
        case tflite::TensorType::BFLOAT16:
            return ElementType::kBf16;
        default:
            break;
    }
    if (type < tflite::TensorType::MIN || type > tflite::TensorType::MAX) return std::nullopt;
    return ElementType::kOther;
}

/// One file on its way into a Graph.
class Importer {
  public:
    Importer(const tflite::Model& model, const std::string& origin, const ImportNote& note)
        : model_(model), note_(note) {
        graph_.file = origin;
        graph_.name = std::filesystem::path(origin).stem().string();
    }

    Graph run() {
        const tflite::SubGraph& subgraph = the_subgraph();
        check_operators(subgraph);
        import_tensors(subgraph);
        graph_.inputs = tensor_ids(subgraph.inputs(), "graph inputs");
        graph_.outputs = tensor_ids(subgraph.outputs(), "graph outputs");
        if (subgraph.operators() != nullptr)
            for (uint32_t i = 0; i < subgraph.operators()->size(); ++i)
                graph_.nodes.push_back(import_operator(i, subgraph.operators()->Get(i)));
        dequantise_weights(graph_);
        verify(graph_);
        return std::move(graph_);
    }

  private:
    [[noreturn]] void fail(const std::string& where, const std::string& expected,
                           const std::string& found) const {
        throw UserError(graph_.file, where, expected, found);
    }

    const tflite::SubGraph& the_subgraph() const {
        const auto* subgraphs = model_.subgraphs();
        const size_t count = subgraphs == nullptr ? 0 : subgraphs->size();
        if (count != 1) fail("subgraphs", "1", std::to_string(count));
        return *subgraphs->Get(0);
    }

    /// First of all, since an operator that Tandem does not run is the message that helps most.
    void check_operators(const tflite::SubGraph& subgraph) const {
        const size_t count = subgraph.operators() == nullptr ? 0 : subgraph.operators()->size();
        for (uint32_t i = 0; i < count; ++i) {
            const tflite::Operator& source = *subgraph.operators()->Get(i);
            const std::string where = "operator " + std::to_string(i);
            const int32_t code = operator_code(source.opcode_index(), where);
            if (!supported_operator(code))
                fail(where + " (output tensor '" + output_name(subgraph, source) + "')",
                     "one of " + supported_operator_names(), operator_code_name(code));
        }
    }

    static std::string output_name(const tflite::SubGraph& subgraph,
                                   const tflite::Operator& source) {
        const size_t tensors = subgraph.tensors() == nullptr ? 0 : subgraph.tensors()->size();
        if (source.outputs() == nullptr || source.outputs()->size() == 0) return "";
        const int32_t index = source.outputs()->Get(0);
        if (index < 0 || static_cast<size_t>(index) >= tensors) return "";
        const auto* name = subgraph.tensors()->Get(static_cast<uint32_t>(index))->name();
        return name == nullptr ? "" : name->str();
    }

    void import_tensors(const tflite::SubGraph& subgraph) {
        if (subgraph.tensors() == nullptr) return;
        for (uint32_t i = 0; i < subgraph.tensors()->size(); ++i)
            graph_.tensors.push_back(import_tensor(i, *subgraph.tensors()->Get(i)));
    }

    static std::string tensor_text(uint32_t index, const Tensor& tensor) {
        return "tensor " + std::to_string(index) + " '" + tensor.name + "'";
    }

    Tensor import_tensor(uint32_t index, const tflite::Tensor& source) const {
        Tensor tensor;
        tensor.name = source.name() == nullptr ? "" : source.name()->str();
        const std::string where = tensor_text(index, tensor);
        const auto type = element_type(source.type());
        if (!type)
            fail(where, "a type of the format", std::to_string(static_cast<int>(source.type())));
        tensor.type = *type;
        if (source.shape() != nullptr)
            tensor.shape.assign(source.shape()->begin(), source.shape()->end());
        check_shape(tensor.shape, where);
        if (source.is_variable()) fail(where, "no state kept between runs", "a variable tensor");
        if (source.sparsity() != nullptr) fail(where, "a dense tensor", "a sparse one");
        tensor.quantization = import_quantization(source.quantization(), tensor.shape, where);
        import_data(source.buffer(), tensor, where);
        if (!tensor.is_constant && tensor.shape.size() == 4) tensor.layout = Layout::kNhwc;
        return tensor;
    }

    void check_shape(const Shape& shape, const std::string& where) const {
        if (shape.size() > kMaxRank)
            fail(where, "at most 8 dimensions", std::to_string(shape.size()));
        int64_t elements = 1;
        for (const int64_t extent : shape) {
            if (extent < 1) fail(where, "a shape of positive extents", shape_text(shape));
            elements *= extent;
            if (elements > kMaxElements)
                fail(where, "at most 2^31 - 1 elements", shape_text(shape));
        }
    }

    /// Of a tensor with several scales. Some converters write that of the weights to the bias,
    /// which has one dimension: as long as a single one has so many elements, that one is meant.
    uint32_t quantized_dimension(const tflite::QuantizationParameters& source, const Shape& shape,
                                 const std::string& where) const {
        const int32_t axis = source.quantized_dimension();
        if (axis >= 0 && static_cast<size_t>(axis) < shape.size())
            return static_cast<uint32_t>(axis);
        const auto scales = static_cast<int64_t>(source.scale()->size());
        const auto meant = std::ranges::find(shape, scales);
        if (std::ranges::count(shape, scales) != 1)
            fail(where + ": quantized dimension", "less than " + std::to_string(shape.size()),
                 std::to_string(axis));
        const auto index = static_cast<uint32_t>(meant - shape.begin());
        if (note_)
            note_(fmt::format(
                "{}: {}: quantized dimension {} of {}: taken as {}, which has {} elements",
                graph_.file, where, axis, shape.size(), index, scales));
        return index;
    }

    Quantization import_quantization(const tflite::QuantizationParameters* source,
                                     const Shape& shape, const std::string& where) const {
        Quantization result;
        if (source == nullptr || source->scale() == nullptr || source->scale()->size() == 0)
            return result;
        const auto* scales = source->scale();
        const auto* zero_points = source->zero_point();
        const size_t zero_count = zero_points == nullptr ? 0 : zero_points->size();
        if (zero_count != scales->size())
            fail(where + ": zero points", std::to_string(scales->size()) + " (one per scale)",
                 std::to_string(zero_count));
        if (scales->size() > 1) {
            const uint32_t axis = quantized_dimension(*source, shape, where);
            const auto extent = static_cast<size_t>(shape[axis]);
            if (scales->size() != extent)
                fail(where + ": scales", "1 or " + std::to_string(extent),
                     std::to_string(scales->size()));
            result.axis = axis;
        }
        result.scales.assign(scales->begin(), scales->end());
        for (size_t i = 0; i < zero_count; ++i) {
            // The verifier does not see to the alignment of eight-byte elements.
            int64_t zero = 0;
            std::memcpy(&zero, zero_points->Data() + i * sizeof zero, sizeof zero);
            zero = flatbuffers::EndianScalar(zero);
            if (zero < std::numeric_limits<int32_t>::min() ||
                zero > std::numeric_limits<int32_t>::max())
                fail(where + ": zero point", "a 32-bit number", std::to_string(zero));
            result.zero_points.push_back(static_cast<int32_t>(zero));
        }
        return result;
    }

    /// A tensor whose buffer holds bytes is a constant.
    void import_data(uint32_t buffer_index, Tensor& tensor, const std::string& where) const {
        const auto* buffers = model_.buffers();
        const size_t count = buffers == nullptr ? 0 : buffers->size();
        if (buffer_index == 0 && count == 0) return;
        if (buffer_index >= count)
            fail(where + ": buffer", "less than " + std::to_string(count),
                 std::to_string(buffer_index));
        const tflite::Buffer& buffer = *buffers->Get(buffer_index);
        if (buffer.offset() > 1)
            fail(where, "data inside the model's buffers",
                 "data behind the model (offset " + std::to_string(buffer.offset()) + ")");
        if (buffer_index == 0 || buffer.data() == nullptr || buffer.data()->size() == 0) return;
        tensor.is_constant = true;
        const size_t element_bytes = element_type_bytes(tensor.type);
        const size_t expected = tensor.elements() * element_bytes;
        if (element_bytes != 0 && buffer.data()->size() != expected)
            fail(where + ": data",
                 std::to_string(expected) + " bytes for shape " + shape_text(tensor.shape),
                 std::to_string(buffer.data()->size()));
        tensor.set_bytes({buffer.data()->begin(), buffer.data()->end()});
    }

    /// The tensors of an index list; -1 (an absent optional input) is dropped at the end of the
    /// list.
    std::vector<TensorId> tensor_ids(const flatbuffers::Vector<int32_t>* source,
                                     const std::string& where) const {
        std::vector<TensorId> ids;
        const size_t count = source == nullptr ? 0 : source->size();
        for (uint32_t i = 0; i < count; ++i) {
            const int32_t index = source->Get(i);
            if (index == -1 && i + 1 == count && i > 0) break;
            if (index < 0 || static_cast<size_t>(index) >= graph_.tensors.size())
                fail(where, "a tensor index less than " + std::to_string(graph_.tensors.size()),
                     std::to_string(index));
            ids.push_back(static_cast<TensorId>(index));
        }
        return ids;
    }

    int32_t operator_code(uint32_t opcode_index, const std::string& where) const {
        const auto* codes = model_.operator_codes();
        const size_t count = codes == nullptr ? 0 : codes->size();
        if (opcode_index >= count)
            fail(where + ": operator code index", "less than " + std::to_string(count),
                 std::to_string(opcode_index));
        const tflite::OperatorCode& code = *codes->Get(opcode_index);
        return std::max<int32_t>(code.builtin_code(), code.deprecated_builtin_code());
    }

    Node import_operator(uint32_t index, const tflite::Operator* source) const {
        const std::string where = "operator " + std::to_string(index);
        Node node;
        node.index = index;
        node.op = supported_operator(operator_code(source->opcode_index(), where)).value();
        node.outputs = tensor_ids(source->outputs(), where + " outputs");
        if (node.outputs.size() == 1) node.name = graph_.tensors[node.outputs[0]].name;
        const std::string described = describe(node);
        if (node.outputs.size() != 1)
            fail(described, "1 output", std::to_string(node.outputs.size()));
        node.inputs = tensor_ids(source->inputs(), described + ": inputs");
        import_attributes(*source, graph_, node);
        return node;
    }

    const tflite::Model& model_;
    const ImportNote& note_;
    Graph graph_;
};

}  // namespace

Graph import_tflite_bytes(const std::vector<uint8_t>& bytes, const std::string& origin,
                          const ImportNote& note) {
    if (bytes.size() >= FLATBUFFERS_MAX_BUFFER_SIZE)
        throw UserError(origin, "file", "less than 2 GiB", std::to_string(bytes.size()) + " bytes");
    if (bytes.size() < 8 || !tflite::ModelBufferHasIdentifier(bytes.data()))
        throw UserError(
            origin, "file", "a TensorFlow Lite model (identifier TFL3 at byte 4)",
            bytes.size() < 8 ? std::to_string(bytes.size()) + " bytes" : "another file");
    flatbuffers::Verifier verifier(bytes.data(), bytes.size());
    if (!tflite::VerifyModelBuffer(verifier))
        throw UserError(origin, "file", "an intact TensorFlow Lite model",
                        "offsets that leave the file or overlap (truncated or corrupt)");
    return Importer(*tflite::GetModel(bytes.data()), origin, note).run();
}

Graph import_tflite(const std::filesystem::path& file, const ImportNote& note) {
    return import_tflite_bytes(base::read_file(file), file.string(), note);
}

}  // namespace tandem::compiler
