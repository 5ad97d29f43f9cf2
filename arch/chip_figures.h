// SPDX-License-Identifier: Apache-2.0
// Every figure of a chip as one row of a table. What a chip file may say, its ranges and defaults,
// the hash, `tandem chips`, its JSON, `--set` and the table in docs/recipes/add_a_chip.md all
// follow from the rows; rules that tie figures together are in chip_rules.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "arch/chip_config.h"
#include "base/quantity.h"

namespace tandem::arch {

/// Where a figure stands in ChipConfig; its type says how the figure is written.
using FigureMember = std::variant<std::string*, Dtype*, bool*, uint32_t*, uint64_t*, double*>;

enum class Presence : uint8_t {
    kRequired,
    kOptional,     ///< left out, it is what ChipConfig{} has
    kWithSection,  ///< the section may be left out; where it stands, the figure must be there
};

struct ChipFigure {
    std::string_view path;      ///< "mxu.count", or "clock" at top level
    base::Dimension dimension;  ///< of a number
    uint64_t low, high;         ///< of a number, in the base unit of its dimension
    Presence presence;
    FigureMember (*member)(ChipConfig&);
    std::string_view text;  ///< one line for people

    std::string_view section() const;  ///< "" at top level
    std::string_view key() const;
    bool is_text() const;  ///< name and description: no figure of the model
    bool is_flag() const;
    bool is_dtype() const;
    bool is_number() const { return !is_text() && !is_flag() && !is_dtype(); }
    /// Published: stands beside what is computed, changes nothing.
    bool is_only_compared() const { return section() == "published"; }
    bool is_hashed() const { return !is_text() && !is_only_compared(); }

    /// As a number: of a flag 0 or 1, of a type its code; not of a text.
    uint64_t value(const ChipConfig& chip) const;
    /// As a chip file writes it; "none" where only leaving it out gives the value.
    std::string written(const ChipConfig& chip) const;
    /// From what a chip file writes; `refuse` is called with anything else.
    void read(ChipConfig& chip, const std::string& text, const base::Refuse& refuse) const;
    bool has_default_value(const ChipConfig& chip) const;
};

/// In the order in which people read them.
std::span<const ChipFigure> chip_figures();
/// nullptr: there is none.
const ChipFigure* find_figure(std::string_view path);
/// Paths of the figures that `--set` takes: all but the texts.
std::vector<std::string> settable_paths();

/// The table of docs/recipes/add_a_chip.md.
std::string chip_figures_markdown();

}  // namespace tandem::arch
