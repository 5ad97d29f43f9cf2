// SPDX-License-Identifier: Apache-2.0
#include "cosim/cover_group.h"

#include <algorithm>
#include <utility>

namespace tandem::cosim {

CoverGroup::CoverGroup(std::string name, std::vector<CoverPoint> points,
                       const std::function<bool(const Bins&)>& possible)
    : name_(std::move(name)), points_(std::move(points)) {
    size_t count = 1;
    for (const CoverPoint& point : points_) count *= point.bins.size();
    hits_.resize(count);
    for (size_t i = 0; i < count; ++i) possible_.push_back(!possible || possible(bins_at(i)));
}

CoverGroup::Bins CoverGroup::bins_at(size_t index) const {
    Bins bins(points_.size());
    for (size_t p = points_.size(); p-- != 0; index /= points_[p].bins.size())
        bins[p] = index % points_[p].bins.size();
    return bins;
}

void CoverGroup::sample(std::initializer_list<size_t> bins) {
    size_t index = 0;
    for (size_t p = 0; p < points_.size(); ++p)
        index = index * points_[p].bins.size() + bins.begin()[p];
    ++hits_[index];
}

CoverGroup& CoverGroup::operator+=(const CoverGroup& other) {
    for (size_t i = 0; i < hits_.size(); ++i) hits_[i] += other.hits_[i];
    return *this;
}

std::vector<CoverCross> CoverGroup::crosses() const {
    std::vector<CoverCross> all;
    for (size_t i = 0; i < hits_.size(); ++i) {
        if (!possible_[i] && hits_[i] == 0) continue;
        CoverCross cross{"", hits_[i]};
        const Bins bins = bins_at(i);
        for (size_t p = 0; p < points_.size(); ++p)
            cross.name += (p == 0 ? "" : ", ") + points_[p].name + " " + points_[p].bins[bins[p]];
        all.push_back(std::move(cross));
    }
    return all;
}

size_t CoverGroup::size() const { return crosses().size(); }

size_t CoverGroup::covered() const {
    return static_cast<size_t>(
        std::ranges::count_if(hits_, [](uint64_t hits) { return hits != 0; }));
}

}  // namespace tandem::cosim
