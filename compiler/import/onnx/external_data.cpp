// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/onnx/external_data.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/terminal.h"

namespace tandem::compiler {
namespace {

namespace fs = std::filesystem;

class ExternalTensor {
  public:
    ExternalTensor(onnx::TensorProto& tensor, const fs::path& model, const std::string& where)
        : tensor_(tensor), model_(model), where_(base::printable(where)) {}

    void load() {
        const auto location = entry("location");
        if (!location || location->empty()) fail("values", "a location", "none");
        const std::string values = "values in '" + base::printable(*location) + "'";
        const fs::path file = within_folder(values, *location);
        const uint64_t size = fs::file_size(file), offset = number("offset").value_or(0);
        const uint64_t length = number("length").value_or(size - std::min(size, offset));
        if (offset > size || length > size - offset)
            fail(values,
                 std::to_string(length) + " bytes behind the first " + std::to_string(offset),
                 "a file of " + std::to_string(size));
        std::ifstream in(file, std::ios::binary);
        in.seekg(static_cast<std::streamoff>(offset));
        std::string bytes(length, '\0');
        if (!in.read(bytes.data(), static_cast<std::streamsize>(length)))
            fail(values, "a file that can be read", "one that cannot");
        tensor_.set_raw_data(std::move(bytes));
        tensor_.clear_external_data();
        tensor_.clear_data_location();
    }

  private:
    [[noreturn]] void fail(const std::string& what, const std::string& expected,
                           const std::string& found) const {
        throw UserError(model_.string(), where_ + ": " + what, expected, base::printable(found));
    }

    std::optional<std::string> entry(const std::string& key) const {
        for (const auto& one : tensor_.external_data())
            if (one.key() == key) return one.value();
        return std::nullopt;
    }

    std::optional<uint64_t> number(const std::string& key) const {
        const auto text = entry(key);
        if (!text) return std::nullopt;
        uint64_t value = 0;
        const char* const end = text->data() + text->size();
        const auto [last, error] = std::from_chars(text->data(), end, value);
        if (error != std::errc{} || last != end) fail(key, "a number of bytes", "'" + *text + "'");
        return value;
    }

    /// Links are followed: a model must not read what its user did not put beside it.
    fs::path within_folder(const std::string& values, const std::string& location) const {
        std::error_code failed;
        const fs::path folder = fs::weakly_canonical(fs::absolute(model_).parent_path(), failed);
        fs::path file = fs::weakly_canonical(folder / location, failed);
        const auto [at, rest] =
            std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
        if (failed || location.find('\0') != std::string::npos || at != folder.end())
            fail(values, "a path within the model's folder", "another");
        if (!fs::is_regular_file(file, failed)) fail(values, "a file beside the model", "none");
        return file;
    }

    onnx::TensorProto& tensor_;
    const fs::path& model_;
    const std::string where_;
};

/// Subgraphs of nodes, too.
void load_of(onnx::GraphProto& graph, const fs::path& file) {
    const auto load = [&](onnx::TensorProto& tensor, const std::string& where) {
        if (tensor.data_location() == onnx::TensorProto::EXTERNAL)
            ExternalTensor(tensor, file, where).load();
    };
    for (auto& tensor : *graph.mutable_initializer())
        load(tensor, "initialiser '" + tensor.name() + "'");
    for (auto& node : *graph.mutable_node())
        for (auto& attribute : *node.mutable_attribute()) {
            if (attribute.has_t())
                load(*attribute.mutable_t(),
                     "node '" + node.name() + "', attribute '" + attribute.name() + "'");
            if (attribute.has_g()) load_of(*attribute.mutable_g(), file);
        }
}

}  // namespace

void load_external_data(onnx::ModelProto& model, const fs::path& file) {
    load_of(*model.mutable_graph(), file);
}

}  // namespace tandem::compiler
