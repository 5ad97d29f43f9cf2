// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/tpu_v1/derivation.h"

#include <algorithm>
#include <vector>

namespace tandem::tpu_v1 {
namespace {

double share(const PaperApplication& paper, Row row) { return paper.rows[row] / 100; }

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double weights(const PaperApplication& paper) { return paper.weights_millions * 1e6; }

double macs_of_batch(const PaperApplication& paper) {
    return weights(paper) * paper.macs_per_weight;
}

/// Weight tiles of a run: partly used ones count whole.
double tiles(const PaperApplication& paper) {
    return weights(paper) / kArrayMacs / (paper.rows[kUseful] / paper.rows[kActive]);
}

/// Row 1 over row 5: the rows that a tile multiplies, both passes of wide activations.
double rows_per_tile(const PaperApplication& paper) {
    return share(paper, kActive) * paper.cycles_per_tile();
}

double median_rows_per_tile() {
    std::vector<double> rows;
    for (const auto& paper : kPaper)
        if (paper.memory_bound()) rows.push_back(rows_per_tile(paper));
    return median(rows);
}

}  // namespace

SyncDerivation derive_sync_latency(const arch::ChipConfig& chip) {
    SyncDerivation d;
    std::vector<double> all;
    for (size_t i = 0; i < kApplications; ++i) {
        const auto& paper = kPaper[i];
        auto& own = d.applications[i];
        if (paper.memory_bound()) {
            own.tiles = tiles(paper);
            own.cycles = own.tiles * paper.cycles_per_tile();
        } else {
            own.cycles = macs_of_batch(paper) / kArrayMacs / share(paper, kUseful);
        }
        own.raw_per_layer = share(paper, kRaw) * own.cycles / paper.layers();
        all.push_back(own.raw_per_layer);
    }
    d.median = median(all);
    d.drain = chip.mxu.rows + chip.mxu.cols + 1.0;
    d.activation = median_rows_per_tile();
    d.sync_latency = d.median - d.drain - d.activation;
    return d;
}

std::array<TopsCheck, kApplications> check_tops() {
    std::array<TopsCheck, kApplications> checks{};
    for (size_t i = 0; i < kApplications; ++i) {
        const auto& paper = kPaper[i];
        checks[i].counters = share(paper, kUseful) * kPeakTops;
        checks[i].printed = paper.tops;
        checks[i].roof = roof_tops(paper.macs_per_weight);
        checks[i].active_per_tile = paper.memory_bound() ? rows_per_tile(paper) : 0;
    }
    return checks;
}

Cnn1Check check_cnn1() {
    const auto& paper = kPaper[kCnn1];
    Cnn1Check c{};
    const auto rate = [&](double cycles) { return paper.batch / (cycles / kClockHz); };
    c.tiles = weights(paper) / kArrayMacs;
    // A tile's rows run while the next one comes.
    c.wait_per_tile = kTileFetchCycles - kFcMacsPerWeightCnn1;
    c.most_wait = c.tiles * c.wait_per_tile;
    c.waiting_percent = paper.rows[kWeightStall] + paper.rows[kWeightShift];
    c.most_cycles = c.most_wait / (c.waiting_percent / 100);
    c.needed_macs = macs_of_batch(paper);
    c.needed_cycles = c.needed_macs / kArrayMacs / share(paper, kUseful);
    c.needed_fill = c.most_cycles / c.needed_cycles;
    c.rate_by_waiting = rate(c.most_cycles);
    c.rate_by_macs = rate(c.needed_cycles);
    c.rate_by_tops = paper.tops * 1e12 / 2 / (c.needed_macs / paper.batch);
    c.most_macs_per_weight = c.most_cycles * share(paper, kUseful) * kArrayMacs / weights(paper);
    return c;
}

RateCheck check_rate(size_t application) {
    const auto& paper = kPaper[application];
    RateCheck check{};
    check.printed = paper.inferences_per_second;
    check.by_tops = paper.tops * 1e12 / 2 / (macs_of_batch(paper) / paper.batch);
    if (paper.memory_bound())
        check.by_tiles = paper.batch / (tiles(paper) * paper.cycles_per_tile() / kClockHz);
    check.by_tops_with_host = with_host(check.by_tops, application);
    check.by_tiles_with_host = with_host(check.by_tiles, application);
    return check;
}

double with_host(double rate, size_t application) {
    return rate / (1 + kPaper[application].host_percent / 100);
}

}  // namespace tandem::tpu_v1
