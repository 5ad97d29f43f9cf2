// SPDX-License-Identifier: Apache-2.0
// What Jouppi et al., In-Datacenter Performance Analysis of a Tensor Processing Unit, ISCA 2017
// (arXiv:1704.04760), print of their six applications. Nothing here is ours.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tandem::tpu_v1 {

/// Table 3, rows 1 to 8: percent of the cycles.
using Rows = std::array<double, 8>;

/// Rows of Table 3 by their place in Rows.
enum Row : size_t {
    kActive,       ///< 1: array active
    kUseful,       ///< 2: useful MACs, percent of peak
    kUnused,       ///< 3: unused MACs; rows 2 and 3 make row 1
    kWeightStall,  ///< 4
    kWeightShift,  ///< 5
    kNonMatrix,    ///< 6; rows 1, 4, 5, 6 make 100
    kRaw,          ///< 7: RAW stalls; overlaps other rows
    kInput         ///< 8: input data stalls; overlaps other rows
};

inline constexpr std::array<Row, 4> kCompared = {kActive, kWeightStall, kWeightShift, kNonMatrix};
inline constexpr std::array<const char*, 8> kRowNames = {
    "array active", "useful MACs", "unused MACs", "weight stall",
    "weight shift", "non-matrix",  "RAW stalls",  "input data stalls"};

struct PaperApplication {
    const char* name;
    const char* file;  ///< ours, of the same application
    // Table 1
    uint32_t fc, conv, vector, pool;
    double weights_millions, macs_per_weight;
    uint32_t batch;
    // Table 3
    Rows rows;
    double tops;
    double host_percent;           ///< Table 5: host interaction, percent of TPU time
    double buffer_mib;             ///< Table 8: unified buffer in use
    double inferences_per_second;  ///< Table 4 and text; 0: not printed

    uint32_t layers() const { return fc + conv + vector + pool; }
    /// Every tile shifts in for 256 cycles. Only where shifts are not hidden (not the CNNs).
    double cycles_per_tile() const { return 256 / (rows[kWeightShift] / 100); }
    bool memory_bound() const { return conv == 0; }
};

inline constexpr size_t kApplications = 6;
/// Places in kPaper.
inline constexpr size_t kMlp0 = 0, kMlp1 = 1, kLstm0 = 2, kLstm1 = 3, kCnn0 = 4, kCnn1 = 5;
inline constexpr std::array<PaperApplication, kApplications> kPaper = {{
    {"MLP0",
     "mlp0.yaml",
     5,
     0,
     0,
     0,
     20,
     200,
     200,
     {12.7, 12.5, 0.3, 53.9, 15.9, 17.5, 3.3, 6.1},
     12.3,
     21,
     11.0,
     225000},
    {"MLP1",
     "mlp1.yaml",
     4,
     0,
     0,
     0,
     5,
     168,
     168,
     {10.6, 9.4, 1.2, 44.2, 13.4, 31.9, 8.4, 8.8},
     9.7,
     76,
     2.3,
     360000},
    {"LSTM0",
     "lstm0.yaml",
     24,
     0,
     34,
     0,
     52,
     64,
     64,
     {8.2, 8.2, 0, 58.1, 15.8, 17.9, 14.6, 5.1},
     3.7,
     11,
     4.8,
     0},
    {"LSTM1",
     "lstm1.yaml",
     37,
     0,
     19,
     0,
     34,
     96,
     96,
     {10.5, 6.3, 4.2, 62.1, 17.1, 10.3, 10.6, 2.4},
     2.8,
     20,
     4.5,
     0},
    {"CNN0",
     "cnn0.yaml",
     0,
     16,
     0,
     0,
     8,
     2888,
     8,
     {78.2, 78.2, 0, 0, 0, 21.8, 3.5, 3.4},
     86.0,
     51,
     1.5,
     0},
    {"CNN1",
     "cnn1.yaml",
     4,
     72,
     0,
     13,
     100,
     1750,
     32,
     {46.2, 22.5, 23.7, 28.1, 7.0, 18.7, 22.8, 0.6},
     14.1,
     14,
     13.9,
     4700},
}};

// Figures of the chip where neither the application files nor the chip file come into play.
inline constexpr double kClockHz = 700e6;
inline constexpr double kMemoryBytesPerSecond = 34e9;
inline constexpr double kArrayMacs = 256 * 256;  ///< also the bytes of a weight tile
inline constexpr double kRidgeMacsPerByte = 1350;
inline constexpr double kPeakTops = 2 * kArrayMacs * kClockHz / 1e12;
inline constexpr double kFcMacsPerWeightCnn1 = 32;  ///< text: of CNN1's fully connected layers

/// Cycles in which the memory delivers a tile.
inline constexpr double kTileFetchCycles = kArrayMacs / kMemoryBytesPerSecond * kClockHz;

/// The memory's roof in TOPS.
inline constexpr double memory_roof_tops(double macs_per_byte) {
    return 2 * macs_per_byte * kMemoryBytesPerSecond / 1e12;
}
inline constexpr double roof_tops(double macs_per_byte) {
    return memory_roof_tops(macs_per_byte) < kPeakTops ? memory_roof_tops(macs_per_byte)
                                                       : kPeakTops;
}

}  // namespace tandem::tpu_v1
