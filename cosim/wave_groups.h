// SPDX-License-Identifier: Apache-2.0
// What a save file shows of a waveform, from top to bottom: the edge; what is wrong, expected value
// and found value one under the other; what lies around it; the ports; the rest.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cosim/array_ports.h"
#include "cosim/gtkw.h"
#include "cosim/save_file.h"

namespace tandem::cosim {

class WaveGroups {
  public:
    WaveGroups(SaveFile& file, const SaveFileRequest& request)
        : file_(file), request_(request), ports_(array_ports(request.shape)) {}

    void add_all();

  private:
    /// First and last.
    using Range = std::pair<uint32_t, uint32_t>;

    // What is wrong, and what was expected.
    void wrong_net();
    void wrong_port();
    void wrong_pe();
    void neighbour_pes();
    void judged_pe(uint32_t r, uint32_t c, const std::string& title);
    void judged_lanes(const std::string& name, const std::string& rtl);
    void judged(const std::string& expected, const std::string& found, uint32_t bits,
                WaveFormat format, const std::string& title, bool wrong);

    // What was recorded.
    void pes();
    void pe(uint32_t r, uint32_t c);
    void pe_row(uint32_t r, uint32_t at, bool open);
    void pe_column(uint32_t c, uint32_t at, bool open);
    void rtl_ports();
    void port_lanes();
    void expected_ports();
    void nets();
    void top_signals();
    void model_unit(const std::string& name);

    WaveFormat number() const;
    uint32_t element_bits() const;
    /// Null: it is none.
    const ArrayPort* port(const std::string& name) const;
    uint32_t bits_of_signal(const std::string& name) const;
    WaveFormat format_of(const std::string& name) const;
    Range recorded(uint32_t at, uint32_t count) const;
    std::string place_of_net(const std::string& name) const;

    SaveFile& file_;
    const SaveFileRequest& request_;
    const std::vector<ArrayPort> ports_;
};

}  // namespace tandem::cosim
