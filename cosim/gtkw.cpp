// SPDX-License-Identifier: Apache-2.0
#include "cosim/gtkw.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>

namespace tandem::cosim {
namespace {

// Trace flags of a GTKWave save file.
constexpr unsigned kHex = 0x22, kBinary = 0x28, kDecimal = 0x24, kSigned = 0x420, kAscii = 0x820;
constexpr unsigned kGroupBegin = 0x800200, kGroupEnd = 0x1000200;

class SaveFile {
  public:
    explicit SaveFile(const std::string& path) : out_(path) {}
    std::ofstream& out() { return out_; }
    void begin_group(const std::string& name) {
        fmt::print(out_, "@{:x}\n-{}\n", kGroupBegin, name);
    }
    void end_group(const std::string& name) { fmt::print(out_, "@{:x}\n-{}\n", kGroupEnd, name); }
    void signal(const std::string& name, unsigned bits, unsigned format) {
        fmt::print(out_, "@{:x}\n{}{}\n", format, name,
                   bits > 1 ? fmt::format("[{}:0]", bits - 1) : "");
    }

  private:
    std::ofstream out_;
};

void rtl_ports(SaveFile& file, mxu::MxuShape shape) {
    const unsigned address =
        std::max(1u, static_cast<unsigned>(std::bit_width(shape.accumulator_rows - 1)));
    file.begin_group("RTL ports");
    for (const char* name : {"clk_i", "rst_ni", "wgt_valid_i", "wgt_ready_o"})
        file.signal(std::string("rtl.") + name, 1, kBinary);
    file.signal("rtl.wgt_data_i", shape.cols * 8, kHex);
    for (const char* name : {"act_valid_i", "act_ready_o", "act_swap_i", "act_accumulate_i"})
        file.signal(std::string("rtl.") + name, 1, kBinary);
    file.signal("rtl.act_addr_i", address, kDecimal);
    file.signal("rtl.act_data_i", shape.rows * 8, kHex);
    file.signal("rtl.cmt_valid_o", 1, kBinary);
    file.signal("rtl.cmt_addr_o", address, kDecimal);
    file.signal("rtl.cmt_data_o", shape.cols * 32, kHex);
    file.end_group("RTL ports");
}

void pe(SaveFile& file, uint32_t r, uint32_t c) {
    const std::string scope = fmt::format("pe.r{}_c{}", r, c);
    file.begin_group(fmt::format("PE row {} column {}", r, c));
    for (const char* name : {"activation", "weight", "shadow"})
        file.signal(scope + "." + name, 8, kSigned);
    file.signal(scope + ".psum", 32, kSigned);
    file.end_group(fmt::format("PE row {} column {}", r, c));
}

void wrong_pe(SaveFile& file, const PeMismatch& wrong, mxu::MxuShape shape) {
    const uint32_t r = wrong.pe_row, c = wrong.pe_col;
    const std::string expected = fmt::format("expected.r{}_c{}", r, c);
    file.begin_group("what the model expects there");
    file.signal(expected + ".psum", 32, kSigned);
    file.signal(expected + ".psum_valid", 1, kBinary);
    file.end_group("what the model expects there");
    pe(file, r, c);
    if (r > 0) pe(file, r - 1, c);
    if (r + 1 < shape.rows) pe(file, r + 1, c);
    if (c > 0) pe(file, r, c - 1);
    if (c + 1 < shape.cols) pe(file, r, c + 1);
}

void model_unit(SaveFile& file, const std::string& name) {
    file.begin_group("model: " + name);
    file.signal("model." + name + ".instruction", 160, kAscii);
    file.signal("model." + name + ".index", 32, kDecimal);
    file.signal("model." + name + ".state", 2, kDecimal);
    file.signal("model." + name + ".queue_depth", 16, kDecimal);
    file.end_group("model: " + name);
}

}  // namespace

std::string write_gtkw(const Divergence& divergence, mxu::MxuShape shape, uint64_t period_ps,
                       const std::vector<std::string>& model_units) {
    const std::filesystem::path wave = std::filesystem::absolute(divergence.wave);
    const std::string path =
        std::filesystem::path(divergence.wave).replace_extension(".gtkw").string();
    const mxu::Cycle focus = divergence.pe ? divergence.pe->cycle : divergence.cycle_rtl;
    const uint64_t marker = focus * period_ps, start = (focus > 8 ? focus - 8 : 0) * period_ps;
    // GTKWave's zoom: 200 pixels are 2^-zoom time units; 24 cycles are to fill some 900 pixels.
    const double zoom = -std::log2(24.0 * static_cast<double>(period_ps) * 200.0 / 900.0);
    SaveFile file(path);
    fmt::print(file.out(),
               "[dumpfile] \"{}\"\n[timestart] {}\n[size] 1400 900\n[pos] -1 -1\n*{:.6f} {}",
               wave.string(), start, zoom, marker);
    for (int i = 0; i < 26; ++i) fmt::print(file.out(), " -1");
    fmt::print(file.out(),
               "\n[treeopen] rtl.\n[treeopen] pe.\n[treeopen] model.\n[sst_width] "
               "220\n[signals_width] 300\n");
    if (divergence.pe) wrong_pe(file, *divergence.pe, shape);
    rtl_ports(file, shape);
    for (const auto& unit : model_units) model_unit(file, unit);
    file.out().close();
    return file.out() ? path : std::string{};
}

}  // namespace tandem::cosim
