// SPDX-License-Identifier: Apache-2.0
#include "engine/requantise_engine.h"

#include "engine/vector_drain.h"

namespace tandem::engine {

void TlmRequantiseEngine::requantise(const RequantiseRows& rows) {
    requantise_rows(rows.op, rows.sums, rows.array_cols, rows.buffer);
}

}  // namespace tandem::engine
