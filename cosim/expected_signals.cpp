// SPDX-License-Identifier: Apache-2.0
#include "cosim/expected_signals.h"

#include <algorithm>

namespace tandem::cosim {

void ExpectedSignals::add(const std::string& scope, const std::string& name, uint32_t bits,
                          Moment moment) {
    if (has(scope, name)) return;
    Signal& signal =
        signals_.emplace_back(Signal{scope, name, name + "_known", bits, moment, {}, 0});
    signal.words.resize((bits + 31) / 32);
    by_name_[scope + "." + name] = &signal;
}

ExpectedSignals::Signal* ExpectedSignals::find(const std::string& scope, const std::string& name) {
    const auto at = by_name_.find(scope + "." + name);
    return at == by_name_.end() ? nullptr : at->second;
}

bool ExpectedSignals::has(const std::string& scope, const std::string& name) const {
    return by_name_.contains(scope + "." + name);
}

void ExpectedSignals::begin(Moment moment) {
    for (Signal& signal : signals_)
        if (signal.moment == moment) signal.known = 0;
}

void ExpectedSignals::set(const std::string& scope, const std::string& name, uint32_t first,
                          uint32_t bits, uint64_t value) {
    Signal* const signal = find(scope, name);
    if (signal == nullptr || first + bits > signal->bits) return;
    for (uint32_t i = 0; i < bits; ++i) {
        uint32_t& word = signal->words[(first + i) / 32];
        const uint32_t mask = 1u << ((first + i) % 32);
        word = (value >> i & 1) != 0 ? word | mask : word & ~mask;
    }
    signal->known = 1;
}

void ExpectedSignals::set_row(const std::string& scope, const std::string& name,
                              std::span<const int32_t> row) {
    Signal* const signal = find(scope, name);
    if (signal == nullptr || row.empty()) return;
    std::copy_n(row.begin(), std::min(row.size(), signal->words.size()), signal->words.begin());
    signal->known = 1;
}

std::vector<TandemProbe> ExpectedSignals::list() const {
    std::vector<TandemProbe> probes;
    for (const Signal& signal : signals_) {
        probes.push_back(
            {signal.scope.c_str(), signal.name.c_str(), signal.words.data(), signal.bits});
        probes.push_back({signal.scope.c_str(), signal.known_name.c_str(), &signal.known, 1});
    }
    return probes;
}

}  // namespace tandem::cosim
