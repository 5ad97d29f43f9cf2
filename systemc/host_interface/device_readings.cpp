// SPDX-License-Identifier: Apache-2.0
#include "systemc/host_interface/device_readings.h"

#include "arch/generated/registers.h"

namespace tandem::sim {
namespace {

uint32_t low(uint64_t value) { return static_cast<uint32_t>(value); }
uint32_t high(uint64_t value) { return static_cast<uint32_t>(value >> 32); }

}  // namespace

DeviceReadings::DeviceReadings(const arch::ChipConfig& config, const ProgramRunner& runner)
    : config_(config), runner_(runner), hash_(config.hash()), at_reset_(all_counters()) {}

DeviceReadings::Counters DeviceReadings::counters_of(const CoreUnits& core) {
    Counters counters;
    counters.cycles = core.sequencer->program_cycles();
    counters.instructions = core.services->instructions_retired();
    for (const Mxu* mxu : core.arrays) {
        counters.macs += mxu->macs();
        counters.mxu_busy += mxu->account().busy();
    }
    return counters;
}

std::vector<DeviceReadings::Counters> DeviceReadings::all_counters() const {
    std::vector<Counters> all;
    Counters chip;
    for (const CoreUnits& core : runner_.cores()) {
        const Counters& own = all.emplace_back(counters_of(core));
        chip.macs += own.macs;
        chip.instructions += own.instructions;
        chip.mxu_busy += own.mxu_busy;
    }
    chip.cycles = runner_.program_cycles();
    all.push_back(chip);
    return all;
}

DeviceReadings::Counters DeviceReadings::since_reset(size_t core) const {
    const Counters now = all_counters()[core];
    const Counters& then = at_reset_[core];
    return {now.cycles - then.cycles, now.macs - then.macs, now.instructions - then.instructions,
            now.mxu_busy - then.mxu_busy};
}

void DeviceReadings::reset() { at_reset_ = all_counters(); }

std::optional<uint32_t> DeviceReadings::read(uint32_t offset, uint32_t selected) const {
    if (const auto value = read_figure(offset)) return value;
    if (const auto value = read_counter(offset)) return value;
    return read_core(offset, selected);
}

std::optional<uint32_t> DeviceReadings::read_figure(uint32_t offset) const {
    switch (offset) {
        case TANDEM_REG_VERSION:
            return isa::kVersion | TANDEM_REGISTERS_VERSION << 16;
        case TANDEM_REG_HASH_LO:
            return low(hash_);
        case TANDEM_REG_HASH_HI:
            return high(hash_);
        case TANDEM_REG_ISA_HASH_LO:
            return low(isa::kHash);
        case TANDEM_REG_ISA_HASH_HI:
            return high(isa::kHash);
        case TANDEM_REG_MXU_SHAPE:
            return config_.mxu.rows | config_.mxu.cols << 16;
        case TANDEM_REG_UB_BYTES:
            return low(config_.unified_buffer_bytes);
        case TANDEM_REG_MEMORY_MIB:
            return low(config_.memory.bytes >> 20);
        case TANDEM_REG_CLOCK_KHZ:
            return low(config_.clock_hz / 1000);
        case TANDEM_REG_CORES:
            return low(runner_.cores().size() | runner_.cores().front().arrays.size() << 16);
        case TANDEM_REG_WATCHDOG_LO:
            return low(config_.sequencer.watchdog_cycles);
        case TANDEM_REG_WATCHDOG_HI:
            return high(config_.sequencer.watchdog_cycles);
        default:
            return std::nullopt;
    }
}

std::optional<uint32_t> DeviceReadings::read_counter(uint32_t offset) const {
    const size_t chip = runner_.cores().size();
    switch (offset) {
        case TANDEM_REG_CYCLES_LO:
            return low(since_reset(chip).cycles);
        case TANDEM_REG_CYCLES_HI:
            return high(since_reset(chip).cycles);
        case TANDEM_REG_MACS_LO:
            return low(since_reset(chip).macs);
        case TANDEM_REG_MACS_HI:
            return high(since_reset(chip).macs);
        case TANDEM_REG_INSTRUCTIONS:
            return low(since_reset(chip).instructions);
        case TANDEM_REG_MXU_BUSY_LO:
            return low(since_reset(chip).mxu_busy);
        case TANDEM_REG_MXU_BUSY_HI:
            return high(since_reset(chip).mxu_busy);
        default:
            return std::nullopt;
    }
}

std::optional<uint32_t> DeviceReadings::read_core(uint32_t offset, uint32_t core) const {
    if (offset < TANDEM_REG_CORE_STATUS || offset > TANDEM_REG_CORE_MXU_BUSY_HI)
        return std::nullopt;
    if (core >= runner_.cores().size()) return 0;
    const auto& error = runner_.cores()[core].services->error();
    switch (offset) {
        case TANDEM_REG_CORE_STATUS:
            return status_of(core);
        case TANDEM_REG_CORE_ERROR_CODE:
            return error ? static_cast<uint32_t>(error->code) : 0;
        case TANDEM_REG_CORE_ERROR_INFO:
            return error ? error->instruction : 0;
        case TANDEM_REG_CORE_CYCLES_LO:
            return low(since_reset(core).cycles);
        case TANDEM_REG_CORE_CYCLES_HI:
            return high(since_reset(core).cycles);
        case TANDEM_REG_CORE_MACS_LO:
            return low(since_reset(core).macs);
        case TANDEM_REG_CORE_MACS_HI:
            return high(since_reset(core).macs);
        case TANDEM_REG_CORE_INSTRUCTIONS:
            return low(since_reset(core).instructions);
        case TANDEM_REG_CORE_MXU_BUSY_LO:
            return low(since_reset(core).mxu_busy);
        default:
            return high(since_reset(core).mxu_busy);
    }
}

uint32_t DeviceReadings::status_of(uint32_t core) const {
    const auto& error = runner_.cores()[core].services->error();
    uint32_t status = runner_.running(core) ? TANDEM_CORE_STATUS_BUSY : 0;
    if (error) status |= TANDEM_CORE_STATUS_ERROR;
    if (error && error->code == arch::DeviceError::kWatchdog) status |= TANDEM_CORE_STATUS_WATCHDOG;
    return status;
}

}  // namespace tandem::sim
