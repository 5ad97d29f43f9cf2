// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "api/c/call.h"
#include "api/c/options.h"
#include "api/c/result.h"
#include "base/child.h"
#include "jobs/verification.h"

using namespace tandem;

namespace {

constexpr uint64_t kMostStreams = 1'000'000, kMostSide = 256, kMostAccumulators = 65536;

struct Request {
    engine::MxuShape shape;
    jobs::VerifyRequest streams;
};

engine::MxuShape shape_of(const tandem_verify_options& asked) {
    engine::MxuShape shape;
    shape.rows = c_api::number(asked.rows, kMostSide, 16, "rows");
    shape.cols = c_api::number(asked.cols, kMostSide, 16, "cols");
    shape.accumulator_rows =
        c_api::number(asked.accumulator_rows, kMostAccumulators, 256, "accumulator_rows", 2);
    shape.dtype = *arch::parse_dtype(c_api::one_of(asked.dtype, {"int8", "bf16"}, "dtype"));
    shape.pipeline = c_api::number(asked.pipeline, kMostSide, 1, "pipeline");
    shape.sum4 = asked.sum4 != 0;
    if (shape.sum4 && (shape.dtype != arch::Dtype::kBf16 || shape.pipeline % 4 != 0))
        throw UserError("sum4", "array", "dtype bf16 and a pipeline that is a multiple of 4",
                        fmt::format("{}, {}", arch::to_string(shape.dtype), shape.pipeline));
    return shape;
}

Request request_of(const tandem_verify_options& asked) {
    Request request;
    if (asked.chip != nullptr) {
        const auto chip = c_api::chip_of(asked.chip);
        request.shape = run::array_shape(chip.config);
        request.streams.chip = chip.name;
        request.streams.sets = chip.sets;
    } else {
        request.shape = shape_of(asked);
    }
    request.streams.streams = c_api::number(asked.streams, kMostStreams, 100, "streams");
    if (asked.seed > uint64_t{1} << 62)
        throw UserError("tandem_verify_options", "seed", "at most 2^62",
                        std::to_string(asked.seed));
    request.streams.seed = asked.seed;
    request.streams.inject = c_api::text_of(asked.inject);
    request.streams.waves.reset();
    if (asked.waves != nullptr) request.streams.waves = asked.waves;
    request.streams.rerun = [](uint32_t, uint64_t, const std::string&) { return std::string(); };
    return request;
}

c_api::Answer verify(const Request& request) {
    const run::LoadedArray array = run::load_array(request.shape);
    const jobs::Verification done = jobs::verify_array(array, request.streams);
    c_api::Answer answer;
    answer.report = jobs::verification_report(array, request.streams, done);
    answer.summary = fmt::format("{}x{} {}: {} streams, {} accumulator rows", request.shape.rows,
                                 request.shape.cols, arch::to_string(request.shape.dtype),
                                 done.streams, done.rows_compared);
    if (!done.divergence) return answer;
    answer.verdict = run::Verdict::kMismatch;
    const cosim::Divergence& d = *done.divergence;
    answer.why = fmt::format(
        "model and RTL part ({}) in the stream with seed {}: block {}, row {}, column {}", d.what,
        done.seed, d.block, d.row, d.col);
    return answer;
}

}  // namespace

extern "C" tandem_status tandem_verify(const tandem_verify_options* options, tandem_result** result,
                                       char** error) {
    return c_api::call(error, [&] {
        c_api::need(result, "result");
        *result = nullptr;
        const auto asked = c_api::taken(options, "tandem_verify_options");
        Request request;
        {
            const base::NoFork here;
            request = request_of(asked);
        }
        return c_api::answer_apart(
            "the verification", asked.timeout_seconds, [&] { return verify(request); }, result,
            error);
    });
}
