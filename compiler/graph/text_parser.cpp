// SPDX-License-Identifier: Apache-2.0
// Texts into graphs: strict, line by line.
#include <algorithm>
#include <array>
#include <optional>

#include "base/error.h"
#include "compiler/graph/operators.h"
#include "compiler/graph/text.h"
#include "compiler/graph/text_format.h"
#include "compiler/graph/text_line.h"
#include "compiler/graph/verify.h"

namespace tandem::compiler {

namespace {

using Pairs = std::map<std::string, std::string, std::less<>>;

constexpr size_t kMostDimensions = 8;

std::optional<ElementType> type_of(std::string_view name) {
    if (name == "OTHER") return ElementType::kOther;
    for (auto type = ElementType::kInt8; type != ElementType::kOther;
         type = static_cast<ElementType>(static_cast<int>(type) + 1))
        if (element_type_name(type) == name) return type;
    return std::nullopt;
}

class Parser {
  public:
    explicit Parser(const std::string& file) { graph_.file = file; }

    Graph run(std::string_view text) {
        size_t number = 0;
        for (size_t first = 0; first < text.size();) {
            const size_t end = std::min(text.find('\n', first), text.size());
            read(++number, text.substr(first, end - first));
            first = end + 1;
        }
        if (number == 0)
            throw UserError(graph_.file, "line 1", '"' + std::string(kHeading) + '"', "nothing");
        close_bytes();
        verify(graph_);
        return std::move(graph_);
    }

  private:
    struct Statement {
        std::string_view word;
        void (Parser::*read)(TextLine&);
    };

    void read(size_t number, std::string_view text) {
        TextLine line(graph_.file, number, text);
        if (number == 1) {
            if (text != kHeading)
                line.fail("heading", '"' + std::string(kHeading) + '"', "another one");
            return;
        }
        if (text.empty() || text.starts_with('#')) return;
        static constexpr std::array<Statement, 10> kStatements = {
            {{"name", &Parser::read_name},
             {"samples", &Parser::read_samples},
             {"host_input_bytes", &Parser::read_host_input},
             {"host_output_bytes", &Parser::read_host_output},
             {"tensor", &Parser::read_activation},
             {"constant", &Parser::read_constant},
             {"bytes", &Parser::read_bytes},
             {"node", &Parser::read_node},
             {"inputs", &Parser::read_inputs},
             {"outputs", &Parser::read_outputs}}};
        const std::string word = line.word("line");
        const auto* const found = std::ranges::find(kStatements, word, &Statement::word);
        if (found == kStatements.end())
            line.fail("line", "tensor, constant, bytes, node, inputs, outputs or name",
                      '"' + word.substr(0, 40) + '"');
        if (word != "bytes") close_bytes();
        (this->*found->read)(line);
        line.end();
    }

    void read_name(TextLine& line) { graph_.name = line.quoted("name"); }
    void read_samples(TextLine& line) {
        graph_.samples = line.number("samples", kMostElements);
        if (graph_.samples == 0) line.fail("samples", "at least 1", "0");
    }
    void read_host_input(TextLine& line) {
        graph_.host_input_bytes = line.number("host_input_bytes", kMostElements);
    }
    void read_host_output(TextLine& line) {
        graph_.host_output_bytes = line.number("host_output_bytes", kMostElements);
    }
    void read_activation(TextLine& line) { read_tensor(line, false); }
    void read_constant(TextLine& line) { read_tensor(line, true); }
    void read_inputs(TextLine& line) { read_ends(line, "inputs", graph_.inputs); }
    void read_outputs(TextLine& line) { read_ends(line, "outputs", graph_.outputs); }

    void read_ends(TextLine& line, const char* what, std::vector<TensorId>& ids) {
        if (!ids.empty()) line.fail(what, "one line of them", "two");
        ids = line.ids(what, graph_.tensors.size());
    }

    void read_tensor(TextLine& line, bool is_constant) {
        const std::string id = line.word("tensor");
        const std::string expected = '%' + std::to_string(graph_.tensors.size());
        if (id != expected) line.fail("tensor", expected + ", the next one", id.substr(0, 40));
        Tensor tensor;
        tensor.is_constant = is_constant;
        tensor.name = line.quoted("name");
        const std::string type = line.word("type");
        const auto known = type_of(type);
        if (!known) line.fail("type", "an element type", '"' + type.substr(0, 40) + '"');
        tensor.type = *known;
        tensor.shape = shape_in(line, line.word("shape"));
        const Pairs pairs = line.pairs();
        for (const auto& [key, value] : pairs) read_pair(line, key, value, tensor);
        Quantization& q = tensor.quantization;
        if (q.zero_points.empty()) q.zero_points.resize(q.scales.size());
        graph_.tensors.push_back(std::move(tensor));
    }

    static Shape shape_in(const TextLine& line, const std::string& text) {
        if (text == "scalar") return {};
        std::string commas = text;
        std::ranges::replace(commas, 'x', ',');
        Shape shape = line.numbers_in<int64_t>(commas, "shape");
        if (shape.size() > kMostDimensions)
            line.fail("shape", "at most 8 dimensions", std::to_string(shape.size()));
        return shape;
    }

    static void read_pair(const TextLine& line, const std::string& key, const std::string& value,
                          Tensor& tensor) {
        const auto fail = [&](const char* expected) {
            line.fail(key, expected, '"' + value.substr(0, 40) + '"');
        };
        if (key == "layout") {
            if (value != layout_name(Layout::kNhwc)) fail("NHWC");
            tensor.layout = Layout::kNhwc;
        } else if (key == "memory") {
            if (value != memory_name(Memory::kDevice)) fail("DEVICE");
            tensor.memory = Memory::kDevice;
        } else if (key == "scales") {
            tensor.quantization.scales = line.numbers_in<float>(value, key);
        } else if (key == "zero_points") {
            tensor.quantization.zero_points = line.numbers_in<int32_t>(value, key);
        } else if (key == "axis") {
            tensor.quantization.axis = line.number_in<uint32_t>(value, key);
        } else {
            line.fail(key, "layout, memory, scales, zero_points or axis", "an unknown key");
        }
    }

    void read_bytes(TextLine& line) {
        if (graph_.tensors.empty() || !graph_.tensors.back().is_constant || !graph_.nodes.empty())
            line.fail("bytes", "them behind a constant", "them elsewhere");
        const std::string digits = line.word("bytes");
        if (digits.size() % 2 != 0)
            line.fail("bytes", "an even number of digits", std::to_string(digits.size()));
        bytes_open_ = true;
        for (size_t i = 0; i < digits.size(); i += 2) {
            const size_t high = kHexDigits.find(digits[i]), low = kHexDigits.find(digits[i + 1]);
            if (high == kHexDigits.npos || low == kHexDigits.npos)
                line.fail("bytes", "digits 0 to 9 and a to f", '"' + digits.substr(i, 2) + '"');
            bytes_.push_back(static_cast<uint8_t>(high * 16 + low));
        }
    }

    /// The lines of a constant's bytes have ended; the verifier counts them.
    void close_bytes() {
        if (bytes_open_) graph_.tensors.back().set_bytes(std::move(bytes_));
        bytes_.clear();
        bytes_open_ = false;
    }

    void read_node(TextLine& line) {
        Node node;
        node.index = static_cast<uint32_t>(line.number("index"));
        const std::string name = line.word("operator");
        const OperatorInfo* const info = find_operator(name);
        if (info == nullptr)
            line.fail("operator", "one of " + names(), '"' + name.substr(0, 40) + '"');
        node.op = info->op;
        node.name = line.quoted("name");
        for (const auto& [key, value] : line.pairs()) {
            if (key == "inputs") {
                node.inputs = line.ids_in(value, key, graph_.tensors.size());
            } else if (key == "outputs") {
                node.outputs = line.ids_in(value, key, graph_.tensors.size());
            } else if (key == "repeat") {
                node.repeat = line.number_in<uint64_t>(value, key);
            } else if (key == "where") {
                node.where = value;
            } else {
                const AttributeSpec* const spec = find_attribute(*info, key);
                if (spec == nullptr)
                    line.fail(key, "an attribute of " + std::string(info->name), "an unknown key");
                node.attributes[key] = value_in(line, *spec, value);
            }
        }
        graph_.nodes.push_back(std::move(node));
    }

    static AttributeValue value_in(const TextLine& line, const AttributeSpec& spec,
                                   const std::string& text) {
        const std::string key(spec.name);
        switch (spec.kind()) {
            case AttributeKind::kInteger:
                return line.number_in<int64_t>(text, key);
            case AttributeKind::kIntegers:
                return line.numbers_in<int64_t>(text, key);
            case AttributeKind::kReal:
                return line.number_in<float>(text, key);
            case AttributeKind::kChoice:
                break;
        }
        return text;
    }

    static std::string names() {
        std::string text;
        for (const OperatorInfo& info : operators())
            text += (text.empty() ? "" : ", ") + std::string(info.name);
        return text;
    }

    Graph graph_;
    std::vector<uint8_t> bytes_;
    bool bytes_open_ = false;
};

}  // namespace

Graph parse_graph(std::string_view text, const std::string& file) { return Parser(file).run(text); }

}  // namespace tandem::compiler
