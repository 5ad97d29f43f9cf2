// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/gemm_chips.h"

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <chrono>
#include <cstring>
#include <stdexcept>
#include <systemc>

#include "systemc/chip/tpu_chip.h"
#include "systemc/mxu/tlm_mxu_engine.h"

// The library's main() is not used, but it refers to this.
int sc_main(int, char*[]) { return 0; }

namespace tandem::benchmarks {
namespace {

constexpr uint64_t kProgram = 0;  ///< device address of the instructions
constexpr uint64_t kHostBase = 0x80000000;
constexpr size_t kStackBytes = 16 << 20;  ///< libraries are called on it

/// Host memory: inputs, and behind them outputs.
class HostMemory : public sc_core::sc_module {
  public:
    tlm_utils::simple_target_socket<HostMemory> in{"in"};
    std::vector<uint8_t> bytes;

    HostMemory(sc_core::sc_module_name name, size_t size) : sc_module(name), bytes(size) {
        in.register_b_transport(this, &HostMemory::b_transport);
    }

  private:
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
        const uint64_t at = payload.get_address() - kHostBase, length = payload.get_data_length();
        if (payload.get_address() < kHostBase || at > bytes.size() || length > bytes.size() - at) {
            payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
            return;
        }
        if (payload.is_write())
            std::memcpy(bytes.data() + at, payload.get_data_ptr(), length);
        else
            std::memcpy(payload.get_data_ptr(), bytes.data() + at, length);
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
};

}  // namespace

class GemmChip : public sc_core::sc_module {
  public:
    GemmChip(sc_core::sc_module_name name, const arch::ChipConfig& config,
             const tools::GemmProduct& product)
        : sc_module(name),
          chip_("chip", config, {}, std::make_unique<mxu::TlmMxuEngine>(shape(config))),
          host_("host", product.inputs.size() + arch::bytes_of(product.program.outputs)),
          input_bytes_(product.inputs.size()) {
        registers_out_.bind(chip_.registers_in());
        chip_.host_out().bind(host_.in);
        chip_.irq_out()(irq_);
        const auto& code = product.program.instructions;
        data_ = (code.size() * isa::kInstructionBytes + 4095) / 4096 * 4096;
        instructions_ = code.size();
        uint8_t* device = chip_.device_memory().store().bytes().data();
        std::memcpy(device + kProgram, code.data(), code.size() * isa::kInstructionBytes);
        std::memcpy(device + data_, product.program.data.data(), product.program.data.size());
        std::memcpy(host_.bytes.data(), product.inputs.data(), input_bytes_);
    }

    double turn() {
        std::memset(host_.bytes.data() + input_bytes_, 0, host_.bytes.size() - input_bytes_);
        const uint64_t before = chip_.sequencer().program_cycles();
        const auto start = std::chrono::steady_clock::now();
        const auto error = chip_.sequencer().run(
            {kProgram, instructions_, {data_, kHostBase, kHostBase + input_bytes_}});
        const auto end = std::chrono::steady_clock::now();
        if (error) throw std::runtime_error("the program of " + std::string(name()) + " failed");
        cycles_ = chip_.sequencer().program_cycles() - before;
        return std::chrono::duration<double>(end - start).count();
    }
    std::span<const uint8_t> outputs() const {
        return std::span(host_.bytes).subspan(input_bytes_);
    }
    uint64_t cycles() const { return cycles_; }

  private:
    static mxu::MxuShape shape(const arch::ChipConfig& config) {
        const auto& m = config.mxu;
        return {m.rows, m.cols, m.accumulator_rows, m.dtype, m.pipeline, m.sum4};
    }

    sim::TpuChip chip_;
    HostMemory host_;
    tlm_utils::simple_initiator_socket<GemmChip> registers_out_{"registers_out"};
    sc_core::sc_signal<bool> irq_{"irq"};
    size_t input_bytes_;
    uint64_t data_ = 0, instructions_ = 0, cycles_ = 0;
};

GemmChips::GemmChips() {
    sim::Clock::set_resolution();
    sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
}
GemmChips::~GemmChips() = default;

size_t GemmChips::add(const arch::ChipConfig& config, const tools::GemmProduct& product) {
    const std::string name = "gemm_" + std::to_string(chips_.size());
    chips_.push_back(std::make_unique<GemmChip>(name.c_str(), config, product));
    return chips_.size() - 1;
}

void GemmChips::run(std::function<void()> work) {
    std::exception_ptr failure;
    sc_core::sc_spawn_options options;
    options.set_stack_size(kStackBytes);
    const auto body = [&] {
        try {
            work();
        } catch (...) {
            failure = std::current_exception();
        }
        sc_core::sc_stop();
    };
    sc_core::sc_spawn(body, "work", &options);
    sc_core::sc_start();
    if (failure) std::rethrow_exception(failure);
}

double GemmChips::turn(size_t chip) { return chips_[chip]->turn(); }
std::span<const uint8_t> GemmChips::outputs(size_t chip) const { return chips_[chip]->outputs(); }
uint64_t GemmChips::cycles(size_t chip) const { return chips_[chip]->cycles(); }

}  // namespace tandem::benchmarks
