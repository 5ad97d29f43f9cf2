// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/gemm/gemm_chips.h"

#include <chrono>
#include <cstring>
#include <stdexcept>
#include <systemc>

#include "run/system.h"

namespace tandem::benchmarks {
namespace {

constexpr uint64_t kProgram = 0;  ///< device address of the instructions
constexpr uint64_t kHostBase = 0x80000000;
constexpr size_t kStackBytes = 16 << 20;  ///< libraries are called on it

run::SystemOptions options_of(const std::string& name, const jobs::GemmProduct& product) {
    run::SystemOptions options;
    options.name = name;
    options.cores = options.arrays = 1;
    options.host_base = kHostBase;
    options.host_bytes = product.inputs.size() + arch::bytes_of(product.program.outputs);
    return options;
}

}  // namespace

class GemmChip {
  public:
    GemmChip(const std::string& name, const arch::ChipConfig& config,
             const jobs::GemmProduct& product)
        : name_(name),
          system_(config, options_of(name, product)),
          chip_(system_.chip()),
          host_(system_.direct_host()->bytes()),
          input_bytes_(product.inputs.size()) {
        const auto& code = product.program.cores.front().instructions;
        data_ = arch::layout_of(product.program).data;
        instructions_ = code.size();
        uint8_t* device = chip_.device_memory().store().bytes().data();
        std::memcpy(device + kProgram, code.data(), code.size() * isa::kInstructionBytes);
        std::memcpy(device + data_, product.program.data.data(), product.program.data.size());
        std::memcpy(host_.data(), product.inputs.data(), input_bytes_);
    }

    double turn() {
        std::memset(host_.data() + input_bytes_, 0, host_.size() - input_bytes_);
        const uint64_t before = chip_.sequencer().program_cycles();
        const auto start = std::chrono::steady_clock::now();
        const auto error = chip_.sequencer().run(
            {kProgram, instructions_, {data_, kHostBase, kHostBase + input_bytes_}});
        const auto end = std::chrono::steady_clock::now();
        if (error) throw std::runtime_error("the program of " + name_ + " failed");
        cycles_ = chip_.sequencer().program_cycles() - before;
        return std::chrono::duration<double>(end - start).count();
    }
    std::span<const uint8_t> outputs() const {
        return std::span<const uint8_t>(host_).subspan(input_bytes_);
    }
    uint64_t cycles() const { return cycles_; }

  private:
    const std::string name_;
    run::System system_;
    sim::TpuChip& chip_;
    std::span<uint8_t> host_;  ///< inputs, and behind them outputs
    size_t input_bytes_;
    uint64_t data_ = 0, instructions_ = 0, cycles_ = 0;
};

GemmChips::GemmChips() { run::prepare_simulation(); }
GemmChips::~GemmChips() = default;

size_t GemmChips::add(const arch::ChipConfig& config, const jobs::GemmProduct& product) {
    const std::string name = "gemm_" + std::to_string(chips_.size()) + "_";
    chips_.push_back(std::make_unique<GemmChip>(name, config, product));
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
