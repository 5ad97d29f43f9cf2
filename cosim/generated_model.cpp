// SPDX-License-Identifier: Apache-2.0
#include "cosim/generated_model.h"

#include <charconv>
#include <fstream>
#include <stdexcept>
#include <string_view>

namespace tandem::cosim {
namespace {

unsigned number_at(std::string_view text, size_t at) {
    unsigned value = 0;
    std::from_chars(text.data() + at, text.data() + text.size(), value);
    return value;
}

/// Calls `use` with every line, its indentation left out.
template <typename Use>
void for_each_line(const std::filesystem::path& file, Use use) {
    std::ifstream in(file);
    if (!in) throw std::runtime_error("cannot read " + file.string());
    for (std::string line; std::getline(in, line);) {
        const size_t start = line.find_first_not_of(' ');
        if (start != std::string::npos) use(std::string_view(line).substr(start));
    }
}

}  // namespace

GeneratedModel::GeneratedModel(const std::filesystem::path& folder, const std::string& prefix) {
    // VL_IN8(&act_valid_i,0,0);  VL_OUTW(&cmt_data_o,159,0,5);
    for_each_line(folder / (prefix + ".h"), [&](std::string_view line) {
        std::string direction;
        if (line.starts_with("VL_INOUT")) {
            direction = "inout";
        } else if (line.starts_with("VL_IN")) {
            direction = "input";
        } else if (line.starts_with("VL_OUT")) {
            direction = "output";
        }
        const size_t name = line.find('&'), msb = line.find(','), lsb = line.find(',', msb + 1);
        if (direction.empty() || name == line.npos || msb == line.npos || lsb == line.npos) return;
        ports_[std::string(line.substr(name + 1, msb - name - 1))] = {
            direction, number_at(line, msb + 1) - number_at(line, lsb + 1) + 1};
    });
    // CData/*0:0*/ name;  VlWide<5>/*159:0*/ name;  VlUnpacked<CData/*7:0*/, 16> name;
    for_each_line(folder / (prefix + "___024root.h"), [&](std::string_view line) {
        const size_t range = line.find("/*"), colon = line.find(':', range), name = line.rfind(' ');
        if (range == line.npos || colon == line.npos || name == line.npos || line.back() != ';')
            return;
        Member member{number_at(line, range + 2) - number_at(line, colon + 1) + 1, 0};
        if (line.starts_with("VlUnpacked<"))
            member.elements = number_at(line, line.find("*/, ") + 4);
        members_[std::string(line.substr(name + 1, line.size() - name - 2))] = member;
    });
    // The name of the function is Verilator's own affair.
    for_each_line(folder / (prefix + ".cpp"), [&](std::string_view line) {
        settles_ |= line.find("___024root___eval_settle(") != line.npos;
    });
}

const GeneratedModel::Member* GeneratedModel::find(const std::string& name) const {
    const auto found = members_.find(name);
    return found != members_.end() ? &found->second : nullptr;
}

}  // namespace tandem::cosim
