// SPDX-License-Identifier: Apache-2.0
// Contenders that take turns, and what came of them.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tandem::benchmarks {

/// Wall seconds.
double seconds_of(const std::function<void()>& work);
/// Throws std::runtime_error unless `same`.
void require(bool same, const std::string& name);

/// One of those that take turns.
struct Contender {
    std::string name;
    std::function<double()> turn;      ///< wall seconds of one product
    std::function<void()> check;       ///< throws if the last result is wrong
    std::vector<std::string> against;  ///< ratios are told to the best of these
    std::vector<double> seconds{};
};

class Contest {
  public:
    /// Products are size x size x size.
    explicit Contest(uint32_t size);
    void add(Contender contender) { contenders_.push_back(std::move(contender)); }
    /// One turn more than `turns`: the first is a warm-up, and its results are checked.
    void run(int turns);
    /// Prints a line for each on stderr, too.
    nlohmann::json report() const;

  private:
    nlohmann::json report(const Contender& contender) const;
    const Contender* best_of(const std::vector<std::string>& names) const;

    double macs_;
    std::vector<Contender> contenders_;
};

}  // namespace tandem::benchmarks
