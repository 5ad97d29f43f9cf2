// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/import.h"

#include <array>
#include <string_view>

#include "base/error.h"
#include "compiler/graph/narrow.h"
#include "compiler/graph/split_products.h"
#include "compiler/graph/text.h"
#include "compiler/import/onnx/onnx_import.h"
#include "compiler/import/tables/layers.h"
#include "compiler/import/tflite/tflite_import.h"

namespace tandem::compiler {

namespace {

using File = const std::filesystem::path&;
using Options = const ImportOptions&;

struct Source {
    std::string_view extension;
    bool has_batch;  ///< may be multiplied
    Graph (*read)(File, Options);
};

Graph application(File file, Options options) {
    return tables::graph_of(tables::load_application(file), options.list_type);
}

Graph in_precision(Graph graph, Precision precision) {
    if (precision == Precision::kBf16) return narrow(std::move(graph));
    return split_products(std::move(graph), precision == Precision::kFp32 ? 3 : 2);
}

constexpr std::array<Source, 6> kSources = {
    {{".tflite", false,
      [](File file, Options options) { return import_tflite(file, options.note); }},
     {".onnx", false,
      [](File file, Options options) {
          return import_onnx(file, {options.given, options.drop, options.note});
      }},
     {".tgraph", false, [](File file, Options) { return read_graph(file); }},
     {".csv", true,
      [](File file, Options options) {
          return tables::graph_of(tables::load_table(file, options.batch), options.list_type);
      }},
     {".yaml", false, application},
     {".yml", false, application}}};

}  // namespace

Graph import_model(const std::filesystem::path& file, const ImportOptions& options) {
    const std::string extension = file.extension().string();
    for (const Source& source : kSources) {
        if (source.extension != extension) continue;
        if (options.batch != 1 && !source.has_batch)
            throw UserError(file.string(), "--batch", "1: the file has its own",
                            std::to_string(options.batch));
        return in_precision(source.read(file, options), options.precision);
    }
    throw UserError(file.string(), "extension", ".tflite, .onnx, .tgraph, .csv or .yaml",
                    extension.empty() ? "none" : extension);
}

}  // namespace tandem::compiler
