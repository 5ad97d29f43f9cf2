// SPDX-License-Identifier: Apache-2.0
// A Verilated unit, loaded, and an instance of it whose ports are found by name.
#pragma once

#include <cstring>
#include <filesystem>
#include <memory>
#include <string>

#include "cosim/shared_object.h"
#include "cosim/unit_abi.h"

namespace tandem::cosim {

class UnitLibrary {
  public:
    /// Throws UserError when somebody else can change the file; std::runtime_error when it cannot
    /// be loaded, speaks another ABI version, or has a build key that is not that of its name.
    explicit UnitLibrary(const std::filesystem::path& path);

    const TandemUnitInfo& info() const { return *info_; }

    // The functions of unit_abi.h.
    decltype(&tandem_unit_create) create = nullptr;
    decltype(&tandem_unit_destroy) destroy = nullptr;
    decltype(&tandem_unit_ports) ports = nullptr;
    decltype(&tandem_unit_settle) settle = nullptr;
    decltype(&tandem_unit_edge) edge = nullptr;
    decltype(&tandem_unit_failure) failure = nullptr;

  private:
    const SharedObject object_;
    const TandemUnitInfo* info_ = nullptr;
};

/// An instance. Inputs are zero at first, so that it stands in reset.
class UnitInstance {
  public:
    explicit UnitInstance(std::shared_ptr<const UnitLibrary> library, uint64_t seed = 0)
        : library_(std::move(library)), unit_(library_->create(seed)) {}
    ~UnitInstance() { library_->destroy(unit_); }
    UnitInstance(const UnitInstance&) = delete;
    UnitInstance& operator=(const UnitInstance&) = delete;

    /// Throws std::runtime_error naming the port when there is none of this name, direction and
    /// width.
    std::byte* input(const std::string& name, uint32_t bits) const { return port(name, bits, 1); }
    const std::byte* output(const std::string& name, uint32_t bits) const {
        return port(name, bits, 0);
    }

    void settle() { library_->settle(unit_); }
    void edge() { library_->edge(unit_); }
    /// Of an assertion since the last call; empty: none failed.
    std::string failure() const {
        const char* const text = library_->failure(unit_);
        return text == nullptr ? std::string() : text;
    }

  private:
    std::byte* port(const std::string& name, uint32_t bits, int input) const;

    std::shared_ptr<const UnitLibrary> library_;
    TandemUnit* unit_;
};

}  // namespace tandem::cosim
