// SPDX-License-Identifier: Apache-2.0
// A shared object that was built on demand, loaded: an array or another unit.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace tandem::cosim {

class SharedObject {
  public:
    /// `what` it should be, for people: "an array". `stays`: it is not unloaded before the process
    /// ends. Throws UserError when somebody else can change the file; std::runtime_error when it
    /// cannot be loaded.
    SharedObject(std::filesystem::path path, std::string what, bool stays = false);
    ~SharedObject();
    SharedObject(const SharedObject&) = delete;
    SharedObject& operator=(const SharedObject&) = delete;

    /// Throws std::runtime_error when it has no such function.
    template <typename Function>
    void bind(const char* name, Function& function) const {
        function = reinterpret_cast<Function>(address_of(name));
    }
    /// Throws std::runtime_error for another ABI version, or a build key that is not that of the
    /// file's name.
    void check(uint32_t abi_version, uint32_t expected, const std::string& build_key) const;

  private:
    void* address_of(const char* name) const;

    const std::filesystem::path path_;
    const std::string what_;
    void* handle_;
};

}  // namespace tandem::cosim
