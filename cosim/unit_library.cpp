// SPDX-License-Identifier: Apache-2.0
#include "cosim/unit_library.h"

#include <fmt/format.h>

#include <span>
#include <stdexcept>

namespace tandem::cosim {

// Not unloaded before the process ends: what Verilator's runtime keeps for each thread would be
// found again by the next library, and mean nothing there.
UnitLibrary::UnitLibrary(const std::filesystem::path& path) : object_(path, "a unit", true) {
    decltype(&tandem_unit_info) describe = nullptr;
    object_.bind("tandem_unit_info", describe);
    info_ = describe();
    object_.check(info_->abi_version, TANDEM_UNIT_ABI_VERSION, info_->build_key);
    object_.bind("tandem_unit_create", create);
    object_.bind("tandem_unit_destroy", destroy);
    object_.bind("tandem_unit_ports", ports);
    object_.bind("tandem_unit_settle", settle);
    object_.bind("tandem_unit_edge", edge);
    object_.bind("tandem_unit_failure", failure);
}

std::byte* UnitInstance::port(const std::string& name, uint32_t bits, int input) const {
    const TandemUnitPort* first = nullptr;
    const size_t count = library_->ports(unit_, &first);
    for (const TandemUnitPort& port : std::span(first, count))
        if (name == port.name && bits == port.bits && input == port.input)
            return static_cast<std::byte*>(port.data);
    throw std::runtime_error(fmt::format("{} has no {} {} of {} bits", library_->info().top,
                                         input != 0 ? "input" : "output", name, bits));
}

}  // namespace tandem::cosim
