// SPDX-License-Identifier: Apache-2.0
#include "cosim/array_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "base/error.h"
#include "cosim/array_ports.h"

namespace tandem::cosim {
namespace {

// Nets of the top module, and of the array in grid form, that the diagnosis reads.
constexpr std::array kTopNets = {"act_fire",    "swap",          "rows_active",  "swap_active",
                                 "wgt_fire",    "tile_complete", "tile_partial", "load",
                                 "load_active", "emit",          "row",          "wr_valid",
                                 "wr_addr",     "wr_accumulate"};
constexpr std::array kGridNets = {"act_skewed", "swap_skewed", "wgt_skewed", "load_skewed",
                                  "bottom"};
// In the order of TandemPeRegisters.
constexpr std::array kFields = {"activation", "weight", "shadow", "psum", "swap", "load"};
constexpr std::array kGridNames = {"act_q", "weight_q", "shadow_q", "psum_q", "swap_q", "load_q"};
constexpr size_t kRegisters = kFields.size(), kActivation = 0, kPsum = 3, kSwap = 4, kLoad = 5;
// Recording every PE of a larger grid would cost more than the array.
constexpr unsigned kTracedPes = 64;

/// With pipelining some PEs have a wire in the place of a register.
bool has_register(const ArraySpec& spec, unsigned row, unsigned col, size_t which) {
    if (which == kPsum) return row % spec.pipeline == spec.pipeline - 1 || row == spec.rows - 1;
    return (which != kActivation && which != kSwap && which != kLoad) || col % spec.pipeline == 0;
}

std::string grid_pe(const std::string& top, unsigned row, unsigned col) {
    return fmt::format(
        "{}__DOT__gen_grid__DOT__u_array__DOT__gen_row__BRA__{}__KET____DOT__"
        "gen_col__BRA__{}__KET____DOT__u_pe__DOT__",
        top, row, col);
}

/// Containers of the registers, by the first name that the model has.
std::string containers(const ArraySpec& spec, const std::array<std::string, kRegisters>& places) {
    const auto size = [&](size_t which, unsigned otherwise) {
        return places[which].empty() ? std::to_string(otherwise)
                                     : fmt::format("sizeof(((Root*)nullptr)->{})", places[which]);
    };
    return fmt::format("constexpr uint32_t kElementBytes = {}, kPsumBytes = {}, kTagBytes = {};\n",
                       size(1, arch::element_bytes(spec.dtype)), size(kPsum, 4), size(kSwap, 1));
}

/// All PEs in one array per register; the indices are published in tpu_array_flat.sv.
std::optional<std::string> flat_registers(const ArraySpec& spec, const std::string& top,
                                          const GeneratedModel& model) {
    const unsigned k = spec.pipeline, bands = (spec.rows + k - 1) / k,
                   cells = (spec.cols + k - 1) / k, plane = bands * cells;
    struct Array {
        const char *name, *plane, *exists;
        unsigned planes;
    };
    // In the order of kFields; tags have registers per diagonal only.
    const std::array<Array, 4> arrays = {{{"act", "r % k", "c % k == 0", k},
                                          {"weight", "r % k * k + c % k", "true", k * k},
                                          {"shadow", "r % k * k + c % k", "true", k * k},
                                          {"psum", "c % k", "r % k == k - 1 || r == kLastRow", k}}};
    const std::string base = top + "__DOT__gen_flat__DOT__u_array__DOT__";
    std::array<std::string, kRegisters> places;
    std::string body;
    for (size_t i = 0; i < arrays.size(); ++i) {
        const auto* member = model.find(base + arrays[i].name);
        if (member == nullptr || member->elements < arrays[i].planes * plane) continue;
        places[i] = base + arrays[i].name + "[0]";
        body += fmt::format("    if ({}) pe->{} = &root.{}{}[({}) * kPlane + at];\n",
                            arrays[i].exists, kFields[i], base, arrays[i].name, arrays[i].plane);
    }
    if (body.empty()) return std::nullopt;
    return containers(spec, places) +
           fmt::format(
               "inline void find_pe(Root& root, uint32_t r, uint32_t c, TandemPeRegisters* pe) {{\n"
               "    constexpr size_t k = {}, kPlane = {}, kLastRow = {};\n"
               "    const size_t at = ({} - r / k) * {} + ({} - c / k);\n"
               "    *pe = {{}};\n{}}}\n",
               k, plane, spec.rows - 1, bands - 1, cells, cells - 1, body);
}

/// A module per PE: a table of places.
std::optional<std::string> grid_registers(const ArraySpec& spec, const std::string& top,
                                          const GeneratedModel& model) {
    std::array<std::string, kRegisters> places;
    std::string table;
    bool any = false;
    for (unsigned row = 0; row < spec.rows; ++row)
        for (unsigned col = 0; col < spec.cols; ++col) {
            const std::string pe = grid_pe(top, row, col);
            table += "    {";
            for (size_t i = 0; i < kRegisters; ++i) {
                const std::string name = pe + kGridNames[i];
                if (has_register(spec, row, col, i) && model.find(name) != nullptr) {
                    if (places[i].empty()) places[i] = name;
                    table += fmt::format("offsetof(Root, {}), ", name);
                    any = true;
                } else {
                    table += "kNowhere, ";
                }
            }
            table += "},\n";
        }
    if (!any) return std::nullopt;
    return containers(spec, places) +
           fmt::format(
               "constexpr size_t kNowhere = ~size_t{{0}};\n"
               "constexpr size_t kPes[{}][{}] = {{\n{}}};\n"
               "inline void find_pe(Root& root, uint32_t r, uint32_t c, TandemPeRegisters* pe) {{\n"
               "    void** const places[] = {{&pe->activation, &pe->weight, &pe->shadow, "
               "&pe->psum, &pe->swap, &pe->load}};\n"
               "    const size_t* at = kPes[size_t{{r}} * {} + c];\n"
               "    for (void** place : places) {{\n"
               "        *place = *at != kNowhere ? reinterpret_cast<char*>(&root) + *at : "
               "nullptr;\n"
               "        ++at;\n    }}\n}}\n",
               size_t{spec.rows} * spec.cols, kRegisters, table, spec.cols);
}

/// `own`: in another array a net of the same name may be anything.
std::string tap_table(const std::string& top, const GeneratedModel& model, bool own) {
    std::string table;
    const auto add = [&](const std::string& scope, const char* net) {
        const std::string name = scope + "__DOT__" + net;
        const auto* member = model.find(name);
        if (own && member != nullptr && member->elements == 0)
            table +=
                fmt::format("    {{\"{}\", offsetof(Root, {}), {}}},\n", net, name, member->bits);
    };
    for (const char* net : kTopNets) add(top, net);
    for (const char* net : kGridNets) add(top + "__DOT__gen_grid__DOT__u_array", net);
    // Closed by an entry that is no tap: C++ has no empty arrays.
    return "struct Net {\n    const char* name;\n    size_t offset;\n    uint32_t bits;\n};\n"
           "constexpr Net kNets[] = {\n" +
           table + "    {nullptr, 0, 0},\n};\n";
}

}  // namespace

std::string visibility_config(const ArraySpec& spec) {
    std::string text = "`verilator_config\n";
    const auto show = [&](const char* module, const char* name) {
        text += fmt::format("public_flat_rd -module \"{}\" -var \"{}\"\n", module, name);
    };
    for (const char* net : kTopNets) show("tpu_mxu", net);
    if (spec.form != "grid") return text;
    for (const char* name : kGridNames) show("tpu_pe*", name);
    for (const char* net : kGridNets) show("tpu_array_grid*", net);
    if (spec.rows * spec.cols > kTracedPes)
        text += "tracing_off -file \"*tpu_pe.sv\"\ntracing_off -file \"*tpu_array_grid.sv\"\n";
    return text;
}

void check_ports(const ArraySpec& spec, const std::string& top, const GeneratedModel& model) {
    const engine::MxuShape shape{.rows = spec.rows,
                                 .cols = spec.cols,
                                 .accumulator_rows = spec.acc_depth,
                                 .dtype = spec.dtype};
    const auto text = [](const std::string& direction, unsigned bits) {
        return fmt::format("{}, {} bit{}", direction, bits, bits == 1 ? "" : "s");
    };
    const std::vector<ArrayPort> ports = array_ports(shape);
    for (const ArrayPort& port : ports) {
        const char* const direction = port.input ? "input" : "output";
        const auto found = model.ports().find(port.name);
        if (found == model.ports().end())
            throw UserError(fmt::format("top {} has no port {} ({})", top, port.name,
                                        text(direction, port.bits)));
        if (found->second.direction != direction || found->second.bits != port.bits)
            throw UserError("top " + top, std::string("port ") + port.name,
                            text(direction, port.bits),
                            text(found->second.direction, found->second.bits));
    }
    // Nobody would drive it.
    for (const auto& [name, port] : model.ports())
        if (port.direction != "output" &&
            std::ranges::find(ports, name, &ArrayPort::name) == ports.end())
            throw UserError("top " + top, "port " + name, "only the inputs of rtl/README.md",
                            text(port.direction, port.bits));
}

std::string array_view(const ArraySpec& spec, const std::string& top, const GeneratedModel& model) {
    std::string registers;
    std::string form = spec.form;
    const auto found =
        form == "grid" ? grid_registers(spec, top, model) : flat_registers(spec, top, model);
    if (found) {
        registers = *found;
    } else {
        if (spec.other) form = "other";
        registers = containers(spec, {}) +
                    "inline void find_pe(Root&, uint32_t, uint32_t, TandemPeRegisters* pe) {\n"
                    "    *pe = {};\n}\n";
    }
    return fmt::format(
        "// Written by array_view.cpp.\n#include <cstddef>\n#include <cstdint>\n"
        "#define TANDEM_ARRAY_SETTLES {}\n"
        "namespace array_view {{\nusing Root = Varray___024root;\n"
        "constexpr const char* kForm = \"{}\";\n{}{}}}\n",
        model.settles() ? 1 : 0, form, registers, tap_table(top, model, found.has_value()));
}

}  // namespace tandem::cosim
