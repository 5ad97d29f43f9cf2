// SPDX-License-Identifier: Apache-2.0
// Streams on all cores and arrays, without firmware.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <stdexcept>

#include "base/error.h"
#include "run/machine.h"

namespace tandem::run {
namespace {

/// Simulated time that may pass without progress: the programs are ours and end, only a memory that
/// is slow enough would look like a hang.
constexpr uint64_t kPatienceSeconds = 1000;

arch::ChipConfig patient(arch::ChipConfig chip) {
    chip.sequencer.watchdog_cycles = chip.clock_hz * kPatienceSeconds;
    return chip;
}

/// Puts the values of edges where they belong, at the moment at which they take their place.
class EdgeObserver final : public CoreObserver {
  public:
    EdgeObserver(uint32_t core, const ProgramView& program, const Watchers& watchers,
                 std::vector<const EdgeBytes*> edges, sim::UnifiedBuffer& buffer)
        : CoreObserver(core, program, watchers),
          program_(program),
          edges_(std::move(edges)),
          buffer_(buffer) {}

    void on_retire(isa::Unit unit, uint32_t index, sim::Cycle start, sim::Cycle end) override {
        CoreObserver::on_retire(unit, index, start, end);
        if (unit != isa::Unit::kVector) return;
        const arch::InstructionSource source = program_.source(index);
        for (const EdgeBytes* edge : edges_)
            if (edge->node == source.node && edge->round == source.round) take_place(*edge);
    }
    std::vector<TakenBytes>& taken() { return taken_; }

  private:
    void take_place(const EdgeBytes& edge) {
        const std::span<uint8_t> all = buffer_.store().bytes();
        if (edge.taken.bytes != 0) {
            const auto from = all.subspan(edge.taken.address, edge.taken.bytes);
            taken_.push_back({edge.node, edge.taken.offset, {from.begin(), from.end()}});
        }
        std::copy(edge.bytes.begin(), edge.bytes.end(),
                  all.begin() + static_cast<ptrdiff_t>(edge.address));
    }

    const ProgramView& program_;
    const std::vector<const EdgeBytes*> edges_;
    sim::UnifiedBuffer& buffer_;
    std::vector<TakenBytes> taken_;
};

class StreamRun {
  public:
    StreamRun(const arch::ChipConfig& chip, const StreamJob& job, const RunOptions& options)
        : job_(job), machine_(patient(chip), options, setup_of(job, options)) {
        if (job.cores.size() != machine_.chip().cores())
            throw std::logic_error("a stream job has to say what each core does");
        for (uint32_t core = 0; core < job.cores.size(); ++core) {
            if (job.cores[core].source == nullptr) continue;
            views_.push_back(std::make_unique<StreamView>(*job.cores[core].source));
            observers_.push_back(make_observer(core, options.functional));
            machine_.watch(core, views_.back().get(), observers_.back().get());
            requests_.push_back({core,
                                 {.address = 0,
                                  .instructions = ~uint64_t{0},
                                  .args = job.cores[core].args,
                                  .source = views_.back().get()}});
        }
        if (options.functional)
            for (const Preload& preload : job.preload) put(preload);
    }

    RunResult run(const RunOptions& options) {
        sc_core::sc_spawn([this] {
            if (const auto failed = machine_.chip().runner().run(requests_))
                failure_ =
                    fmt::format("core {}: {} at instruction {}", failed->core,
                                arch::describe(failed->error.code), failed->error.instruction);
            sc_core::sc_stop();
        });
        machine_.begin();
        simulate();
        RunResult result;
        result.model = job_.model;
        result.peak_buffer_bytes = job_.peak_buffer_bytes;
        machine_.layers().finish_run(machine_.chip().runner().program_cycles());
        machine_.collect(result, 1);
        if (result.completed()) result.failure = failure_;
        if (options.functional)
            for (const Region& region : job_.outputs) get(region, result.outputs);
        for (EdgeObserver* observer : edge_observers_)
            std::ranges::move(observer->taken(), std::back_inserter(result.taken));
        result.laws_broken = broken_laws(result, job_.needs);
        return result;
    }

  private:
    std::unique_ptr<CoreObserver> make_observer(uint32_t core, bool functional) {
        std::vector<const EdgeBytes*> edges;
        for (const EdgeBytes& edge : job_.edges)
            if (edge.core == core) edges.push_back(&edge);
        if (edges.empty() || !functional)
            return std::make_unique<CoreObserver>(core, *views_.back(), machine_.watchers());
        auto observer = std::make_unique<EdgeObserver>(core, *views_.back(), machine_.watchers(),
                                                       std::move(edges),
                                                       machine_.chip().core(core).unified_buffer());
        edge_observers_.push_back(observer.get());
        return observer;
    }

    static Machine::Setup setup_of(const StreamJob& job, const RunOptions& options) {
        Machine::Setup setup;
        setup.system.host = HostKind::kDirect;
        setup.system.host_bytes = options.functional ? std::max<uint64_t>(job.host_bytes, 1) : 0;
        setup.nodes = job.nodes;
        setup.rows_to_inject = job.rows_to_inject;
        return setup;
    }

    std::span<uint8_t> bytes_at(Space space, uint64_t address, uint64_t count) {
        const std::span<uint8_t> all = space == Space::kHost
                                           ? machine_.system().direct_host()->bytes()
                                           : machine_.chip().device_memory().store().bytes();
        if (address > all.size() || count > all.size() - address)
            throw std::logic_error(fmt::format("{} bytes at {} of {} memory of {}", count, address,
                                               space == Space::kHost ? "host" : "device",
                                               all.size()));
        return all.subspan(address, count);
    }
    void put(const Preload& preload) {
        const auto to = bytes_at(preload.space, preload.address, preload.bytes.size());
        std::copy(preload.bytes.begin(), preload.bytes.end(), to.begin());
    }
    void get(const Region& region, std::vector<uint8_t>& out) {
        const auto from = bytes_at(region.space, region.address, region.bytes);
        out.insert(out.end(), from.begin(), from.end());
    }

    const StreamJob& job_;
    Machine machine_;
    std::vector<std::unique_ptr<StreamView>> views_;
    std::vector<std::unique_ptr<CoreObserver>> observers_;
    std::vector<EdgeObserver*> edge_observers_;
    std::vector<sim::CoreProgramRequest> requests_;
    std::string failure_;
};

}  // namespace

RunResult run_streams(const arch::ChipConfig& chip, const StreamJob& job,
                      const RunOptions& options) {
    if (options.level != "at")
        throw UserError(job.model, "--level", "at, or a network that firmware runs", options.level);
    if (options.gdb)
        throw UserError(job.model, "--gdb", "a network that firmware runs",
                        "a run without firmware");
    return StreamRun(chip, job, options).run(options);
}

const RunResult& require_sound(const RunResult& result) {
    if (!result.failure.empty())
        throw std::logic_error("the program of " + result.model + " failed: " + result.failure);
    if (!result.laws_broken.empty())
        throw std::logic_error("a law is broken: " + result.laws_broken.front());
    return result;
}

}  // namespace tandem::run
