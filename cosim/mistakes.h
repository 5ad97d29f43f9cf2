// SPDX-License-Identifier: Apache-2.0
// Mistakes that builders of arrays make, each as a way to work out the row that would come of it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cosim/witness.h"

namespace tandem::cosim {

struct Mistake {
    /// Continues "the row comes out ".
    std::string text;
    /// It would show in all rows, not now and then.
    bool always;
    /// What would be committed, if the accumulator row held `base` (empty: not known) before.
    /// Empty: this cannot be said of the row.
    std::function<PortRow(const WitnessedRow& row, const PortRow& base)> row;
};

/// Those that an array of this shape can have; the more telling ones first.
std::vector<Mistake> mistakes(const engine::MxuShape& shape);

}  // namespace tandem::cosim
