// SPDX-License-Identifier: Apache-2.0
// What the paper's own figures say when they are put together. Nothing of our model enters here,
// but for the two latencies that the chip file's sync_latency leaves to it.
#pragma once

#include <array>

#include "arch/chip_config.h"
#include "benchmarks/tpu_v1/paper_figures.h"

namespace tandem::tpu_v1 {

/// Row 7 of Table 3 as cycles per layer: what one dependency between layers costs.
struct SyncDerivation {
    struct Application {
        double tiles = 0;   ///< of one run; 0: cycles are not from tiles
        double cycles = 0;  ///< of one run
        double raw_per_layer = 0;
    };
    std::array<Application, kApplications> applications;
    double median = 0;
    double drain = 0;       ///< the model's own: the array empties
    double activation = 0;  ///< the model's own: a block of rows is stored
    double sync_latency = 0;
};
SyncDerivation derive_sync_latency(const arch::ChipConfig& chip);

/// TOPS that row 2 of Table 3 makes, and what else is printed of the same application.
struct TopsCheck {
    double counters, printed, roof;
    double active_per_tile;  ///< row 1 over row 5, in cycles
};
std::array<TopsCheck, kApplications> check_tops();

/// CNN1: what follows from 1750 MACs for each of 100 M weights, and from the waiting.
struct Cnn1Check {
    double tiles;                 ///< 100 M weights, full tiles
    double wait_per_tile;         ///< at most, in the fully connected layers
    double most_wait;             ///< cycles of a batch
    double waiting_percent;       ///< rows 4 and 5
    double most_cycles;           ///< of a batch, by the waiting
    double needed_macs;           ///< of a batch, by Table 1
    double needed_cycles;         ///< the same at row 2
    double needed_fill;           ///< of the tiles, for both to hold
    double rate_by_waiting;       ///< inferences per second, at least
    double rate_by_macs;          ///< by needed_cycles
    double rate_by_tops;          ///< by row 9
    double most_macs_per_weight;  ///< by most_cycles and row 2
};
Cnn1Check check_cnn1();

/// Inferences per second in three ways; host time by Table 5.
struct RateCheck {
    double by_tops;   ///< row 9 and Table 1
    double by_tiles;  ///< row 5 and Table 1
    double by_tops_with_host, by_tiles_with_host;
    double printed;
};
RateCheck check_rate(size_t application);

double with_host(double rate, size_t application);

}  // namespace tandem::tpu_v1
