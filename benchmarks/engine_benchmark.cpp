// SPDX-License-Identifier: Apache-2.0
// How fast the three MAC array engines are: simulated multiply-accumulates and cycles per second
// for tlm, rtl and tandem, in turns within one process, median of several; tandem against rtl as
// the ratio of neighbouring turns. Writes JSON to stdout, a table to stderr.
//
//   engine_benchmark [SIZE ...]     default: 16 128 256
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "cosim/rtl_mxu_engine.h"
#include "cosim/tandem_engine.h"
#include "engine/tlm_mxu_engine.h"
#include "run/arrays.h"

namespace {

using namespace tandem;

constexpr int kTurns = 7;
constexpr uint64_t kSeed = 1;

/// A steady stream: every tile is used for `rows` random activation rows, which are then read back.
struct Load {
    uint32_t rows;
    std::vector<int8_t> tile, activations;
    Load(uint32_t size, uint32_t rows_per_tile)
        : rows(rows_per_tile),
          tile(size_t{size} * size),
          activations(size_t{rows_per_tile} * size) {
        std::mt19937_64 random(kSeed);
        for (auto& value : tile) value = static_cast<int8_t>(random());
        for (auto& value : activations) value = static_cast<int8_t>(random());
    }
};

/// Runs `blocks` matmuls and returns the seconds they took.
double run(engine::MxuEngine& engine, const Load& load, uint32_t blocks, engine::Cycle& now,
           uint64_t& id) {
    const auto start = std::chrono::steady_clock::now();
    for (uint32_t block = 0; block < blocks; ++block, ++id) {
        const uint32_t half = static_cast<uint32_t>(id % 2) * load.rows;
        engine.push_weights({id, now + 1, std::as_bytes(std::span(load.tile))});
        engine.push_rows({id, now + 1, load.rows, engine.shape().rows, half, true, block % 2 == 1,
                          std::as_bytes(std::span(load.activations))});
        if (block != 0) engine.push_read({id, now + 1, load.rows - half, load.rows, 1});
        while (engine.busy())
            if (const auto event = engine.advance(now + 100000)) now = event->cycle;
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

nlohmann::json measure(uint32_t size) {
    const uint32_t rows = 1024;
    const engine::MxuShape shape{size, size, 2 * rows};
    const auto library = run::load_array(shape).library;
    cosim::TandemOptions options;  // with checkpoints, as in a run
    engine::TlmMxuEngine tlm(shape);
    cosim::RtlMxuEngine rtl(shape, library);
    cosim::TandemEngine tandem(shape, library, options);
    const Load load(size, rows);
    std::map<std::string, std::vector<double>> seconds, cycles;
    std::vector<double> ratios;
    const uint32_t blocks = std::max(2u, 1000000u / (size * size) * (size < 64 ? 1 : 2));
    std::map<std::string, std::pair<engine::Cycle, uint64_t>> state;
    for (int turn = 0; turn <= kTurns; ++turn) {
        for (engine::MxuEngine* engine :
             std::initializer_list<engine::MxuEngine*>{&tlm, &rtl, &tandem}) {
            auto& [now, id] = state[std::string(engine->name())];
            const engine::Cycle before = now;
            const double taken = run(*engine, load, blocks, now, id);
            if (turn == 0) continue;  // warm-up
            seconds[std::string(engine->name())].push_back(taken);
            cycles[std::string(engine->name())].push_back(static_cast<double>(now - before));
        }
        if (turn != 0) ratios.push_back(seconds["tandem"].back() / seconds["rtl"].back());
    }
    if (tandem.divergence()) throw std::runtime_error("model and RTL part");
    nlohmann::json out = {{"size", size},
                          {"rows_per_tile", rows},
                          {"tiles", blocks},
                          {"turns", kTurns},
                          {"seed", kSeed}};
    const double macs = static_cast<double>(blocks) * rows * size * size;
    for (const char* name : {"tlm", "rtl", "tandem"}) {
        const double taken = median(seconds[name]);
        out[name] = {
            {"gmac_per_second", macs / taken / 1e9},
            {"kcycles_per_second", median(cycles[name]) / taken / 1e3},
            {"seconds_min", *std::min_element(seconds[name].begin(), seconds[name].end())},
            {"seconds_median", taken},
            {"seconds_max", *std::max_element(seconds[name].begin(), seconds[name].end())}};
    }
    out["tandem_over_rtl"] = {{"min", *std::min_element(ratios.begin(), ratios.end())},
                              {"median", median(ratios)},
                              {"max", *std::max_element(ratios.begin(), ratios.end())}};
    fmt::print(
        stderr,
        "{0}x{0}: tlm {1:.1f} GMAC/s, rtl {2:.2f} GMAC/s ({3:.0f} kcycles/s), tandem {4:.2f} "
        "GMAC/s, tandem/rtl {5:.3f} ({6:.3f} to {7:.3f})\n",
        size, out["tlm"]["gmac_per_second"].get<double>(),
        out["rtl"]["gmac_per_second"].get<double>(), out["rtl"]["kcycles_per_second"].get<double>(),
        out["tandem"]["gmac_per_second"].get<double>(),
        out["tandem_over_rtl"]["median"].get<double>(), out["tandem_over_rtl"]["min"].get<double>(),
        out["tandem_over_rtl"]["max"].get<double>());
    return out;
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<uint32_t> sizes;
    for (int i = 1; i < argc; ++i) sizes.push_back(static_cast<uint32_t>(std::stoul(argv[i])));
    if (sizes.empty()) sizes = {16, 128, 256};
    nlohmann::json out = nlohmann::json::array();
    for (const uint32_t size : sizes) out.push_back(measure(size));
    fmt::print("{}\n", out.dump(2));
    return 0;
}
