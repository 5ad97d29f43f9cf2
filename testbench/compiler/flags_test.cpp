// SPDX-License-Identifier: Apache-2.0
// Is every flag needed? Takes a wait and its signal out of random programs and expects the
// interpreter to notice, in some order, for each kind of pair of units that waits for each other.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <set>

#include "testbench/compiler/machine_run.h"
#include "testbench/compiler/random_chip.h"
#include "testbench/compiler/random_graph.h"
#include "testbench/compiler/random_list.h"
#include "testbench/compiler/random_pairs.h"

namespace tandem::testbench {
namespace {

using compiler::ElementType;

/// A flag's field in an instruction.
struct Place {
    size_t core = 0, index = 0;
    isa::FieldPosition field{};
};

constexpr isa::FieldPosition kWaitA{0, 8, 8, false}, kWaitB{0, 16, 8, false},
    kSignalA{1, 0, 8, false}, kSignalB{1, 8, 8, false};

std::string unit_of(const isa::Words& words) {
    for (const auto& info : isa::kInstructions)
        if (static_cast<uint32_t>(info.opcode) == isa::opcode_of(words))
            return std::string(isa::kUnitNames[info.opcode == isa::Opcode::kFence
                                                   ? isa::Fence::decode(words).unit
                                                   : static_cast<size_t>(info.unit)]);
    throw std::logic_error("unknown opcode");
}

/// Fences between time steps and around edges order what shares no data; others that take the waits
/// for which they have no room stand right before them.
bool is_order_alone(const CoreProgram& program, size_t index) {
    const isa::Words& words = program.instructions[index];
    if (isa::opcode_of(words) != static_cast<uint32_t>(isa::Opcode::kFence) ||
        isa::Fence::decode(words).unit == static_cast<uint8_t>(isa::Unit::kVector))
        return false;
    return program.sources[index].node >= 0 || is_order_alone(program, index + 1);
}

/// A signal and the wait that takes it: a flag has one raiser and one taker, so that its n-th wait
/// takes its n-th signal.
struct Pair {
    Place signal, wait;
    std::string kind;
};

std::vector<Pair> pairs_of(const std::vector<CoreProgram>& programs) {
    std::map<std::pair<size_t, uint8_t>, std::vector<Place>> signals, waits;
    for (size_t core = 0; core < programs.size(); ++core)
        for (size_t i = 0; i < programs[core].instructions.size(); ++i) {
            const isa::Header h = isa::header_of(programs[core].instructions[i]);
            if (h.wait_a != 0) waits[{core, h.wait_a}].push_back({core, i, kWaitA});
            if (h.wait_b != 0) waits[{core, h.wait_b}].push_back({core, i, kWaitB});
            if (h.signal_a != 0) signals[{core, h.signal_a}].push_back({core, i, kSignalA});
            if (h.signal_b != 0)
                signals[{h.core == 0 ? core : h.core - 1u, h.signal_b}].push_back(
                    {core, i, kSignalB});
        }
    std::vector<Pair> pairs;
    for (const auto& [flag, places] : waits)
        for (size_t n = 0; n < places.size(); ++n) {
            const Place &signal = signals.at(flag).at(n), &wait = places[n];
            if (is_order_alone(programs[signal.core], signal.index) ||
                is_order_alone(programs[wait.core], wait.index))
                continue;
            pairs.push_back({signal, wait,
                             unit_of(programs[signal.core].instructions[signal.index]) + " > " +
                                 unit_of(programs[wait.core].instructions[wait.index]) +
                                 (signal.core == wait.core ? "" : ", another core")});
        }
    return pairs;
}

std::vector<CoreProgram> without(std::vector<CoreProgram> programs, const Pair& pair) {
    for (const Place& place : {pair.signal, pair.wait})
        programs[place.core].instructions[place.index][place.field.word] &=
            ~(0xffu << place.field.lsb);
    return programs;
}

struct Count {
    uint32_t tried = 0, found = 0;
};

constexpr uint32_t kOrders = 16, kOfAKind = 3;

/// Some pairs of each kind of one program.
void try_pairs(const Case& c, std::mt19937& random, std::map<std::string, Count>& counts) {
    const auto programs = c.streams();
    auto pairs = pairs_of(programs);
    std::shuffle(pairs.begin(), pairs.end(), random);
    std::map<std::string, uint32_t> of_kind;
    for (const Pair& pair : pairs) {
        Count& count = counts[pair.kind];
        // Kinds that have been found often need no more.
        if (count.found > 5 || ++of_kind[pair.kind] > kOfAKind) continue;
        const auto spoilt = without(programs, pair);
        ++count.tried;
        for (uint32_t order = 0; order < kOrders; ++order)
            if (!c.fault(spoilt, Order::number(order)).empty()) {
                ++count.found;
                break;
            }
    }
}

TEST(Flags, OfEachKindAreNeeded) {
    std::map<std::string, Count> counts;
    for (uint32_t seed = 0; seed < 75; ++seed) {
        std::mt19937 random(seed);
        auto graph = seed % 3 == 0   ? random_list(random, ElementType::kInt8)
                     : seed % 3 == 1 ? random_graph(random)
                                     : random_pairs(random, ElementType::kInt8);
        // A time step writes the same bytes again.
        for (compiler::Node& node : graph.nodes) node.repeat = 1;
        auto chip = random_chip(random);
        // Barriers are waited at by rules alone: the search's kernels wait for what they read.
        compiler::CompileOptions options;
        if (seed % 2 == 0) options.plan = compiler::PlanMode::kRules;
        chip.unified_buffer_bytes = smallest_buffer(graph, chip, options) + 16 * (random() % 8);
        try {
            const Case c(graph, chip, options, seeded_inputs(graph, 1, seed), seed);
            try_pairs(c, random, counts);
        } catch (const UserError&) {  // does not fit a somewhat larger buffer
        }
    }
    for (const auto& [kind, count] : counts) {
        std::cout << kind << ": " << count.found << " of " << count.tried << " found\n";
        if (count.tried > 3) {
            EXPECT_GT(count.found, 0u) << kind;
        }
    }
    EXPECT_GE(counts.size(), 15u);
    // Weights that are made while the program runs.
    EXPECT_GT(counts["dma_out > weights"].found, 0u);
}

}  // namespace
}  // namespace tandem::testbench
