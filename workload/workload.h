// SPDX-License-Identifier: Apache-2.0
// Lists of layers without data, read from tables: enough to say how long they take, not what they
// compute. docs/workloads.md has the formats and the rules.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tandem::workload {

enum class LayerKind : uint8_t { kMatmul, kConvolution, kVector, kPool };

struct Layer {
    std::string name;   // as in the file
    std::string where;  // "file.csv:12", for messages
    LayerKind kind = LayerKind::kMatmul;
    // The product (m x k) x (k x n), batch included in m. Vector and pool: zero.
    uint64_t m = 0;
    uint64_t k = 0;
    uint64_t n = 0;
    uint64_t groups = 1;  // independent products of that size (depthwise convolution: channels)
    // How often the layer runs, one after the other (time steps); weights are fetched each time.
    uint64_t repeat = 1;
    // Of one run: activations read (a convolution's image once, batch included) and written.
    uint64_t input_elements = 0;
    uint64_t output_elements = 0;
    uint64_t elements = 0;  // vector and pool: elements that pass the vector unit in one run
    // 2 halves the speed of the array: 16-bit activations on an 8-bit array (isca17).
    uint64_t passes = 1;

    uint64_t macs() const { return m * k * n * groups * repeat; }
    uint64_t weights() const { return k * n * groups; }
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

}  // namespace tandem::workload
