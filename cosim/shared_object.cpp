// SPDX-License-Identifier: Apache-2.0
#include "cosim/shared_object.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "base/trusted_path.h"

namespace tandem::cosim {

SharedObject::SharedObject(std::filesystem::path path, std::string what, bool stays)
    : path_(std::move(path)),
      what_(std::move(what)),
      // Between check and load nobody else can put another file there.
      handle_(dlopen(base::trusted_file(path_).c_str(),
                     RTLD_LOCAL | RTLD_NOW | (stays ? RTLD_NODELETE : 0))) {
    if (handle_ == nullptr)
        throw std::runtime_error(fmt::format("cannot load {}: {}", what_, dlerror()));
}

SharedObject::~SharedObject() { dlclose(handle_); }

void SharedObject::check(uint32_t abi_version, uint32_t expected,
                         const std::string& build_key) const {
    if (abi_version != expected)
        throw std::runtime_error(fmt::format("{} has ABI version {}, expected {}", path_.string(),
                                             abi_version, expected));
    const std::string stem = path_.stem().string();
    if (stem.substr(stem.rfind('-') + 1) != build_key)
        throw std::runtime_error(path_.string() + " has build key " + build_key +
                                 ", which is not that of its name");
}

void* SharedObject::address_of(const char* name) const {
    void* const address = dlsym(handle_, name);
    if (address == nullptr)
        throw std::runtime_error(
            fmt::format("{} is not {}: it has no {}", path_.string(), what_, name));
    return address;
}

}  // namespace tandem::cosim
