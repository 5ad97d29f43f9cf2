// SPDX-License-Identifier: Apache-2.0
// The text of a GTKWave save file: signals in groups, each with its format and colour. Signals that
// the waveform does not have are left out, and so are groups without any.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cosim/wave_file.h"

namespace tandem::cosim {

/// How a value is shown.
enum class WaveFormat : uint8_t { kHex, kBinary, kDecimal, kSigned, kText, kFiltered };
enum class WaveColour : uint8_t { kPlain = 0, kRed = 1, kYellow = 3 };

class SaveFile {
  public:
    /// `signals`: of the waveform; empty: not known, it has all that is asked for.
    /// `filter`: the program that WaveFormat::kFiltered names.
    SaveFile(const WaveSignals& signals, std::string filter)
        : signals_(signals), filter_(std::move(filter)) {}

    void begin_group(const std::string& name, bool open = true);
    void end_group();
    /// GTKWave shows the last part of a name only; an alias is shown whole. False: it is not there.
    bool signal(const std::string& name, uint32_t bits, WaveFormat format,
                const std::string& alias = {}, WaveColour colour = WaveColour::kPlain);
    /// Bits `first` to `first` + `bits` - 1 of a signal of `all` bits, as a signal of its own.
    bool lane(const std::string& name, uint32_t all, uint32_t first, uint32_t bits,
              WaveFormat format, const std::string& alias, WaveColour colour = WaveColour::kPlain);

    bool has(const std::string& name) const { return signals_.empty() || signals_.contains(name); }
    const std::string& text() const { return text_; }

  private:
    void head(WaveFormat format, WaveColour colour);

    const WaveSignals& signals_;
    const std::string filter_;
    std::string text_, group_;  ///< finished groups; signals of the one that is open
    std::string group_name_;
    bool group_is_open_ = true;
};

}  // namespace tandem::cosim
