// SPDX-License-Identifier: Apache-2.0
// How fast matrix products are: libraries, our kernels alone, and whole runs of chips with a
// transaction-level array, from the first instruction of the program to its end. Turns alternate
// within one process on one core; ratios are those of neighbouring turns. Every result is compared
// with plain loops once. Writes JSON to stdout, a table to stderr.
//
//   gemm_benchmark [SIZE] [TURNS]     default: 1024 9
#include <fmt/format.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "arch/bf16.h"
#include "base/error.h"
#include "benchmarks/gemm_chips.h"
#include "engine/gemm_bf16.h"
#include "engine/gemm_int8.h"
#include "run/paths.h"

#if TANDEM_ONEDNN
#include <dnnl.h>
#endif
#if TANDEM_OPENBLAS
#include <cblas.h>
extern "C" char* openblas_get_corename();
#endif

namespace {

using namespace tandem;

constexpr uint64_t kSeed = 1;
constexpr uint32_t kTile = 256;  ///< of the kernels alone: rows and columns of tpu_v1's array

double seconds_of(const std::function<void()>& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

nlohmann::json spread(const std::vector<double>& values) {
    return {{"min", *std::min_element(values.begin(), values.end())},
            {"median", median(values)},
            {"max", *std::max_element(values.begin(), values.end())}};
}

void require(bool same, const std::string& name) {
    if (!same) throw std::runtime_error(name + ": not what plain loops give");
}

/// One of those that take turns.
struct Contender {
    std::string name;
    std::function<double()> turn;      ///< wall seconds of one product
    std::function<void()> check;       ///< throws if the last result is wrong
    std::vector<std::string> against;  ///< ratios are told to the best of these
    std::vector<double> seconds{};
};

class Contest {
  public:
    explicit Contest(uint32_t size) : macs_(std::pow(static_cast<double>(size), 3)) {}
    void add(Contender contender) { contenders_.push_back(std::move(contender)); }

    void run(int turns) {
        for (int turn = 0; turn <= turns; ++turn)
            for (Contender& c : contenders_) {
                const double taken = c.turn();
                if (turn == 0)
                    c.check();  // and a warm-up
                else
                    c.seconds.push_back(taken);
            }
    }

    nlohmann::json report() const {
        nlohmann::json out = nlohmann::json::array();
        for (const Contender& c : contenders_) out.push_back(report(c));
        return out;
    }

  private:
    nlohmann::json report(const Contender& c) const {
        std::vector<double> rates;
        for (const double seconds : c.seconds) rates.push_back(macs_ / seconds / 1e9);
        nlohmann::json out = {{"name", c.name}, {"gmac_per_second", spread(rates)}};
        std::string text = fmt::format("{:<34} {:7.1f} GMAC/s ({:.1f} to {:.1f})", c.name,
                                       median(rates), rates_min(rates), rates_max(rates));
        if (const Contender* best = best_of(c.against)) {
            std::vector<double> ratios;
            for (size_t i = 0; i < c.seconds.size(); ++i)
                ratios.push_back(best->seconds[i] / c.seconds[i]);
            out["against"] = best->name;
            out["ratio"] = spread(ratios);
            text += fmt::format("  {:.3f} of {} ({:.3f} to {:.3f})", median(ratios), best->name,
                                rates_min(ratios), rates_max(ratios));
        }
        fmt::print(stderr, "{}\n", text);
        return out;
    }
    static double rates_min(const std::vector<double>& v) {
        return *std::min_element(v.begin(), v.end());
    }
    static double rates_max(const std::vector<double>& v) {
        return *std::max_element(v.begin(), v.end());
    }
    const Contender* best_of(const std::vector<std::string>& names) const {
        const Contender* best = nullptr;
        for (const Contender& c : contenders_)
            if (std::ranges::find(names, c.name) != names.end() &&
                (best == nullptr || median(c.seconds) < median(best->seconds)))
                best = &c;
        return best;
    }

    double macs_;
    std::vector<Contender> contenders_;
};

/// Matrices of one product, all row after row; B as k x n.
template <class In, class Out>
struct Matrices {
    explicit Matrices(uint32_t n)
        : size(n), a(size_t{n} * n), b(size_t{n} * n), c(size_t{n} * n), plain(size_t{n} * n) {}
    uint32_t size;
    std::vector<In> a, b;
    std::vector<Out> c, plain;
};

// ---- int8

using Int8Matrices = Matrices<int8_t, int32_t>;

Int8Matrices int8_matrices(uint32_t size) {
    Int8Matrices m(size);
    std::mt19937_64 random(kSeed);
    for (auto& value : m.a) value = static_cast<int8_t>(random());
    for (auto& value : m.b) value = static_cast<int8_t>(random());
    for (size_t i = 0; i < size; ++i)
        for (size_t k = 0; k < size; ++k)
            for (size_t j = 0; j < size; ++j)
                m.plain[i * size + j] += m.a[i * size + k] * m.b[k * size + j];
    return m;
}

/// Weight tiles and blocks of rows as an array gets them.
template <class Element>
struct Tiled {
    explicit Tiled(const Matrices<Element, int32_t>& m)
        : count((m.size + kTile - 1) / kTile), size(m.size) {
        for (uint32_t n = 0; n < count; ++n)
            for (uint32_t k = 0; k < count; ++k) tiles.push_back(block(m.b, k, n, kTile));
        for (uint32_t k = 0; k < count; ++k) rows.push_back(block(m.a, 0, k, size));
        sums.resize(count, std::vector<int32_t>(size_t{size} * kTile));
    }
    /// Zero where the matrix has ended.
    std::vector<Element> block(const std::vector<Element>& from, uint32_t row, uint32_t column,
                               uint32_t height) const {
        std::vector<Element> out(size_t{height} * kTile);
        for (size_t r = 0; r < height && row * kTile + r < size; ++r)
            for (size_t c = 0; c < kTile && column * kTile + c < size; ++c)
                out[r * kTile + c] = from[(row * kTile + r) * size + column * kTile + c];
        return out;
    }
    bool equals(const std::vector<int32_t>& plain) const {
        for (size_t i = 0; i < size; ++i)
            for (size_t j = 0; j < size; ++j)
                if (sums[j / kTile][i * kTile + j % kTile] != plain[i * size + j]) return false;
        return true;
    }
    template <class Multiply>
    void run(Multiply multiply) {
        for (uint32_t n = 0; n < count; ++n)
            for (uint32_t k = 0; k < count; ++k)
                multiply(rows[k].data(), tiles[n * count + k].data(), k != 0, sums[n].data());
    }
    uint32_t count, size;
    std::vector<std::vector<Element>> tiles, rows;
    std::vector<std::vector<int32_t>> sums;
};

void add_int8_library(Contest& contest, Int8Matrices& m) {
#if TANDEM_ONEDNN
    const auto turn = [&m] {
        const dnnl_dim_t n = m.size;
        const int32_t zero = 0;
        return seconds_of([&] {
            dnnl_gemm_s8s8s32('N', 'N', 'F', n, n, n, 1, m.a.data(), n, 0, m.b.data(), n, 0, 0,
                              m.c.data(), n, &zero);
        });
    };
    // Measured, never a source of truth: it saturates where the CPU has no VNNI.
    const auto check = [&m] {
        if (m.c != m.plain)
            fmt::print(stderr, "onednn s8s8s32: wrong sums on this CPU, measured all the same\n");
    };
    contest.add({"onednn s8s8s32", turn, check, {}});
#else
    static_cast<void>(contest), static_cast<void>(m);
#endif
}

void add_int8_kernel(Contest& contest, const Int8Matrices& m) {
    auto tiled = std::make_shared<Tiled<int8_t>>(m);
    auto gemm = std::make_shared<engine::GemmInt8>();
    const auto turn = [tiled, gemm] {
        return seconds_of([&] {
            tiled->run([&](const int8_t* rows, const int8_t* tile, bool accumulate, int32_t* sums) {
                gemm->multiply(rows, tiled->size, kTile, tile, kTile, kTile, accumulate, sums);
            });
        });
    };
    const std::string name =
        fmt::format("int8 kernel {}", engine::to_string(engine::best_gemm_kernel()));
    contest.add(
        {name, turn, [=, &m] { require(tiled->equals(m.plain), name); }, {"onednn s8s8s32"}});
}

// ---- bf16

using FloatMatrices = Matrices<float, float>;
const std::vector<std::string> kSgemm = {"openblas sgemm", "onednn sgemm"};

float random_bf16(std::mt19937_64& random) {
    std::normal_distribution<float> normal;
    const auto narrow = bf16::narrow(std::bit_cast<uint32_t>(normal(random)));
    return std::bit_cast<float>(bf16::widen(narrow));
}

/// Sums of k in tiles, each from zero: the array's order.
void plain_floats(FloatMatrices& m) {
    const size_t n = m.size;
    std::vector<float> sums(n);
    for (size_t i = 0; i < n; ++i)
        for (size_t first = 0; first < n; first += kTile) {
            std::fill(sums.begin(), sums.end(), 0.0f);
            for (size_t k = first; k < std::min<size_t>(n, first + kTile); ++k)
                for (size_t j = 0; j < n; ++j) sums[j] += m.a[i * n + k] * m.b[k * n + j];
            for (size_t j = 0; j < n; ++j)
                m.plain[i * n + j] = first == 0 ? sums[j] : m.plain[i * n + j] + sums[j];
        }
}

FloatMatrices float_matrices(uint32_t size) {
    FloatMatrices m(size);
    std::mt19937_64 random(kSeed);
    for (auto& value : m.a) value = random_bf16(random);
    for (auto& value : m.b) value = random_bf16(random);
    plain_floats(m);
    return m;
}

/// Another order, another rounding: near is right.
void check_near(const FloatMatrices& m, const std::string& name) {
    const double most = 1e-5 * std::sqrt(double{1} * m.size) * 16;
    for (size_t i = 0; i < m.c.size(); ++i)
        require(std::fabs(double{m.c[i]} - double{m.plain[i]}) <= most, name);
}

void add_float_libraries(Contest& contest, FloatMatrices& m) {
#if TANDEM_OPENBLAS
    const auto openblas = [&m] {
        const auto n = static_cast<blasint>(m.size);
        return seconds_of([&] {
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, m.a.data(), n,
                        m.b.data(), n, 0, m.c.data(), n);
        });
    };
    contest.add({kSgemm[0], openblas, [&m] { check_near(m, kSgemm[0]); }, {}});
#endif
#if TANDEM_ONEDNN
    const auto onednn = [&m] {
        const dnnl_dim_t n = m.size;
        return seconds_of([&] {
            dnnl_sgemm('N', 'N', n, n, n, 1, m.a.data(), n, m.b.data(), n, 0, m.c.data(), n);
        });
    };
    contest.add({kSgemm[1], onednn, [&m] { check_near(m, kSgemm[1]); }, {}});
#endif
    static_cast<void>(contest), static_cast<void>(m);
}

Matrices<uint16_t, int32_t> narrow(const FloatMatrices& m) {
    Matrices<uint16_t, int32_t> out(m.size);
    for (size_t i = 0; i < m.a.size(); ++i) {
        out.a[i] = bf16::narrow(std::bit_cast<uint32_t>(m.a[i]));
        out.b[i] = bf16::narrow(std::bit_cast<uint32_t>(m.b[i]));
        out.plain[i] = std::bit_cast<int32_t>(m.plain[i]);
    }
    return out;
}

void add_bf16_kernel(Contest& contest, const FloatMatrices& floats) {
    auto m = std::make_shared<Matrices<uint16_t, int32_t>>(narrow(floats));
    auto tiled = std::make_shared<Tiled<uint16_t>>(*m);
    auto gemm = std::make_shared<engine::GemmBf16>();
    const auto turn = [tiled, gemm] {
        return seconds_of([&] {
            tiled->run(
                [&](const uint16_t* rows, const uint16_t* tile, bool accumulate, int32_t* sums) {
                    gemm->multiply(rows, tiled->size, kTile, tile, kTile, kTile, kTile, accumulate,
                                   sums, false);
                });
        });
    };
    const std::string name =
        fmt::format("bf16 kernel {}", engine::to_string(engine::best_bf16_kernel()));
    contest.add({name, turn, [=] { require(tiled->equals(m->plain), name); }, kSgemm});
}

// ---- chips

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

void add_chips(Contest& contest, benchmarks::GemmChips& benches, uint32_t size) {
    for (const auto& [name, config] : chips()) {
        const auto product = std::make_shared<tools::GemmProduct>(
            tools::make_gemm({size, size, size}, config, kSeed));
        const size_t number = benches.add(config, *product);
        const bool bf16 = config.mxu.dtype == arch::Dtype::kBf16;
        const auto check = [&benches, number, product, name] {
            require(std::ranges::equal(benches.outputs(number), tools::plain_product(*product)),
                    name);
        };
        contest.add({name, [&benches, number] { return benches.turn(number); }, check,
                     bf16 ? kSgemm : std::vector<std::string>{"onednn s8s8s32"}});
    }
}

// ---- environment

#if TANDEM_OPENBLAS
/// Seconds of the fastest of some products; what this process is started again for.
int probe_openblas() {
    constexpr uint32_t kSize = 768;
    std::vector<float> a(kSize * kSize, 1.0f), b(kSize * kSize, 0.5f), c(kSize * kSize);
    double best = 1e9;
    for (int turn = 0; turn < 8; ++turn)
        best =
            std::min(best, seconds_of([&] {
                         cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, kSize, kSize, kSize,
                                     1, a.data(), kSize, b.data(), kSize, 0, c.data(), kSize);
                     }));
    fmt::print("{}\n", best);
    return 0;
}

/// The same in a process of its own, with OPENBLAS_CORETYPE as said (null: what it detects). A
/// type that this CPU cannot run takes for ever.
double openblas_seconds(const char* self, const char* core_type) {
    const std::string command = fmt::format(
        "{} '{}' --probe-openblas 2>/dev/null",
        core_type == nullptr ? "env" : fmt::format("env OPENBLAS_CORETYPE={}", core_type), self);
    FILE* pipe = popen(command.c_str(), "r");
    double seconds = 1e9;
    const bool read = pipe != nullptr && std::fscanf(pipe, "%lf", &seconds) == 1;
    if (pipe != nullptr) pclose(pipe);
    return read ? seconds : 1e9;
}
#endif

/// One core, one thread: libraries read these variables when they are loaded, so that the process
/// starts itself again with them.
void pin(char** argv) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(static_cast<size_t>(std::max(sched_getcpu(), 0)), &cpus);
    sched_setaffinity(0, sizeof cpus, &cpus);
    if (std::getenv("TANDEM_GEMM_PINNED") != nullptr) return;
    setenv("TANDEM_GEMM_PINNED", "1", 1);
    setenv("OMP_NUM_THREADS", "1", 1);
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    const std::string self = std::filesystem::read_symlink("/proc/self/exe");
#if TANDEM_OPENBLAS
    double detected = 1e9, skylake = 1e9;
    for (int turn = 0; turn < 3; ++turn) {
        detected = std::min(detected, openblas_seconds(self.c_str(), nullptr));
        skylake = std::min(skylake, openblas_seconds(self.c_str(), "SkylakeX"));
    }
    if (skylake < detected) setenv("OPENBLAS_CORETYPE", "SkylakeX", 1);
#endif
    execv(self.c_str(), argv);
    throw std::runtime_error("cannot start " + self + " again");
}

nlohmann::json environment() {
    nlohmann::json out = {{"onednn", nullptr}, {"openblas", nullptr}};
#if TANDEM_ONEDNN
    const dnnl_version_t* version = dnnl_version();
    out["onednn"] = fmt::format("{}.{}.{}", version->major, version->minor, version->patch);
#else
    fmt::print(stderr, "oneDNN is missing (scripts/setup installs it): not measured\n");
#endif
#if TANDEM_OPENBLAS
    const char* chosen = std::getenv("OPENBLAS_CORETYPE");
    out["openblas"] =
        fmt::format("core type {}, {}", openblas_get_corename(),
                    chosen == nullptr
                        ? "as detected"
                        : fmt::format("OPENBLAS_CORETYPE={}: faster than what it detects", chosen));
    fmt::print(stderr, "openblas: {}\n", out["openblas"].get<std::string>());
#else
    fmt::print(stderr, "OpenBLAS is missing (scripts/setup installs it): not measured\n");
#endif
    return out;
}

int benchmark(uint32_t size, int turns) {
    nlohmann::json out = {{"size", size}, {"turns", turns}, {"seed", kSeed}};
    out["libraries"] = environment();
    Int8Matrices int8 = int8_matrices(size);
    FloatMatrices floats = float_matrices(size);
    benchmarks::GemmChips benches;
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
#if TANDEM_OPENBLAS
        if (argc == 2 && std::strcmp(argv[1], "--probe-openblas") == 0) return probe_openblas();
#endif
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
