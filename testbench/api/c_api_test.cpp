// SPDX-License-Identifier: Apache-2.0
// libtandem through its header alone: statuses, struct sizes, ownership, answers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "testbench/api/handles.h"

namespace tandem::testbench {
namespace {

TEST(CApi, SaysItsVersion) {
    char* text = nullptr;
    ASSERT_EQ(tandem_build_info(&text, nullptr), TANDEM_GOOD);
    EXPECT_EQ(std::string(text).find(std::string("tandem ") + tandem_version()), 0u) << text;
    tandem_free(text);
    EXPECT_GE(tandem_api_version(), uint32_t{TANDEM_API_VERSION});
    EXPECT_EQ(std::count(tandem_version(), tandem_version() + std::strlen(tandem_version()), '.'),
              2);
}

/// int8 by plain loops: sums times a float32, half to even, saturated.
std::vector<int8_t> product(const std::vector<int8_t>& a, const std::vector<int8_t>& b, size_t m,
                            size_t k, size_t n, float multiplier) {
    std::vector<int8_t> c;
    for (size_t row = 0; row < m; ++row)
        for (size_t column = 0; column < n; ++column) {
            int32_t sum = 0;
            for (size_t i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
            const float scaled = std::nearbyint(static_cast<float>(sum) * multiplier);
            c.push_back(static_cast<int8_t>(std::clamp(scaled, -128.0f, 127.0f)));
        }
    return c;
}

std::vector<int8_t> random_matrix(size_t elements, std::mt19937& random) {
    std::vector<int8_t> values(elements);
    for (int8_t& value : values) value = static_cast<int8_t>(random() % 255);
    std::ranges::replace(values, int8_t{-128}, int8_t{1});
    return values;
}

TEST(CApi, MultipliesTheCallersMatricesWhateverItsRounding) {
    std::mt19937 random(1);
    constexpr size_t m = 9, k = 21, n = 18;
    const auto a = random_matrix(m * k, random), b = random_matrix(k * n, random);
    auto options = fresh<tandem_gemm_options>();
    options.m = m;
    options.k = k;
    options.n = n;
    options.a = a.data();
    options.b = b.data();
    options.multiplier = 0.003;
    const int before = fegetround();
    fesetround(FE_UPWARD);
    Call call;
    Result result;
    EXPECT_EQ(tandem_gemm(&options, result.out(), call.error()), TANDEM_GOOD) << call.message();
    EXPECT_EQ(fegetround(), FE_UPWARD);
    fesetround(before);
    ASSERT_EQ(tandem_result_tensor_count(result.get(), TANDEM_OUTPUT), 1u);
    EXPECT_EQ(result.bytes(TANDEM_OUTPUT, 0), product(a, b, m, k, n, 0.003f));
}

TEST(CApi, RunsANetworkFromAnOlderCallersStructs) {
    Model model(digits());
    ASSERT_NE(model.get(), nullptr) << model.message();
    // What a caller had whose struct ended behind `seed`.
    struct {
        uint64_t size;
        const char *backend, *mode, *host;
        uint64_t seed;
    } older{sizeof older, "tlm", nullptr, "native", 5};
    Call call;
    Result result;
    EXPECT_EQ(tandem_run(model.get(), reinterpret_cast<const tandem_run_options*>(&older),
                         result.out(), call.error()),
              TANDEM_GOOD)
        << call.message();
    EXPECT_NE(std::string(tandem_result_report(result.get())).find("\"host_cpu\": \"native\""),
              std::string::npos);
    EXPECT_EQ(result.bytes(TANDEM_OUTPUT, 0).size(), 10u);
}

TEST(CApi, TakesANewerStructIfWhatItDoesNotKnowIsZero) {
    Model model(digits());
    struct {
        tandem_run_options known;
        uint64_t unknown;
    } newer{{}, 0};
    newer.known.size = sizeof newer;
    const auto run = [&](std::string& message) {
        Call call;
        Result result;
        const auto status = tandem_run(model.get(), &newer.known, result.out(), call.error());
        message = call.message();
        return status;
    };
    std::string message;
    EXPECT_EQ(run(message), TANDEM_GOOD) << message;
    newer.unknown = 1;
    EXPECT_EQ(run(message), TANDEM_USER_ERROR);
    EXPECT_NE(message.find("newer struct"), std::string::npos) << message;
}

TEST(CApi, RefusesSizesThatNoStructHas) {
    for (const uint64_t size : {uint64_t{0}, uint64_t{7}, uint64_t{9}, ~uint64_t{0}}) {
        auto options = fresh<tandem_gemm_options>();
        options.size = size;
        Call call;
        Result result;
        EXPECT_EQ(tandem_gemm(&options, result.out(), call.error()), TANDEM_USER_ERROR);
        EXPECT_NE(call.message().find("tandem_gemm_options: size"), std::string::npos);
        EXPECT_EQ(result.get(), nullptr);
    }
}

TEST(CApi, NullIsAMistakeOrADefaultAndNeverACrash) {
    Call call;
    EXPECT_EQ(tandem_model_load(nullptr, nullptr, call.error()), TANDEM_USER_ERROR);
    tandem_model* model = nullptr;
    EXPECT_EQ(tandem_model_load(nullptr, &model, nullptr), TANDEM_USER_ERROR);
    EXPECT_EQ(tandem_run(nullptr, nullptr, nullptr, nullptr), TANDEM_USER_ERROR);
    tandem_result* result = nullptr;
    EXPECT_EQ(tandem_run(nullptr, nullptr, &result, nullptr), TANDEM_USER_ERROR);
    EXPECT_EQ(tandem_gemm(nullptr, &result, nullptr), TANDEM_USER_ERROR);
    EXPECT_EQ(tandem_verify(nullptr, nullptr, nullptr), TANDEM_USER_ERROR);
    EXPECT_EQ(tandem_chip_figures(nullptr, nullptr, nullptr), TANDEM_USER_ERROR);
    EXPECT_EQ(tandem_model_compile(nullptr, nullptr, nullptr), TANDEM_USER_ERROR);
    EXPECT_EQ(tandem_model_tensor(nullptr, 0, 0, nullptr, nullptr), TANDEM_USER_ERROR);
    EXPECT_EQ(tandem_result_tensor(nullptr, 0, 0, nullptr, nullptr), TANDEM_USER_ERROR);
    EXPECT_EQ(tandem_model_tensor_count(nullptr, 0), 0u);
    EXPECT_EQ(tandem_result_tensor_count(nullptr, 0), 0u);
    EXPECT_EQ(tandem_result_report(nullptr), nullptr);
    EXPECT_EQ(tandem_result_summary(nullptr), nullptr);
    tandem_model_free(nullptr);
    tandem_result_free(nullptr);
    tandem_free(nullptr);
    EXPECT_EQ(result, nullptr);
}

TEST(CApi, AMismatchComesWithItsResult) {
    auto options = fresh<tandem_verify_options>();
    const tandem_chip chip{sizeof chip, "test_16x16", nullptr, 0};
    options.chip = &chip;
    options.streams = 4;
    options.inject = "seed=1";
    Call call;
    Result result;
    EXPECT_EQ(tandem_verify(&options, result.out(), call.error()), TANDEM_MISMATCH);
    EXPECT_NE(call.message().find("model and RTL part"), std::string::npos) << call.message();
    EXPECT_NE(std::string(tandem_result_report(result.get())).find("\"first_divergence\""),
              std::string::npos);
}

TEST(CApi, ChipsAreFiguresInJson) {
    char* json = nullptr;
    ASSERT_EQ(tandem_chip_figures(nullptr, &json, nullptr), TANDEM_GOOD);
    EXPECT_NE(std::strstr(json, "\"tpu_v1\""), nullptr);
    tandem_free(json);
    const char* const sets[] = {"mxu.count=3"};
    const tandem_chip chip{sizeof chip, "test_16x16", sets, 1};
    ASSERT_EQ(tandem_chip_figures(&chip, &json, nullptr), TANDEM_GOOD);
    EXPECT_NE(std::strstr(json, "\"count\": 3"), nullptr);
    tandem_free(json);
}

}  // namespace
}  // namespace tandem::testbench
