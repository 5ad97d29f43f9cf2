// SPDX-License-Identifier: Apache-2.0
// Graphs into text; text_parser.cpp reads it.
#include "compiler/graph/text.h"

#include <algorithm>
#include <charconv>

#include "base/file.h"
#include "base/output_file.h"
#include "compiler/graph/operators.h"
#include "compiler/graph/text_format.h"

namespace tandem::compiler {

namespace {

constexpr size_t kBytesPerLine = 64;

/// Printable; the parser undoes it.
std::string in_quotes(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            result += '\\';
            result += c;
        } else if (byte < 0x20 || byte == 0x7f) {
            result += "\\x";
            result += kHexDigits[byte >> 4];
            result += kHexDigits[byte & 15];
        } else {
            result += c;
        }
    }
    return result + '"';
}

/// The shortest decimals that read back as the same float.
std::string decimal(float value) {
    char text[32];
    const auto [end, error] = std::to_chars(text, text + sizeof text, value);
    return {text, end};
}

template <class Values, class Text>
std::string list(const Values& values, const Text& text) {
    std::string result;
    for (const auto& value : values) {
        if (!result.empty()) result += ',';
        result += text(value);
    }
    return result;
}

std::string ids(const std::vector<TensorId>& values) {
    return list(values, [](TensorId id) { return '%' + std::to_string(id); });
}

std::string integers(const auto& values) {
    return list(values, [](auto value) { return std::to_string(value); });
}

/// One function for each kind, in AttributeValue's order.
std::string value_text(const AttributeValue& value) {
    struct Text {
        std::string operator()(int64_t one) const { return std::to_string(one); }
        std::string operator()(const std::vector<int64_t>& many) const { return integers(many); }
        std::string operator()(float real) const { return decimal(real); }
        std::string operator()(const std::string& choice) const { return choice; }
    };
    return std::visit(Text{}, value);
}

void add_bytes(const std::vector<uint8_t>& bytes, std::string& text) {
    for (size_t first = 0; first < bytes.size(); first += kBytesPerLine) {
        text += "bytes ";
        for (size_t i = first; i < std::min(bytes.size(), first + kBytesPerLine); ++i) {
            text += kHexDigits[bytes[i] >> 4];
            text += kHexDigits[bytes[i] & 15];
        }
        text += '\n';
    }
}

void add_tensor(TensorId id, const Tensor& tensor, DumpBytes bytes, std::string& text) {
    text += tensor.is_constant ? "constant %" : "tensor %";
    text += std::to_string(id) + ' ' + in_quotes(tensor.name) + ' ';
    text += tensor.type == ElementType::kOther ? "OTHER" : element_type_name(tensor.type);
    text += ' ' + shape_text(tensor.shape);
    if (tensor.layout != Layout::kRowMajor)
        text += " layout=" + std::string(layout_name(tensor.layout));
    if (tensor.memory != Memory::kHost)
        text += " memory=" + std::string(memory_name(tensor.memory));
    const Quantization& q = tensor.quantization;
    if (!q.scales.empty()) text += " scales=" + list(q.scales, decimal);
    if (std::ranges::any_of(q.zero_points, [](int32_t zero) { return zero != 0; }))
        text += " zero_points=" + integers(q.zero_points);
    if (q.axis != 0) text += " axis=" + std::to_string(q.axis);
    text += '\n';
    if (bytes == DumpBytes::kAll && tensor.has_data()) add_bytes(tensor.bytes(), text);
}

std::string attribute_text(const AttributeSpec& spec, const AttributeValue& value) {
    const std::string text = value_text(value);
    return spec.is_text() ? in_quotes(text) : text;
}

void add_node(const Node& node, std::string& text) {
    const OperatorInfo& info = operator_info(node.op);
    text += "node " + std::to_string(node.index) + ' ' + std::string(info.name) + ' ' +
            in_quotes(node.name);
    text += " inputs=" + ids(node.inputs) + " outputs=" + ids(node.outputs);
    for (const AttributeSpec& spec : info.attributes) {
        const AttributeValue& value = attribute(node, spec.name);
        if (value != spec.default_value)
            text += ' ' + std::string(spec.name) + '=' + attribute_text(spec, value);
    }
    if (node.repeat != 1) text += " repeat=" + std::to_string(node.repeat);
    if (!node.where.empty()) text += " where=" + in_quotes(node.where);
    text += '\n';
}

}  // namespace

std::string to_text(const Graph& graph, DumpBytes bytes) {
    std::string text(kHeading);
    text += '\n';
    if (!graph.name.empty()) text += "name " + in_quotes(graph.name) + '\n';
    if (graph.samples != 1) text += "samples " + std::to_string(graph.samples) + '\n';
    if (graph.host_input_bytes != 0)
        text += "host_input_bytes " + std::to_string(graph.host_input_bytes) + '\n';
    if (graph.host_output_bytes != 0)
        text += "host_output_bytes " + std::to_string(graph.host_output_bytes) + '\n';
    for (TensorId id = 0; id < graph.tensors.size(); ++id)
        add_tensor(id, graph.tensors[id], bytes, text);
    for (const Node& node : graph.nodes) add_node(node, text);
    return text + "inputs " + ids(graph.inputs) + "\noutputs " + ids(graph.outputs) + '\n';
}

void write_graph(const std::filesystem::path& file, const Graph& graph, DumpBytes bytes) {
    const std::string text = to_text(graph, bytes);
    base::write_file(file, text);
}

Graph read_graph(const std::filesystem::path& file) {
    const auto bytes = base::read_file(file);
    return parse_graph({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, file.string());
}

}  // namespace tandem::compiler
