// SPDX-License-Identifier: Apache-2.0
// How fast matrix products are: libraries, our kernels alone, and whole runs of chips with a
// transaction-level array, from the first instruction of the program to its end. Turns alternate
// within one process on one core; ratios are those of neighbouring turns. Every result is compared
// with plain loops once. Writes JSON to stdout, a table to stderr.
//
//   gemm_benchmark [SIZE] [TURNS]     default: 1024 9
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <nlohmann/json.hpp>

#include "benchmarks/gemm/contenders.h"
#include "benchmarks/gemm/gemm_chips.h"
#include "run/paths.h"

namespace {

using namespace tandem;
using namespace tandem::benchmarks;

/// The chips of this table: a name and a configuration.
std::vector<std::pair<std::string, arch::ChipConfig>> chips() {
    const auto v1 = arch::find_chip("tpu_v1", run::chips_dir());
    auto bf16_256 = v1;
    bf16_256.mxu.dtype = arch::Dtype::kBf16;
    auto bf16_128 = bf16_256;
    bf16_128.mxu.rows = bf16_128.mxu.cols = 128;
    std::vector<std::pair<std::string, arch::ChipConfig>> list = {
        {"chip tpu_v1", v1},
        {"chip tpu_v1 with bf16", bf16_256},
        {"chip tpu_v1 with bf16 128x128", bf16_128}};
    const auto names = arch::shipped_chips(run::chips_dir());
    if (std::ranges::find(names, "tpu_v2") != names.end())
        list.emplace_back("chip tpu_v2", arch::find_chip("tpu_v2", run::chips_dir()));
    else
        fmt::print(stderr, "tpu_v2: no such chip, left out\n");
    return list;
}

void add_chips(Contest& contest, GemmChips& benches, uint32_t size) {
    for (const auto& [name, config] : chips()) {
        const auto product =
            std::make_shared<jobs::GemmProduct>(jobs::make_gemm({size, size, size}, config, kSeed));
        const size_t number = benches.add(config, *product);
        const bool bf16 = config.mxu.dtype == arch::Dtype::kBf16;
        const auto check = [&benches, number, product, name = name] {
            require(std::ranges::equal(benches.outputs(number), jobs::plain_product(*product)),
                    name);
        };
        contest.add({name, [&benches, number] { return benches.turn(number); }, check,
                     bf16 ? kSgemm : kInt8Library});
    }
}

int benchmark(uint32_t size, int turns) {
    nlohmann::json out = {{"size", size}, {"turns", turns}, {"seed", kSeed}};
    out["libraries"] = environment();
    Int8Matrices int8 = int8_matrices(size);
    FloatMatrices floats = float_matrices(size);
    GemmChips benches;
    Contest contest(size);
    add_int8_library(contest, int8);
    add_int8_kernel(contest, int8);
    add_float_libraries(contest, floats);
    add_bf16_kernel(contest, floats);
    add_chips(contest, benches, size);
    benches.run([&] { contest.run(turns); });
    out["products"] = contest.report();
    fmt::print("{}\n", out.dump(2));
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        if (probe(argc, argv)) return 0;
        if (argc > 3 || (argc > 1 && std::isdigit(static_cast<unsigned char>(argv[1][0])) == 0)) {
            fmt::print(
                "gemm_benchmark [SIZE [TURNS]]: products of SIZE^3 (1024) against oneDNN and "
                "OpenBLAS, TURNS (9) turns; JSON on stdout, a table on stderr\n");
            return argc == 2 && std::strcmp(argv[1], "--help") == 0 ? 0 : 2;
        }
        pin(argv);
        return benchmark(argc > 1 ? static_cast<uint32_t>(std::stoul(argv[1])) : 1024,
                         argc > 2 ? std::stoi(argv[2]) : 9);
    } catch (const std::exception& error) {
        fmt::print(stderr, "gemm_benchmark: {}\n", error.what());
        return 1;
    }
}
