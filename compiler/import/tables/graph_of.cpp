// SPDX-License-Identifier: Apache-2.0
// A list of layers becomes a graph.
#include <algorithm>
#include <set>

#include "base/error.h"
#include "compiler/graph/operators.h"
#include "compiler/graph/seed.h"
#include "compiler/graph/verify.h"
#include "compiler/import/tables/layers.h"

namespace tandem::tables {

namespace {

using namespace compiler;

int64_t extent(uint64_t value) { return static_cast<int64_t>(value); }

/// What a layer is as a node: its operator, and the shapes of its tensors.
struct Form {
    Operator op = Operator::kVector;
    Shape input, weights, output;
    bool any_shape = true;  ///< of the input, as long as its elements are as many
};

Form product_form(const Layer& layer) {
    Form form;
    const int64_t m = extent(layer.m), k = extent(layer.k), n = extent(layer.n);
    form.input = {m, k};
    form.output = {m, extent(layer.n * layer.groups)};
    form.op = layer.groups == 1 ? Operator::kFullyConnected : Operator::kGroupedMatmul;
    form.weights = layer.groups == 1 ? Shape{n, k} : Shape{extent(layer.groups), n, k};
    return form;
}

Form convolution_form(const Layer& layer) {
    const Convolution& image = *layer.convolution;
    const WindowAttributes& w = image.window;
    Form form;
    form.any_shape = false;
    form.input = {extent(image.images), extent(image.height), extent(image.width),
                  extent(image.channels)};
    const int64_t filters = extent(layer.n * layer.groups);
    form.output = {extent(image.images),
                   output_extent(extent(image.height), w.kernel_h, w.stride_h, w.dilation_h,
                                 w.pad_top + w.pad_bottom),
                   output_extent(extent(image.width), w.kernel_w, w.stride_w, w.dilation_w,
                                 w.pad_left + w.pad_right),
                   filters};
    form.op = layer.groups == 1 ? Operator::kConv2d : Operator::kDepthwiseConv2d;
    form.weights = layer.groups == 1
                       ? Shape{filters, w.kernel_h, w.kernel_w, extent(image.channels)}
                       : Shape{1, w.kernel_h, w.kernel_w, filters};
    return form;
}

Form elements_form(const Layer& layer) {
    Form form;
    form.op = layer.kind == LayerKind::kPool ? Operator::kPool : Operator::kVector;
    form.input = {extent(layer.input_elements)};
    form.output = {extent(layer.output_elements)};
    return form;
}

Form form_of(const Layer& layer) {
    if (layer.kind == LayerKind::kVector || layer.kind == LayerKind::kPool)
        return elements_form(layer);
    // A product that leaves rows of its image out is a convolution still.
    if (layer.kind == LayerKind::kMatmul &&
        (layer.groups != 1 || layer.input_elements == layer.m * layer.k))
        return product_form(layer);
    if (!layer.convolution)
        throw UserError(layer.where, "layer " + layer.name, "the image of a convolution", "none");
    return convolution_form(layer);
}

class Builder {
  public:
    Builder(const Workload& list, ElementType type) : list_(list), type_(type) {
        const bool wide =
            std::ranges::any_of(list.layers, [](const Layer& l) { return l.passes == 2; });
        activation_type_ = wide && type == ElementType::kInt8 ? ElementType::kInt16 : type;
        graph_.file = list.file;
        graph_.name = list.name;
        graph_.samples = list.batch;
        graph_.host_input_bytes = list.host_input_elements * element_type_bytes(activation_type_);
        graph_.host_output_bytes = list.host_output_elements * element_type_bytes(activation_type_);
    }

    Graph run() {
        for (const Layer& layer : list_.layers) add(layer);
        if (list_.chained) graph_.outputs = {last_};
        verify(graph_);
        return std::move(graph_);
    }

  private:
    void add(const Layer& layer) {
        const Form form = form_of(layer);
        const std::string name = unused_name(layer.name);
        Node node;
        node.op = form.op;
        node.index = index_;
        node.name = layer.name;
        node.where = layer.where;
        node.repeat = layer.repeat;
        node.inputs = {input_of(layer, form, name)};
        if (!form.weights.empty()) node.inputs.push_back(add_weights(layer, form, name));
        if (!form.any_shape) set_window(node, layer.convolution->window);
        if (form.op == Operator::kDepthwiseConv2d)
            node.attributes["depth_multiplier"] = form.output[3] / form.input[3];
        last_ = add_activation(name, form.output);
        node.outputs = {last_};
        graph_.nodes.push_back(std::move(node));
        if (!list_.chained) {
            graph_.outputs.push_back(last_);
            graph_.tensors[last_].memory = Memory::kDevice;
        }
        ++index_;
    }

    /// Seeded values go by names: rows of the same name get a number.
    std::string unused_name(const std::string& name) {
        if (names_.insert(name).second) return name;
        std::string numbered = name + '#' + std::to_string(index_);
        names_.insert(numbered);
        return numbered;
    }

    TensorId add_activation(const std::string& name, const Shape& shape) {
        Tensor tensor;
        tensor.name = name;
        tensor.shape = shape;
        tensor.type = activation_type_;
        if (shape.size() == 4) tensor.layout = Layout::kNhwc;
        if (tensor.type == ElementType::kInt8) tensor.quantization = {{1.0f}, {0}, 0};
        return graph_.add(std::move(tensor));
    }

    TensorId add_weights(const Layer& layer, const Form& form, const std::string& name) {
        Tensor tensor;
        tensor.name = name + ".weights";
        tensor.shape = form.weights;
        tensor.type = type_;
        tensor.is_constant = true;
        tensor.memory = Memory::kDevice;
        if (activation_type_ == ElementType::kInt8)
            tensor.quantization = {{seeded_weight_scale(layer.k)}, {0}, 0};
        return graph_.add(std::move(tensor));
    }

    TensorId input_of(const Layer& layer, const Form& form, const std::string& name) {
        if (index_ == 0 || !list_.chained) {
            const TensorId id = add_activation(name + ".input", form.input);
            if (!list_.chained) graph_.tensors[id].memory = Memory::kDevice;
            graph_.inputs.push_back(id);
            return id;
        }
        const Tensor& before = graph_.tensors[last_];
        if (before.shape == form.input) return last_;
        const bool as_many = before.elements() == layer.input_elements;
        if (as_many && form.any_shape) return last_;
        Node node;
        node.op = as_many ? Operator::kReshape : Operator::kEdge;
        node.index = index_;
        node.where = layer.where;
        node.name =
            as_many ? name + ".input"
                    : name + ".input (" + before.name + " gives " + shape_text(before.shape) + ")";
        node.inputs = {last_};
        const TensorId id = add_activation(node.name, form.input);
        node.outputs = {id};
        graph_.nodes.push_back(std::move(node));
        return id;
    }

    const Workload& list_;
    const ElementType type_;
    ElementType activation_type_;
    Graph graph_;
    std::set<std::string> names_;
    uint32_t index_ = 0;
    TensorId last_ = 0;
};

}  // namespace

Graph graph_of(const Workload& workload, ElementType type) { return Builder(workload, type).run(); }

}  // namespace tandem::tables
