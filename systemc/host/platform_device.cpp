// SPDX-License-Identifier: Apache-2.0
#include "systemc/host/platform_device.h"

#include <cstring>
#include <utility>

#include "firmware/include/tandem/platform.h"
#include "systemc/kernel/plain_access.h"

namespace tandem::host {

namespace {

constexpr uint64_t kOff = ~uint64_t{0};
// Firmware that never ends a line must not eat the simulator's memory.
constexpr size_t kMaxLine = 4096;

}  // namespace

PlatformDevice::PlatformDevice(sc_core::sc_module_name name)
    : sc_module(name), in("in"), irq_tpu_in("irq_tpu_in"), irq_cpu_out("irq_cpu_out") {
    in.register_b_transport(this, &PlatformDevice::b_transport);
    SC_HAS_PROCESS(PlatformDevice);
    SC_METHOD(drive_irq_method);
    sensitive << irq_tpu_in << timer_event_;
}

void PlatformDevice::on_console(std::function<void(std::string_view)> callback) {
    console_ = std::move(callback);
}

void PlatformDevice::on_exit(std::function<void(uint32_t)> callback) {
    exit_ = std::move(callback);
}

void PlatformDevice::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
    if (!sim::is_plain_word(payload)) return;
    uint32_t value = 0;
    bool good = payload.get_command() == tlm::TLM_IGNORE_COMMAND;
    if (payload.is_write()) {
        std::memcpy(&value, payload.get_data_ptr(), sizeof value);
        good = write_register(payload.get_address(), value);
    } else if (payload.is_read()) {
        good = read_register(payload.get_address(), value);
        std::memcpy(payload.get_data_ptr(), &value, sizeof value);
    }
    payload.set_response_status(good ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

bool PlatformDevice::read_register(uint64_t offset, uint32_t& value) {
    switch (offset) {
        case platform::kTimeUsLo: {
            const uint64_t now = time_us();
            time_high_ = static_cast<uint32_t>(now >> 32);
            value = static_cast<uint32_t>(now);
            return true;
        }
        case platform::kTimeUsHi:
            value = time_high_;
            return true;
        case platform::kCompareLo:
            value = static_cast<uint32_t>(compare_us_);
            return true;
        case platform::kCompareHi:
            value = static_cast<uint32_t>(compare_us_ >> 32);
            return true;
        case platform::kIrqPending:
            value = pending();
            return true;
        case platform::kJob:
            value = job_;
            return true;
        default:
            return false;
    }
}

bool PlatformDevice::write_register(uint64_t offset, uint32_t value) {
    switch (offset) {
        case platform::kConsole:
            write_console(static_cast<char>(value));
            return true;
        case platform::kExit:
            flush_console();
            if (exit_) exit_(value);
            return true;
        case platform::kCompareLo:
            write_compare(value, 0);
            return true;
        case platform::kCompareHi:
            write_compare(value, 32);
            return true;
        default:
            return false;
    }
}

void PlatformDevice::write_console(char character) {
    if (character != '\n') line_ += character;
    if (character == '\n' || line_.size() == kMaxLine) {
        if (console_) console_(line_);
        line_.clear();
    }
}

void PlatformDevice::flush_console() {
    if (!line_.empty()) write_console('\n');
}

void PlatformDevice::write_compare(uint32_t value, unsigned shift) {
    compare_us_ = (compare_us_ & ~(uint64_t{0xffffffff} << shift)) | uint64_t{value} << shift;
    timer_event_.cancel();
    timer_event_.notify(sc_core::SC_ZERO_TIME);
}

uint64_t PlatformDevice::time_us() const {
    return sc_core::sc_time_stamp().value() / sc_core::sc_time(1, sc_core::SC_US).value();
}

bool PlatformDevice::timer_pending() const {
    return compare_us_ != kOff && time_us() >= compare_us_;
}

uint32_t PlatformDevice::pending() const {
    return (irq_tpu_in.read() ? platform::kIrqTpu : 0) |
           (timer_pending() ? platform::kIrqTimer : 0);
}

void PlatformDevice::drive_irq_method() {
    irq_cpu_out.write(pending() != 0);
    if (compare_us_ == kOff || timer_pending()) return;
    // A compare value that the simulation cannot reach needs no event, nor a time that overflows.
    const uint64_t us = sc_core::sc_time(1, sc_core::SC_US).value();
    const uint64_t now = sc_core::sc_time_stamp().value();
    if (compare_us_ > sc_core::sc_max_time().value() / us) return;
    timer_event_.notify(sc_core::sc_time::from_value(compare_us_ * us - now));
}

}  // namespace tandem::host
