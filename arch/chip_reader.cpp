// SPDX-License-Identifier: Apache-2.0
#include "arch/chip_reader.h"

#include <algorithm>
#include <map>
#include <set>

#include "arch/chip_figures.h"
#include "arch/chip_rules.h"
#include "base/error.h"
#include "base/nearest.h"
#include "base/yaml_section.h"

namespace tandem::arch {
namespace {

const std::string kSetOption = "--set";

/// Keys at top level ("": figures and sections), or of one section.
std::vector<std::string> known_keys(std::string_view section) {
    std::vector<std::string> keys;
    for (const ChipFigure& figure : chip_figures()) {
        const bool inside = figure.section() == section;
        if (!inside && !section.empty()) continue;
        const std::string key(inside ? figure.key() : figure.section());
        if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
    }
    return keys;
}

class ChipReader {
  public:
    ChipReader(const std::filesystem::path& file, const std::vector<std::string>& sets)
        : file_(file.string()), top_(file_, "", base::load_yaml(file), known_keys("")) {
        sections_.emplace("", top_);
        for (const std::string& key : known_keys(""))
            if (find_figure(key) == nullptr && top_.has(key))
                sections_.emplace(key, top_.section(key, known_keys(key)));
        for (const ChipFigure& figure : chip_figures()) take_from_file(figure);
        for (const std::string& set : sets) take_from_command_line(set);
        chip_.overrides = sets;
    }

    ChipConfig read() {
        for (const ChipFigure& figure : chip_figures()) read(figure);
        for (const ChipRule& rule : chip_rules())
            if (const auto breach = rule.check(chip_)) fail(rule, *breach);
        return chip_;
    }

  private:
    /// Who said it, where and what.
    struct Said {
        std::string origin, where, text;
    };

    void take_from_file(const ChipFigure& figure) {
        const auto section = sections_.find(figure.section());
        const std::string key(figure.key());
        if (section == sections_.end() || !section->second.has(key)) return;
        said_[figure.path] = {file_, section->second.where(key), section->second.text(key)};
    }

    void take_from_command_line(const std::string& set) {
        const size_t sign = set.find('=');
        if (sign == std::string::npos || sign == 0)
            throw UserError(kSetOption, '"' + set + '"', "KEY=VALUE such as mxu.count=2",
                            sign == 0 ? "no key" : "no \"=\"");
        const std::string path = set.substr(0, sign);
        const ChipFigure* const figure = find_figure(path);
        if (figure == nullptr || figure->is_text())
            throw UserError(
                kSetOption, path, "a key of a chip" + base::nearest_hint(path, settable_paths()),
                figure == nullptr ? "an unknown key" : "a text, which stays the file's");
        Said& said = said_[figure->path];
        if (said.origin == kSetOption)
            throw UserError(kSetOption, path, "the key once", "the key twice");
        said = {kSetOption, path, set.substr(sign + 1)};
    }

    void read(const ChipFigure& figure) {
        const auto said = said_.find(figure.path);
        if (said == said_.end()) return leave_out(figure);
        const auto& [origin, where, text] = said->second;
        figure.read(chip_, text,
                    [&, &origin = origin, &where = where](const std::string& expected,
                                                          const std::string& found) {
                        throw UserError(origin, where, expected, found);
                    });
    }

    void leave_out(const ChipFigure& figure) {
        refuse_if_needed(figure);
        if (!figure.is_only_compared()) chip_.defaulted.emplace_back(figure.path);
    }

    void refuse_if_needed(const ChipFigure& figure) const {
        const auto section = sections_.find(figure.section());
        const bool of_file = section != sections_.end();
        if (figure.presence == Presence::kOptional) return;
        if (figure.presence == Presence::kWithSection && !of_file && !section_is_set(figure))
            return;
        if (of_file) section->second.fail(std::string(figure.key()), "the key", "nothing");
        if (section_is_set(figure))
            throw UserError(kSetOption, std::string(figure.path), "the key", "nothing");
        top_.fail(std::string(figure.section()), "the key", "nothing");
    }

    bool section_is_set(const ChipFigure& figure) const {
        return std::ranges::any_of(said_, [&](const auto& entry) {
            return find_figure(entry.first)->section() == figure.section() &&
                   entry.second.origin == kSetOption;
        });
    }

    /// Named is the first key, blamed the command line if it had a hand in it.
    [[noreturn]] void fail(const ChipRule& rule, const ChipRule::Breach& breach) const {
        const ChipFigure& figure = *find_figure(rule.keys.front());
        for (const std::string_view key : rule.keys)
            if (const auto said = said_.find(key);
                said != said_.end() && said->second.origin == kSetOption)
                throw UserError(kSetOption, std::string(figure.path), breach.expected,
                                breach.found);
        const auto section = sections_.find(figure.section());
        if (section == sections_.end())
            top_.fail(std::string(figure.path), breach.expected, breach.found);
        section->second.fail(std::string(figure.key()), breach.expected, breach.found);
    }

    const std::string file_;
    const base::YamlSection top_;
    std::map<std::string, base::YamlSection, std::less<>> sections_;  ///< those of the file
    std::map<std::string_view, Said> said_;                           ///< by path
    ChipConfig chip_;
};

}  // namespace

ChipConfig read_chip(const std::filesystem::path& file, const std::vector<std::string>& sets) {
    return ChipReader(file, sets).read();
}

}  // namespace tandem::arch
