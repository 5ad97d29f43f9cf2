// SPDX-License-Identifier: Apache-2.0
// Tables of layers. Each format knows its heading and how a row becomes layers.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "base/csv.h"
#include "base/error.h"
#include "compiler/import/tables/layers.h"
#include "compiler/import/tables/same_padding.h"
#include "compiler/import/tables/sizes.h"

namespace tandem::tables {
namespace {

/// In lower case, one space between words.
std::string normalised(const std::string& text) {
    std::string result;
    for (const char c : text) {
        const bool space = std::isspace(static_cast<unsigned char>(c)) != 0;
        if (space && (result.empty() || result.back() == ' ')) continue;
        result += space ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return result;
}

/// The cells of a heading, normalised; "" beyond its end.
class Heading {
  public:
    explicit Heading(const base::CsvRow& row) {
        for (const std::string& cell : row.cells) cells_.push_back(normalised(cell));
    }
    bool begins_with(const std::vector<std::string_view>& names) const {
        return cells_.size() >= names.size() &&
               std::equal(names.begin(), names.end(), cells_.begin());
    }
    bool has(size_t column, std::string_view part) const {
        return column < cells_.size() && cells_[column].find(part) != std::string::npos;
    }

  private:
    std::vector<std::string> cells_;
};

/// What the reading of a row may need.
struct Row {
    const base::RowReader& cells;
    const Heading& heading;
    uint64_t batch;

    Layer layer(std::string name, LayerKind kind) const {
        Layer layer;
        layer.name = std::move(name);
        layer.where = cells.where();
        layer.kind = kind;
        return layer;
    }
};

Convolution image_of(uint64_t images, uint64_t height, uint64_t width, uint64_t channels) {
    Convolution image;
    image.images = images;
    image.height = height, image.width = width, image.channels = channels;
    return image;
}

void set_filter(Convolution& image, uint64_t filter_h, uint64_t filter_w, uint64_t stride_h,
                uint64_t stride_w) {
    image.window.kernel_h = static_cast<int64_t>(filter_h);
    image.window.kernel_w = static_cast<int64_t>(filter_w);
    image.window.stride_h = static_cast<int64_t>(stride_h);
    image.window.stride_w = static_cast<int64_t>(stride_w);
}

bool digit(char c) { return c >= '0' && c <= '9'; }

bool is_scalesim(const Heading& heading) {
    return heading.has(0, "layer") && heading.has(1, "ifmap") && heading.has(2, "ifmap") &&
           heading.has(3, "filter") && heading.has(4, "filter") && heading.has(5, "channel") &&
           heading.has(6, "filter") && heading.has(7, "stride");
}

/// The batch of a topology's row: where there is such a column and it holds a number.
uint64_t scalesim_batch(const Row& row) {
    for (size_t column = 8; column < 10; ++column) {
        const std::string cell = row.cells.cell(column);
        if (row.heading.has(column, "batch") && !cell.empty() && digit(cell.front()))
            return saturating_product({row.cells.number(column), row.batch});
    }
    return row.batch;
}

/// As SCALE-Sim v2 counts (topology_utils.py): rounded up, the last window reaches beyond the
/// image.
uint64_t scalesim_output(const Row& row, size_t image_column, size_t filter_column,
                         uint64_t stride) {
    const uint64_t image = row.cells.number(image_column), filter = row.cells.number(filter_column);
    if (filter > image)
        row.cells.fail(filter_column, fmt::format("a filter not larger than the image, {}", image));
    return (image - filter + stride - 1) / stride + 1;
}

/// By how much the last window of a side reaches beyond the image.
int64_t beyond(uint64_t image, uint64_t filter, uint64_t stride, uint64_t windows) {
    return static_cast<int64_t>((windows - 1) * stride + filter - image);
}

void read_scalesim(const Row& row, std::vector<Layer>& layers) {
    const base::RowReader& cells = row.cells;
    Layer layer = row.layer(cells.text(0), LayerKind::kConvolution);
    const uint64_t batch = scalesim_batch(row);
    const uint64_t filter_h = cells.number(3), filter_w = cells.number(4);
    const uint64_t channels = cells.number(5), stride_h = cells.number(7);
    const uint64_t stride_w = row.heading.has(8, "stride") ? cells.number(8) : stride_h;
    const uint64_t out_h = scalesim_output(row, 1, 3, stride_h);
    const uint64_t out_w = scalesim_output(row, 2, 4, stride_w);
    layer.m = saturating_product({out_h, out_w, batch});
    layer.n = cells.number(6);
    // SCALE-Sim v2 takes a layer with DP in its name apart, one channel after the other.
    if (layer.name.find("DP") != std::string::npos) layer.groups = channels;
    layer.k = saturating_product({filter_h, filter_w, channels / layer.groups});
    Convolution image = image_of(batch, cells.number(1), cells.number(2), channels);
    set_filter(image, filter_h, filter_w, stride_h, stride_w);
    image.window.pad_bottom = beyond(image.height, filter_h, stride_h, out_h);
    image.window.pad_right = beyond(image.width, filter_w, stride_w, out_w);
    layer.convolution = image;
    // Rows of the image that no two windows share: a matrix.
    if (filter_h == 1 && filter_w == cells.number(2) && layer.groups == 1)
        layer.kind = LayerKind::kMatmul;
    layer.input_elements = saturating_product({cells.number(1), cells.number(2), channels, batch});
    layer.output_elements = saturating_product({layer.m, layer.n, layer.groups});
    layers.push_back(std::move(layer));
}

Layer matmul(const Row& row, std::string name, uint64_t m, uint64_t k, uint64_t n) {
    Layer layer = row.layer(std::move(name), LayerKind::kMatmul);
    layer.m = saturating_product({m, row.batch});
    layer.k = k;
    layer.n = n;
    layer.input_elements = saturating_product({layer.m, k});
    layer.output_elements = saturating_product({layer.m, n});
    return layer;
}

bool is_scalesim_gemm(const Heading& heading) {
    return heading.begins_with({"layer", "m", "n", "k"});
}

void read_scalesim_gemm(const Row& row, std::vector<Layer>& layers) {
    const base::RowReader& cells = row.cells;
    const std::string name = cells.text(0);
    const uint64_t m = cells.number(1), n = cells.number(2), k = cells.number(3);
    layers.push_back(matmul(row, name, m, k, n));
}

bool is_deepbench_gemm(const Heading& heading) {
    return heading.begins_with({"set", "m", "n", "k", "a_transposed", "b_transposed"});
}

// How the matrices lie in memory changes no size.
void read_deepbench_gemm(const Row& row, std::vector<Layer>& layers) {
    const base::RowReader& cells = row.cells;
    const uint64_t m = cells.number(1), n = cells.number(2), k = cells.number(3);
    layers.push_back(matmul(row, fmt::format("{} {}x{}x{}", cells.text(0), m, n, k), m, k, n));
}

bool is_deepbench_conv(const Heading& heading) {
    return heading.begins_with({"set", "w", "h", "c", "n", "k", "filter_w", "filter_h", "pad_w",
                                "pad_h", "stride_w", "stride_h"});
}

/// Width or height of the output, of which each has its own columns.
uint64_t deepbench_output(const Row& row, size_t axis) {
    const uint64_t image = row.cells.number(1 + axis) + 2 * row.cells.number(8 + axis, 0);
    const uint64_t filter = row.cells.number(6 + axis);
    if (filter > image)
        row.cells.fail(
            6 + axis,
            fmt::format("a filter not larger than the image with its padding, {}", image));
    return (image - filter) / row.cells.number(10 + axis) + 1;
}

void read_deepbench_conv(const Row& row, std::vector<Layer>& layers) {
    const base::RowReader& cells = row.cells;
    const uint64_t w = cells.number(1), h = cells.number(2), channels = cells.number(3);
    const uint64_t images = cells.number(4), filters = cells.number(5);
    const uint64_t filter_w = cells.number(6), filter_h = cells.number(7);
    Layer layer = row.layer(fmt::format("{} {}x{}x{} n{} k{} {}x{}", cells.text(0), w, h, channels,
                                        images, filters, filter_w, filter_h),
                            LayerKind::kConvolution);
    layer.m =
        saturating_product({deepbench_output(row, 0), deepbench_output(row, 1), images, row.batch});
    layer.k = saturating_product({channels, filter_w, filter_h});
    layer.n = filters;
    layer.input_elements = saturating_product({w, h, channels, images, row.batch});
    Convolution image = image_of(saturating_product({images, row.batch}), h, w, channels);
    set_filter(image, filter_h, filter_w, cells.number(11), cells.number(10));
    image.window.pad_left = image.window.pad_right = static_cast<int64_t>(cells.number(8, 0));
    image.window.pad_top = image.window.pad_bottom = static_cast<int64_t>(cells.number(9, 0));
    layer.convolution = image;
    layer.output_elements = saturating_product({layer.m, layer.n});
    layers.push_back(std::move(layer));
}

bool is_deepbench_rnn(const Heading& heading) {
    return heading.begins_with({"set", "hidden", "batch", "timesteps", "cell"});
}

uint64_t gates_of(const base::RowReader& cells, size_t column) {
    const std::string cell = cells.cell(column);
    if (cell != "vanilla" && cell != "lstm" && cell != "gru")
        cells.fail(column, "vanilla, lstm or gru");
    return cell == "vanilla" ? 1 : cell == "gru" ? 3 : 4;
}

// DeepBench leaves the product with the inputs out (its README, "Recurrent Layers"; its FLOPs of an
// LSTM are 8 * timesteps * batch * hidden^2): per step the hidden state times the recurrent
// weights.
void read_deepbench_rnn(const Row& row, std::vector<Layer>& layers) {
    const base::RowReader& cells = row.cells;
    const uint64_t hidden = cells.number(1), batch = cells.number(2), steps = cells.number(3);
    const uint64_t gates = gates_of(cells, 4);
    const std::string name =
        fmt::format("{} {} {} n{} t{}", cells.text(0), cells.cell(4), hidden, batch, steps);
    Layer product = matmul(row, name, batch, hidden, gates * hidden);
    product.repeat = steps;
    Layer pointwise = row.layer(name + " pointwise", LayerKind::kVector);
    pointwise.repeat = steps;
    pointwise.elements = pointwise.input_elements = product.output_elements;
    pointwise.output_elements = product.input_elements;
    layers.push_back(std::move(product));
    layers.push_back(std::move(pointwise));
}

bool is_network_table(const Heading& heading) {
    return heading.begins_with({"model", "op_index", "op", "in_h", "in_w", "in_c", "kernel_h",
                                "kernel_w", "out_h", "out_w", "out_c", "stride_h", "stride_w",
                                "padding", "gemm_m", "gemm_k", "gemm_n", "macs"});
}

/// The image of a row whose columns have to agree with one another.
Convolution network_image(const Row& row, bool depthwise) {
    const base::RowReader& cells = row.cells;
    Convolution image = image_of(row.batch, cells.number(3), cells.number(4), cells.number(5));
    set_filter(image, cells.number(6), cells.number(7), cells.number(11), cells.number(12));
    compiler::WindowAttributes& w = image.window;
    const std::string padding = cells.cell(13);
    if (padding != "SAME" && padding != "VALID") cells.fail(13, "SAME or VALID");
    if (padding == "SAME") pad_as_same(image);
    const auto expect = [&](size_t column, uint64_t value, const char* of) {
        if (cells.number(column) != value) cells.fail(column, fmt::format("{}, {}", of, value));
    };
    const auto output = [](uint64_t side, int64_t kernel, int64_t stride, int64_t pad) {
        return static_cast<uint64_t>(
            compiler::output_extent(static_cast<int64_t>(side), kernel, stride, 1, pad));
    };
    expect(8, output(image.height, w.kernel_h, w.stride_h, w.pad_top + w.pad_bottom),
           "the windows of the image's height");
    expect(9, output(image.width, w.kernel_w, w.stride_w, w.pad_left + w.pad_right),
           "the windows of the image's width");
    const uint64_t channels = depthwise ? 1 : image.channels;
    expect(14, saturating_product({cells.number(8), cells.number(9)}), "out_h x out_w");
    expect(15, saturating_product({cells.number(6), cells.number(7), channels}),
           depthwise ? "kernel_h x kernel_w" : "kernel_h x kernel_w x in_c");
    expect(16, depthwise ? 1 : cells.number(10), depthwise ? "one column of a channel" : "out_c");
    if (depthwise && cells.number(10) % image.channels != 0)
        cells.fail(10, fmt::format("a multiple of in_c, {}", image.channels));
    return image;
}

void read_network_table(const Row& row, std::vector<Layer>& layers) {
    const base::RowReader& cells = row.cells;
    const std::string op = cells.cell(2);
    const bool depthwise = op == "DEPTHWISE_CONV_2D";
    if (!depthwise && op != "CONV_2D" && op != "FULLY_CONNECTED")
        cells.fail(2, "CONV_2D, DEPTHWISE_CONV_2D or FULLY_CONNECTED");
    const auto kind = op == "FULLY_CONNECTED" ? LayerKind::kMatmul : LayerKind::kConvolution;
    Layer layer = row.layer(fmt::format("{} {} {}", cells.text(0), cells.number(1, 0), op), kind);
    if (depthwise) layer.groups = cells.number(10);
    layer.m = cells.number(14);
    layer.k = cells.number(15);
    layer.n = cells.number(16);
    const uint64_t macs = saturating_product({layer.m, layer.k, layer.n, layer.groups});
    if (cells.cell(17) != std::to_string(macs))
        cells.fail(17,
                   fmt::format("gemm_m x gemm_k x gemm_n of {} groups, {}", layer.groups, macs));
    if (kind == LayerKind::kConvolution) layer.convolution = network_image(row, depthwise);
    layer.m = saturating_product({layer.m, row.batch});
    layer.input_elements =
        saturating_product({cells.number(3), cells.number(4), cells.number(5), row.batch});
    layer.output_elements =
        saturating_product({cells.number(8), cells.number(9), cells.number(10), row.batch});
    if (layer.input_elements != saturating_product({layer.m, layer.k}) && !layer.convolution)
        cells.fail(15, "gemm_m x gemm_k elements in the input");
    if (layer.output_elements != saturating_product({layer.m, layer.n}) && !layer.convolution)
        cells.fail(16, "gemm_m x gemm_n elements in the output");
    layers.push_back(std::move(layer));
}

struct Format {
    const char* columns;  ///< for messages
    bool chained;
    bool (*matches)(const Heading&);
    void (*read)(const Row&, std::vector<Layer>&);
};

constexpr Format kFormats[] = {
    {"\"Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, "
     "Strides\" (SCALE-Sim)",
     true, is_scalesim, read_scalesim},
    {"\"Layer,M,N,K\" (SCALE-Sim)", false, is_scalesim_gemm, read_scalesim_gemm},
    {"\"set,m,n,k,a_transposed,b_transposed\" (DeepBench)", false, is_deepbench_gemm,
     read_deepbench_gemm},
    {"\"set,w,h,c,n,k,filter_w,filter_h,pad_w,pad_h,stride_w,stride_h\" (DeepBench)", false,
     is_deepbench_conv, read_deepbench_conv},
    {"\"set,hidden,batch,timesteps,cell\" (DeepBench)", false, is_deepbench_rnn,
     read_deepbench_rnn},
    {"\"model,op_index,op,in_h,in_w,in_c,kernel_h,kernel_w,out_h,out_w,out_c,stride_h,stride_w,"
     "padding,gemm_m,gemm_k,gemm_n,macs\" (networks)",
     false, is_network_table, read_network_table},
};

const Format& format_of(const std::filesystem::path& file, const base::CsvRow& heading) {
    const Heading names(heading);
    std::string known;
    for (const Format& format : kFormats) {
        if (format.matches(names)) return format;
        known += std::string(known.empty() ? "" : "; ") + format.columns;
    }
    throw UserError(fmt::format("{}:{}", file.string(), heading.line), "heading",
                    "one of: " + known, fmt::format("\"{}\"", fmt::join(heading.cells, ",")));
}

/// A section's title: no number but in its text.
bool is_title(const base::CsvRow& row) {
    const std::string& first = row.cells.front();
    if (!first.empty() && std::all_of(first.begin(), first.end(), digit)) return false;
    return std::none_of(row.cells.begin() + 1, row.cells.end(), [](const std::string& cell) {
        return std::any_of(cell.begin(), cell.end(), digit);
    });
}

}  // namespace

Workload load_table(const std::filesystem::path& file, uint64_t batch) {
    if (batch == 0) throw UserError(file.string(), "batch", "at least 1", "0");
    const std::vector<base::CsvRow> rows = base::read_csv(file);
    if (rows.empty()) throw UserError(file.string(), "table", "a heading", "an empty file");
    const Format& format = format_of(file, rows[0]);
    const Heading heading(rows[0]);
    Workload workload;
    workload.name = file.stem().string();
    workload.file = file.string();
    workload.batch = batch;
    workload.chained = format.chained;
    for (auto row = rows.begin() + 1; row != rows.end(); ++row) {
        if (is_title(*row)) continue;
        const base::RowReader cells(file, rows[0], *row);
        const size_t before = workload.layers.size();
        format.read({cells, heading, batch}, workload.layers);
        for (size_t i = before; i < workload.layers.size(); ++i)
            if (!fits(workload.layers[i])) cells.fail("sizes", kExpectedSizes, "more");
    }
    if (workload.layers.empty()) throw UserError(file.string(), "table", "layers", "none");
    return workload;
}

}  // namespace tandem::tables
