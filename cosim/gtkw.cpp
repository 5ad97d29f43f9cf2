// SPDX-License-Identifier: Apache-2.0
#include "cosim/gtkw.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/output_file.h"

namespace tandem::cosim {
namespace {

// Trace flags of a GTKWave save file.
constexpr unsigned kHex = 0x22, kBinary = 0x28, kDecimal = 0x24, kSigned = 0x420, kAscii = 0x820;
constexpr unsigned kTranslated = 0x4022;  // hexadecimal, through a program
constexpr unsigned kOpenGroup = 0x800200, kOpenGroupEnd = 0x1000200;
constexpr unsigned kClosedGroup = 0xc00200, kClosedGroupEnd = 0x1401200;

class SaveFile {
  public:
    explicit SaveFile(const SaveFileRequest& request) : request_(request) {}
    template <class... Args>
    void print(fmt::format_string<Args...> format, Args&&... args) {
        fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    }
    const std::string& text() const { return text_; }

    void begin_group(const std::string& name, bool open = true) {
        print("@{:x}\n-{}\n", open ? kOpenGroup : kClosedGroup, name);
    }
    void end_group(const std::string& name, bool open = true) {
        print("@{:x}\n-{}\n", open ? kOpenGroupEnd : kClosedGroupEnd, name);
    }
    /// GTKWave shows the last part of a name only; an alias is shown whole.
    void signal(const std::string& name, unsigned bits, unsigned format,
                const std::string& alias = {}) {
        print("@{:x}\n", format);
        if (format == kTranslated) print("^>1 {}\n", request_.float_filter);
        if (!alias.empty()) print("+{{{}}} ", alias);
        print("{}{}\n", name, bits > 1 ? fmt::format("[{}:0]", bits - 1) : "");
    }
    /// Elements and sums, in the way that fits their type.
    unsigned number() const {
        if (request_.shape.dtype == arch::Dtype::kInt8) return kSigned;
        return request_.float_filter.empty() ? kHex : kTranslated;
    }

  private:
    std::string text_;
    const SaveFileRequest& request_;
};

void rtl_ports(SaveFile& file, const engine::MxuShape& shape) {
    const unsigned address =
        std::max(1u, static_cast<unsigned>(std::bit_width(shape.accumulator_rows - 1)));
    const unsigned element = 8 * arch::element_bytes(shape.dtype);
    file.begin_group("RTL ports");
    for (const char* name : {"clk_i", "rst_ni", "wgt_valid_i", "wgt_ready_o"})
        file.signal(std::string("rtl.") + name, 1, kBinary);
    file.signal("rtl.wgt_data_i", shape.cols * element, kHex);
    for (const char* name : {"act_valid_i", "act_ready_o", "act_swap_i", "act_accumulate_i"})
        file.signal(std::string("rtl.") + name, 1, kBinary);
    file.signal("rtl.act_addr_i", address, kDecimal);
    file.signal("rtl.act_data_i", shape.rows * element, kHex);
    file.signal("rtl.cmt_valid_o", 1, kBinary);
    file.signal("rtl.cmt_addr_o", address, kDecimal);
    file.signal("rtl.cmt_data_o", shape.cols * 32, kHex);
    for (const char* name : {"rd_valid_i", "rd_ready_o"})
        file.signal(std::string("rtl.") + name, 1, kBinary);
    file.signal("rtl.rd_addr_i", address, kDecimal);
    for (const char* name : {"res_valid_o", "res_ready_i"})
        file.signal(std::string("rtl.") + name, 1, kBinary);
    file.signal("rtl.res_data_o", shape.cols * 32, kHex);
    file.signal("rtl.busy_o", 1, kBinary);
    file.end_group("RTL ports");
}

/// With a pipeline of several PEs not every PE has every register.
void pe(SaveFile& file, const engine::MxuShape& shape, uint32_t r, uint32_t c) {
    const unsigned element = 8 * arch::element_bytes(shape.dtype);
    const auto signal = [&](const char* name, unsigned bits) {
        file.signal(fmt::format("pe.r{}_c{}.{}", r, c, name), bits, file.number(),
                    fmt::format("r{}_c{} {}", r, c, name));
    };
    if (c % shape.pipeline == 0) signal("activation", element);
    signal("weight", element);
    signal("shadow", element);
    if (r % shape.pipeline == shape.pipeline - 1 || r == shape.rows - 1) signal("psum", 32);
}

void wrong_pe(SaveFile& file, const SaveFileRequest& request) {
    const uint32_t r = request.wrong_pe->pe_row, c = request.wrong_pe->pe_col;
    const std::string expected = fmt::format("expected.r{}_c{}", r, c),
                      title = fmt::format("PE row {} column {}: first wrong", r, c);
    file.begin_group("what the model expects there");
    file.signal(expected + ".psum", 32, file.number(), "expected psum");
    file.signal(expected + ".psum_valid", 1, kBinary, "expected psum valid");
    file.end_group("what the model expects there");
    file.begin_group(title);
    pe(file, request.shape, r, c);
    file.end_group(title);
}

struct Range {
    uint32_t first, last;
};

/// The PEs of a row, or of a column, as far as they were recorded.
Range recorded(const SaveFileRequest& request, uint32_t at, uint32_t count) {
    if (request.all_pes) return {0, count - 1};
    return {at - std::min(at, kPeReach), std::min(count - 1, at + kPeReach)};
}

void pe_row(SaveFile& file, const SaveFileRequest& request, uint32_t r, uint32_t at, bool open) {
    const std::string title = fmt::format("row {}: activations move right", r);
    const Range columns = recorded(request, at, request.shape.cols);
    file.begin_group(title, open);
    for (uint32_t c = columns.first; c <= columns.last; ++c) pe(file, request.shape, r, c);
    file.end_group(title, open);
}

void pe_column(SaveFile& file, const SaveFileRequest& request, uint32_t c, uint32_t at, bool open) {
    const std::string title = fmt::format("column {}: partial sums move down", c);
    const Range rows = recorded(request, at, request.shape.rows);
    file.begin_group(title, open);
    for (uint32_t r = rows.first; r <= rows.last; ++r) pe(file, request.shape, r, c);
    file.end_group(title, open);
}

void pes(SaveFile& file, const SaveFileRequest& request) {
    if (request.wrong_pe) {
        wrong_pe(file, request);
        const uint32_t r = request.wrong_pe->pe_row, c = request.wrong_pe->pe_col;
        pe_column(file, request, c, r, true);
        pe_row(file, request, r, c, true);
    } else if (request.all_pes) {
        for (uint32_t r = 0; r < request.shape.rows; ++r) pe_row(file, request, r, 0, false);
        for (uint32_t c = 0; c < request.shape.cols; ++c) pe_column(file, request, c, 0, false);
    }
}

void model_unit(SaveFile& file, const std::string& name) {
    file.begin_group("model: " + name);
    const auto signal = [&](const char* of_unit, unsigned bits, unsigned format) {
        file.signal(fmt::format("model.{}.{}", name, of_unit), bits, format,
                    fmt::format("{} {}", name, of_unit));
    };
    signal("state", 64, kAscii);
    signal("instruction", 160, kAscii);
    signal("index", 32, kDecimal);
    signal("queue_depth", 16, kDecimal);
    file.end_group("model: " + name);
}

}  // namespace

std::string write_gtkw(const SaveFileRequest& request) {
    const std::filesystem::path wave = std::filesystem::absolute(request.wave);
    std::string path = std::filesystem::path(request.wave).replace_extension(".gtkw").string();
    const engine::Cycle before = 5, focus = request.marker;
    const uint64_t marker = focus * request.period_fs,
                   start = (focus > before ? focus - before : 0) * request.period_fs;
    // GTKWave's zoom: 200 pixels are 2^-zoom time units. A cycle is as wide as a value needs; half
    // a cycle of an int8 array holds a sum of six digits, for an injected bit turns up in the
    // middle.
    const double cycle_pixels = request.shape.dtype == arch::Dtype::kInt8 ? 128 : 112,
                 zoom = -std::log2(static_cast<double>(request.period_fs) * 200.0 / cycle_pixels);
    SaveFile file(request);
    file.print("[dumpfile] \"{}\"\n[timestart] {}\n[size] 1400 900\n[pos] -1 -1\n*{:.6f} {}",
               wave.string(), start, zoom, marker);
    for (int i = 0; i < 26; ++i) file.print(" -1");
    file.print(
        "\n[treeopen] rtl.\n[treeopen] pe.\n[treeopen] model.\n[sst_width] "
        "220\n[sst_expanded] 0\n[signals_width] 420\n");
    pes(file, request);
    rtl_ports(file, request.shape);
    for (const auto& unit : request.model_units) model_unit(file, unit);
    base::write_file(path, file.text());
    return path;
}

// A waveform is a sequence of blocks: a byte for its kind, eight (most significant first) for its
// length, which counts these eight, and so on until the end.
bool fst_is_complete(const std::string& path) {
    std::error_code error;
    const uint64_t size = std::filesystem::file_size(path, error);
    std::ifstream in(path, std::ios::binary);
    if (error || !in || size == 0) return false;
    uint64_t at = 0;
    while (at + 9 <= size) {
        in.seekg(static_cast<std::streamoff>(at + 1));
        uint64_t length = 0;
        for (int i = 0; i < 8; ++i) length = length << 8 | static_cast<uint64_t>(in.get() & 0xff);
        if (!in || length < 8 || length > size) return false;
        at += 1 + length;
    }
    return at == size;
}

}  // namespace tandem::cosim
