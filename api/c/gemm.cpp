// SPDX-License-Identifier: Apache-2.0

#include "api/c/call.h"
#include "api/c/options.h"
#include "api/c/result.h"
#include "base/child.h"
#include "base/stopwatch.h"
#include "jobs/chip_for.h"
#include "jobs/gemm_product.h"
#include "jobs/model_file.h"
#include "jobs/run_report.h"
#include "run/plain_loops.h"
#include "run/run.h"

using namespace tandem;

namespace {

constexpr uint64_t kMostExtent = 65535;

struct Request {
    jobs::GemmSize size;
    arch::ChipConfig chip;
    jobs::GemmMatrices matrices;
    compiler::PlanMode plan = compiler::PlanMode::kSearch;
    run::RunOptions options;
    uint64_t seed = 0;
};

uint32_t extent(uint64_t value, const char* name) {
    const uint32_t found = c_api::number(value, kMostExtent, 0, name);
    if (found == 0) throw UserError("tandem_gemm_options", name, "1 to 65535", "0");
    return found;
}

std::vector<uint8_t> matrix(const void* data, uint64_t elements, arch::Dtype dtype) {
    if (data == nullptr) return {};
    const auto* begin = static_cast<const uint8_t*>(data);
    return {begin, begin + elements * arch::element_bytes(dtype)};
}

Request request_of(const tandem_gemm_options& asked) {
    Request request;
    request.size = {extent(asked.m, "m"), extent(asked.k, "k"), extent(asked.n, "n")};
    const auto chip = c_api::chip_of(asked.chip).config;
    const auto dtype =
        asked.dtype == nullptr
            ? chip.mxu.dtype
            : *arch::parse_dtype(c_api::one_of(asked.dtype, {"int8", "bf16"}, "dtype"));
    request.chip = jobs::chip_for(chip, dtype, request.size.to_string(), "dtype");
    jobs::check_sizes(request.size, request.chip);
    request.matrices.a = matrix(asked.a, uint64_t{request.size.m} * request.size.k, dtype);
    request.matrices.b = matrix(asked.b, uint64_t{request.size.k} * request.size.n, dtype);
    request.matrices.multiplier = static_cast<float>(asked.multiplier);
    if (c_api::one_of(asked.plan, {"search", "rules"}, "plan") == "rules")
        request.plan = compiler::PlanMode::kRules;
    auto& options = request.options;
    options.backend = c_api::one_of(asked.backend, {"tlm", "rtl", "tandem"}, "backend");
    options.cpu = c_api::one_of(asked.host, {"riscv", "native"}, "host");
    options.functional =
        c_api::one_of(asked.mode, {"functional", "timing"}, "mode") == "functional";
    if (!options.functional && options.backend != "tlm")
        throw UserError("mode timing moves no data: it goes with backend tlm only");
    options.inject = c_api::text_of(asked.inject);
    request.seed = asked.seed;
    return request;
}

c_api::Answer multiply(const Request& request) {
    const auto product =
        jobs::make_gemm(request.size, request.chip, request.seed, request.plan, request.matrices);
    const base::Stopwatch watch;
    const run::ImageJob job{
        .program = product.program, .inputs = product.inputs, .bounds = product.bounds};
    const auto result = run::run_image(request.chip, job, request.options);
    c_api::require_injected(request.options, result);
    auto report = jobs::report_of_image(product.program, request.size.to_string(), request.options,
                                        request.seed, result, watch);
    report.plan = jobs::name_of(request.plan);
    const bool answers = request.options.functional && result.completed();
    const compiler::TensorId c = product.graph.outputs.front();
    if (answers) {
        const auto plain =
            run::plain_loops(product.graph, request.chip.mxu, 1, {product.inputs}).of_tensor.at(c);
        report.check = run::compare_outputs(result.outputs, plain, plain.size());
    }
    c_api::Answer answer = c_api::answer_of(request.chip, result, report);
    if (answers) {
        answer.outputs.push_back(c_api::described(product.graph.tensors[c]));
        answer.outputs.back().data = result.outputs;
    }
    return answer;
}

}  // namespace

extern "C" tandem_status tandem_gemm(const tandem_gemm_options* options, tandem_result** result,
                                     char** error) {
    return c_api::call(error, [&] {
        c_api::need(result, "result");
        *result = nullptr;
        const auto asked = c_api::taken(options, "tandem_gemm_options");
        Request request;
        {
            const base::NoFork here;
            request = request_of(asked);
        }
        return c_api::answer_apart(
            request.size.to_string(), asked.timeout_seconds, [&] { return multiply(request); },
            result, error);
    });
}
