// SPDX-License-Identifier: Apache-2.0
// How fast Verilated arrays are, alone: a new random activation row at every edge, a weight tile
// loaded in a quarter of the edges and swapped in every 4 * rows edges, every committed row read.
// Cases run in turns within one process, so that their ratios share the machine's mood; arrays are
// built in a fresh cache, whose times are told too. JSON on stdout, a table on stderr.
//
//   array_benchmark [--turns N] [CASE ...]     default: all cases
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "cosim/array_builder.h"
#include "cosim/array_library.h"
#include "run/paths.h"

namespace {

using namespace tandem;
using Clock = std::chrono::steady_clock;

constexpr uint64_t kSeed = 0x9e3779b97f4a7c15;
constexpr double kSecondsPerTurn = 0.4;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Case {
    std::string name;
    uint32_t size;
    arch::Dtype dtype;
    std::string form;
    std::string march;      ///< empty: of this machine
    bool waves = true;      ///< tracing compiled in (it stays off)
    bool contract = false;  ///< the checker of the port contract beside it
};

const std::vector<Case> kCases = {
    {"int8_16_grid", 16, arch::Dtype::kInt8, "grid", "", true},
    {"int8_32_grid", 32, arch::Dtype::kInt8, "grid", "", true},
    {"bf16_32_grid", 32, arch::Dtype::kBf16, "grid", "", true},
    {"int8_16", 16, arch::Dtype::kInt8, "flat", "", true},
    {"int8_128", 128, arch::Dtype::kInt8, "flat", "", true},
    {"int8_256", 256, arch::Dtype::kInt8, "flat", "", true},
    {"int8_100x100", 100, arch::Dtype::kInt8, "flat", "", true},
    {"bf16_16", 16, arch::Dtype::kBf16, "flat", "", true},
    {"bf16_128", 128, arch::Dtype::kBf16, "flat", "", true},
    {"int8_128_avx2", 128, arch::Dtype::kInt8, "flat", "x86-64-v3", true},
    {"int8_256_avx2", 256, arch::Dtype::kInt8, "flat", "x86-64-v3", true},
    {"bf16_128_avx2", 128, arch::Dtype::kBf16, "flat", "x86-64-v3", true},
    {"int8_16_no_waves", 16, arch::Dtype::kInt8, "flat", "", false},
    {"int8_128_no_waves", 128, arch::Dtype::kInt8, "flat", "", false},
    {"int8_256_no_waves", 256, arch::Dtype::kInt8, "flat", "", false},
    {"int8_16_contract", 16, arch::Dtype::kInt8, "flat", "", true, true},
    {"int8_128_contract", 128, arch::Dtype::kInt8, "flat", "", true, true},
};

void set_environment(const char* name, const std::string& value) {
    if (value.empty())
        unsetenv(name);
    else
        setenv(name, value.c_str(), 1);
}

class Array {
  public:
    Array(const Case& which, const std::filesystem::path& cache) : which_(which) {
        cosim::BuildOptions options;
        options.rtl_dir = run::data_dir() / "rtl";
        options.shim_dir = run::data_dir() / "cosim";
        options.cache_dir = cache;
        set_environment("TANDEM_ARRAY_MARCH", which.march);
        set_environment("TANDEM_ARRAY_WAVES", which.waves ? "" : "off");
        cosim::ArraySpec spec{.rows = which.size, .cols = which.size, .acc_depth = kDepth};
        spec.dtype = which.dtype;
        spec.form = which.form;
        if (which.contract)
            spec.contract = engine::timing(engine::MxuShape{
                .rows = which.size, .cols = which.size, .accumulator_rows = kDepth});
        const auto start = Clock::now();
        library_ = std::make_unique<cosim::ArrayLibrary>(cosim::ensure_array(spec, options));
        build_seconds_ = seconds_since(start);
        array_ = library_->create();
        library_->reset(array_);
        row_.resize((size_t{which.size} * arch::element_bytes(which.dtype) + 7) / 8);
        weights_.resize(row_.size());
    }
    ~Array() { library_->destroy(array_); }
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;

    void run(uint64_t edges) {
        const uint32_t size = which_.size;
        TandemArrayPorts ports{};
        for (uint64_t i = 0; i < edges; ++i, ++edge_) {
            const uint64_t phase = edge_ % (4 * uint64_t{size});
            ports.wgt_valid = phase < size;
            if (ports.wgt_valid) fill(weights_);
            ports.wgt_data = weights_.data();
            fill(row_);
            ports.act_valid = edge_ >= size;
            ports.act_data = row_.data();
            ports.act_swap = phase == size;
            ports.act_accumulate = (edge_ & 1) != 0;
            ports.act_addr = static_cast<uint32_t>(edge_ % kDepth);
            library_->step(array_, &ports);
            if (ports.failure != nullptr) throw std::runtime_error(ports.failure);
            if (ports.cmt_valid) {
                const auto* data = static_cast<const uint32_t*>(ports.cmt_data);
                uint32_t sum = 0;
                for (uint32_t c = 0; c < size; ++c) sum += data[c];
                hash_ = hash_ * 31 + sum;
            }
        }
    }

    /// One turn; the number of edges is found in the first one.
    void turn() {
        if (edges_ == 0) {
            const auto start = Clock::now();
            uint64_t edges = 8 * which_.size;
            run(edges);
            const double each = seconds_since(start) / static_cast<double>(edges);
            edges_ =
                std::max<uint64_t>(8 * which_.size, static_cast<uint64_t>(kSecondsPerTurn / each));
            return;
        }
        const auto start = Clock::now();
        run(edges_);
        const double cycles = static_cast<double>(edges_) / seconds_since(start);
        cycles_per_second_.push_back(cycles);
    }

    const Case& which() const { return which_; }
    double build_seconds() const { return build_seconds_; }
    const std::vector<double>& cycles_per_second() const { return cycles_per_second_; }
    uint32_t hash() const { return hash_; }

  private:
    static constexpr uint32_t kDepth = 512;

    void fill(std::vector<uint64_t>& words) {
        for (uint64_t& word : words) {
            random_ ^= random_ << 13;
            random_ ^= random_ >> 7;
            random_ ^= random_ << 17;
            word = random_;
        }
    }

    const Case which_;
    std::unique_ptr<cosim::ArrayLibrary> library_;
    TandemArray* array_ = nullptr;
    double build_seconds_ = 0;
    std::vector<uint64_t> row_, weights_;
    uint64_t random_ = kSeed, edge_ = 0, edges_ = 0;
    uint32_t hash_ = 0;
    std::vector<double> cycles_per_second_;
};

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

nlohmann::json spread(const std::vector<double>& values) {
    return {{"min", *std::min_element(values.begin(), values.end())},
            {"median", median(values)},
            {"max", *std::max_element(values.begin(), values.end())}};
}

int measure(const std::vector<std::string>& names, int turns) {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "tandem-arrays-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary directory");
    const std::filesystem::path cache = pattern;
    std::vector<std::unique_ptr<Array>> arrays;
    for (const Case& which : kCases)
        if (names.empty() || std::find(names.begin(), names.end(), which.name) != names.end())
            arrays.push_back(std::make_unique<Array>(which, cache));
    for (int turn = 0; turn <= turns; ++turn)  // the first one finds the number of edges
        for (auto& array : arrays) array->turn();

    nlohmann::json out = nlohmann::json::array();
    for (auto& array : arrays) {
        const Case& which = array->which();
        const double macs = double{1} * which.size * which.size;
        std::vector<double> gmacs;
        for (const double cycles : array->cycles_per_second()) gmacs.push_back(cycles * macs / 1e9);
        out.push_back({{"case", which.name},
                       {"size", which.size},
                       {"dtype", arch::to_string(which.dtype)},
                       {"form", which.form},
                       {"march", which.march.empty() ? "native" : which.march},
                       {"waves_compiled_in", which.waves},
                       {"build_seconds", array->build_seconds()},
                       {"turns", turns},
                       {"kcycles_per_second", median(array->cycles_per_second()) / 1e3},
                       {"gmac_per_second", spread(gmacs)}});
        fmt::print(
            stderr,
            "{:18} {:7.2f} GMAC/s ({:.2f} to {:.2f}), {:8.1f} kcycles/s, built in {:.1f} s\n",
            which.name, median(gmacs), *std::min_element(gmacs.begin(), gmacs.end()),
            *std::max_element(gmacs.begin(), gmacs.end()), median(array->cycles_per_second()) / 1e3,
            array->build_seconds());
    }
    fmt::print("{}\n", out.dump(2));
    arrays.clear();
    std::filesystem::remove_all(cache);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    int turns = 7;
    std::vector<std::string> names;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--turns" && i + 1 < argc)
            turns = std::max(1, std::atoi(argv[++i]));
        else
            names.push_back(word);
    }
    try {
        return measure(names, turns);
    } catch (const std::exception& error) {
        fmt::print(stderr, "array_benchmark: {}\n", error.what());
        return 2;
    }
}
