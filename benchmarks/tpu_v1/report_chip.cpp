// SPDX-License-Identifier: Apache-2.0
// Roofline, inferences per second, unified buffer, host.
#include <fmt/format.h>

#include "benchmarks/tpu_v1/derivation.h"
#include "benchmarks/tpu_v1/host_time.h"
#include "benchmarks/tpu_v1/report.h"

namespace tandem::tpu_v1 {
namespace {

/// Bytes of weight tiles over weights.
double fetched(const Measured& measured) {
    return static_cast<double>(measured.result.tiles) * kArrayMacs /
           static_cast<double>(weights_of(measured.workload));
}

/// Input and the outputs of all layers of a batch, none given up.
double all_tensors_mib(const Measured& measured) {
    const auto& layers = measured.workload.layers;
    uint64_t bytes = layers.front().input_elements * layers.front().passes;
    for (const auto& layer : layers) bytes += layer.output_elements * layer.passes;
    return static_cast<double>(bytes) / (1 << 20);
}

std::string spilled(const Comparison& comparison) {
    std::string names;
    for (const Measured& measured : comparison.shipped)
        if (measured.result.traffic.memory_write != 0) names += " " + measured.workload.name;
    return names.empty() ? "No application writes activations to device memory here."
                         : "Activations go through device memory in:" + names + ".";
}

double buffer_mib(const Measured& measured) {
    return static_cast<double>(measured.result.peak_buffer_bytes.value_or(0)) / (1 << 20);
}

}  // namespace

std::string roofline_section(const Comparison& comparison) {
    Table table({"application", "MACs per byte", "roof, TOPS", "paper, TOPS", "ours, MACs per byte",
                 "roof, TOPS", "ours, TOPS", "of our roof", "napkin, TOPS", "searched, TOPS",
                 "fetched"});
    for (size_t i = 0; i < kApplications; ++i) {
        const Measured& ours = comparison.shipped[i];
        const double roof = roof_tops(ours.macs_per_weight());
        table.add({kPaper[i].name, fmt::format("{:.0f}", kPaper[i].macs_per_weight),
                   decimal(roof_tops(kPaper[i].macs_per_weight)), decimal(kPaper[i].tops),
                   fmt::format("{:.0f}", ours.macs_per_weight()), decimal(roof), decimal(ours.tops),
                   fmt::format("{:.0f} %", 100 * ours.tops / roof),
                   decimal(ours.tops * ours.cycles() / comparison.napkin[i].cycles),
                   decimal(comparison.searched[i].tops), fmt::format("{:.2f}", fetched(ours))});
    }
    return "## Roofline\n\n![Roofline](images/tpu_v1_roofline.svg)\n\n" +
           paragraph(fmt::format(
               "The roof is the smaller of {:.2f} TOPS and the weights' {:.0f} GB/s; they meet at "
               "{:.0f} MACs per byte (the paper prints {:.0f}).",
               kPeakTops, kMemoryBytesPerSecond / 1e9, kPeakTops / memory_roof_tops(1),
               kRidgeMacsPerByte)) +
           table.to_string() +
           paragraph(
               "*Fetched*: bytes of weight tiles over weights. More than 1 where tiles are partly "
               "used, and where the rows of a layer do not fit the accumulators at a time, so that "
               "tiles come once for each block of rows.");
}

std::string rates_section(const Comparison& comparison) {
    Table table({"inferences per second", "batch", "paper", "ours, chip alone", "ours, with host",
                 "to the paper", "napkin, with host", "to the paper", "roofline, with host",
                 "to the paper", "searched plan, chip alone"});
    for (size_t i = 0; i < kApplications; ++i) {
        const double printed = kPaper[i].inferences_per_second;
        if (printed == 0) continue;
        const auto difference = [printed](double rate) {
            return fmt::format("{:+.0f} %", 100 * (rate / printed - 1));
        };
        const double alone = comparison.shipped[i].inferences_per_second();
        const double ours = with_host(alone, i);
        const double napkin = with_host(kPaper[i].batch / comparison.napkin[i].seconds, i);
        const double roofline = with_host(kPaper[i].batch / comparison.roofline[i].seconds, i);
        table.add({kPaper[i].name, std::to_string(kPaper[i].batch), grouped(printed),
                   grouped(alone), grouped(ours), difference(ours), grouped(napkin),
                   difference(napkin), grouped(roofline), difference(roofline),
                   grouped(comparison.searched[i].inferences_per_second())});
    }
    return "## Inferences per second\n\n" +
           paragraph(
               "The paper prints three (MLP0's is Table 4's: within a limit of 7 ms, 80 % of the "
               "most it does with a batch of 250). \"With host\" adds the paper's own share of the "
               "host (Table 5), as if it overlapped nothing. Input and output over the bus are in "
               "our cycles and in the napkin's too, so that some of it counts twice there.") +
           table.to_string();
}

std::string buffer_section(const Comparison& comparison) {
    Table table = application_table("unified buffer, MiB");
    add_row(table, "paper, Table 8", [](size_t i) { return decimal(kPaper[i].buffer_mib); });
    add_row(table, "ours",
            [&](size_t i) { return fmt::format("{:.2f}", buffer_mib(comparison.shipped[i])); });
    add_row(table, "ours of the paper's", [&](size_t i) {
        return fmt::format("{:.0f} %",
                           100 * buffer_mib(comparison.shipped[i]) / kPaper[i].buffer_mib);
    });
    add_row(table, "ours, nothing given up", [&](size_t i) {
        return fmt::format("{:.2f}", all_tensors_mib(comparison.shipped[i]));
    });
    return "## Unified buffer\n\n" + table.to_string() +
           paragraph(
               "Ours is the least that the layers need: input and output of the layer that needs "
               "most, of one batch. The last line keeps the input and the outputs of all layers. "
               "The paper's figure is what its allocator took, for reasons it does not give by "
               "application: more batches at a time, tensors that are read again later (an LSTM's "
               "state, branches of an Inception module) and rounding are not in ours. Cycles do "
               "not depend on it as long as everything fits. " +
               spilled(comparison));
}

std::string host_section(const Comparison& comparison) {
    Table table = application_table("host, percent of TPU time");
    const auto of = [&](size_t i) { return host_time(comparison.shipped[i], comparison.chip); };
    add_row(table, "paper, Table 5",
            [](size_t i) { return fmt::format("{:.0f}", kPaper[i].host_percent); });
    add_row(table, "ours, bus only (no software)",
            [&](size_t i) { return decimal(of(i).percent); });
    add_row(table, "kB in", [&](size_t i) { return decimal(of(i).bytes_in / 1e3); });
    add_row(table, "kB out", [&](size_t i) { return decimal(of(i).bytes_out / 1e3); });
    add_row(table, "transfers, us",
            [&](size_t i) { return decimal(of(i).transfer_seconds * 1e6); });
    add_row(table, "accesses, us", [&](size_t i) { return decimal(of(i).access_seconds * 1e6); });
    return "## Host\n\n" + table.to_string() +
           paragraph(
               "Ours is the bus: bytes over its bandwidth, and one latency for each transfer, the "
               "doorbell, the command read, the status written and the interrupt acknowledged. The "
               "software of the host is not modelled; the paper's figure has it, so that ours has "
               "to be lower. The sizes of inputs and outputs are ours (the application files say "
               "why). The transfers are in the cycles of the run too, where the array waits for "
               "them. There is no other means to compare with: the line of transfers is the "
               "napkin's third term.");
}

}  // namespace tandem::tpu_v1
