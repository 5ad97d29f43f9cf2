// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "benchmarks/efficiency.h"
#include "benchmarks/list_baselines.h"
#include "benchmarks/plan/parts.h"
#include "benchmarks/plan/spread.h"
#include "benchmarks/study.h"

namespace tandem::benchmarks {
namespace {

constexpr uint64_t kSides[] = {128, 256, 512, 1024, 2048, 4096, 8192};
constexpr uint64_t kQuickSides[] = {128, 1024, 4096};
constexpr const char* kChips[] = {"tpu_v4", "tpu_v5e"};
constexpr double kLaunchSeconds = 1e-6;

struct Product {
    uint64_t m, k, n;
    double model = 0, napkin = 0;  ///< seconds
};

double napkin_seconds(const tables::Workload& work, const arch::ChipConfig& chip) {
    return kLaunchSeconds +
           2 * static_cast<double>(work.layers.front().macs()) / chip.peak_ops_per_second() +
           static_cast<double>(compulsory_bytes(work, chip)) /
               static_cast<double>(chip.memory.bytes_per_second);
}

std::vector<Product> measure_products(const Setup& setup, const arch::ChipConfig& chip) {
    std::vector<Product> products;
    const auto add_all = [&](const auto& sides) {
        for (const uint64_t m : sides)
            for (const uint64_t k : sides)
                for (const uint64_t n : sides) products.push_back({m, k, n});
    };
    setup.quick ? add_all(kQuickSides) : add_all(kSides);
    do_all(products.size(), setup.jobs, [&](size_t i) {
        Product& product = products[i];
        const tables::Workload work = gemm(product.m, product.k, product.n);
        product.model = run::time_list_apart(work, chip).seconds();
        product.napkin = napkin_seconds(work, chip);
    });
    return products;
}

/// Percent of the pairs that both order alike; a pair that either holds for equal is half of one.
double ordered_alike(const std::vector<Product>& products) {
    double alike = 0, pairs = 0;
    const auto order = [](double a, double b) { return a < b ? -1 : a > b ? 1 : 0; };
    for (size_t i = 0; i < products.size(); ++i)
        for (size_t j = 0; j < i; ++j, ++pairs) {
            const int model = order(products[i].model, products[j].model);
            const int napkin = order(products[i].napkin, products[j].napkin);
            alike += model == 0 || napkin == 0 ? 0.5 : model == napkin ? 1 : 0;
        }
    return 100 * alike / pairs;
}

}  // namespace

Part napkin_part(const Setup& setup) {
    Part part;
    part.text = fmt::format(
        "## A napkin beside the model\n\n`{:.0f} us + operations / peak + bytes / bandwidth`, "
        "every "
        "operand moved once, for products whose three sizes are from 128 to 8192{}. Pairs: two "
        "products of which both say alike which takes longer. Where model and napkin agree this "
        "far, a napkin is enough to order products.\n\n",
        kLaunchSeconds * 1e6, setup.quick ? " (reduced form: 128, 1024, 4096)" : ", powers of two");
    std::vector<Row> rows, squares;
    for (const arch::ChipConfig& chip : setup.chips) {
        if (std::ranges::find(kChips, chip.name) == std::end(kChips)) continue;
        const std::vector<Product> products = measure_products(setup, chip);
        std::vector<double> ratios;
        for (const Product& product : products) {
            ratios.push_back(product.model / product.napkin);
            if (product.m == product.k && product.k == product.n)
                squares.push_back({chip.name, fmt::format("{0}x{0}x{0}", product.m),
                                   fmt::format("{:.2f}", product.model * 1e6),
                                   fmt::format("{:.2f}", product.napkin * 1e6),
                                   fmt::format("{:.2f}", ratios.back())});
        }
        rows.push_back({chip.name, std::to_string(products.size()),
                        fmt::format("{:.1f}", ordered_alike(products)),
                        fmt::format("{:.2f}", quantile(ratios, 0)),
                        fmt::format("{:.2f}", quantile(ratios, 0.1)),
                        fmt::format("{:.2f}", quantile(ratios, 0.5)),
                        fmt::format("{:.2f}", quantile(ratios, 0.9)),
                        fmt::format("{:.2f}", quantile(ratios, 1))});
    }
    if (rows.empty()) return {};
    part.text +=
        table({"chip", "products", "pairs alike, %", "model over napkin: least", "10 %", "median",
               "90 %", "most"},
              rows) +
        table({"chip", "product", "model, us", "napkin, us", "model over napkin"}, squares);
    return part;
}

}  // namespace tandem::benchmarks
