// SPDX-License-Identifier: Apache-2.0
// Layers as a table for other programs (declared in report.h).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "run/report.h"

namespace tandem::run {
namespace {

using nlohmann::json;

constexpr std::array kSizes = {"m", "k", "n", "groups", "repeat"};
constexpr std::array kBounds = {"compute", "weights",         "activations", "drain",
                                "host",    "synchronisation", "launch"};
constexpr std::array kBytes = {"compulsory", "least", "moved"};

std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
    return out + "\"";
}

/// Empty where there is none.
std::string cell(const json& object, const char* key) {
    const auto at = object.find(key);
    if (at == object.end() || at->is_null()) return {};
    return at->is_string() ? quoted(at->get<std::string>()) : at->dump();
}

std::string ratio(const json& layer) {
    const auto bound = layer.find("bound_cycles");
    if (bound == layer.end() || bound->get<double>() == 0) return {};
    return fmt::format("{:.4f}", layer["cycles"].get<double>() / bound->get<double>());
}

}  // namespace

std::string layers_csv(const json& layers) {
    std::vector<std::string> header = {"index", "op", "name"};
    header.insert(header.end(), kSizes.begin(), kSizes.end());
    for (const char* const name : {"macs", "cycles", "bound", "bound_cycles", "cycles_per_bound"})
        header.emplace_back(name);
    for (const char* const name : kBounds) header.push_back(std::string(name) + "_cycles");
    for (const char* const name : kBytes) header.push_back(std::string(name) + "_bytes");
    std::string text = fmt::format("{}\n", fmt::join(header, ","));
    for (const json& layer : layers) {
        std::vector<std::string> row;
        for (const char* const key : {"index", "op", "name"}) row.push_back(cell(layer, key));
        for (const char* const key : kSizes) row.push_back(cell(layer, key));
        for (const char* const key : {"macs", "cycles", "bound", "bound_cycles"})
            row.push_back(cell(layer, key));
        row.push_back(ratio(layer));
        for (const char* const key : kBounds)
            row.push_back(cell(layer.value("bounds", json::object()), key));
        for (const char* const key : kBytes) row.push_back(cell(layer["bytes"], key));
        text += fmt::format("{}\n", fmt::join(row, ","));
    }
    return text;
}

}  // namespace tandem::run
