// SPDX-License-Identifier: Apache-2.0
// What the model expects, as signals of a waveform beside those of the RTL: NAME, and NAME_known, 0
// where anything may stand there; NAME keeps its last value then.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "cosim/array_abi.h"

namespace tandem::cosim {

/// When a value is known, and until when it holds: from half a period before an edge, or from the
/// edge, to the same time of the next one.
enum class Moment : uint8_t { kBeforeEdge, kAfterEdge };

class ExpectedSignals {
  public:
    /// Before the trace is opened. A signal that is there already stays.
    void add(const std::string& scope, const std::string& name, uint32_t bits, Moment moment);
    bool has(const std::string& scope, const std::string& name) const;
    /// Nothing is known of the signals of this moment.
    void begin(Moment moment);
    /// Bits `first` to `first` + `bits` - 1 (at most 64) of a signal; one that is not there is
    /// passed over.
    void set(const std::string& scope, const std::string& name, uint32_t first, uint32_t bits,
             uint64_t value);
    /// Words from bit 0 on; an empty row is not known.
    void set_row(const std::string& scope, const std::string& name, std::span<const int32_t> row);
    /// Valid as long as this object lives.
    std::vector<TandemProbe> list() const;

  private:
    struct Signal {
        std::string scope, name, known_name;
        uint32_t bits;
        Moment moment;
        std::vector<uint32_t> words;
        uint32_t known = 0;
    };

    Signal* find(const std::string& scope, const std::string& name);

    std::deque<Signal> signals_;
    std::map<std::string, Signal*> by_name_;
};

}  // namespace tandem::cosim
