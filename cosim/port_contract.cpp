// SPDX-License-Identifier: Apache-2.0
#include "cosim/port_contract.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"

namespace tandem::cosim {
namespace {

constexpr std::string_view kRule = "`TPU_RULE(\"";

}  // namespace

std::string contract_source(const ArraySpec& spec, const std::filesystem::path& rtl) {
    if (!spec.contract) return {};
    const std::string checker = base::read_text(rtl / "checks" / kContractName);
    // The shim says what a rule says. Messages name the file without its place.
    return fmt::format(
        "`define TPU_CONTRACT_STOP\n`line 1 \"{}\" 0\n{}\nbind {} tpu_port_contract #(\n  "
        ".Rows({}), .Cols({}), "
        ".AccDepth({}), .Dtype({}),\n  .CommitLatency({}), .WeightInterval({}), "
        ".WeightLatency({})\n) u_port_contract (.*);\n",
        kContractName, checker, top_of(spec), spec.rows, spec.cols, spec.acc_depth,
        spec.dtype == arch::Dtype::kBf16 ? 1 : 0, spec.contract->commit_latency,
        spec.contract->weight_interval, spec.contract->weight_latency);
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
    const std::string_view text = failure.substr(failure.find(rule) + rule.size() + 2);
    const std::string_view first = text.substr(0, text.find(' '));
    return first.ends_with("_o") ? std::string(first) : std::string();
}

}  // namespace tandem::cosim
