// SPDX-License-Identifier: Apache-2.0
// What the paper's figures say of each other.
#include <fmt/format.h>

#include "benchmarks/tpu_v1/derivation.h"
#include "benchmarks/tpu_v1/report.h"

namespace tandem::tpu_v1 {
namespace {

std::string tops_part() {
    const auto checks = check_tops();
    Table table = application_table("paper's figures");
    add_row(table, "TOPS by row 2", [&](size_t i) { return decimal(checks[i].counters); });
    add_row(table, "TOPS printed (row 9)", [&](size_t i) { return decimal(checks[i].printed); });
    add_row(table, "first over second", [&](size_t i) {
        return fmt::format("{:.2f}", checks[i].counters / checks[i].printed);
    });
    add_row(table, "roof, TOPS", [&](size_t i) { return decimal(checks[i].roof); });
    add_row(table, "active cycles per tile", [&](size_t i) {
        return checks[i].active_per_tile == 0 ? std::string("-")
                                              : fmt::format("{:.0f}", checks[i].active_per_tile);
    });
    add_row(table, "batch", [](size_t i) { return std::to_string(kPaper[i].batch); });
    return "### Row 2 and row 9\n\n" + table.to_string() +
           paragraph(fmt::format(
               "Both LSTMs do by row 2 about twice the operations of row 9, and LSTM0 more than "
               "the roof allows ({:.2f} of {:.2f} TOPS). Activations of 16 bits, which take the "
               "array twice the cycles (the paper gives half speed), explain this; the paper does "
               "not say so, it is our reading. Then a tile of LSTM0 is active for {} cycles (by "
               "rows 1 and 5: {:.0f}). For LSTM1 it is {}, where the rows make {:.0f}: neither "
               "that nor the {} of 8 bits. MLP1 has such a surplus without a reason that we know: "
               "{:.0f} cycles for a batch of {}.",
               checks[kLstm0].counters, checks[kLstm0].roof, 2 * kPaper[kLstm0].batch,
               checks[kLstm0].active_per_tile, 2 * kPaper[kLstm1].batch,
               checks[kLstm1].active_per_tile, kPaper[kLstm1].batch, checks[kMlp1].active_per_tile,
               kPaper[kMlp1].batch));
}

/// `ours`: the application as our file has it.
std::string cnn1_part(const Measured& ours) {
    const Cnn1Check c = check_cnn1();
    Table table({"CNN1, of a batch of 32", "value"});
    table.add({"weight tiles, all 100 M weights in full tiles", grouped(c.tiles)});
    table.add(
        {"longest wait for one tile of a fully connected layer, cycles", grouped(c.wait_per_tile)});
    table.add({"so waiting takes at most, cycles", grouped(c.most_wait)});
    table.add({"it is of all cycles (rows 4 and 5)", fmt::format("{:.1f} %", c.waiting_percent)});
    table.add({"so the batch takes at most, cycles", grouped(c.most_cycles)});
    table.add({"MACs by Table 1 (1750 x 100 M), G", decimal(c.needed_macs / 1e9)});
    table.add({"they take at row 2 (22.5 % of peak), cycles", grouped(c.needed_cycles)});
    table.add({"inferences per second: printed", grouped(kPaper[kCnn1].inferences_per_second)});
    table.add({"by the waiting, at least", grouped(c.rate_by_waiting)});
    table.add({"by Table 1 and row 2", grouped(c.rate_by_macs)});
    table.add({"by Table 1 and row 9", grouped(c.rate_by_tops)});
    table.add(
        {"MACs per weight that the waiting leaves, at most", grouped(c.most_macs_per_weight)});
    return "### CNN1\n\n" +
           paragraph(
               "The paper gives CNN1 100 M weights of 1750 MACs each, and 32 in its fully "
               "connected layers, in which the array waits for weights.") +
           table.to_string() +
           paragraph(fmt::format(
               "The two counts of cycles differ by {:.1f}. Both could hold only if the tiles that "
               "the waiting is for were less than {:.0f} % full, which four layers with most of "
               "100 M weights are not, unless one side of each is some hundred elements long and "
               "the other some hundred thousand. And {} inferences per second are {:.1f} times "
               "what Table 1 and row 2 make of one die. (A server has four dies: they make {} by "
               "row 9 with the host's share. That would explain the rate, not the waiting.) "
               "`models/applications/cnn1.yaml` takes the reading that comes near the printed "
               "rate per die, the waiting and an Inception V2 as published. It has {:.0f} MACs per "
               "weight, not the 1750.",
               c.needed_cycles / c.most_cycles, 100 * c.needed_fill,
               grouped(kPaper[kCnn1].inferences_per_second),
               kPaper[kCnn1].inferences_per_second / c.rate_by_macs,
               grouped(4 * with_host(c.rate_by_tops, kCnn1)), ours.macs_per_weight()));
}

std::string rates_part() {
    Table table(
        {"inferences per second", "printed", "by row 9", "with host", "by row 5", "with host"});
    for (const size_t i : {kMlp0, kMlp1, kCnn1}) {
        const RateCheck check = check_rate(i);
        const auto or_not = [](double rate) { return rate == 0 ? "-" : grouped(rate); };
        table.add({kPaper[i].name, grouped(check.printed), grouped(check.by_tops),
                   grouped(check.by_tops_with_host), or_not(check.by_tiles),
                   or_not(check.by_tiles_with_host)});
    }
    return "### Inferences per second\n\n" +
           paragraph(
               "By row 9: TOPS over the operations of Table 1. By row 5: batch over the cycles of "
               "all weight tiles. With host: Table 5 added.") +
           table.to_string();
}

}  // namespace

std::string paper_section(const Comparison& comparison) {
    return "## The paper's figures among themselves\n\nNo cycle of the model is in this "
           "section.\n\n" +
           tops_part() + cnn1_part(comparison.shipped[kCnn1]) + rates_part();
}

std::string sync_section(const Comparison& comparison) {
    const SyncDerivation sync = derive_sync_latency(comparison.chip);
    Table table = application_table("paper's figures");
    add_row(table, "row 7, %", [](size_t i) { return decimal(kPaper[i].rows[kRaw]); });
    add_row(table, "weight tiles of a batch", [&](size_t i) {
        const double tiles = sync.applications[i].tiles;
        return tiles == 0 ? std::string("-") : grouped(tiles);
    });
    add_row(table, "cycles of a batch",
            [&](size_t i) { return grouped(sync.applications[i].cycles); });
    add_row(table, "layers", [](size_t i) { return std::to_string(kPaper[i].layers()); });
    add_row(table, "row 7 per layer, cycles",
            [&](size_t i) { return grouped(sync.applications[i].raw_per_layer); });
    return "## Where sync_latency comes from\n\n" +
           paragraph(
               "One figure of the chip comes from Table 3: `sequencer.sync_latency`, from row 7, "
               "which is not compared. It is one number for all applications.") +
           table.to_string() +
           paragraph(fmt::format(
               "Tiles: weights / 65536, over row 2 / row 1 for partly used ones. Cycles: tiles x "
               "256 / row 5; of the CNNs MACs / (65536 x row 2), with CNN1's Table 1 as printed. "
               "Median {:.0f}. The model has itself {:.0f} of array drain and {:.0f} of activation "
               "(rows per tile, row 1 x 256 / row 5, median of the first four). {:.0f} are left; "
               "the chip file has {}. CNN1's cycles are not sure (see below); its figure is the "
               "largest also with the {} of our run ({:.0f}), and the median stays. CNN0's figure "
               "says that {} is too much for it.",
               sync.median, sync.drain, sync.activation, sync.sync_latency,
               comparison.chip.sync_cycles(), grouped(comparison.shipped[kCnn1].cycles()),
               kPaper[kCnn1].rows[kRaw] / 100 * comparison.shipped[kCnn1].cycles() /
                   kPaper[kCnn1].layers(),
               comparison.chip.sync_cycles()));
}

}  // namespace tandem::tpu_v1
