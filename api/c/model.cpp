// SPDX-License-Identifier: Apache-2.0
#include "api/c/model.h"

#include <algorithm>
#include <memory>

#include "api/c/call.h"
#include "api/c/options.h"
#include "base/child.h"
#include "compiler/pipeline.h"
#include "run/paths.h"

using namespace tandem;

namespace {

constexpr uint64_t kMostBatch = 65535;

std::vector<c_api::Tensor> tensors_of(const std::vector<arch::ProgramTensor>& all, uint32_t batch) {
    std::vector<c_api::Tensor> tensors;
    for (const arch::ProgramTensor& tensor : all)
        tensors.push_back({.name = tensor.name,
                           .dtype = c_api::dtype_name(arch::element_bytes(tensor, batch)),
                           .shape = {tensor.shape.begin(), tensor.shape.end()},
                           .scale = static_cast<double>(tensor.scale),
                           .zero_point = tensor.zero_point,
                           .bytes = tensor.bytes / batch});
    return tensors;
}

void compile(tandem_model& model) {
    const auto keep_bounds = [&](const compiler::Planned& planned) {
        model.bounds = compiler::lower_bounds(planned.kernels, planned.plan, planned.chip);
    };
    model.program = compiler::compile(*model.graph, model.chip,
                                      {.batch = model.options.batch,
                                       .rounding = jobs::rounding_of(model.options),
                                       .plan = model.options.plan,
                                       .dump = {},
                                       .on_plan = keep_bounds});
}

std::unique_ptr<tandem_model> load(const tandem_model_options& options) {
    c_api::need(options.file, "tandem_model_options.file");
    auto model = std::make_unique<tandem_model>();
    model->file = options.file;
    model->options.batch = c_api::number(options.batch, kMostBatch, 1, "batch");
    model->options.rounding = c_api::one_of(options.rounding, {"single", "gemmlowp"}, "rounding");
    if (c_api::one_of(options.plan, {"search", "rules"}, "plan") == "rules")
        model->options.plan = compiler::PlanMode::kRules;
    const std::string dtype =
        options.dtype == nullptr ? "" : c_api::one_of(options.dtype, {"int8", "bf16"}, "dtype");
    const auto chip = c_api::chip_of(options.chip).config;
    model->list = jobs::is_list(model->file);
    if (jobs::is_program(model->file)) {
        auto loaded = jobs::load_program(model->file, chip);
        model->program = std::move(loaded.program);
        model->chip = std::move(loaded.chip);
        model->options.batch = model->program->batch;
    } else {
        auto loaded = jobs::load_graph(model->file, chip, model->options, dtype);
        model->graph = std::move(loaded.graph);
        model->chip = std::move(loaded.chip);
        if (!model->list && compiler::has_image(*model->graph)) compile(*model);
    }
    if (model->program) {
        model->inputs = tensors_of(model->program->inputs, model->program->batch);
        model->outputs = tensors_of(model->program->outputs, model->program->batch);
    }
    return model;
}

const std::vector<c_api::Tensor>& at(const tandem_model& model, uint32_t place) {
    if (place != TANDEM_INPUT && place != TANDEM_OUTPUT)
        throw UserError("tandem_model", "place", "TANDEM_INPUT or TANDEM_OUTPUT",
                        std::to_string(place));
    return place == TANDEM_INPUT ? model.inputs : model.outputs;
}

}  // namespace

c_api::Tensor tandem_model::layer(size_t node) const {
    const arch::ProgramNode& of_program = program->nodes.at(node);
    c_api::Tensor tensor{.name = of_program.name,
                         .dtype = "int8",
                         .shape = {of_program.output_bytes},
                         .bytes = of_program.output_bytes};
    if (!graph) return tensor;
    const auto source = std::ranges::find_if(graph->nodes, [&](const compiler::Node& candidate) {
        return candidate.index == of_program.index && candidate.op != compiler::Operator::kEdge;
    });
    if (source == graph->nodes.end()) return tensor;
    const compiler::Tensor& output = graph->output(*source);
    tensor = c_api::described(output);
    tensor.name = of_program.name;
    tensor.shape.insert(tensor.shape.begin(), program->batch);
    tensor.bytes = of_program.output_bytes;
    // Inside a float network numbers are bf16.
    tensor.dtype = c_api::dtype_name(of_program.output_bytes /
                                     std::max<uint64_t>(1, output.elements() * program->batch));
    return tensor;
}

extern "C" tandem_status tandem_model_load(const tandem_model_options* options,
                                           tandem_model** model, char** error) {
    return c_api::call(error, [&] {
        c_api::need(model, "model");
        *model = nullptr;
        const base::NoFork here;
        *model = load(c_api::taken(options, "tandem_model_options")).release();
        return TANDEM_GOOD;
    });
}

extern "C" void tandem_model_free(tandem_model* model) { delete model; }

extern "C" tandem_status tandem_model_compile(const tandem_model* model, const char* file,
                                              char** error) {
    return c_api::call(error, [&] {
        c_api::need(model, "model");
        c_api::need(file, "file");
        if (!model->program)
            throw UserError(model->file, "program", "a model with data (.tflite, .tpu)",
                            "layers, whose data are seeded");
        const base::NoFork here;
        arch::write_program(*model->program, file);
        return TANDEM_GOOD;
    });
}

extern "C" uint64_t tandem_model_tensor_count(const tandem_model* model, uint32_t place) {
    if (model == nullptr) return 0;
    if (place == TANDEM_INPUT) return model->inputs.size();
    return place == TANDEM_OUTPUT ? model->outputs.size() : 0;
}

extern "C" tandem_status tandem_model_tensor(const tandem_model* model, uint32_t place,
                                             uint64_t index, tandem_tensor* tensor, char** error) {
    return c_api::call(error, [&] {
        c_api::need(model, "model");
        c_api::show(at(*model, place), index, tensor);
        return TANDEM_GOOD;
    });
}
