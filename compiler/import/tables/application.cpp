// SPDX-License-Identifier: Apache-2.0
// Applications: networks of which sizes are published but no data, described by hand.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/yaml_section.h"
#include "compiler/import/tables/layers.h"
#include "compiler/import/tables/same_padding.h"
#include "compiler/import/tables/sizes.h"

namespace tandem::tables {
namespace {

using base::YamlSection;

constexpr uint64_t kMostSize = std::numeric_limits<uint32_t>::max();
constexpr uint64_t kMostCopies = 10000;
// Layers of one application; more is a mistake in a count.
constexpr size_t kMostLayers = 100000;

uint64_t size(const YamlSection& section, const std::string& key) {
    return section.number(key, base::Dimension::kPlain, 1, kMostSize);
}

uint64_t copies(const YamlSection& section, const std::string& key) {
    return section.has(key) ? section.number(key, base::Dimension::kPlain, 1, kMostCopies) : 1;
}

/// A decimal number, zero or more.
double decimal(const YamlSection& section, const std::string& key) {
    const std::string found = section.text(key);
    const char* const last = found.data() + found.size();
    double value = 0;
    const auto [end, error] = std::from_chars(found.data(), last, value);
    if (error != std::errc{} || end != last || !std::isfinite(value) || value < 0)
        section.fail(key, "a number that is not negative", '"' + found + '"');
    return value;
}

/// What holds for all layers of a file.
struct Context {
    std::filesystem::path file;
    uint64_t batch;
    uint64_t passes;
};

void read_fc(const YamlSection& section, const Context& context, Layer& layer) {
    layer.kind = LayerKind::kMatmul;
    layer.m = context.batch;
    layer.k = size(section, "inputs");
    layer.n = size(section, "outputs");
    layer.groups = section.has("groups") ? size(section, "groups") : 1;
    layer.input_elements = saturating_product({layer.m, layer.k});
    layer.output_elements = saturating_product({layer.m, layer.n, layer.groups});
    layer.passes = context.passes;
}

/// Positions of the filter along one side of the image, which `key` gives.
uint64_t positions(const YamlSection& section, const std::string& key) {
    const uint64_t image = size(section, key), stride = size(section, "stride");
    const std::string padding = section.text("padding");
    if (padding == "same") return (image + stride - 1) / stride;
    if (padding != "valid") section.fail("padding", "same or valid", '"' + padding + '"');
    const uint64_t kernel = size(section, "kernel");
    if (kernel > image)
        section.fail("kernel", fmt::format("a kernel not larger than the image, {}", image),
                     std::to_string(kernel));
    return (image - kernel) / stride + 1;
}

void read_conv(const YamlSection& section, const Context& context, Layer& layer) {
    layer.kind = LayerKind::kConvolution;
    const uint64_t channels = size(section, "channels"), kernel = size(section, "kernel");
    layer.m = saturating_product(
        {positions(section, "height"), positions(section, "width"), context.batch});
    layer.k = saturating_product({kernel, kernel, channels});
    layer.n = size(section, "filters");
    layer.input_elements = saturating_product(
        {size(section, "height"), size(section, "width"), channels, context.batch});
    layer.output_elements = saturating_product({layer.m, layer.n});
    layer.passes = context.passes;
    Convolution image;
    image.images = context.batch;
    image.height = size(section, "height"), image.width = size(section, "width");
    image.channels = channels;
    image.window.kernel_h = image.window.kernel_w = static_cast<int64_t>(kernel);
    image.window.stride_h = image.window.stride_w = static_cast<int64_t>(size(section, "stride"));
    if (section.text("padding") == "same") pad_as_same(image);
    layer.convolution = image;
}

void read_elements(const YamlSection& section, const Context& context, Layer& layer) {
    layer.elements = saturating_product({size(section, "elements"), context.batch});
    layer.input_elements = layer.output_elements = layer.elements;
}

void read_vector(const YamlSection& section, const Context& context, Layer& layer) {
    layer.kind = LayerKind::kVector;
    read_elements(section, context, layer);
}

void read_pool(const YamlSection& section, const Context& context, Layer& layer) {
    layer.kind = LayerKind::kPool;
    read_elements(section, context, layer);
    if (section.has("outputs"))
        layer.output_elements = saturating_product({size(section, "outputs"), context.batch});
    if (layer.output_elements > layer.elements)
        section.fail("outputs", "at most the elements, " + section.text("elements"),
                     section.text("outputs"));
}

struct Kind {
    const char* key;
    std::vector<std::string> keys;
    void (*read)(const YamlSection&, const Context&, Layer&);
};

const std::vector<Kind>& kinds() {
    static const std::vector<Kind> all = {
        {"fc", {"fc", "inputs", "outputs", "groups", "count"}, read_fc},
        {"conv",
         {"conv", "height", "width", "channels", "filters", "kernel", "stride", "padding", "count"},
         read_conv},
        {"vector", {"vector", "elements", "count"}, read_vector},
        {"pool", {"pool", "elements", "outputs", "count"}, read_pool},
    };
    return all;
}

[[noreturn]] void fail_at(const Context& context, const std::string& path, const YAML::Node& node,
                          const std::string& expected, const std::string& found) {
    const YAML::Mark mark = node.Mark();
    const std::string line = mark.is_null() ? "" : fmt::format(" (line {})", mark.line + 1);
    throw UserError(context.file.string(), path + line, expected, found);
}

std::string text_of(const YAML::Node& node) {
    if (node.IsScalar()) return '"' + node.as<std::string>() + '"';
    return node.IsSequence() ? "a list" : "nothing";
}

/// The layer, as often as it counts.
std::vector<Layer> read_layer(const YAML::Node& node, const std::string& path,
                              const Context& context) {
    if (!node.IsMap()) fail_at(context, path, node, "a mapping", text_of(node));
    for (const Kind& kind : kinds()) {
        if (!node[kind.key]) continue;
        const YamlSection section(context.file.string(), path, node, kind.keys);
        Layer layer;
        layer.name = section.text(kind.key);
        layer.where = fmt::format("{}:{}", context.file.filename().string(), node.Mark().line + 1);
        kind.read(section, context, layer);
        if (!fits(layer)) section.fail(kind.key, kExpectedSizes, "more");
        std::vector<Layer> layers(copies(section, "count"), layer);
        for (size_t i = 0; layers.size() > 1 && i < layers.size(); ++i)
            layers[i].name += fmt::format("[{}]", i);
        return layers;
    }
    fail_at(context, path, node, "one of the keys fc, conv, vector, pool", "none of them");
}

YAML::Node list_of(const YamlSection& section, const YAML::Node& node) {
    if (!section.has("layers")) section.fail("layers", "the key", "nothing");
    const YAML::Node list = node["layers"];
    if (!list.IsSequence() || list.size() == 0)
        section.fail("layers", "a list of layers",
                     list.IsMap()        ? "a mapping"
                     : list.IsSequence() ? "an empty list"
                                         : text_of(list));
    return list;
}

/// The layers of the list once, groups not among them.
std::vector<Layer> read_list(const YAML::Node& list, const std::string& path,
                             const Context& context) {
    std::vector<Layer> layers;
    for (size_t i = 0; i < list.size(); ++i) {
        const auto more = read_layer(list[i], fmt::format("{}[{}]", path, i), context);
        layers.insert(layers.end(), more.begin(), more.end());
    }
    return layers;
}

/// A group, as often as it repeats.
void read_group(const YAML::Node& node, const std::string& path, const Context& context,
                std::vector<Layer>& layers) {
    const YamlSection section(context.file.string(), path, node, {"repeat", "layers"});
    const uint64_t times = copies(section, "repeat");
    const auto once = read_list(list_of(section, node), path + ".layers", context);
    if (once.size() * times > kMostLayers)
        section.fail("repeat", fmt::format("at most {} layers", kMostLayers),
                     std::to_string(once.size() * times));
    for (uint64_t time = 0; time < times; ++time)
        for (Layer layer : once) {
            if (times > 1) layer.name += fmt::format("[{}]", time);
            layers.push_back(std::move(layer));
        }
}

std::vector<Layer> read_layers(const YamlSection& section, const YAML::Node& root,
                               const Context& context) {
    const YAML::Node list = list_of(section, root);
    std::vector<Layer> layers;
    for (size_t i = 0; i < list.size(); ++i) {
        const std::string path = fmt::format("layers[{}]", i);
        if (list[i].IsMap() && list[i]["repeat"]) {
            read_group(list[i], path, context, layers);
        } else {
            const auto more = read_layer(list[i], path, context);
            layers.insert(layers.end(), more.begin(), more.end());
        }
        if (layers.size() > kMostLayers)
            section.fail("layers", fmt::format("at most {} layers", kMostLayers), "more");
    }
    return layers;
}

uint64_t read_passes(const YamlSection& section) {
    const uint64_t bits = section.number("activation_bits", base::Dimension::kPlain, 0, kMostSize);
    if (bits != 8 && bits != 16) section.fail("activation_bits", "8 or 16", std::to_string(bits));
    return bits / 8;
}

Published read_published(const YamlSection& section) {
    const auto number = [&](const std::string& key) {
        return section.has(key) ? section.number(key, base::Dimension::kPlain, 0, kMostSize) : 0;
    };
    const auto fraction = [&](const std::string& key) {
        return section.has(key) ? decimal(section, key) : 0.0;
    };
    return {fraction("weights_millions"),
            number("fc"),
            number("conv"),
            number("vector"),
            number("pool"),
            fraction("macs_per_weight")};
}

}  // namespace

Workload load_application(const std::filesystem::path& file) {
    const YAML::Node root = base::load_yaml(file);
    const YamlSection section(file.string(), "", root,
                              {"name", "batch", "activation_bits", "host", "layers", "published"});
    Workload workload;
    workload.name = section.text("name");
    workload.file = file.string();
    workload.chained = true;
    workload.batch = size(section, "batch");
    workload.layers = read_layers(section, root, {file, workload.batch, read_passes(section)});
    if (section.has("host")) {
        const YamlSection host = section.section("host", {"input", "output"});
        workload.host_input_elements = size(host, "input") * workload.batch;
        workload.host_output_elements = size(host, "output") * workload.batch;
    }
    if (section.has("published"))
        workload.published = read_published(section.section(
            "published", {"weights_millions", "fc", "conv", "vector", "pool", "macs_per_weight"}));
    return workload;
}

}  // namespace tandem::tables
