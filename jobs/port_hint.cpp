// SPDX-License-Identifier: Apache-2.0
#include "jobs/port_hint.h"

#include <fmt/format.h>

#include "cosim/hint.h"
#include "cosim/port_contract.h"
#include "cosim/witness.h"

namespace tandem::jobs {
namespace {

using cosim::PortBench;
using cosim::PortEdge;

/// Of the contract, before an edge.
struct Before {
    uint32_t beats;
    bool complete, result_waits;
    size_t rows_in_flight;
    explicit Before(const cosim::PortModel& model)
        : beats(model.beats()),
          complete(model.tile_complete()),
          result_waits(model.result_waits()),
          rows_in_flight(model.rows_in_flight()) {}
};

/// Whether a ready does what it should, but only while its valid is high; judged while what is
/// accepted is right, for then the contract knows the array's state.
class ReadyWatch {
  public:
    explicit ReadyWatch(std::string signal) : signal_(std::move(signal)) {}

    void note(const PortEdge& edge, const PortBench& bench) {
        if (ended_ || edge.reset) return;
        const auto& ports = bench.ports();
        const auto& shown = bench.shown();
        judge("wgt_ready_o", edge.weight, ports.wgt_ready != 0, shown.weight_ready);
        judge("act_ready_o", edge.activation, ports.act_ready != 0, shown.activation_ready);
        judge("rd_ready_o", edge.read, ports.rd_ready != 0, shown.read_ready);
    }
    bool waits_for_valid() const { return waits_ && ready_ > 1 && low_ > 1; }

  private:
    void judge(const char* signal, bool valid, bool is, bool should) {
        if (valid && is != should) ended_ = true;
        if (signal != signal_) return;
        if (is == should) {
            ready_ += valid && is ? 1 : 0;
            return;
        }
        if (valid || is) waits_ = false;
        ++low_;
    }

    const std::string signal_;
    bool ended_ = false, waits_ = true;
    uint32_t ready_ = 0, low_ = 0;  ///< edges: right with its valid, wrong without
};

std::string tile_text(const Before& before, uint32_t rows) {
    return before.complete ? "the shadow tile is complete"
                           : fmt::format("the shadow tile has {} of {} beats", before.beats, rows);
}

/// What the contract says of a flag at this edge.
std::string rule(const cosim::PortMismatch& found, const PortEdge& edge, const Before& before,
                 const cosim::PortsShown& shown, uint32_t rows) {
    const bool should = found.expected != 0;
    const std::string& signal = found.signal;
    if (edge.reset) return signal + " is low at an edge in reset";
    if (signal == "wgt_ready_o" && should)
        return tile_text(before, rows) + ": its port is open until the last one";
    if (signal == "wgt_ready_o")
        return tile_text(before, rows) +
               (before.complete ? ": its port is closed until a row with act_swap_i is accepted"
                                : ": no beat is taken at this edge");
    if (signal == "act_ready_o" && !edge.swap) return "a row without act_swap_i never waits";
    if (signal == "act_ready_o")
        return tile_text(before, rows) +
               (should ? ": a row that swaps waits no longer" : ": a row that swaps has to wait");
    if (signal == "rd_ready_o" && should)
        return before.result_waits
                   ? "res_ready_i takes the result that waits: a read is accepted at the same edge"
                   : "no result waits: a read is accepted";
    if (signal == "rd_ready_o") return "a result waits and is not taken: no read is accepted";
    if (signal == "res_valid_o")
        return should ? (edge.read && shown.read_ready
                             ? "a read was accepted: its result stands there after the same edge"
                             : "a result waits until res_ready_i is high")
                      : "no result waits: none was asked for, or it was taken";
    if (signal == "busy_o" && !should) return "no row is inside, and no tile is loaded in part";
    if (signal == "busy_o")
        return before.rows_in_flight != 0
                   ? "a row is accepted and not committed"
                   : "a row was accepted, or a tile has some but not all of its beats";
    return {};
}

}  // namespace

void explain_port(const run::LoadedArray& array, uint64_t initial, const NextEdge& next,
                  const cosim::PortMismatch& found, cosim::Divergence& divergence) {
    if (found.signal == "assertion") return;
    const uint64_t declared = engine::commit_latency(array.shape);
    const uint64_t beyond = 200 + 2 * declared;
    PortBench bench(array.shape, array.library, initial);
    cosim::Witness witness(array.shape);
    ReadyWatch ready(found.signal);
    std::string broken;
    for (uint64_t edge = 0; edge <= found.edge + beyond; ++edge) {
        const Before before(bench.model());
        const PortEdge stands = next(bench);
        bench.step(stands);
        // What the array does after an assertion of its own means nothing; the checker beside it
        // only looks.
        const char* const failure = bench.ports().failure;
        if (failure != nullptr && !cosim::is_of_contract(failure)) break;
        if (edge == found.edge)
            broken = rule(found, stands, before, bench.shown(), array.shape.rows);
        witness.step(edge, bench.ports());
        ready.note(stands, bench);
    }
    if (found.signal == "cmt_data_o")
        divergence.hint = hint_of_rows(witness);
    else if (found.signal == "res_data_o")
        divergence.hint = hint_of_reads(witness);
    else if (found.signal == "cmt_valid_o" || found.signal == "cmt_addr_o")
        divergence.difference = difference_of_times(witness, declared);
    else
        divergence.hint =
            ready.waits_for_valid()
                ? fmt::format("{} waits for its valid, on which it must not depend", found.signal)
                : broken;
}

}  // namespace tandem::jobs
