// SPDX-License-Identifier: Apache-2.0
#include "cosim/wave_groups.h"

#include <fmt/format.h>

#include <algorithm>

#include "cosim/signal_lanes.h"

namespace tandem::cosim {
namespace {

/// More lanes would be more than anybody looks at, and each names every bit.
constexpr uint32_t kMostLanes = 64;

}  // namespace

void WaveGroups::add_all() {
    file_.begin_group("edge");
    file_.signal("tandem.edge", 64, WaveFormat::kDecimal, "edge");
    file_.end_group();
    if (request_.wrong_net) wrong_net();
    if (request_.wrong_pe) wrong_pe();
    if (!request_.wrong_port.empty()) wrong_port();
    if (request_.wrong_pe) neighbour_pes();
    pes();
    rtl_ports();
    port_lanes();
    expected_ports();
    nets();
    top_signals();
    for (const auto& unit : request_.model_units) model_unit(unit);
}

// ---- formats -----------------------------------------------------------------------------------

/// Elements and sums, in the way that fits their type.
WaveFormat WaveGroups::number() const {
    if (request_.shape.dtype == arch::Dtype::kInt8) return WaveFormat::kSigned;
    return request_.float_filter.empty() ? WaveFormat::kHex : WaveFormat::kFiltered;
}

uint32_t WaveGroups::element_bits() const { return 8 * arch::element_bytes(request_.shape.dtype); }

const ArrayPort* WaveGroups::port(const std::string& name) const {
    const auto found = std::ranges::find(ports_, name, &ArrayPort::name);
    return found == ports_.end() ? nullptr : &*found;
}

/// Of a port or a net.
uint32_t WaveGroups::bits_of_signal(const std::string& name) const {
    if (const ArrayPort* const found = port(name)) return found->bits;
    const auto at = request_.signals.find("expected." + name);
    return at == request_.signals.end() ? 1 : at->second;
}

WaveFormat WaveGroups::format_of(const std::string& name) const {
    if (lane_bits(name, request_.shape) > 1) return WaveFormat::kHex;
    if (name.find("addr") != std::string::npos) return WaveFormat::kDecimal;
    return bits_of_signal(name) == 1 ? WaveFormat::kBinary : WaveFormat::kHex;
}

/// The shortest of the RTL's names that end so.
std::string WaveGroups::place_of_net(const std::string& name) const {
    std::string best;
    for (const auto& [path, bits] : request_.signals)
        if (path.starts_with("rtl.") && path.ends_with("." + name) &&
            (best.empty() || path.size() < best.size()))
            best = path;
    return best;
}

// ---- what is wrong -----------------------------------------------------------------------------

void WaveGroups::judged(const std::string& expected, const std::string& found, uint32_t bits,
                        WaveFormat format, const std::string& title, bool wrong) {
    if (!file_.has(expected)) return;
    file_.signal(expected, bits, format, "expected " + title, WaveColour::kYellow);
    file_.signal(found, bits, format, title, wrong ? WaveColour::kRed : WaveColour::kPlain);
}

/// The wrong lane first, alone; then all of them, closed.
void WaveGroups::judged_lanes(const std::string& name, const std::string& rtl) {
    const std::string expected = "expected." + name;
    const uint32_t all = bits_of_signal(name), bits = lane_bits(name, request_.shape);
    const bool is_net = request_.wrong_net && request_.wrong_net->signal == name;
    if (!file_.has(expected)) return;
    const uint32_t count = bits == 0 ? 1 : all / bits,
                   wrong =
                       std::min(is_net ? request_.wrong_net->lane : request_.wrong_col, count - 1),
                   first = wrong - std::min(wrong, kMostLanes / 2),
                   last = std::min(count - 1, first + kMostLanes - 1);
    const WaveFormat format = bits > 1 ? number() : format_of(name);
    const auto both = [&](uint32_t lane, bool red) {
        const std::string title = bits == 0 ? name : fmt::format("{} {}", name, lane);
        const uint32_t width = bits == 0 ? all : bits;
        file_.lane(expected, all, lane * width, width, format, "expected " + title,
                   WaveColour::kYellow);
        file_.lane(rtl, all, lane * width, width, format, title,
                   red ? WaveColour::kRed : WaveColour::kPlain);
    };
    file_.begin_group(is_net ? fmt::format("first wrong: {}", name)
                             : fmt::format("{}: expected and found", name));
    both(wrong, true);
    file_.signal(expected + "_known", 1, WaveFormat::kBinary, name + " is judged");
    file_.end_group();
    if (count == 1) return;
    file_.begin_group(fmt::format("{}: {} {} to {}", name,
                                  name.starts_with("act_") ? "rows" : "columns", first, last),
                      false);
    for (uint32_t lane = first; lane <= last; ++lane) both(lane, lane == wrong);
    file_.end_group();
}

void WaveGroups::wrong_net() {
    const std::string& name = request_.wrong_net->signal;
    judged_lanes(name, port(name) != nullptr ? "rtl." + name : place_of_net(name));
}

void WaveGroups::wrong_port() {
    const std::string& name = request_.wrong_port;
    if (!request_.wrong_net || request_.wrong_net->signal != name)
        judged_lanes(name, "rtl." + name);
}

void WaveGroups::wrong_pe() {
    const uint32_t r = request_.wrong_pe->pe_row, c = request_.wrong_pe->pe_col;
    judged_pe(r, c, fmt::format("PE row {} column {}: first wrong", r, c));
}

void WaveGroups::neighbour_pes() {
    const uint32_t r = request_.wrong_pe->pe_row, c = request_.wrong_pe->pe_col;
    if (r != 0) judged_pe(r - 1, c, fmt::format("PE above: row {} column {}", r - 1, c));
    if (c != 0) judged_pe(r, c - 1, fmt::format("PE to the left: row {} column {}", r, c - 1));
}

/// The wrong register first.
void WaveGroups::judged_pe(uint32_t r, uint32_t c, const std::string& title) {
    const auto& wrong = *request_.wrong_pe;
    const bool here = wrong.pe_row == r && wrong.pe_col == c;
    const auto show = [&](PeRegister which, bool red) {
        const std::string name = to_string(which), pe = fmt::format("r{}_c{}.{}", r, c, name);
        const uint32_t bits = cosim::bits_of(which, request_.shape.dtype);
        judged("expected." + pe, "pe." + pe, bits, bits == 1 ? WaveFormat::kBinary : number(),
               fmt::format("r{}_c{} {}", r, c, name), red);
        // The others always have a meaning, once there are weights.
        if (red || which == PeRegister::kPsum || which == PeRegister::kActivation)
            file_.signal("expected." + pe + "_known", 1, WaveFormat::kBinary,
                         fmt::format("r{}_c{} {} is judged", r, c, name));
    };
    file_.begin_group(title);
    if (here) show(wrong.which, true);
    for (const PeRegister which : {PeRegister::kPsum, PeRegister::kActivation, PeRegister::kWeight,
                                   PeRegister::kShadow, PeRegister::kSwap, PeRegister::kLoad})
        if (!here || which != wrong.which) show(which, false);
    file_.end_group();
}

// ---- PEs ---------------------------------------------------------------------------------------

/// With a pipeline of several PEs not every PE has every register.
void WaveGroups::pe(uint32_t r, uint32_t c) {
    const engine::MxuShape& shape = request_.shape;
    const auto signal = [&](const char* name, uint32_t bits) {
        file_.signal(fmt::format("pe.r{}_c{}.{}", r, c, name), bits, number(),
                     fmt::format("r{}_c{} {}", r, c, name));
    };
    if (c % shape.pipeline == 0) signal("activation", element_bits());
    signal("weight", element_bits());
    signal("shadow", element_bits());
    if (r % shape.pipeline == shape.pipeline - 1 || r == shape.rows - 1) signal("psum", 32);
}

/// The PEs of a row, or of a column, as far as they were recorded.
WaveGroups::Range WaveGroups::recorded(uint32_t at, uint32_t count) const {
    if (request_.all_pes) return {0, count - 1};
    return {at - std::min(at, kPeReach), std::min(count - 1, at + kPeReach)};
}

void WaveGroups::pe_row(uint32_t r, uint32_t at, bool open) {
    const auto [first, last] = recorded(at, request_.shape.cols);
    file_.begin_group(fmt::format("row {}: activations move right", r), open);
    for (uint32_t c = first; c <= last; ++c) pe(r, c);
    file_.end_group();
}

void WaveGroups::pe_column(uint32_t c, uint32_t at, bool open) {
    const auto [first, last] = recorded(at, request_.shape.rows);
    file_.begin_group(fmt::format("column {}: partial sums move down", c), open);
    for (uint32_t r = first; r <= last; ++r) pe(r, c);
    file_.end_group();
}

void WaveGroups::pes() {
    if (request_.wrong_pe) {
        const uint32_t r = request_.wrong_pe->pe_row, c = request_.wrong_pe->pe_col;
        pe_column(c, r, true);
        pe_row(r, c, true);
    } else if (request_.all_pes) {
        for (uint32_t r = 0; r < request_.shape.rows; ++r) pe_row(r, 0, false);
        for (uint32_t c = 0; c < request_.shape.cols; ++c) pe_column(c, 0, false);
    }
}

// ---- ports and nets ----------------------------------------------------------------------------

void WaveGroups::rtl_ports() {
    file_.begin_group("RTL ports");
    for (const ArrayPort& port : ports_)
        file_.signal(std::string("rtl.") + port.name, port.bits, format_of(port.name));
    file_.end_group();
}

void WaveGroups::port_lanes() {
    for (const std::string name : {"act_data_i", "wgt_data_i", "cmt_data_o", "res_data_o"}) {
        const uint32_t bits = lane_bits(name, request_.shape), all = bits_of_signal(name),
                       count = std::min(all / bits, kMostLanes);
        file_.begin_group(fmt::format("{} by {}", name, name == "act_data_i" ? "row" : "column"),
                          false);
        for (uint32_t lane = 0; lane < count; ++lane)
            file_.lane("rtl." + name, all, lane * bits, bits, number(),
                       fmt::format("{} {}", name, lane));
        file_.end_group();
    }
}

void WaveGroups::expected_ports() {
    file_.begin_group("ports: expected and found", false);
    for (const ArrayPort& port : ports_) {
        if (port.input) continue;
        const std::string name = port.name;
        judged("expected." + name, "rtl." + name, port.bits, format_of(name), name,
               name == request_.wrong_port);
    }
    for (const std::string name : {"cmt_data_o", "res_data_o"})
        file_.signal("expected." + name + "_known", 1, WaveFormat::kBinary, name + " is judged");
    file_.end_group();
}

void WaveGroups::nets() {
    file_.begin_group("nets: expected and found", false);
    for (const auto& [path, bits] : request_.signals) {
        const std::string name = path.substr(path.find('.') + 1);
        if (!path.starts_with("expected.") || name.find('.') != std::string::npos ||
            name.ends_with("_known") || port(name) != nullptr)
            continue;
        judged(path, place_of_net(name), bits, format_of(name), name,
               request_.wrong_net && request_.wrong_net->signal == name);
        file_.signal(path + "_known", 1, WaveFormat::kBinary, name + " is judged");
    }
    file_.end_group();
}

/// Of the array's top module, but for its ports: "rtl.TOP.NAME".
void WaveGroups::top_signals() {
    file_.begin_group("signals of the top module", false);
    for (const auto& [path, bits] : request_.signals) {
        if (!path.starts_with("rtl.") || std::ranges::count(path, '.') != 2) continue;
        const std::string name = path.substr(path.rfind('.') + 1);
        if (port(name) == nullptr)
            file_.signal(path, bits, bits == 1 ? WaveFormat::kBinary : WaveFormat::kHex);
    }
    file_.end_group();
}

void WaveGroups::model_unit(const std::string& name) {
    file_.begin_group("model: " + name);
    const auto signal = [&](const char* of_unit, uint32_t bits, WaveFormat format) {
        file_.signal(fmt::format("model.{}.{}", name, of_unit), bits, format,
                     fmt::format("{} {}", name, of_unit));
    };
    signal("state", 64, WaveFormat::kText);
    signal("instruction", 160, WaveFormat::kText);
    signal("index", 32, WaveFormat::kDecimal);
    signal("queue_depth", 16, WaveFormat::kDecimal);
    file_.end_group();
}

}  // namespace tandem::cosim
