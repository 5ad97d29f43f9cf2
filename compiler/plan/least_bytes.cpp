// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/least_bytes.h"

#include <algorithm>
#include <cmath>

namespace tandem::compiler {

namespace {

/// Lengths of a window, in passes over the K tiles, of which the one that bounds most is taken.
constexpr double kWindows[] = {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 48, 64, 128, 256};

/// A tile stays in each array between two repetitions.
double weight_fetches(const LeastBytesRequest& r) {
    const double once = r.tiles + (r.repeat - 1) * std::max(0.0, r.tiles - r.arrays);
    const double sums = r.repeat * r.rows * r.sums / static_cast<double>(r.accumulator_rows);
    return std::max(once, sums == 0 ? 0 : 1 + std::ceil(sums));
}

}  // namespace

double bytes_of_repetitions(double bytes, double repeat, double buffers) {
    return bytes + (repeat - 1) * std::max(0.0, bytes - buffers);
}

LeastBytes least_bytes(const LeastBytesRequest& r) {
    const double buffers = static_cast<double>(r.buffer_bytes) * r.cores;
    const double loads = weight_fetches(r);
    LeastBytes least{loads, loads, bytes_of_repetitions(r.input_bytes, r.repeat, buffers)};
    if (r.row_bytes == 0 || r.input_bytes == 0 || r.repeat != 1) return least;

    // In a window of `length` fetches of a core rows that were there at its beginning or came in it
    // can be worked on from end to end, by each of its tiles; all other work is on sums that are
    // live at one of its ends: a * fetches + b * input >= work.
    const double in_buffer = static_cast<double>(r.buffer_bytes) / r.row_bytes;
    const double arrays = static_cast<double>(r.arrays) / r.cores;
    const double live =
        r.k_tiles == 1 ? 0 : static_cast<double>(r.accumulator_rows) * arrays * r.k_tiles;
    const double work = r.rows * r.tiles - r.cores * (arrays - 1) * in_buffer;
    const LeastBytes alone = least;
    const auto bytes = [&](const LeastBytes& l) {
        return l.fetches * static_cast<double>(r.tile_bytes) + l.input;
    };
    for (const double passes : kWindows) {
        const double length = std::ceil(passes * r.k_tiles);
        const double a = in_buffer * (1 + (arrays - 1) / length) + live / length;
        const double b = (length + arrays - 1) / r.row_bytes;
        const double missing = work - a * alone.fetches - b * alone.input;
        if (missing <= 0) continue;
        LeastBytes traded = alone;
        if (static_cast<double>(r.tile_bytes) / a < 1 / b)
            traded.fetches += missing / a;
        else
            traded.input += missing / b;
        if (bytes(traded) > bytes(least)) least = traded;
    }
    return least;
}

}  // namespace tandem::compiler
