// SPDX-License-Identifier: Apache-2.0
// bf16 product, fp32 sum and sum of four: the C++ functions and the RTL's against MPFR, in one loop
// over seeded operands; or a whole array, with --rtl or a size. Prints what was tried; exit status
// 1 at a mismatch, 2 at a mistake of the user.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "arch/bf16.h"
#include "base/error.h"
#include "testbench/numerics/array_pairs.h"
#include "testbench/numerics/bf16_probe.h"
#include "testbench/numerics/mpfr_oracle.h"
#include "testbench/numerics/operands.h"

namespace tandem::testbench {
namespace {

constexpr uint64_t kQuadInterval = 4;  ///< one group of four per so many pairs
constexpr uint64_t kShownMismatches = 10;

/// Kinds of result, by the oracle: a run that misses one has not tried enough.
enum Outcome { kExact, kRounded, kZero, kNegativeZero, kInfinite, kNotANumber, kOutcomes };
constexpr const char* kOutcomeNames[] = {"exact",         "rounded",  "zero",
                                         "negative zero", "infinity", "NaN"};

Outcome outcome(uint32_t bits, bool inexact) {
    if (bits == MpfrOracle::kNan) return kNotANumber;
    if ((bits & 0x7fffffff) == 0x7f800000) return kInfinite;
    if ((bits & 0x7fffffff) == 0) return bits != 0 ? kNegativeZero : kZero;
    return inexact ? kRounded : kExact;
}

/// One of product, sum, sum4: what was tried and what went wrong.
struct Tally {
    const char* function;
    const std::vector<OperandClass>* classes;
    std::vector<uint64_t> per_class = std::vector<uint64_t>(classes->size());
    uint64_t outcomes[kOutcomes] = {};
    std::map<std::string, uint64_t> mismatches = {};  ///< per implementation

    uint64_t total() const {
        uint64_t sum = 0;
        for (const uint64_t count : per_class) sum += count;
        return sum;
    }
    uint64_t mismatch_count() const {
        uint64_t sum = 0;
        for (const auto& [name, count] : mismatches) sum += count;
        return sum;
    }
};

class Judge {
  public:
    explicit Judge(uint64_t seed) : product_operands_(seed), sum_operands_(seed), quads_(seed) {}

    void run(uint64_t pairs) {
        for (uint64_t n = 0; n < pairs; ++n) {
            const std::size_t product_class = product_operands_.class_of(n);
            const std::size_t sum_class = sum_operands_.class_of(n);
            const Bf16Pair p = product_operands_.make(product_class);
            const Fp32Pair s = sum_operands_.make(sum_class);
            const bool with_quad = n % kQuadInterval == 0;
            std::size_t quad_class = 0;
            Fp32Group q{};
            if (with_quad) {
                quad_class = quads_.class_of(n / kQuadInterval);
                q = quads_.make(quad_class);
            }

            const Bf16Probe::Inputs in{p.a, p.b, s.a, s.b, with_quad ? &q : nullptr};
            const Bf16Probe::Outputs simulated = simulation_->evaluate(in);
            const Bf16Probe::Outputs synthesised = synthesis_->evaluate(in);

            const uint32_t product = oracle_.product(p.a, p.b);
            count(product_, product_class, product);
            const auto product_operands = [&] { return std::vector<uint32_t>{p.a, p.b}; };
            compare(product_, product_class, "arch/bf16.h", bf16::product(p.a, p.b), product,
                    product_operands);
            compare(product_, product_class, "RTL", simulated.product, product, product_operands);
            compare(product_, product_class, "RTL (synthesis)", synthesised.product, product,
                    product_operands);

            const uint32_t sum = oracle_.sum(s.a, s.b);
            count(sum_, sum_class, sum);
            const auto sum_operands = [&] { return std::vector<uint32_t>{s.a, s.b}; };
            compare(sum_, sum_class, "arch/bf16.h", bf16::sum(s.a, s.b), sum, sum_operands);
            compare(sum_, sum_class, "RTL", simulated.sum, sum, sum_operands);
            compare(sum_, sum_class, "RTL (synthesis)", synthesised.sum, sum, sum_operands);

            if (!with_quad) continue;
            const uint32_t sum4 = oracle_.sum4(q[0], q[1], q[2], q[3]);
            count(sum4_, quad_class, sum4);
            const auto quad = [&] { return std::vector<uint32_t>(q.begin(), q.end()); };
            compare(sum4_, quad_class, "arch/bf16.h", bf16::sum4(q), sum4, quad);
            compare(sum4_, quad_class, "RTL", simulated.sum4, sum4, quad);
            compare(sum4_, quad_class, "RTL (synthesis)", synthesised.sum4, sum4, quad);
        }
    }

    const std::vector<const Tally*> tallies() const { return {&product_, &sum_, &sum4_}; }

  private:
    void count(Tally& tally, std::size_t class_index, uint32_t expected) {
        ++tally.per_class[class_index];
        ++tally.outcomes[outcome(expected, oracle_.inexact())];
    }

    template <typename Operands>
    void compare(Tally& tally, std::size_t class_index, const char* implementation, uint32_t got,
                 uint32_t expected, Operands operands) {
        if (got == expected) return;
        const uint64_t count = ++tally.mismatches[implementation];
        if (count > kShownMismatches) return;
        std::string text;
        char word[16];
        for (const uint32_t operand : operands()) {
            std::snprintf(word, sizeof word, &tally == &product_ ? "%04x" : "%08x", operand);
            text += (text.empty() ? "" : ", ") + std::string(word);
        }
        std::printf("MISMATCH %s: %s(%s) = %08x, expected %08x [%s]\n", implementation,
                    tally.function, text.c_str(), got, expected,
                    (*tally.classes)[class_index].name.c_str());
        if (count == kShownMismatches)
            std::printf("further mismatches of %s in %s are only counted\n", implementation,
                        tally.function);
    }

    MpfrOracle oracle_;
    std::unique_ptr<Bf16Probe> simulation_ = make_simulation_probe();
    std::unique_ptr<Bf16Probe> synthesis_ = make_synthesis_probe();
    ProductOperands product_operands_;
    SumOperands sum_operands_;
    Sum4Operands quads_;
    Tally product_{"product", &product_operands_.classes()};
    Tally sum_{"sum", &sum_operands_.classes()};
    Tally sum4_{"sum4", &quads_.classes()};
};

/// Crosses are summed up by their first operand.
void print(const Tally& tally) {
    std::printf("%s: %llu, mismatches %llu\n", tally.function,
                static_cast<unsigned long long>(tally.total()),
                static_cast<unsigned long long>(tally.mismatch_count()));
    std::vector<std::pair<std::string, uint64_t>> lines;
    std::map<Corner, std::size_t> first;
    for (std::size_t i = 0; i < tally.classes->size(); ++i) {
        const OperandClass& kind = (*tally.classes)[i];
        if (kind.relation != 0) {
            lines.emplace_back(kind.name, tally.per_class[i]);
            continue;
        }
        const auto [at, added] = first.try_emplace(kind.corners[0], lines.size());
        if (added) lines.emplace_back(std::string(to_string(kind.corners[0])) + " x any", 0);
        lines[at->second].second += tally.per_class[i];
    }
    for (const auto& [name, count] : lines)
        std::printf("    %-32s %12llu\n", name.c_str(), static_cast<unsigned long long>(count));
    std::printf("    results:");
    for (unsigned i = 0; i < kOutcomes; ++i)
        std::printf(" %s %llu%s", kOutcomeNames[i],
                    static_cast<unsigned long long>(tally.outcomes[i]),
                    i + 1 < kOutcomes ? "," : "\n");
}

nlohmann::ordered_json report(const Tally& tally) {
    nlohmann::ordered_json json;
    json["operands"] = tally.total();
    json["mismatches"] = tally.mismatch_count();
    json["mismatches_by_implementation"] = tally.mismatches;
    for (std::size_t i = 0; i < tally.classes->size(); ++i)
        json["classes"][(*tally.classes)[i].name] = tally.per_class[i];
    for (unsigned i = 0; i < kOutcomes; ++i) json["results"][kOutcomeNames[i]] = tally.outcomes[i];
    return json;
}

int run(int argc, char** argv) {
    double pairs = 2e6;
    uint64_t seed = 0;
    std::string json_file;
    CLI::App app("bf16 arithmetic in C++ and RTL against MPFR");
    app.add_option("--pairs", pairs, "operand pairs for product and for sum; 1e8 is understood")
        ->envname("TANDEM_PAIRS")
        ->check(CLI::Range(1.0, 1e15))
        ->capture_default_str();
    app.add_option("--seed", seed, "of the operands")->capture_default_str();
    app.add_option("--json", json_file, "writes the figures to this file");
    ArrayPairs array;
    array.add_options(app);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    const auto count = static_cast<uint64_t>(std::llround(pairs));
    if (array.asked()) return array.run(count, seed, json_file);

    std::printf("seed %llu, %llu pairs\n", static_cast<unsigned long long>(seed),
                static_cast<unsigned long long>(count));
    const auto start = std::chrono::steady_clock::now();
    Judge judge(seed);
    judge.run(count);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

    uint64_t mismatches = 0;
    bool complete = true;
    nlohmann::ordered_json json;
    json["seed"] = seed;
    json["pairs"] = count;
    json["implementations"] = {"arch/bf16.h", "RTL", "RTL (synthesis)"};
    for (const Tally* tally : judge.tallies()) {
        print(*tally);
        json["functions"][tally->function] = report(*tally);
        mismatches += tally->mismatch_count();
        // Every class and every kind of result must have been there, once the run is long enough.
        if (tally->total() < 10 * tally->classes->size()) continue;
        for (std::size_t i = 0; i < tally->classes->size(); ++i)
            if (tally->per_class[i] == 0) {
                std::printf("class not tried: %s\n", (*tally->classes)[i].name.c_str());
                complete = false;
            }
        for (unsigned i = 0; i < kOutcomes; ++i)
            if (tally->outcomes[i] == 0 && !(i == kRounded && tally == judge.tallies()[0])) {
                std::printf("%s: no result was %s\n", tally->function, kOutcomeNames[i]);
                complete = false;
            }
    }
    json["mismatches"] = mismatches;
    json["seconds"] = seconds;
    std::printf("mismatches %llu, %.1f s\n", static_cast<unsigned long long>(mismatches), seconds);
    if (!json_file.empty()) {
        std::ofstream out(json_file);
        out << json.dump(2) << '\n';
        if (!out.flush()) {
            std::fprintf(stderr, "cannot write %s\n", json_file.c_str());
            return 2;
        }
    }
    return mismatches == 0 && complete ? 0 : 1;
}

}  // namespace
}  // namespace tandem::testbench

int main(int argc, char** argv) {
    try {
        return tandem::testbench::run(argc, argv);
    } catch (const tandem::UserError& error) {
        std::fprintf(stderr, "bf16_pairs: %s\n", error.what());
        return 2;
    }
}
