// SPDX-License-Identifier: Apache-2.0
#include "cosim/port_vectors.h"

#include <fmt/format.h>

#include "base/output_file.h"
#include "cosim/array_ports.h"
#include "cosim/port_model.h"

namespace tandem::cosim {
namespace {

/// Elements of a port, the last one first: element 0 stands in the lowest bits.
std::string hex(std::span<const std::byte> elements) {
    std::string text;
    for (size_t i = elements.size(); i-- > 0;) text += fmt::format("{:02x}", elements[i]);
    return text;
}

/// Undefined: zeros, which nobody looks at.
std::string hex(const PortRow& row, size_t cols) {
    std::string text;
    for (size_t c = cols; c-- > 0;)
        text += fmt::format("{:08x}", row.empty() ? 0u : static_cast<uint32_t>(row[c]));
    return text;
}

unsigned bit(bool set, unsigned at) { return set ? 1u << at : 0u; }

std::string line(const engine::MxuShape& shape, const PortEdge& edge, const PortsShown& shown) {
    const uint32_t address = (address_bits(shape) + 3) / 4;
    const unsigned inputs = bit(!edge.reset, 0) | bit(edge.weight, 1) | bit(edge.activation, 2) |
                            bit(edge.swap, 3) | bit(edge.accumulate, 4) | bit(edge.read, 5) |
                            bit(edge.take, 6);
    const unsigned outputs = bit(shown.weight_ready, 0) | bit(shown.activation_ready, 1) |
                             bit(shown.read_ready, 2) | bit(shown.commit, 3) |
                             bit(shown.result, 4) | bit(shown.busy, 5);
    const unsigned defined = bit(shown.commit, 0) | bit(!shown.commit_row.empty(), 1) |
                             bit(!shown.result_row.empty(), 2);
    return fmt::format("{:02x}_{:0{}x}_{:0{}x}_{}_{}_{:x}_{:02x}_{:0{}x}_{}_{}\n", inputs,
                       edge.address, address, edge.read_address, address, hex(edge.weights),
                       hex(edge.activations), defined, outputs, shown.commit_address, address,
                       hex(shown.commit_row, shape.cols), hex(shown.result_row, shape.cols));
}

}  // namespace

void write_port_vectors(const std::filesystem::path& file, const engine::MxuShape& shape,
                        std::span<const PortEdge> edges, const std::string& comment) {
    const auto timing = engine::timing(shape);
    base::OutputFile out(file);
    out.write(fmt::format(
        "// SPDX-License-Identifier: Apache-2.0\n// {}\n"
        "// Rows={} Cols={} AccDepth={} Dtype={} CommitLatency={} WeightInterval={} "
        "WeightLatency={}\n"
        "// inputs_acc_rd_weights_activations_defined_outputs_cmt_commit_result; first the sizes\n"
        "{:x}_{:08x}_{:08x}_{:04x}_{:04x}\n",
        comment, shape.rows, shape.cols, shape.accumulator_rows,
        shape.dtype == arch::Dtype::kBf16 ? 1 : 0, timing.commit_latency, timing.weight_interval,
        timing.weight_latency, shape.dtype == arch::Dtype::kBf16 ? 1 : 0, edges.size(),
        shape.accumulator_rows, shape.cols, shape.rows));
    PortModel model(shape);
    for (PortEdge edge : edges) {
        if (!model.readable(edge.read_address)) edge.read = false;
        const PortsShown shown = model.step(edge);
        out.write(line(shape, edge, shown));
    }
    out.commit();
}

}  // namespace tandem::cosim
