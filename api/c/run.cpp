// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "api/c/call.h"
#include "api/c/model.h"
#include "api/c/options.h"
#include "api/c/result.h"
#include "api/c/sample_layout.h"
#include "base/child.h"
#include "base/stopwatch.h"
#include "jobs/graph_job.h"
#include "jobs/run_report.h"
#include "jobs/samples.h"
#include "run/run.h"

using namespace tandem;

namespace {

constexpr uint64_t kMostSamples = 1'000'000'000;

struct Request {
    run::RunOptions options;
    jobs::SampleFiles samples;
    uint64_t seed = 0;
    bool keep_layers = false;
    bool own_budget = false;
};

std::vector<uint8_t> samples_of(const tandem_model& model, const tandem_bytes* data, uint64_t count,
                                const std::vector<c_api::Tensor>& tensors, const char* what) {
    if (count == 0) return {};
    c_api::need(data, what);
    if (count != tensors.size())
        throw UserError(model.file, what, std::to_string(tensors.size()) + " tensors",
                        std::to_string(count));
    std::vector<std::span<const uint8_t>> parts;
    const uint64_t samples = data[0].bytes / tensors[0].bytes;
    for (size_t i = 0; i < count; ++i) {
        if (data[i].bytes == 0 || data[i].bytes != samples * tensors[i].bytes)
            throw UserError(model.file, std::string(what) + " '" + tensors[i].name + "'",
                            "the same number of samples for all tensors, each of " +
                                std::to_string(tensors[i].bytes) + " bytes",
                            std::to_string(data[i].bytes) + " bytes");
        c_api::need(data[i].data, what);
        parts.emplace_back(static_cast<const uint8_t*>(data[i].data), data[i].bytes);
    }
    if (tensors.size() > 1 && samples % model.options.batch != 0)
        throw UserError(model.file, what,
                        "a multiple of the batch of " + std::to_string(model.options.batch),
                        std::to_string(samples) + " samples");
    return c_api::by_inference(tensors, parts, samples, model.options.batch);
}

void refuse(const tandem_model& model, bool given, const char* what) {
    if (given)
        throw UserError(model.file, what, "a model with data (.tflite, .tpu)",
                        "layers, whose data are seeded");
}

Request request_of(const tandem_model& model, const tandem_run_options& asked) {
    Request request;
    auto& options = request.options;
    options.backend = c_api::one_of(asked.backend, {"tlm", "rtl", "tandem"}, "backend");
    options.cpu = c_api::one_of(asked.host, {"riscv", "native"}, "host");
    options.functional = model.program || options.backend != "tlm";
    if (asked.mode != nullptr)
        options.functional =
            c_api::one_of(asked.mode, {"functional", "timing"}, "mode") == "functional";
    if (!options.functional && options.backend != "tlm")
        throw UserError("mode timing moves no data: it goes with backend tlm only");
    if (!options.functional && (asked.expected_count != 0 || asked.keep_layers != 0))
        throw UserError("mode timing moves no data: expected and keep_layers need functional");
    options.inject = c_api::text_of(asked.inject);
    options.trace_path = c_api::text_of(asked.trace);
    options.divergence_wave = c_api::text_of(asked.divergence_wave);
    request.own_budget = asked.firmware_budget != 0;
    if (request.own_budget) options.firmware_budget = asked.firmware_budget;
    request.seed = asked.seed;
    request.keep_layers = asked.keep_layers != 0;
    request.samples.count = c_api::number(asked.count, kMostSamples, 0, "count");
    if (asked.tolerance != 0) request.samples.tolerance.of_largest = asked.tolerance;
    const double share = request.samples.tolerance.of_largest;
    if (!(share >= 0 && share <= 1))
        throw UserError("tolerance", "value", "0 to 1", std::to_string(asked.tolerance));
    if (!model.program) {
        refuse(model, asked.input_count != 0, "inputs");
        refuse(model, asked.expected_count != 0, "expected");
        refuse(model, request.keep_layers, "keep_layers");
        refuse(model, asked.count != 0, "count");
        refuse(model, asked.host != nullptr, "host");
        return request;
    }
    auto& samples = request.samples;
    samples.input_bytes =
        samples_of(model, asked.inputs, asked.input_count, model.inputs, "inputs");
    samples.expected_bytes =
        samples_of(model, asked.expected, asked.expected_count, model.outputs, "expected");
    if (samples.input_bytes.empty() && samples.count == 0) samples.count = model.options.batch;
    return request;
}

/// A limit that the caller has set is the caller's mistake, not the firmware's.
void require_budget(const tandem_model& model, const Request& request,
                    const run::RunResult& result) {
    const std::string used_up = "the budget of " + std::to_string(request.options.firmware_budget);
    if (request.own_budget && result.failure.find(used_up) != std::string::npos)
        throw UserError(model.file, "firmware_budget", "as many instructions as the run takes",
                        std::to_string(request.options.firmware_budget));
}

c_api::Answer run_network(const tandem_model& model, const Request& request) {
    const arch::Program& program = *model.program;
    const jobs::Samples samples(program, request.samples, request.seed);
    const run::ImageJob job{.program = program,
                            .inputs = samples.inputs(),
                            .runs = samples.runs(),
                            .bounds = model.bounds,
                            .keep_layers = request.keep_layers};
    const base::Stopwatch watch;
    auto result = run::run_image(model.chip, job, request.options);
    require_budget(model, request, result);
    c_api::require_injected(request.options, result);
    auto report =
        jobs::report_of_image(program, model.file, request.options, request.seed, result, watch);
    report.samples = samples.count();
    if (model.graph) {
        report.plan = jobs::name_of(model.options.plan);
        jobs::describe_nodes(*model.graph, program, report);
    }
    const bool answers = request.options.functional && result.completed();
    const std::vector<uint8_t> all = result.outputs;
    result.outputs.resize(samples.output_bytes() * report.samples);
    if (answers) samples.compare_with_files(result.outputs, report);
    c_api::Answer answer = c_api::answer_of(model.chip, result, report);
    if (answers)
        answer.outputs = c_api::by_tensor(model.outputs, all, report.samples, program.batch);
    for (size_t node = 0; node < result.layer_outputs.size(); ++node) {
        if (result.layer_outputs[node].empty()) continue;
        answer.layers.push_back(model.layer(node));
        answer.layers.back().data = std::move(result.layer_outputs[node]);
    }
    return answer;
}

c_api::Answer run_layers(const tandem_model& model, const Request& request) {
    const compiler::Graph& graph = *model.graph;
    const run::GraphOptions how{.batch = model.list ? 1 : model.options.batch,
                                .rounding = jobs::rounding_of(model.options),
                                .seed = request.seed,
                                .plan = model.options.plan};
    if (request.options.functional) jobs::check_cost(graph, model.file, how);
    const base::Stopwatch watch;
    auto result = run::run_graph(graph, model.chip, how, request.options);
    c_api::require_injected(request.options, result.run);
    auto report =
        jobs::report_of_layers(graph, model.file, request.options, how, result.run, watch);
    if (request.options.functional && result.run.completed())
        jobs::compare_with_plain_loops(graph, model.chip, how, result, report);
    c_api::Answer answer = c_api::answer_of(model.chip, result.run, report);
    for (run::ComputedTensor& computed : result.computed) {
        auto tensor = c_api::described(graph.tensors[computed.tensor]);
        const uint64_t samples = computed.bytes.size() / std::max<uint64_t>(1, tensor.bytes);
        if (!tensor.shape.empty()) tensor.shape.front() *= samples;
        tensor.data = std::move(computed.bytes);
        answer.outputs.push_back(std::move(tensor));
    }
    return answer;
}

}  // namespace

extern "C" tandem_status tandem_run(const tandem_model* model, const tandem_run_options* options,
                                    tandem_result** result, char** error) {
    return c_api::call(error, [&] {
        c_api::need(result, "result");
        *result = nullptr;
        c_api::need(model, "model");
        const auto asked = c_api::taken(options, "tandem_run_options");
        Request request;
        {
            const base::NoFork here;
            request = request_of(*model, asked);
        }
        return c_api::answer_apart(
            "the run of " + model->file, asked.timeout_seconds,
            [&] {
                return model->program ? run_network(*model, request) : run_layers(*model, request);
            },
            result, error);
    });
}
