// SPDX-License-Identifier: Apache-2.0
#include "cosim/unit_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <span>
#include <stdexcept>

#include "base/trusted_path.h"

namespace tandem::cosim {
namespace {

template <typename Function>
void bind(void* handle, const char* name, Function& function, const std::filesystem::path& path) {
    function = reinterpret_cast<Function>(dlsym(handle, name));
    if (function == nullptr)
        throw std::runtime_error(path.string() + " is not a unit: it has no " + name);
}

}  // namespace

UnitLibrary::UnitLibrary(const std::filesystem::path& path) {
    // Not unloaded before the process ends: what Verilator's runtime keeps for each thread would be
    // found again by the next library, and mean nothing there.
    handle_ = dlopen(base::trusted_file(path).c_str(), RTLD_LOCAL | RTLD_NOW | RTLD_NODELETE);
    if (handle_ == nullptr)
        throw std::runtime_error(std::string("cannot load a unit: ") + dlerror());
    try {
        decltype(&tandem_unit_info) describe = nullptr;
        bind(handle_, "tandem_unit_info", describe, path);
        info_ = describe();
        if (info_->abi_version != TANDEM_UNIT_ABI_VERSION)
            throw std::runtime_error(fmt::format("{} has ABI version {}, expected {}",
                                                 path.string(), info_->abi_version,
                                                 TANDEM_UNIT_ABI_VERSION));
        const std::string stem = path.stem().string();
        if (stem.substr(stem.rfind('-') + 1) != info_->build_key)
            throw std::runtime_error(path.string() + " has build key " + info_->build_key +
                                     ", which is not that of its name");
        bind(handle_, "tandem_unit_create", create, path);
        bind(handle_, "tandem_unit_destroy", destroy, path);
        bind(handle_, "tandem_unit_ports", ports, path);
        bind(handle_, "tandem_unit_settle", settle, path);
        bind(handle_, "tandem_unit_edge", edge, path);
        bind(handle_, "tandem_unit_failure", failure, path);
    } catch (...) {
        dlclose(handle_);
        throw;
    }
}

UnitLibrary::~UnitLibrary() {
    if (handle_ != nullptr) dlclose(handle_);
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
