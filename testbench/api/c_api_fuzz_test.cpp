// SPDX-License-Identifier: Apache-2.0
// Seeded mistakes of callers: fields, names, sizes, pointers, counts, files. Whatever is asked, the
// answer is good, a mismatch or the caller's mistake; never a fault of ours, never a crash.
// TANDEM_FUZZ_SECONDS (5) says for how long, TANDEM_FUZZ_SEED (1) what is tried.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "testbench/api/handles.h"

namespace tandem::testing {
namespace {

namespace fs = std::filesystem;

uint64_t environment_number(const char* name, uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

class CApiFuzz : public ::testing::Test {
  protected:
    CApiFuzz() {
        std::string form = (fs::temp_directory_path() / "tandem_fuzz_XXXXXX").string();
        folder_ = ::mkdtemp(form.data());
    }
    ~CApiFuzz() override { fs::remove_all(folder_); }

    /// Calls `once` with a generator of its own until time is up.
    template <class Once>
    void repeat(const Once& once) {
        using Clock = std::chrono::steady_clock;
        const auto end =
            Clock::now() + std::chrono::seconds(environment_number("TANDEM_FUZZ_SECONDS", 5));
        const uint64_t first = environment_number("TANDEM_FUZZ_SEED", 1);
        uint64_t seed = first;
        do {
            SCOPED_TRACE("TANDEM_FUZZ_SEED=" + std::to_string(seed));
            random_.seed(seed++);
            once();
        } while (Clock::now() < end && !HasFailure());
        std::printf("%llu cases, %llu good, %llu mismatches, %llu mistakes\n",
                    static_cast<unsigned long long>(seed - first),
                    static_cast<unsigned long long>(seen_[0]),
                    static_cast<unsigned long long>(seen_[1]),
                    static_cast<unsigned long long>(seen_[2]));
        EXPECT_GT(seen_[2], 0u);
    }

    void check(tandem_status status, const Call& call, bool has_result) {
        ASSERT_LE(status, TANDEM_USER_ERROR) << call.message();
        ASSERT_GE(status, TANDEM_GOOD);
        EXPECT_EQ(call.message().empty(), status == TANDEM_GOOD);
        EXPECT_EQ(has_result, status != TANDEM_USER_ERROR) << call.message();
        ++seen_[status];
    }

    bool chance(unsigned percent) { return random_() % 100 < percent; }
    uint64_t any(std::initializer_list<uint64_t> usual) {
        if (chance(97)) return *(usual.begin() + random_() % usual.size());
        return chance(50) ? random_() : random_() % 300;
    }
    double any_real() {
        const double reals[] = {0, 0.5, 1, -1, 1e300, -0.0, NAN, INFINITY, 1e-300};
        return reals[random_() % std::size(reals)];
    }
    /// Mostly one of the usual names; lives as long as the test.
    const char* name(std::initializer_list<const char*> usual) {
        if (chance(97)) return *(usual.begin() + random_() % usual.size());
        std::string& text = texts_.emplace_back();
        const size_t length = chance(10) ? 100'000 : random_() % 20;
        for (size_t i = 0; i < length; ++i) text += static_cast<char>(1 + random_() % 255);
        return text.c_str();
    }
    /// Of a file to write, which is ours or nowhere.
    const char* output() {
        if (chance(80)) return nullptr;
        return texts_.emplace_back(chance(50) ? "/nowhere/file" : (folder_ / "out").string())
            .c_str();
    }
    const tandem_chip* chip() {
        if (chance(40)) return nullptr;
        sets_.clear();
        for (uint64_t count = random_() % 3; count != 0; --count)
            sets_.push_back(name({"mxu.count=2", "memory.bandwidth=1 GB/s", "mxu.count=0",
                                  "mxu.cuont=2", "clock=1.05GHz", "=", "mxu.count=", nullptr}));
        chip_ = {size(sizeof chip_), name({"test_16x16", "test_8x8", "no_chip", nullptr, ""}),
                 sets_.data(), sets_.size()};
        return &chip_;
    }
    /// Structs stand in front of as many zeros as a size may claim.
    uint64_t size(uint64_t right) { return chance(98) ? right : any({0, 8, 16, 4096, right + 8}); }
    template <class Options>
    const Options* in_zeros(const Options& options) {
        zeros_.assign(4096, 0);
        std::memcpy(zeros_.data(), &options, sizeof options);
        return reinterpret_cast<const Options*>(zeros_.data());
    }
    /// A file of the project with bytes of it changed, cut or doubled.
    std::string mutated(const std::string& file) {
        std::ostringstream text;
        text << std::ifstream(file, std::ios::binary).rdbuf();
        std::string bytes = text.str();
        for (uint64_t changes = random_() % 4; changes != 0 && !bytes.empty(); --changes)
            switch (random_() % 4) {
                case 0:
                    bytes.resize(random_() % bytes.size());
                    break;
                case 1:
                    bytes.insert(random_() % bytes.size(), bytes.substr(0, random_() % 50));
                    break;
                default:
                    bytes[random_() % bytes.size()] = static_cast<char>(random_());
                    break;
            }
        const auto path = folder_ / ("mutated" + fs::path(file).extension().string());
        std::ofstream(path, std::ios::binary) << bytes;
        return path.string();
    }
    tandem_run_options run_options(const std::vector<uint8_t>& data) {
        tandem_run_options options{};
        options.size = size(sizeof options);
        options.backend = name({nullptr, "tlm", "tlm", "tandem"});
        options.mode = name({nullptr, nullptr, "functional", "timing"});
        options.host = name({nullptr, nullptr, "riscv", "native"});
        options.seed = any({0, 1, 2});
        options.count = any({0, 0, 1, 2});
        bytes_ = {chance(90) ? data.data() : nullptr,
                  chance(70) ? 256 : random_() % (data.size() + 1)};
        options.inputs = chance(50) ? &bytes_ : nullptr;
        options.input_count = any({0, 0, 1});
        options.expected = chance(20) ? &bytes_ : nullptr;
        options.expected_count = any({0, 0, 0, 1});
        options.tolerance = chance(80) ? 0 : any_real();
        options.keep_layers = any({0, 1});
        options.inject =
            name({nullptr, nullptr, nullptr, "seed=1", "pe[1][2].psum:bit3@cycle=100"});
        options.trace = output();
        options.divergence_wave = output();
        options.firmware_budget = any({0, 0, 1'000'000});
        options.timeout_seconds = chance(95) ? 5 : any_real();
        return options;
    }

    fs::path folder_;
    std::mt19937_64 random_;
    uint64_t seen_[3] = {};
    std::deque<std::string> texts_;
    std::vector<const char*> sets_;
    tandem_chip chip_{};
    tandem_bytes bytes_{};
    alignas(8) std::vector<unsigned char> zeros_;
};

TEST_F(CApiFuzz, Runs) {
    const Model model(digits());
    ASSERT_NE(model.get(), nullptr) << model.message();
    const std::vector<uint8_t> data(1024, 7);
    repeat([&] {
        const auto options = run_options(data);
        Call call;
        Result result;
        const auto status = tandem_run(chance(99) ? model.get() : nullptr, in_zeros(options),
                                       result.out(), call.error());
        check(status, call, result.get() != nullptr);
    });
}

TEST_F(CApiFuzz, Models) {
    const std::string root = source_dir() + "/models/";
    const std::vector<uint8_t> data(1024, 7);
    repeat([&] {
        const std::string file = mutated(root + (chance(60)   ? "digits/digits_int8.tflite"
                                                 : chance(50) ? "applications/mlp1.yaml"
                                                              : "digits/index.csv"));
        tandem_model_options options{};
        options.size = size(sizeof options);
        options.file = name({file.c_str(), file.c_str(), file.c_str(), nullptr, "/", ""});
        options.chip = chip();
        options.dtype = name({nullptr, "int8", "bf16"});
        options.rounding = name({nullptr, "single", "gemmlowp"});
        options.plan = name({nullptr, "search", "rules"});
        options.batch = any({0, 1, 2, 3});
        Call call;
        tandem_model* model = nullptr;
        const auto status = tandem_model_load(in_zeros(options), &model, call.error());
        check(status, call, model != nullptr);
        if (model == nullptr) return;
        tandem_tensor tensor{};
        tensor.size = size(sizeof tensor);
        const auto place = static_cast<uint32_t>(any({TANDEM_INPUT, TANDEM_OUTPUT, TANDEM_LAYER}));
        EXPECT_LE(tandem_model_tensor(model, place, any({0, 1}), &tensor, nullptr),
                  TANDEM_USER_ERROR);
        Result result;
        const auto how = run_options(data);
        const auto ran = tandem_run(model, in_zeros(how), result.out(), call.error());
        check(ran, call, result.get() != nullptr);
        tandem_model_free(model);
    });
}

TEST_F(CApiFuzz, Products) {
    const std::vector<uint8_t> data(1 << 16, 3);
    repeat([&] {
        tandem_gemm_options options{};
        options.size = size(sizeof options);
        options.chip = chip();
        options.dtype = name({nullptr, nullptr, "int8", "bf16"});
        options.m = any({1, 5, 16, 40});
        options.k = any({1, 7, 33, 64});
        options.n = any({1, 3, 17, 20});
        // The library reads as much as the sizes say.
        const auto fits = [&](uint64_t rows, uint64_t columns) {
            return rows < 30'000 && columns < 30'000 && rows * columns * 2 <= data.size();
        };
        options.a = chance(50) && fits(options.m, options.k) ? data.data() : nullptr;
        options.b = chance(50) && fits(options.k, options.n) ? data.data() : nullptr;
        options.multiplier = chance(80) ? 0.01 : any_real();
        options.backend = name({nullptr, "tlm", "tandem"});
        options.mode = name({nullptr, nullptr, "functional", "timing"});
        options.host = name({nullptr, "riscv", "native"});
        options.plan = name({nullptr, "search", "rules"});
        options.inject = name({nullptr, nullptr, nullptr, "seed=1"});
        options.seed = any({0, 1});
        options.timeout_seconds = chance(95) ? 5 : any_real();
        Call call;
        Result result;
        const auto status = tandem_gemm(in_zeros(options), result.out(), call.error());
        check(status, call, result.get() != nullptr);
    });
}

TEST_F(CApiFuzz, Verifications) {
    const tandem_chip known{sizeof known, "test_16x16", nullptr, 0};
    repeat([&] {
        tandem_verify_options options{};
        options.size = size(sizeof options);
        // Others would be Verilated first.
        options.chip = &known;
        options.streams = chance(70) ? 1 + random_() % 3 : random_() << 20;
        options.seed = any({0, 1, ~uint64_t{0}});
        options.inject = name({nullptr, nullptr, "seed=1", "seed=2", "pe[1][2].psum:bit3@cycle=9"});
        options.waves = output();
        options.timeout_seconds = chance(95) ? 5 : any_real();
        if (chance(20)) {
            options.chip = nullptr;
            options.rows = 257 + random_() % 1000;
        }
        Call call;
        Result result;
        // A struct that ends before `streams` asks for the default of a hundred.
        if (options.size < offsetof(tandem_verify_options, seed)) options.size = 0;
        const auto status = tandem_verify(in_zeros(options), result.out(), call.error());
        check(status, call, result.get() != nullptr);
    });
}

TEST_F(CApiFuzz, Chips) {
    repeat([&] {
        const tandem_chip* asked = chip();
        char* json = nullptr;
        Call call;
        const auto status = tandem_chip_figures(asked, &json, call.error());
        check(status, call, json != nullptr);
        tandem_free(json);
    });
}

}  // namespace
}  // namespace tandem::testing
