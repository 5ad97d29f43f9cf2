// SPDX-License-Identifier: Apache-2.0
// The C interface: the bytes say which function is called, and with what. Pointers are always good
// ones, or NULL; structs may be those of an older caller.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "compiler/graph/text.h"
#include "tandem/tandem.h"
#include "testbench/fuzz/graphs.h"

namespace tandem::fuzz {
namespace {

constexpr double kTimeoutSeconds = 5;

/// Takes its choices from the bytes; zeros behind the last one.
class Draw {
  public:
    explicit Draw(const Bytes& bytes) : bytes_(bytes) {}

    size_t below(size_t bound) {
        const size_t byte = at_ < bytes_.size() ? bytes_[at_++] : 0;
        return byte % bound;
    }
    uint64_t number(std::initializer_list<uint64_t> usual) {
        const size_t choice = below(usual.size() + 2);
        if (choice < usual.size()) return usual.begin()[choice];
        constexpr uint64_t kUnusual[] = {~uint64_t{0}, uint64_t{1} << 63, uint64_t{1} << 32, 65536,
                                         1'000'000'007};
        return kUnusual[below(std::size(kUnusual))];
    }
    double real() {
        constexpr double kReals[] = {0, 0, 0.05, 1, 2, -1, 1e-310, 1e300, HUGE_VAL, -HUGE_VAL, NAN};
        return kReals[below(std::size(kReals))];
    }
    /// One of them, NULL mostly first, or some of the bytes.
    const char* text(std::initializer_list<const char*> usual) {
        const size_t choice = below(usual.size() + 1);
        if (choice < usual.size()) return usual.begin()[choice];
        const size_t length = below(64);
        std::string& own = texts_.emplace_back();
        for (size_t i = 0; i < length; ++i) own += static_cast<char>(1 + below(255));
        return own.c_str();
    }
    /// Of a struct: most often its own.
    uint64_t size(size_t whole) {
        const size_t choice = below(16);
        return choice < 13 ? whole : choice == 13 ? 8 : choice == 14 ? below(whole + 1) : 0;
    }
    Bytes rest() {
        Bytes left(bytes_.begin() + static_cast<ptrdiff_t>(std::min(at_, bytes_.size())),
                   bytes_.end());
        at_ = bytes_.size();
        return left;
    }

  private:
    const Bytes& bytes_;
    size_t at_ = 0;
    std::deque<std::string> texts_;
};

/// What the interface says of its own answers.
void finish(tandem_status status, char* error, const char* report) {
    const std::string why = error != nullptr ? error : "";
    const bool said = error != nullptr;
    tandem_free(error);
    require(status != TANDEM_FAULT, "TANDEM_FAULT: " + why);
    require(said == (status != TANDEM_GOOD),
            "a reason, or none, for status " + std::to_string(static_cast<int>(status)));
    require((status == TANDEM_USER_ERROR) == (report == nullptr), "a result without an answer");
    require(report == nullptr || nlohmann::json::accept(report), "a report that is no JSON");
    if (status == TANDEM_USER_ERROR) throw UserError(why);
}

class Call {
  public:
    explicit Call(const Bytes& bytes) : draw_(bytes) {}

    std::string run() {
        switch (draw_.below(8)) {
            case 0:
                return figures();
            case 1:
                return verify();
            case 2:
            case 3:
                return gemm();
            default:
                return model();
        }
    }

  private:
    const tandem_chip* chip() {
        if (draw_.below(3) == 0) return nullptr;
        sets_ = {draw_.text({"mxu.count=2", "mxu.rows=8", "clock=1 GHz", nullptr}),
                 draw_.text({"cores=2", "memory.size=1 MiB"})};
        chip_ = {draw_.size(sizeof chip_), draw_.text({"test_8x8", "test_16x16_bf16", nullptr, ""}),
                 sets_.data(), draw_.below(3)};
        return &chip_;
    }

    std::string figures() {
        char *json = nullptr, *error = nullptr;
        const tandem_status status = tandem_chip_figures(chip(), &json, &error);
        const std::string text = json != nullptr ? json : "";
        const bool has_text = json != nullptr;
        tandem_free(json);
        finish(status, error, has_text ? text.c_str() : nullptr);
        return "figures";
    }

    std::string end(tandem_status status, tandem_result* result, char* error) {
        const std::string report = result != nullptr ? tandem_result_report(result) : "";
        if (result != nullptr) {
            require(tandem_result_summary(result) != nullptr, "no summary");
            read_tensors(*result);
        }
        const bool has_result = result != nullptr;
        tandem_result_free(result);
        finish(status, error, has_result ? report.c_str() : nullptr);
        return status == TANDEM_GOOD ? "good" : "mismatch";
    }

    /// Every byte that they promise.
    void read_tensors(const tandem_result& result) {
        for (const uint32_t place : {0u, 1u, 2u, 3u})
            for (uint64_t i = 0; i <= tandem_result_tensor_count(&result, place); ++i) {
                tandem_tensor tensor{};
                tensor.size = sizeof tensor;
                if (tandem_result_tensor(&result, place, i, &tensor, nullptr) != TANDEM_GOOD)
                    continue;
                const auto* bytes = static_cast<const uint8_t*>(tensor.data);
                for (uint64_t b = 0; b < tensor.bytes; ++b) sum_ += bytes[b];
            }
    }

    std::string gemm() {
        static const Bytes kElements(64 * 64 * 2, 3);
        tandem_gemm_options o{};
        o.size = draw_.size(sizeof o);
        o.chip = chip();
        o.dtype = draw_.text({nullptr, "int8", "bf16"});
        o.m = draw_.number({1, 2, 7, 16, 64, 0});
        o.k = draw_.number({1, 3, 8, 17, 64, 0});
        o.n = draw_.number({1, 5, 16, 33, 64, 0});
        if (o.m <= 64 && o.k <= 64 && draw_.below(2) == 0) o.a = kElements.data();
        if (o.k <= 64 && o.n <= 64 && draw_.below(2) == 0) o.b = kElements.data();
        o.multiplier = draw_.real();
        o.backend = draw_.text({nullptr, "tlm", "rtl"});
        o.mode = draw_.text({nullptr, "functional", "timing"});
        o.host = draw_.text({nullptr, "riscv", "native"});
        o.plan = draw_.text({nullptr, "search", "rules"});
        o.inject = draw_.text({nullptr, nullptr, "seed=7", "pe[1][2].psum:bit3@cycle=100", ""});
        o.seed = draw_.number({0, 1, 2});
        o.timeout_seconds = draw_.below(8) == 0 ? draw_.real() : kTimeoutSeconds;
        tandem_result* result = nullptr;
        char* error = nullptr;
        const tandem_status status = tandem_gemm(&o, &result, &error);
        return end(status, result, error);
    }

    std::string verify() {
        tandem_verify_options o{};
        o.size = draw_.size(sizeof o);
        o.chip = chip();
        o.rows = draw_.number({0, 1, 8, 256});
        o.cols = draw_.number({0, 1, 8, 256});
        o.dtype = draw_.text({nullptr, "int8", "bf16"});
        o.accumulator_rows = draw_.number({0, 2, 256});
        o.pipeline = draw_.number({0, 1, 4});
        o.sum4 = draw_.number({0, 1});
        o.streams = draw_.number({0, 1, 2});
        o.inject = draw_.text({nullptr, "seed=7"});
        o.timeout_seconds = kTimeoutSeconds;
        tandem_result* result = nullptr;
        char* error = nullptr;
        const tandem_status status = tandem_verify(&o, &result, &error);
        return end(status, result, error);
    }

    std::string model() {
        tandem_model_options o{};
        o.size = draw_.size(sizeof o);
        o.chip = chip();
        o.dtype = draw_.text({nullptr, nullptr, "int8", "bf16"});
        o.rounding = draw_.text({nullptr, "single", "gemmlowp"});
        o.plan = draw_.text({nullptr, "rules"});
        o.batch = draw_.number({0, 1, 2, 5});
        const tandem_run_options run_options = options();
        const Bytes input = draw_.rest();
        static const auto tiny = scratch_file(
            "tiny.tgraph", bytes_of(compiler::to_text(tiny_graph(), compiler::DumpBytes::kAll)));
        const std::string file = input.size() % 4 == 0 ? tiny.string()
                                 : input.size() % 4 == 1
                                     ? scratch_file("c.tgraph", input).string()
                                     : (source_dir() / "models/digits/digits_int8.tflite").string();
        o.file = input.size() % 16 == 15 ? nullptr : file.c_str();
        tandem_model* model = nullptr;
        char* error = nullptr;
        const tandem_status status = tandem_model_load(&o, &model, &error);
        if (status != TANDEM_GOOD) {
            require(model == nullptr, "a model of nothing");
            finish(status, error, nullptr);
        }
        return run_model(model, run_options);
    }

    tandem_run_options options() {
        static const Bytes kValues(1024, 7);
        tandem_run_options o{};
        o.size = draw_.size(sizeof o);
        o.backend = draw_.text({nullptr, "tlm", "rtl"});
        o.mode = draw_.text({nullptr, "functional", "timing"});
        o.host = draw_.text({nullptr, "riscv", "native"});
        o.seed = draw_.number({0, 1});
        o.count = draw_.number({0, 1, 3});
        for (tandem_bytes& bytes : given_) {
            bytes.data = kValues.data();
            bytes.bytes = std::min<uint64_t>(draw_.number({0, 48, 64, 256, 512}), kValues.size());
        }
        if (draw_.below(3) == 0) o.inputs = given_, o.input_count = draw_.below(3);
        if (draw_.below(3) == 0) o.expected = given_ + 1, o.expected_count = draw_.below(2);
        o.tolerance = draw_.real();
        o.keep_layers = draw_.below(2);
        o.inject = draw_.text({nullptr, nullptr, nullptr, "seed=7", ""});
        o.firmware_budget = draw_.number({0, 1, 1000});
        o.timeout_seconds = draw_.below(8) == 0 ? draw_.real() : kTimeoutSeconds;
        return o;
    }

    std::string run_model(tandem_model* model, const tandem_run_options& options) {
        for (const uint32_t place : {0u, 1u, 2u, 7u})
            for (uint64_t i = 0; i <= tandem_model_tensor_count(model, place); ++i) {
                tandem_tensor tensor{};
                tensor.size = draw_.size(sizeof tensor);
                (void)tandem_model_tensor(model, place, i, &tensor, nullptr);
            }
        tandem_result* result = nullptr;
        char* error = nullptr;
        const tandem_status status =
            tandem_run(model, draw_.below(4) == 0 ? nullptr : &options, &result, &error);
        tandem_model_free(model);
        return end(status, result, error);
    }

    Draw draw_;
    tandem_chip chip_{};
    std::vector<const char*> sets_;
    tandem_bytes given_[2]{};
    uint64_t sum_ = 0;
};

}  // namespace

Target capi_target() {
    return {.name = "capi",
            .extension = ".bin",
            .seeds =
                [] {
                    testbench::Seeded random(1);
                    std::vector<Bytes> all;
                    for (int i = 0; i < 64; ++i) all.push_back(random.bytes(24 + random.below(80)));
                    return all;
                },
            .run =
                [](const Bytes& bytes) {
                    ::setenv("PATH", "/nonexistent", 1);  // no array is built
                    ::setenv("TANDEM_ARRAY_CACHE", (scratch() / "arrays").c_str(), 1);
                    return Call(bytes).run();
                }};
}

}  // namespace tandem::fuzz
