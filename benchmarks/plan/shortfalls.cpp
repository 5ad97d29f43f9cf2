// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/plan/shortfalls.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/yaml_section.h"
#include "benchmarks/study.h"

namespace tandem::benchmarks {
namespace {

constexpr const char* kForms[] = {"full", "reduced"};
constexpr const char* kNoCause = "to be named";
constexpr const char* kHead = R"(# SPDX-License-Identifier: Apache-2.0
# Targets of docs/plans.md that are missed: the figure reached, and why. `plan_study --check` fails for a target that is missed and is not here, for one that
# has become worse than here, and for an entry that is no longer needed. `plan_study --update` (with --quick: the reduced form) writes figures; causes are written by hand.
)";

/// The number in front of a figure's unit.
double number_of(const std::string& text, const base::YamlSection& section) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end == text.data()) section.fail("figure", "a number", text);
    return value;
}

std::vector<Shortfall> read_form(const std::string& file, const std::string& form,
                                 const YAML::Node& list) {
    std::vector<Shortfall> entries;
    for (size_t i = 0; i < list.size(); ++i) {
        const base::YamlSection section(file, fmt::format("{}[{}]", form, i), list[i],
                                        {"target", "figure", "cause"});
        entries.push_back({section.text("target"), section.text("figure"), section.text("cause")});
        number_of(entries.back().figure, section);
    }
    return entries;
}

bool same(const Shortfall& entry, const Target& target) { return entry.target == target.name; }

/// By more than what its places round away.
bool is_worse(const Target& target, const Shortfall& entry) {
    const double rounding = 0.5 * std::pow(10.0, -target.places) * (1 + 1e-6);
    const double more = target.figure - std::stod(entry.figure);
    return (target.side == Target::Side::kAtLeast ? -more : more) > rounding;
}

std::string quoted(const std::string& text) {
    std::string made = "'";
    for (const char c : text) made += c == '\'' ? "''" : std::string(1, c);
    return made + "'";
}

}  // namespace

Shortfalls::Shortfalls(std::filesystem::path file, std::string form)
    : file_(std::move(file)), form_(std::move(form)) {
    const YAML::Node root =
        std::filesystem::exists(file_) ? base::load_yaml(file_) : YAML::Node(YAML::NodeType::Map);
    const base::YamlSection top(file_.string(), "", root, {std::begin(kForms), std::end(kForms)});
    for (const char* name : kForms) {
        const bool there = top.has(name) && !root[name].IsNull();
        if (there && !root[name].IsSequence()) top.fail(name, "a list", "something else");
        forms_.emplace_back(
            name, there ? read_form(file_.string(), name, root[name]) : std::vector<Shortfall>{});
    }
    for (auto& [name, entries] : forms_)
        if (name == form_) entries_ = &entries;
}

const Shortfall* Shortfalls::find(const std::string& target) const {
    const auto at = std::ranges::find(*entries_, target, &Shortfall::target);
    return at == entries_->end() ? nullptr : &*at;
}

std::vector<std::string> Shortfalls::faults(const Targets& targets, bool complete) const {
    std::vector<std::string> lines;
    for (const Target& target : targets) {
        const Shortfall* entry = find(target.name);
        if (entry != nullptr && target.good())
            lines.push_back(fmt::format("{}: is met, its entry is not needed", target.name));
        if (target.tolerable()) continue;
        if (entry == nullptr)
            lines.push_back(target.line());
        else if (is_worse(target, *entry))
            lines.push_back(fmt::format("{}, but {} in {}", target.line(), entry->figure,
                                        file_.filename().string()));
    }
    for (const Shortfall& entry : *entries_) {
        if (entry.cause == kNoCause)
            lines.push_back(fmt::format("{}: its entry names no cause", entry.target));
        if (complete &&
            std::ranges::none_of(targets, [&](const Target& t) { return same(entry, t); }))
            lines.push_back(fmt::format("{}: an entry, but no target", entry.target));
    }
    return lines;
}

void Shortfalls::update(const Targets& targets, bool complete) {
    std::vector<Shortfall> kept;
    for (const Target& target : targets) {
        if (target.good() || target.allowance > 1) continue;
        const Shortfall* before = find(target.name);
        kept.push_back(
            {target.name, target.figure_text(), before != nullptr ? before->cause : kNoCause});
    }
    for (const Shortfall& entry : *entries_)
        if (!complete &&
            std::ranges::none_of(targets, [&](const Target& t) { return same(entry, t); }))
            kept.push_back(entry);
    *entries_ = std::move(kept);
    write();
}

void Shortfalls::write() const {
    std::string text = kHead;
    for (const auto& [name, entries] : forms_) {
        text += fmt::format("{}:{}\n", name, entries.empty() ? " []" : "");
        for (const Shortfall& entry : entries)
            text += fmt::format("  - target: {}\n    figure: {}\n    cause: {}\n",
                                quoted(entry.target), quoted(entry.figure), quoted(entry.cause));
    }
    write_file("--update", file_, text);
}

}  // namespace tandem::benchmarks
