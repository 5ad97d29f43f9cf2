// SPDX-License-Identifier: Apache-2.0
#include "testbench/compiler/model_data.h"

#include <cstdlib>
#include <string_view>

#include "base/file.h"
#include "compiler/import/tflite/tflite_import.h"

namespace tandem::testbench {

std::filesystem::path models_folder() {
    const char* folder = std::getenv("TANDEM_MODELS");
    if (folder == nullptr || !std::filesystem::is_directory(folder)) return {};
    return folder;
}

bool models_are_required() {
    const char* ci = std::getenv("CI");
    return ci != nullptr && std::string_view(ci) == "true";
}

std::vector<int8_t> read_int8(const std::filesystem::path& file) {
    const auto bytes = base::read_file(file);
    return {bytes.begin(), bytes.end()};
}

size_t ModelData::input_bytes() const { return graph.tensors[graph.inputs[0]].elements(); }
size_t ModelData::output_bytes() const { return graph.tensors[graph.outputs[0]].elements(); }

std::vector<int8_t> ModelData::input(size_t sample) const {
    const auto first = inputs.begin() + static_cast<ptrdiff_t>(sample * input_bytes());
    return {first, first + static_cast<ptrdiff_t>(input_bytes())};
}

ModelData load_model(const ModelFiles& files) {
    const auto folder = models_folder() / files.folder;
    ModelData data;
    data.name = files.name;
    data.graph = compiler::import_tflite(folder / files.file);
    data.inputs = read_int8(folder / "inputs/int8.bin");
    data.expected_single = read_int8(folder / "expected/int8.bin");
    data.expected_gemmlowp = read_int8(folder / "expected/int8_gemmlowp_ownref.bin");
    const auto layers = folder / "layers/int8_sample0.layers.bin";
    if (std::filesystem::exists(layers)) data.layers_of_sample_0 = read_int8(layers);
    return data;
}

}  // namespace tandem::testbench
