// SPDX-License-Identifier: Apache-2.0
// A CPU that is a table, and a gdb that has said all it says.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "systemc/host/gdb_target.h"

namespace tandem::testbench {

using host::gdb::PointKind;

class TableTarget final : public host::gdb::Target {
  public:
    std::string description() const override { return std::string(5000, 'x') + "end"; }
    std::optional<uint32_t> read_register(uint64_t number) const override {
        return number < registers.size() ? std::optional(registers[number]) : std::nullopt;
    }
    bool write_register(uint64_t number, uint32_t value) override {
        if (number >= registers.size()) return false;
        registers[number] = value;
        return true;
    }
    bool read_memory(uint64_t address, std::span<uint8_t> bytes) override {
        if (address > memory.size() || bytes.size() > memory.size() - address) return false;
        std::copy_n(memory.begin() + static_cast<long>(address), bytes.size(), bytes.begin());
        return true;
    }
    bool write_memory(uint64_t address, std::span<const uint8_t> bytes) override {
        if (address > memory.size() || bytes.size() > memory.size() - address) return false;
        std::copy(bytes.begin(), bytes.end(), memory.begin() + static_cast<long>(address));
        return true;
    }
    bool set_point(PointKind kind, uint64_t address, uint64_t bytes) override {
        points.insert({kind, address, bytes});
        return true;
    }
    bool clear_point(PointKind kind, uint64_t address, uint64_t bytes) override {
        points.erase({kind, address, bytes});
        return true;
    }
    void clear_points() override { points.clear(); }
    std::string status() const override { return "well"; }

    std::array<uint32_t, 33> registers{};
    std::vector<uint8_t> memory = std::vector<uint8_t>(256);
    std::set<std::tuple<PointKind, uint64_t, uint64_t>> points;
};

/// What the client says is there at once, in pieces of a few bytes; then it hangs up.
class Script final : public host::gdb::Connection {
  public:
    explicit Script(std::string says) : says_(std::move(says)) {}
    std::optional<size_t> receive(std::span<uint8_t> bytes, bool) override {
        if (says_.empty()) return std::nullopt;
        const size_t count = std::min<size_t>({says_.size(), bytes.size(), 5});
        std::memcpy(bytes.data(), says_.data(), count);
        says_.erase(0, count);
        return count;
    }
    bool send(std::string_view bytes) override {
        heard += bytes;
        return true;
    }
    std::string heard;

  private:
    std::string says_;
};

}  // namespace tandem::testbench
