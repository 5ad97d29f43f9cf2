// SPDX-License-Identifier: Apache-2.0
#include "api/c/result.h"

#include <memory>
#include <systemc>

#include "api/c/call.h"
#include "api/c/options.h"
#include "base/child.h"
#include "run/run.h"

namespace tandem::c_api {
namespace {

using nlohmann::json;

json packed(std::vector<Tensor>& tensors) {
    json all = json::array();
    for (Tensor& tensor : tensors)
        all.push_back({{"name", tensor.name},
                       {"dtype", tensor.dtype},
                       {"shape", tensor.shape},
                       {"scale", tensor.scale},
                       {"zero_point", tensor.zero_point},
                       {"data", json::binary(std::move(tensor.data))}});
    return all;
}

std::vector<Tensor> unpacked(json& all) {
    std::vector<Tensor> tensors;
    for (json& each : all) {
        auto& tensor = tensors.emplace_back();
        each["name"].get_to(tensor.name);
        each["dtype"].get_to(tensor.dtype);
        each["shape"].get_to(tensor.shape);
        each["scale"].get_to(tensor.scale);
        each["zero_point"].get_to(tensor.zero_point);
        tensor.data = std::move(each["data"].get_binary());
        tensor.bytes = tensor.data.size();
    }
    return tensors;
}

/// Text of any bytes: names in a model file may be no UTF-8.
std::string text_of_report(const json& report) {
    return report.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string packed(Answer answer) {
    const json all = {
        {"verdict", static_cast<int>(answer.verdict)}, {"why", answer.why},
        {"report", text_of_report(answer.report)},     {"summary", answer.summary},
        {"outputs", packed(answer.outputs)},           {"layers", packed(answer.layers)}};
    std::string bytes;
    json::to_cbor(all, bytes);
    return bytes;
}

/// A child has a copy of the caller's SystemC kernel.
void require_unused_systemc() {
    if (sc_core::sc_get_status() == sc_core::SC_ELABORATION &&
        sc_core::sc_get_top_level_objects().empty())
        return;
    throw UserError("this process", "SystemC", "no module of the caller's own beside Tandem's runs",
                    "an elaborated system");
}

}  // namespace

Answer answer_of(const arch::ChipConfig& chip, const run::RunResult& result,
                 const run::RunReport& report) {
    Answer answer;
    answer.report = run::make_report(chip, result, report);
    const size_t before = base::child_output().size();
    run::print_summary(chip, result, report);
    const size_t told = base::child_output().size();
    answer.verdict = run::judge(result, report);
    const std::string words = base::child_output();
    answer.summary = words.substr(before, told - before);
    answer.why = words.substr(told);
    return answer;
}

void require_injected(const run::RunOptions& options, const run::RunResult& result) {
    if (!options.inject.empty() && !result.injected && !result.divergence)
        throw UserError("inject", "cycle", "a cycle in which the array is used",
                        options.inject + ", which was not reached");
}

tandem_status answer_apart(const std::string& name, double timeout_seconds,
                           const std::function<Answer()>& work, tandem_result** result,
                           char** error) {
    const std::string bytes =
        base::in_child({.name = name, .timeout_seconds = checked_seconds(timeout_seconds)}, [&] {
            require_unused_systemc();
            return packed(work());
        });
    json all = json::from_cbor(bytes);
    const auto verdict = static_cast<run::Verdict>(all["verdict"].get<int>());
    const auto why = all["why"].get<std::string>();
    if (verdict == run::Verdict::kFault) throw std::logic_error(why);
    auto made = std::make_unique<tandem_result>();
    all["report"].get_to(made->report);
    all["summary"].get_to(made->summary);
    made->outputs = unpacked(all["outputs"]);
    made->layers = unpacked(all["layers"]);
    if (verdict == run::Verdict::kMismatch) tell(error, why);
    *result = made.release();
    return verdict == run::Verdict::kMismatch ? TANDEM_MISMATCH : TANDEM_GOOD;
}

}  // namespace tandem::c_api

using namespace tandem;

extern "C" void tandem_result_free(tandem_result* result) { delete result; }

extern "C" const char* tandem_result_report(const tandem_result* result) {
    return result == nullptr ? nullptr : result->report.c_str();
}

extern "C" const char* tandem_result_summary(const tandem_result* result) {
    return result == nullptr ? nullptr : result->summary.c_str();
}

extern "C" uint64_t tandem_result_tensor_count(const tandem_result* result, uint32_t place) {
    if (result == nullptr) return 0;
    if (place == TANDEM_OUTPUT) return result->outputs.size();
    return place == TANDEM_LAYER ? result->layers.size() : 0;
}

extern "C" tandem_status tandem_result_tensor(const tandem_result* result, uint32_t place,
                                              uint64_t index, tandem_tensor* tensor, char** error) {
    return c_api::call(error, [&] {
        c_api::need(result, "result");
        if (place != TANDEM_OUTPUT && place != TANDEM_LAYER)
            throw UserError("tandem_result", "place", "TANDEM_OUTPUT or TANDEM_LAYER",
                            std::to_string(place));
        c_api::show(place == TANDEM_OUTPUT ? result->outputs : result->layers, index, tensor);
        return TANDEM_GOOD;
    });
}
