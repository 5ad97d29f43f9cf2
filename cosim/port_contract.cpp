// SPDX-License-Identifier: Apache-2.0
#include "cosim/port_contract.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>

#include "base/error.h"

namespace tandem::cosim {
namespace {

constexpr std::string_view kRule = "`TPU_RULE(\"";
constexpr std::array kPorts = {
    "clk_i",       "rst_ni",     "wgt_valid_i", "wgt_ready_o", "wgt_data_i",       "act_valid_i",
    "act_ready_o", "act_data_i", "act_swap_i",  "act_addr_i",  "act_accumulate_i", "cmt_valid_o",
    "cmt_addr_o",  "cmt_data_o", "rd_valid_i",  "rd_ready_o",  "rd_addr_i",        "res_valid_o",
    "res_ready_i", "res_data_o", "busy_o"};

}  // namespace

std::string contract_source(const ArraySpec& spec, const std::filesystem::path& rtl) {
    if (!spec.contract) return {};
    const auto file = rtl / "checks" / kContractName;
    std::ifstream in(file, std::ios::binary);
    if (!in) throw UserError(file.string() + " cannot be read");
    const std::string checker{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    std::string connections;
    for (const char* port : kPorts)
        connections += fmt::format("{}  .{}({})", connections.empty() ? "" : ",\n", port, port);
    // The shim says what a rule says. Messages name the file without its place.
    return fmt::format(
        "`define TPU_CONTRACT_STOP\n`line 1 \"{}\" 0\n{}\nbind {} tpu_port_contract #(\n  "
        ".Rows({}), .Cols({}), "
        ".AccDepth({}), .Dtype({}),\n  .CommitLatency({}), .WeightInterval({}), "
        ".WeightLatency({})\n) u_port_contract (\n{}\n);\n",
        kContractName, checker, top_of(spec), spec.rows, spec.cols, spec.acc_depth,
        spec.dtype == arch::Dtype::kBf16 ? 1 : 0, spec.contract->commit_latency,
        spec.contract->weight_interval, spec.contract->weight_latency, connections);
}

std::string contract_rules(std::string_view source) {
    std::string table;
    int line = -1;  // the first two are not of the file
    for (size_t at = 0; at < source.size(); ++line) {
        const size_t end = std::min(source.find('\n', at), source.size());
        const std::string_view text = source.substr(at, end - at);
        const size_t begin = text.find(kRule), what = text.rfind(", \"");
        if (begin != text.npos) {
            const std::string_view name = text.substr(begin + kRule.size());
            table += fmt::format("    {{{}, \"{}: {}\"}},\n", line, name.substr(0, name.find('"')),
                                 text.substr(what + 3, text.rfind('"') - what - 3));
        }
        at = end + 1;
    }
    // Closed by an entry that is no rule: C++ has no empty arrays.
    return fmt::format(
        "// Written by port_contract.cpp.\nnamespace contract {{\n"
        "constexpr const char* kFile = \"{}\";\nstruct Rule {{\n    int line;\n"
        "    const char* text;\n}};\nconstexpr Rule kRules[] = {{\n{}    {{0, "
        "nullptr}},\n}};\n}}\n",
        kContractName, table);
}

bool is_of_contract(std::string_view failure) {
    return failure.starts_with(kContractName) &&
           failure.substr(kContractName.size()).starts_with(':');
}

std::string rule_of(std::string_view failure) {
    if (!is_of_contract(failure)) return {};
    const size_t name = failure.find(": ");
    if (name == failure.npos) return {};
    const std::string_view rest = failure.substr(name + 2);
    return std::string(rest.substr(0, rest.find(':')));
}

std::string port_of(std::string_view failure) {
    const std::string rule = rule_of(failure);
    if (rule.empty()) return {};
    const std::string_view text = failure.substr(failure.find(rule) + rule.size());
    for (const std::string_view port : kPorts)
        if (text.starts_with(fmt::format(": {} ", port))) return std::string(port);
    return {};
}

}  // namespace tandem::cosim
