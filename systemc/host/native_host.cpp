// SPDX-License-Identifier: Apache-2.0
#include "systemc/host/native_host.h"

#include <atomic>
#include <cstring>
#include <sstream>
#include <stdexcept>

#include "firmware/apps/inference.h"
#include "firmware/hal/mmio_hal.h"

namespace tandem::host {

namespace {

constexpr size_t kStackBytes = 256 * 1024;

/// Leaves the firmware when the bus refuses an access, where a real CPU would trap.
class BusError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

}  // namespace

class NativeHost::Hal final : public firmware::MmioHal {
  public:
    explicit Hal(NativeHost& host) : host_(host) {}

    void* pointer(uint64_t bus_address, uint64_t bytes) override {
        return host_.memory_.at(bus_address, bytes).data();
    }

    void memory_barrier() override { std::atomic_signal_fence(std::memory_order_seq_cst); }

  protected:
    uint32_t bus_read32(uint64_t address) override {
        uint32_t value = 0;
        transfer(tlm::TLM_READ_COMMAND, address, value);
        return value;
    }

    void bus_write32(uint64_t address, uint32_t value) override {
        transfer(tlm::TLM_WRITE_COMMAND, address, value);
    }

    void idle() override {
        // Still high from what was just acknowledged: the line needs delta cycles to fall.
        if (host_.irq_in.read()) {
            host_.wait(sc_core::SC_ZERO_TIME);
        } else {
            host_.wait(host_.irq_in.posedge_event());
        }
    }

  private:
    void transfer(tlm::tlm_command command, uint64_t address, uint32_t& value) {
        uint8_t bytes[sizeof value];
        std::memcpy(bytes, &value, sizeof value);
        const auto response = host_.access(command, address, bytes, sizeof bytes);
        if (response != tlm::TLM_OK_RESPONSE) {
            std::ostringstream text;
            text << host_.name() << ": bus refused a "
                 << (command == tlm::TLM_READ_COMMAND ? "read" : "write") << " at 0x" << std::hex
                 << address << " (TLM response " << std::dec << response << ")";
            throw BusError(text.str());
        }
        std::memcpy(&value, bytes, sizeof value);
    }

    NativeHost& host_;
};

NativeHost::NativeHost(sc_core::sc_module_name name, HostRam& memory)
    : HostCpu(name), memory_(memory) {
    SC_HAS_PROCESS(NativeHost);
    SC_THREAD(run_thread);
    set_stack_size(kStackBytes);
}

void NativeHost::run_thread() {
    Hal hal(*this);
    try {
        const uint64_t address = hal.job_address();
        void* job = hal.pointer(address, sizeof(firmware::Job));
        if (address % alignof(firmware::Job) != 0) job = nullptr;
        const int status = firmware::run_inference_job(hal, static_cast<firmware::Job*>(job));
        hal.exit(static_cast<uint32_t>(status));
        finish();
    } catch (const BusError& error) {
        fail(error.what());
    }
}

}  // namespace tandem::host
