// SPDX-License-Identifier: Apache-2.0
#include "jobs/samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "base/error.h"
#include "base/file.h"
#include "jobs/model_file.h"
#include "jobs/progress.h"
#include "run/plain_loops.h"
#include "run/run.h"

namespace tandem::jobs {
namespace {

/// Files belong to the tensors in their order, again and again.
std::vector<uint8_t> concatenate(const std::vector<std::string>& files,
                                 const std::vector<arch::ProgramTensor>& tensors) {
    std::vector<uint8_t> all;
    for (size_t i = 0; i < files.size(); ++i) {
        const auto bytes = read_tensor_file(files[i], tensors[i % tensors.size()].type);
        all.insert(all.end(), bytes.begin(), bytes.end());
    }
    return all;
}

/// For errors.
std::string name_of(const std::vector<std::string>& files, const char* bytes) {
    return files.empty() ? bytes : files.front();
}

/// Any bytes for int8; floats normally distributed.
std::vector<uint8_t> random_values(uint64_t bytes, uint32_t element_bytes, uint64_t seed) {
    std::vector<uint8_t> values(bytes);
    std::mt19937_64 generator(seed);
    if (element_bytes == 1) {
        std::generate(values.begin(), values.end(),
                      [&] { return static_cast<uint8_t>(generator()); });
        return values;
    }
    std::normal_distribution<float> normal;
    for (uint64_t at = 0; at < bytes; at += element_bytes) {
        const float value = normal(generator);
        uint8_t word[sizeof value];
        std::memcpy(word, &value, sizeof value);
        // bf16 is the upper half.
        std::copy(word + sizeof value - element_bytes, word + sizeof value,
                  values.begin() + static_cast<ptrdiff_t>(at));
    }
    return values;
}

/// Tensors lie one behind the other, each with the samples of one run.
std::vector<std::vector<uint8_t>> apart(const std::vector<uint8_t>& bytes, uint64_t first,
                                        const std::vector<arch::ProgramTensor>& tensors) {
    std::vector<std::vector<uint8_t>> parts;
    for (const arch::ProgramTensor& tensor : tensors) {
        const auto from = bytes.begin() + static_cast<ptrdiff_t>(first);
        parts.emplace_back(from, from + tensor.bytes);
        first += tensor.bytes;
    }
    return parts;
}

}  // namespace

Samples::Samples(const arch::Program& program, const SampleFiles& files, uint64_t seed)
    : program_(program),
      files_(files),
      input_bytes_(arch::bytes_of(program.inputs) / program.batch),
      output_bytes_(arch::bytes_of(program.outputs) / program.batch) {
    load_inputs(seed);
    count_ = static_cast<uint32_t>(inputs_.size() / input_bytes_);
    inputs_.resize(uint64_t{runs()} * program.batch * input_bytes_);
    expected_ = all_of(files.expects, files.expected_bytes, program.outputs);
    if (!files.labels.empty()) labels_ = base::read_file(files.labels);
    check_sizes();
    expected_.resize(output_bytes_ * count_);
}

std::vector<uint8_t> Samples::all_of(const std::vector<std::string>& files,
                                     const std::vector<uint8_t>& bytes,
                                     const std::vector<arch::ProgramTensor>& tensors) const {
    return files.empty() ? bytes : concatenate(files, tensors);
}

void Samples::load_inputs(uint64_t seed) {
    inputs_ = all_of(files_.inputs, files_.input_bytes, program_.inputs);
    if (files_.inputs.empty() && inputs_.empty()) {
        // What the host has no room for is refused before it is made.
        run::host_memory_for(
            program_, (std::max(1u, files_.count) + program_.batch - 1) / uint64_t{program_.batch});
        inputs_ = random_values(input_bytes_ * std::max(1u, files_.count),
                                arch::element_bytes(program_.inputs.front(), program_.batch), seed);
        return;
    }
    if (inputs_.empty() || inputs_.size() % input_bytes_ != 0)
        throw UserError(name_of(files_.inputs, "inputs"), "size",
                        fmt::format("a multiple of {} bytes (the model's input)", input_bytes_),
                        fmt::format("{} bytes", inputs_.size()));
    if (files_.count == 0) return;
    if (inputs_.size() / input_bytes_ < files_.count)
        throw UserError(name_of(files_.inputs, "inputs"), "samples",
                        fmt::format("--count {}", files_.count),
                        std::to_string(inputs_.size() / input_bytes_));
    inputs_.resize(input_bytes_ * files_.count);
}

void Samples::check_sizes() const {
    if (files_.expects_outputs() && expected_.size() < output_bytes_ * count_)
        throw UserError(name_of(files_.expects, "expected outputs"), "size",
                        fmt::format("{} bytes ({} samples of {})", output_bytes_ * count_, count_,
                                    output_bytes_),
                        fmt::format("{} bytes", expected_.size()));
    if (!files_.labels.empty() && labels_.size() < count_)
        throw UserError(files_.labels, "size", fmt::format("{} labels of one byte", count_),
                        fmt::format("{} bytes", labels_.size()));
}

void Samples::compare_with_files(const std::vector<uint8_t>& outputs,
                                 run::RunReport& report) const {
    const uint32_t element = arch::element_bytes(program_.outputs.front(), program_.batch);
    if (!files_.labels.empty())
        report.accuracy = run::accuracy_of(outputs, element, labels_, output_bytes_);
    if (!files_.expects_outputs()) return;
    const auto found = of_kind(outputs, true), wanted = of_kind(expected_, true);
    if (!wanted.empty())
        report.floats =
            run::compare_floats(found, wanted, wanted.size() / count_, files_.tolerance);
    const auto whole = of_kind(expected_, false);
    if (!whole.empty())
        report.check = run::compare_outputs(of_kind(outputs, false), whole, whole.size() / count_);
}

std::vector<uint8_t> Samples::of_kind(const std::vector<uint8_t>& outputs, bool floats) const {
    const auto of_that_kind = [&](const arch::ProgramTensor& tensor) {
        return (tensor.type == "FLOAT32") == floats;
    };
    if (std::ranges::all_of(program_.outputs, of_that_kind)) return outputs;
    std::vector<uint8_t> bytes;
    for (uint64_t at = 0; at < outputs.size();)
        for (const arch::ProgramTensor& tensor : program_.outputs) {
            const auto from = outputs.begin() + static_cast<ptrdiff_t>(at);
            const uint64_t size = tensor.bytes / program_.batch;
            if (of_that_kind(tensor))
                bytes.insert(bytes.end(), from, from + static_cast<ptrdiff_t>(size));
            at += size;
        }
    return bytes;
}

run::OutputCheck Samples::compare_with_plain_loops(const compiler::Graph& graph,
                                                   const arch::ChipConfig& chip,
                                                   const std::vector<uint8_t>& outputs) const {
    Progress progress("runs of plain loops");
    std::vector<uint8_t> expected;
    for (uint32_t run = 0; run < runs(); ++run) {
        const uint64_t first = uint64_t{run} * program_.batch * input_bytes_;
        const auto plain = run::plain_loops(graph, chip.mxu, program_.batch,
                                            apart(inputs_, first, program_.inputs));
        for (const compiler::TensorId id : graph.outputs) {
            const auto& bytes = plain.of_tensor.at(id);
            expected.insert(expected.end(), bytes.begin(), bytes.end());
        }
        progress.update(run + 1, runs());
    }
    return run::compare_outputs(outputs, expected, output_bytes_);
}

}  // namespace tandem::jobs
