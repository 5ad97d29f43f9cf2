// SPDX-License-Identifier: Apache-2.0
// The table of operators: one row says all that graph, verifier, dump, importers and lowering know
// of an operator. A new operator is a row here, a lowering, and an oracle
// (docs/recipes/add_an_operator.md).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "compiler/graph/graph.h"

namespace tandem::compiler {

/// In the order of AttributeValue's alternatives.
enum class AttributeKind : uint8_t { kInteger, kIntegers, kReal, kChoice };

struct AttributeSpec {
    std::string_view name;
    AttributeValue default_value;  ///< says the kind, and how many integers there are (none: any)
    int64_t least = 0, most = 0;   ///< of integers
    std::vector<std::string_view> choices;  ///< of a word; none: any text

    AttributeKind kind() const { return static_cast<AttributeKind>(default_value.index()); }
    bool is_text() const { return kind() == AttributeKind::kChoice && choices.empty(); }
};

/// Which kind of kernel an operator becomes. The lowering has one function for each.
enum class LoweringKind : uint8_t {
    kMatmul,       ///< products on the arrays
    kBatchMatmul,  ///< the same of two activations
    kVector,       ///< steps of the vector unit
    kAlias,        ///< the same bytes under another shape
    kEdge,         ///< nothing: the output's values come from elsewhere
};

/// An operator's output beside its first input.
enum class OutputType : uint8_t {
    kSame,        ///< the same type
    kSameOrWide,  ///< or FLOAT32 of BFLOAT16: what the output would have been rounded from
    kFloat,       ///< FLOAT32 or BFLOAT16, whatever the input is
    kLast,        ///< the type of the last input
    kByRule,      ///< what `types` says
};

/// Sizes of one run of a node. A product is (m x k) x (k x n), `groups` of them, the batch in m;
/// what is not a product has m = k = n = 0, and `elements` that pass the vector unit.
struct Counts {
    uint64_t m = 0, k = 0, n = 0;
    uint64_t groups = 1;
    uint64_t repeat = 1;
    uint64_t passes = 1;  ///< of the array: 2 for 16-bit activations on an 8-bit array
    uint64_t input_elements = 0;
    uint64_t output_elements = 0;
    uint64_t elements = 0;

    uint64_t macs() const { return m * k * n * groups * repeat; }
    uint64_t weights() const { return k * n * groups; }
};

/// Products on the arrays, whose element type they need.
inline bool multiplies(LoweringKind kind) {
    return kind == LoweringKind::kMatmul || kind == LoweringKind::kBatchMatmul;
}

class NodeRules;  // node_rules.h

struct OperatorInfo {
    Operator op;
    std::string_view name;  ///< as TFLite spells it, where it has it
    LoweringKind lowering;
    size_t least_inputs, most_inputs;
    std::vector<AttributeSpec> attributes;
    /// Types of its activations for which values are defined, and those of which only the time is.
    std::vector<ElementType> data_types, timing_types;
    OutputType output_type;
    /// The output's shape from inputs and attributes; where several are right, the output's own if
    /// it is one of them. Throws UserError.
    Shape (*shape)(const NodeRules&);
    /// Types and quantisation beyond the activations'. Throws UserError.
    void (*types)(const NodeRules&);
    /// Counts of a verified node.
    Counts (*counts)(const Graph&, const Node&);
};

/// In the order of `Operator`.
std::span<const OperatorInfo> operators();
const OperatorInfo& operator_info(Operator op);
/// Null: there is none of that name.
const OperatorInfo* find_operator(std::string_view name);
inline std::string_view operator_name(Operator op) { return operator_info(op).name; }
/// Null: the operator has none of that name.
const AttributeSpec* find_attribute(const OperatorInfo& info, std::string_view name);

/// The value set, else the default. The operator has the attribute.
const AttributeValue& attribute(const Node& node, std::string_view name);
int64_t integer_attribute(const Node& node, std::string_view name);
const std::vector<int64_t>& integers_attribute(const Node& node, std::string_view name);
float real_attribute(const Node& node, std::string_view name);

enum class Activation : uint8_t { kNone, kRelu, kReluN1To1, kRelu6 };
/// "NONE", "RELU", "RELU_N1_TO_1", "RELU6": the attribute's choices.
std::string_view activation_name(Activation activation);
/// kNone where the operator has none.
Activation activation(const Node& node);

/// How a kernel moves over an image. CONV_2D, DEPTHWISE_CONV_2D (kernel: from the weights' shape),
/// AVERAGE_POOL_2D, MAX_POOL_2D (attribute `filter`), MEAN (the whole image). A window that reaches
/// beyond the padded image on the lower right has that as padding, too.
struct WindowAttributes {
    int64_t kernel_h = 1, kernel_w = 1;
    int64_t stride_h = 1, stride_w = 1;
    int64_t dilation_h = 1, dilation_w = 1;
    int64_t pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;

    bool operator==(const WindowAttributes&) const = default;
};

WindowAttributes window(const Graph& graph, const Node& node);
/// Sets stride, dilation and padding (not the kernel).
void set_window(Node& node, const WindowAttributes& window);

/// Outputs of `kernel` taps along one padded axis; below 1: the kernel does not fit.
int64_t output_extent(int64_t input, int64_t kernel, int64_t stride, int64_t dilation,
                      int64_t padding);

/// Padding of TFLite's SAME on both sides of one axis; on the near side half of it, rounded down.
int64_t same_padding(int64_t input, int64_t kernel, int64_t stride, int64_t dilation);

inline Counts counts(const Graph& graph, const Node& node) {
    return operator_info(node.op).counts(graph, node);
}

/// The first node of which only the time is defined (16-bit activations); null: all have values.
const Node* first_without_values(const Graph& graph);

}  // namespace tandem::compiler
