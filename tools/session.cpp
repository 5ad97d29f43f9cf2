// SPDX-License-Identifier: Apache-2.0
#include "tools/session.h"

#include <fmt/format.h>

#include <cstring>

#include "arch/error.h"
#include "cosim/gtkw.h"
#include "cosim/pe_probes.h"
#include "cosim/rtl_mxu_engine.h"
#include "cosim/tandem_engine.h"
#include "firmware/include/tandem/platform.h"
#include "systemc/chip/tpu_chip.h"
#include "systemc/host/host_system.h"
#include "systemc/mxu/tlm_mxu_engine.h"
#include "tools/arrays.h"
#include "tools/chip_probes.h"
#include "tools/paths.h"
#include "tools/run_observer.h"

// The library's main() is not used, but it refers to this.
int sc_main(int, char*[]) { return 0; }

namespace tandem::tools {
namespace {

uint64_t total_activation_rows(const arch::Program& program, uint32_t runs) {
    uint64_t rows = 0;
    for (const auto& words : program.instructions)
        if ((words[0] & 0xff) == static_cast<uint32_t>(isa::Opcode::kMatmul))
            rows += isa::Matmul::decode(words).rows;
    return rows * runs;
}

class Session {
  public:
    Session(const arch::ChipConfig& chip, const arch::Program& program, uint32_t runs,
            const SessionOptions& options)
        : config_(chip),
          program_(program),
          runs_(runs),
          options_(options),
          wave_(options.wave, program) {
        sim::Clock::set_resolution();
        // That sc_stop() was called is no news to the user.
        sc_core::sc_report_handler::set_actions(sc_core::SC_ID_SIMULATION_STOP_CALLED_TWICE_,
                                                sc_core::SC_DO_NOTHING);
        sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
        auto engine = make_engine();
        chip_ = std::make_unique<sim::TpuChip>(
            "chip", config_, sim::ChipOptions{options_.functional}, std::move(engine));
        probes_ = std::make_unique<ChipProbes>(*chip_);
        host::HostConfig host;
        host.kind = options_.host;
        host.cpu_clock_hz = config_.host.cpu_clock_hz;
        host.firmware_elf = firmware_elf();
        host.memory_bytes = host_memory_bytes();
        host.console = options_.console;
        host_ = std::make_unique<host::HostSystem>("host", host);
        host_->registers_out.bind(chip_->registers_in());
        chip_->host_out().bind(host_->dma_in);
        chip_->irq_out().bind(irq_);
        host_->irq_in.bind(irq_);
        observer_ = std::make_unique<RunObserver>(config_, program_, runs_, options_,
                                                  chip_->unified_buffer(), wave_);
        chip_->services().set_observer(observer_.get());
        if (rtl_ == nullptr || options_.wave.path.empty()) return;
        cosim::WaveRequest request;
        request.period_fs = period_fs();
        request.probes = all_probes();
        wave_.begin(*rtl_, request);
    }

    SessionResult run(const std::vector<uint8_t>& inputs) {
        host_->load({image_, inputs, runs_, arch::bytes_of(program_.outputs), options_.timeout_us});
        // Timers may be pending when the firmware is done.
        sc_core::sc_spawn([this] {
            if (!host_->finished()) sc_core::wait(host_->finished_event());
            sc_core::sc_stop();
        });
        sc_core::sc_start();
        SessionResult result;
        collect(result);
        return result;
    }

  private:
    /// Room for the job: image, inputs and outputs of all runs, and some pages between them.
    uint64_t host_memory_bytes() {
        constexpr uint64_t kPage = 4096, kSlack = 16 * kPage;
        image_ = arch::serialise(program_);
        const uint64_t need =
            platform::kFirmwareBytes + kSlack + image_.size() +
            (arch::bytes_of(program_.inputs) + arch::bytes_of(program_.outputs)) * runs_;
        if (need > platform::kRamMaxBytes)
            throw UserError(
                fmt::format("program, inputs and outputs need {} bytes of host memory, it has at "
                            "most {}: use --count",
                            need, platform::kRamMaxBytes));
        return std::max<uint64_t>(platform::kRamBytes, (need + kPage - 1) / kPage * kPage);
    }

    std::unique_ptr<mxu::MxuEngine> make_engine() {
        if (options_.backend == "tlm") {
            if (!options_.inject.empty())
                throw UserError(
                    "--inject needs --backend rtl or tandem: it flips a bit of the RTL");
            return std::make_unique<mxu::TlmMxuEngine>(array_shape(config_, options_.array));
        }
        if (!options_.functional)
            throw UserError("--mode timing moves no data: it goes with --backend tlm only");
        const auto [library, shape] = load_array(config_, options_.array);
        std::unique_ptr<mxu::MxuEngine> engine;
        if (options_.backend == "rtl") {
            auto rtl = std::make_unique<cosim::RtlMxuEngine>(shape, library);
            rtl_ = rtl.get();
            rtl_->set_on_failure([] { sc_core::sc_stop(); });
            engine = std::move(rtl);
        } else {
            auto tandem = std::make_unique<cosim::TandemEngine>(shape, library, tandem_options());
            tandem_ = tandem.get();
            rtl_ = &tandem->rtl();
            engine = std::move(tandem);
        }
        if (!options_.inject.empty()) rtl_->inject(injection(shape));
        return engine;
    }

    bool all_pes() const {
        return uint64_t{config_.mxu.rows} * config_.mxu.cols <= cosim::kMostRecordedPes;
    }

    /// Of the model, and of all PEs if they are few.
    std::vector<TandemProbe> all_probes() {
        auto probes = probes_->list();
        for (uint32_t r = 0; all_pes() && r < config_.mxu.rows; ++r)
            for (uint32_t c = 0; c < config_.mxu.cols; ++c) pe_probes_.add(*rtl_, r, c);
        probes.insert(probes.end(), pe_probes_.list().begin(), pe_probes_.list().end());
        return probes;
    }

    cosim::SaveFileRequest save_file(const std::string& wave, uint64_t marker) const {
        cosim::SaveFileRequest request;
        request.wave = wave;
        request.period_fs = period_fs();
        request.marker = marker;
        request.shape = rtl_->shape();
        for (const sim::Unit* unit : chip_->units())
            request.model_units.emplace_back(isa::kUnitNames[static_cast<size_t>(unit->unit())]);
        request.float_filter = float_filter().string();
        return request;
    }

    /// Of a wave's time axis.
    uint64_t period_fs() const { return 1'000'000'000'000'000ull / config_.clock_hz; }

    cosim::TandemOptions tandem_options() {
        cosim::TandemOptions tandem;
        tandem.wave_path = options_.wave_path;
        tandem.period_fs = period_fs();
        tandem.model_probes = [this] { return probes_->list(); };
        tandem.on_divergence = [](const cosim::Divergence&) { sc_core::sc_stop(); };
        // A copy of the simulation would write to the same file.
        tandem.keep_checkpoints = !options_.wave.whole_run();
        return tandem;
    }

    cosim::Injection injection(const mxu::MxuShape& shape) const {
        if (const auto seed = cosim::parse_injection_seed(options_.inject))
            return cosim::random_injection(*seed, shape, total_activation_rows(program_, runs_));
        return cosim::parse_injection(options_.inject, shape);
    }

    void collect(SessionResult& result) {
        result.cycles = chip_->sequencer().program_cycles();
        result.array_macs = chip_->mxu().macs();
        result.tiles = chip_->weights().tiles_fetched();
        result.instructions = chip_->services().instructions_retired();
        result.mxu_busy_cycles = chip_->mxu().account().busy();
        result.host_instructions = host_->instructions();
        result.host_seconds = sc_core::sc_time_stamp().to_seconds();
        for (const sim::Unit* unit : chip_->units())
            result.units.push_back({std::string(isa::kUnitNames[static_cast<size_t>(unit->unit())]),
                                    unit->account().cycles()});
        result.units.push_back({"sequencer", chip_->sequencer().account().cycles()});
        result.traffic_bytes = {{"memory_read", chip_->device_memory().bytes_read()},
                                {"memory_write", chip_->device_memory().bytes_written()},
                                {"host_to_chip", chip_->link().bytes_from_host()},
                                {"chip_to_host", chip_->link().bytes_to_host()}};
        observer_->collect(result);
        if (tandem_ != nullptr) {
            result.rows_compared = tandem_->rows_compared();
            result.divergence = tandem_->divergence();
            if (result.divergence) collect_divergence(result);
        }
        if (rtl_ != nullptr) {
            rtl_->close_wave();
            collect_wave(result);
            result.injected = rtl_->injected();
            if (tandem_ == nullptr) result.assertion = rtl_->failure();
        }
        collect_job(result);
    }

    void collect_wave(SessionResult& result) {
        if (options_.wave.path.empty()) return;
        result.wave.record = rtl_->wave_record();
        if (result.wave.record.failed)
            result.wave.note = options_.wave.path + " cannot be written";
        else if (!result.wave.record.any)
            result.wave.note = "the run ended before the window of " + options_.wave.path;
        else if (!cosim::fst_is_complete(options_.wave.path))
            result.wave.note = options_.wave.path + " is incomplete: is the disk full?";
        else if (result.wave.record.too_large)
            result.wave.note =
                fmt::format("{} was ended after cycle {}: more than {} MB (--wave-limit)",
                            options_.wave.path, result.wave.record.to, options_.wave.limit_mb);
        if (!result.wave.record.any) return;
        auto request = save_file(options_.wave.path, result.wave.record.from);
        request.all_pes = all_pes() && rtl_->info().form != std::string_view("other");
        result.wave.gtkw = cosim::write_gtkw(request);
    }

    void collect_divergence(SessionResult& result) {
        result.divergence_instruction = chip_->mxu().instruction_of_block(result.divergence->block);
        if (result.divergence->wave.empty()) return;
        const cosim::Divergence& divergence = *result.divergence;
        auto request =
            save_file(divergence.wave, divergence.pe ? divergence.pe->cycle : divergence.cycle_rtl);
        request.wrong_pe = divergence.pe;
        result.gtkw = cosim::write_gtkw(request);
    }

    void collect_job(SessionResult& result) {
        result.outputs.assign(host_->outputs().begin(), host_->outputs().end());
        if (result.divergence || !result.assertion.empty()) return;
        const firmware::Job& job = host_->job();
        if (!host_->fault().empty()) {
            result.failure = "host CPU: " + host_->fault();
        } else if (job.status != 0 || job.runs_done != runs_) {
            const std::string message(job.message, strnlen(job.message, sizeof job.message));
            result.failure = fmt::format(
                "firmware: {} (stage {}; device error {}: {}; at {})", message, job.stage,
                job.error_code, arch::describe(static_cast<arch::DeviceError>(job.error_code)),
                job.error_info);
        }
    }

    const arch::ChipConfig config_;
    const arch::Program& program_;
    const uint32_t runs_;
    const SessionOptions& options_;
    WaveWindow wave_;
    cosim::PeProbes pe_probes_;
    std::vector<uint8_t> image_;
    std::unique_ptr<sim::TpuChip> chip_;
    std::unique_ptr<host::HostSystem> host_;
    std::unique_ptr<ChipProbes> probes_;
    std::unique_ptr<RunObserver> observer_;
    sc_core::sc_signal<bool> irq_;
    cosim::RtlMxuEngine* rtl_ = nullptr;
    cosim::TandemEngine* tandem_ = nullptr;
};

}  // namespace

SessionResult run_session(const arch::ChipConfig& chip, const arch::Program& program,
                          const std::vector<uint8_t>& inputs, uint32_t runs,
                          const SessionOptions& options) {
    Session session(chip, program, runs, options);
    return session.run(inputs);
}

}  // namespace tandem::tools
