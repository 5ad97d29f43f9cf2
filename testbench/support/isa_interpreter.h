// SPDX-License-Identifier: Apache-2.0
// Runs the programs of all cores by the text of arch/README.md: units with queues that meet only
// through flags, no time. Which unit moves next, and how long it takes, is up to an adversary, so
// that a program with a missing flag gives wrong results for some order, or deadlocks.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "arch/chip_config.h"
#include "arch/program.h"
#include "testbench/support/interpreted_core.h"

namespace tandem::testbench {

struct CoreProgram {
    std::vector<isa::Words> instructions;
    std::vector<arch::InstructionSource> sources;  ///< one per instruction
};

/// Who moves first. Each unit has two moves: it starts an instruction, it finishes the oldest one
/// that it has started.
struct Order {
    enum class Kind : uint8_t {
        kProgram,     ///< the oldest instruction first
        kReverse,     ///< the youngest one first: each unit runs ahead as far as it can
        kByUnit,      ///< kinds of units in a random order of precedence, always the same
        kPrecedence,  ///< units in a random order of precedence
        kShuffled,    ///< the same, another order every some moves
    };
    Kind kind = Kind::kShuffled;
    uint32_t seed = 0;

    /// A variety: the first ones are the fixed orders.
    static Order number(uint32_t n);
};

/// What stands in the machine at the start of a program.
struct Setting {
    std::vector<Region> device, host;
    std::array<uint64_t, isa::kScalarRegisters> scalars{};
};

class IsaInterpreter {
  public:
    /// Keeps references to chip and programs, one for each core that takes part.
    IsaInterpreter(const arch::ChipConfig& chip, const std::vector<CoreProgram>& programs,
                   const Setting& setting, const Order& order);

    /// Called when an instruction has had its effects, before it raises its flags.
    std::function<void(uint32_t core, uint32_t index)> on_retire;

    /// Throws std::runtime_error for a deadlock, saying who waits for what, and for whatever else
    /// the machine would end the program for.
    void run();

    std::vector<uint8_t>& buffer(uint32_t core) { return cores_.at(core).memories.buffer(); }
    InterpretedMemory& device() { return device_; }
    InterpretedMemory& host() { return host_; }
    uint64_t macs() const;
    /// What a proper program leaves behind of flags and tiles: nothing.
    std::string left_over() const;

  private:
    struct Unit {
        std::deque<Execution> queue;    ///< not started
        std::deque<Execution> started;  ///< not finished; of all but the arrays one at a time
        uint32_t tiles = 0;             ///< that the instruction in front has fetched
        isa::Geometry window;           ///< of an array
    };
    struct Core {
        const CoreProgram* program = nullptr;
        InterpretedCore memories;
        std::vector<Unit> units;  ///< sequencer (unused), DMA in, DMA out, vector, (weights, mxu)*
        std::array<uint64_t, isa::kScalarRegisters> scalars{};
        std::array<int, isa::kFlagCount> flags{};
        uint32_t pc = 0;
        bool halted = false;
    };
    /// A move of a unit.
    struct Move {
        uint32_t core = 0, unit = 0;
        bool finishes = false;
    };

    static constexpr uint32_t kFirstArray = 4;
    static bool is_array(uint32_t unit) { return unit >= kFirstArray && unit % 2 == 1; }
    static bool is_weights(uint32_t unit) { return unit >= kFirstArray && unit % 2 == 0; }

    bool any_move();
    void shuffle();
    bool attempt(const Move& move);
    int64_t age(const Move& move) const;
    bool sequence(Core& core, uint32_t number);
    bool dispatch(Core& core, const isa::Words& words);
    bool run_scalar(Core& core, uint32_t number, isa::Opcode opcode, const isa::Words& words);
    bool start(Core& core, uint32_t unit);
    bool finish(Core& core, uint32_t number, uint32_t unit);
    std::vector<uint32_t> units_of(const isa::Words& words) const;
    bool has_room(const Unit& unit, uint32_t number) const;
    static bool ready(const Core& core, const isa::Header& header);
    static void take(Core& core, const isa::Header& header);
    void retire(uint32_t core, uint32_t index, const isa::Words& words);
    bool late();
    std::string unit_name(uint32_t core, uint32_t unit) const;
    std::string who_waits() const;

    const arch::ChipConfig& chip_;
    const Order order_;
    std::mt19937 random_;
    InterpretedMemory device_{"device"}, host_{"host"};
    std::vector<Core> cores_;
    std::vector<Move> moves_;
    uint32_t shuffle_every_ = 1, moves_made_ = 0, late_percent_ = 50;
};

}  // namespace tandem::testbench
