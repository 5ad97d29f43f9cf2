// SPDX-License-Identifier: Apache-2.0
#include "explore/workload_run.h"

#include <fmt/format.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <stdexcept>
#include <systemc>

#include "arch/error.h"
#include "compiler/workload/program.h"
#include "systemc/chip/tpu_chip.h"
#include "systemc/mxu/tlm_mxu_engine.h"

namespace tandem::explore {
namespace {

using compiler::WorkloadProgram;

/// Host memory without bytes: every access is fine.
class AnyHost : public sc_core::sc_module {
  public:
    tlm_utils::simple_target_socket<AnyHost> in{"in"};
    tlm_utils::simple_initiator_socket<AnyHost> registers{"registers"};
    sc_core::sc_signal<bool> irq{"irq"};

    explicit AnyHost(sc_core::sc_module_name name) : sc_module(name) {
        in.register_b_transport(this, &AnyHost::b_transport);
    }

  private:
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
};

/// Notes when each layer of one core is finished.
class LayerClock final : public sim::ChipObserver {
  public:
    explicit LayerClock(const WorkloadProgram& program) : program_(program) {}

    void on_retire(isa::Unit, uint32_t index, sim::Cycle, sim::Cycle end) override {
        // Instructions retire out of order between units; a layer ends with the last one that is
        // not behind its mark. Behind the last mark is the layer that is being made.
        const auto& marks = program_.marks();
        const auto mark = std::lower_bound(
            marks.begin(), marks.end(), index,
            [](const WorkloadProgram::Mark& m, uint32_t i) { return m.instruction < i; });
        const auto layer = static_cast<size_t>(mark - marks.begin());
        if (layer >= ends_.size()) ends_.resize(layer + 1);
        ends_[layer] = std::max(ends_[layer], end);
    }
    /// Of each layer, absolute.
    std::vector<sim::Cycle> ends(size_t layers) const {
        std::vector<sim::Cycle> ends = ends_;
        ends.resize(layers);
        for (size_t i = 1; i < layers; ++i) ends[i] = std::max(ends[i], ends[i - 1]);
        return ends;
    }

  private:
    const WorkloadProgram& program_;
    std::vector<sim::Cycle> ends_;
};

class WorkloadRun {
  public:
    WorkloadRun(const workload::Workload& workload, const arch::ChipConfig& config,
                const std::function<void(uint64_t, uint64_t)>& progress)
        : workload_(workload), config_(config) {
        for (uint32_t core = 0; core < config.cores; ++core) {
            programs_.push_back(std::make_unique<WorkloadProgram>(
                workload, config, compiler::plan_workload(workload, config, core)));
            clocks_.push_back(std::make_unique<LayerClock>(*programs_.back()));
        }
        if (progress)
            programs_.front()->set_on_wave([this, progress, total = programs_.front()->waves()] {
                progress(++waves_issued_, total);
            });
        // The program is ours and ends; only a memory that is slow enough would look like a hang.
        config_.sequencer.watchdog_cycles = config_.clock_hz * kPatienceSeconds;
        sim::Clock::set_resolution();
        sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
        chip_ = std::make_unique<sim::TpuChip>(
            "chip", config_, sim::ChipOptions{.functional = false},
            [&] { return std::make_unique<mxu::TlmMxuEngine>(mxu::shape_of(config_.mxu)); });
        host_ = std::make_unique<AnyHost>("host");
        host_->registers.bind(chip_->registers_in());
        chip_->host_out().bind(host_->in);
        chip_->irq_out().bind(host_->irq);
        errors_.resize(config.cores);
    }

    WorkloadResult run() {
        uint32_t running = config_.cores;
        for (uint32_t core = 0; core < config_.cores; ++core) {
            chip_->core(core).services().set_observer(clocks_[core].get());
            sc_core::sc_spawn([this, core, &running] {
                errors_[core] = chip_->core(core).sequencer().run(request(core));
                if (--running == 0) sc_core::sc_stop();
            });
        }
        sc_core::sc_start();
        for (const auto& error : errors_)
            if (error)
                throw std::logic_error(fmt::format("the program of workload {} failed: {} at {}",
                                                   workload_.name, arch::describe(error->code),
                                                   error->instruction));
        WorkloadResult result = collect();
        check(result);
        return result;
    }

  private:
    sim::ProgramRequest request(uint32_t core) {
        const bool cmem = programs_[core]->plan().weights_in_cmem;
        const uint64_t weights = cmem ? config_.memory.bytes : 0;
        return {.address = 0,
                .instructions = ~uint64_t{0},
                .args = {weights, 0, 0},
                .source = programs_[core].get()};
    }

    WorkloadResult collect() {
        WorkloadResult result;
        result.chip = config_.name;
        result.workload = workload_.name;
        result.clock_hz = config_.clock_hz;
        result.peak_macs_per_cycle =
            static_cast<double>(config_.arrays()) * config_.mxu.rows * config_.mxu.cols;
        for (uint32_t core = 0; core < config_.cores; ++core) collect_core(core, result);
        result.traffic_bytes = {{"memory_read", chip_->device_memory().bytes_read()},
                                {"memory_write", chip_->device_memory().bytes_written()},
                                {"cmem", chip_->device_memory().cmem_traffic_bytes()},
                                {"host_to_chip", chip_->link().bytes_from_host()},
                                {"chip_to_host", chip_->link().bytes_to_host()}};
        collect_layers(result);
        return result;
    }

    void collect_core(uint32_t index, WorkloadResult& result) {
        sim::Core& core = chip_->core(index);
        result.cycles = std::max(result.cycles, core.sequencer().program_cycles());
        result.instructions += core.services().instructions_retired();
        result.peak_buffer_bytes =
            std::max(result.peak_buffer_bytes, programs_[index]->plan().peak_buffer_bytes);
        for (size_t array = 0; array < core.arrays(); ++array) {
            result.rows += core.mxu(array).rows_streamed();
            result.tiles += core.weights(array).tiles_fetched();
            array_macs_ += core.mxu(array).macs();
        }
        const auto add = [&](const std::string& name, const sim::CycleAccount& account) {
            UnitResult unit{.name = fmt::format("core{}.{}", index, name), .causes = {}};
            for (size_t cause = 0; cause < sim::kCauses; ++cause)
                unit.causes[std::string(sim::kCauseNames[cause])] = account.cycles()[cause];
            result.units.push_back(unit);
        };
        for (const sim::Unit* unit : core.units()) add(unit->basename(), unit->account());
        add("sequencer", core.sequencer().account());
        core_cycles_.push_back(core.sequencer().program_cycles());
    }

    void collect_layers(WorkloadResult& result) const {
        const size_t count = workload_.layers.size();
        std::vector<sim::Cycle> ends(count);
        for (const auto& clock : clocks_) {
            const auto of_core = clock->ends(count);
            for (size_t i = 0; i < count; ++i) ends[i] = std::max(ends[i], of_core[i]);
        }
        if (count != 0) ends.back() = result.cycles;
        sim::Cycle before = 0;
        for (size_t i = 0; i < count; ++i) {
            result.layers.push_back(
                {workload_.layers[i].name, ends[i] - before, workload_.layers[i].macs()});
            result.macs += workload_.layers[i].macs();
            before = ends[i];
        }
    }

    /// Conservation laws: what was put in came out, and all cycles have a cause.
    void check(const WorkloadResult& result) const {
        const auto law = [](bool holds, const std::string& what) {
            if (!holds) throw std::logic_error("a law is broken: " + what);
        };
        law(array_macs_ == result.macs,
            fmt::format("{} MACs in the arrays, {} in the workload", array_macs_, result.macs));
        const size_t units_of_core = result.units.size() / config_.cores;
        for (size_t i = 0; i < result.units.size(); ++i) {
            uint64_t sum = 0;
            for (const auto& [name, cycles] : result.units[i].causes) sum += cycles;
            law(sum == core_cycles_[i / units_of_core],
                fmt::format("causes of {} add up to {} of {} cycles", result.units[i].name, sum,
                            core_cycles_[i / units_of_core]));
        }
        uint64_t compulsory = 0;
        for (const auto& program : programs_) compulsory += compulsory_bytes(program->plan());
        const uint64_t moved =
            result.traffic_bytes.at("memory_read") + result.traffic_bytes.at("memory_write");
        law(moved >= compulsory,
            fmt::format("{} bytes moved, {} are compulsory", moved, compulsory));
    }

    /// Every weight tile once, and what does not stay in the buffer.
    uint64_t compulsory_bytes(const compiler::WorkloadPlan& plan) const {
        uint64_t bytes = 0;
        for (size_t i = 0; i < plan.layers.size(); ++i) {
            const auto& layer = plan.layers[i];
            if (layer.rows == 0) continue;
            bytes += layer.k_tiles * layer.n_tiles * config_.tile_bytes();
            if (layer.input == compiler::Place::kMemory) bytes += layer.bytes_in;
            if (layer.output == compiler::Place::kMemory) bytes += layer.bytes_out;
        }
        return bytes;
    }

    /// Of simulated time without any progress.
    static constexpr uint64_t kPatienceSeconds = 1000;

    const workload::Workload& workload_;
    arch::ChipConfig config_;
    std::vector<std::unique_ptr<WorkloadProgram>> programs_;
    std::vector<std::unique_ptr<LayerClock>> clocks_;
    std::unique_ptr<sim::TpuChip> chip_;
    std::unique_ptr<AnyHost> host_;
    std::vector<std::optional<sim::ProgramError>> errors_;
    std::vector<uint64_t> core_cycles_;
    uint64_t array_macs_ = 0;
    uint64_t waves_issued_ = 0;  ///< on the first core
};

}  // namespace

uint64_t WorkloadResult::cause(const std::string& unit, const std::string& name) const {
    uint64_t cycles = 0;
    for (const UnitResult& result : units) {
        std::string kind = result.name.substr(result.name.find('.') + 1);
        while (!kind.empty() && std::isdigit(static_cast<unsigned char>(kind.back())))
            kind.pop_back();
        if (kind == unit) cycles += result.causes.at(name);
    }
    return cycles;
}

WorkloadResult run_workload(const workload::Workload& workload, const arch::ChipConfig& chip,
                            const std::function<void(uint64_t, uint64_t)>& progress) {
    return WorkloadRun(workload, chip, progress).run();
}

}  // namespace tandem::explore
