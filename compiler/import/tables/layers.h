// SPDX-License-Identifier: Apache-2.0
// Lists of layers as tables and applications give them, and the graphs that they become: shapes and
// types, no values. docs/workloads.md has the formats and the rules.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "compiler/graph/operators.h"

namespace tandem::tables {

enum class LayerKind : uint8_t { kMatmul, kConvolution, kVector, kPool };

/// A convolution's image and how its filter moves over it. The padding below and on the right
/// reaches as far as the last window does.
struct Convolution {
    uint64_t images = 1, height = 1, width = 1, channels = 1;
    compiler::WindowAttributes window;
};

/// Its counts as the row gives them: the batch is in m and in the elements. Those of the layer's
/// node in the graph, which come from shapes, are the same.
struct Layer : compiler::Counts {
    std::string name;   // as in the file
    std::string where;  // "file.csv:12", for messages
    LayerKind kind = LayerKind::kMatmul;
    std::optional<Convolution> convolution;  // of kConvolution
};

/// What a publication says of an application, to check its file against; 0: it does not say.
struct Published {
    double weights_millions = 0;
    uint64_t fc = 0;
    uint64_t conv = 0;
    uint64_t vector = 0;
    uint64_t pool = 0;
    double macs_per_weight = 0;
};

struct Workload {
    std::string name;
    std::string file;
    uint64_t batch = 1;
    // True: each layer reads what the one before it wrote (a network). False: independent kernels.
    bool chained = false;
    std::vector<Layer> layers;
    // Applications only (0: not given): elements from and to the host per run, batch included.
    uint64_t host_input_elements = 0;
    uint64_t host_output_elements = 0;
    std::optional<Published> published;
};

/// A table (*.csv) of SCALE-Sim, of DeepBench or of shapes of networks, told by its heading.
/// `batch` multiplies the batch that the rows have (1 where the format has none). Throws UserError.
Workload load_table(const std::filesystem::path& file, uint64_t batch = 1);

/// An application (*.yaml). Throws UserError.
Workload load_application(const std::filesystem::path& file);

/// The list in kInt8 or kBf16; of 16-bit activations in kInt8 the time alone (kInt16). Verified.
/// Chained: each layer reads what the one before it writes, through an EDGE where their sizes do
/// not match. Else each has an input and an output of its own in device memory.
compiler::Graph graph_of(const Workload& workload,
                         compiler::ElementType type = compiler::ElementType::kInt8);

}  // namespace tandem::tables
