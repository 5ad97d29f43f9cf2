// SPDX-License-Identifier: Apache-2.0
// Functional coverage in the terms of SystemVerilog's covergroups: a group is the cross of its
// points, and counts how often each combination of their bins was seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

namespace tandem::cosim {

struct CoverPoint {
    std::string name;
    std::vector<std::string> bins;
};

/// One combination of bins.
struct CoverCross {
    std::string name;  ///< "tile complete, beat refused"
    uint64_t hits = 0;
};

class CoverGroup {
  public:
    using Bins = std::vector<size_t>;  ///< one of each point, in order
    /// `possible`: whether a combination can happen; none: all can. One that happens all the same
    /// counts as possible.
    CoverGroup(std::string name, std::vector<CoverPoint> points,
               const std::function<bool(const Bins&)>& possible = {});

    void sample(std::initializer_list<size_t> bins);
    CoverGroup& operator+=(const CoverGroup& other);

    const std::string& name() const { return name_; }
    const std::vector<CoverPoint>& points() const { return points_; }
    /// All that can happen.
    std::vector<CoverCross> crosses() const;
    size_t size() const;     ///< number of crosses that can happen
    size_t covered() const;  ///< of them, those seen

  private:
    Bins bins_at(size_t index) const;

    std::string name_;
    std::vector<CoverPoint> points_;
    std::vector<uint64_t> hits_;  ///< the last point's bins are next to each other
    std::vector<bool> possible_;
};

}  // namespace tandem::cosim
