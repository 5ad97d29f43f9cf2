// SPDX-License-Identifier: Apache-2.0
#include "cosim/array_library.h"

#include <dlfcn.h>

#include <stdexcept>
#include <string>

#include "base/trusted_path.h"

namespace tandem::cosim {
namespace {

namespace fs = std::filesystem;

template <typename Function>
void bind(void* handle, const char* name, Function& function, const fs::path& path) {
    function = reinterpret_cast<Function>(dlsym(handle, name));
    if (function == nullptr)
        throw std::runtime_error(path.string() + " is not an array: it has no " + name);
}

}  // namespace

ArrayLibrary::ArrayLibrary(const fs::path& path) {
    // Between check and load nobody else can put another file there.
    handle_ = dlopen(base::trusted_file(path).c_str(), RTLD_LOCAL | RTLD_NOW);
    if (handle_ == nullptr)
        throw std::runtime_error(std::string("cannot load an array: ") + dlerror());
    try {
        decltype(&tandem_array_info) describe = nullptr;
        bind(handle_, "tandem_array_info", describe, path);
        info_ = describe();
        if (info_->abi_version != TANDEM_ARRAY_ABI_VERSION)
            throw std::runtime_error(path.string() + " has ABI version " +
                                     std::to_string(info_->abi_version) + ", expected " +
                                     std::to_string(TANDEM_ARRAY_ABI_VERSION));
        const std::string stem = path.stem().string();
        if (stem.substr(stem.rfind('-') + 1) != info_->build_key)
            throw std::runtime_error(path.string() + " has build key " + info_->build_key +
                                     ", which is not that of its name");
        bind(handle_, "tandem_array_create", create, path);
        bind(handle_, "tandem_array_create_random", create_random, path);
        bind(handle_, "tandem_array_destroy", destroy, path);
        bind(handle_, "tandem_array_reset", reset, path);
        bind(handle_, "tandem_array_step", step, path);
        bind(handle_, "tandem_array_pe", pe, path);
        bind(handle_, "tandem_array_settle", settle, path);
        bind(handle_, "tandem_array_taps", taps, path);
        bind(handle_, "tandem_array_watch", watch, path);
        bind(handle_, "tandem_array_trace_open", trace_open, path);
        bind(handle_, "tandem_array_trace_close", trace_close, path);
        bind(handle_, "tandem_array_trace_call", trace_call, path);
        bind(handle_, "tandem_array_wave_signals", wave_signals, path);
        bind(handle_, "tandem_array_wave_to_vcd", wave_to_vcd, path);
    } catch (...) {
        dlclose(handle_);
        throw;
    }
}

ArrayLibrary::~ArrayLibrary() {
    if (handle_ != nullptr) dlclose(handle_);
}

}  // namespace tandem::cosim
