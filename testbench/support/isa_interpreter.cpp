// SPDX-License-Identifier: Apache-2.0
#include "testbench/support/isa_interpreter.h"

#include <algorithm>
#include <map>
#include <stdexcept>

namespace tandem::testbench {

namespace {

/// Products that an array has begun and not finished.
constexpr size_t kInFlight = 4;

const isa::InstructionInfo& info_of(const isa::Words& words) {
    for (const auto& info : isa::kInstructions)
        if (static_cast<uint32_t>(info.opcode) == isa::opcode_of(words)) return info;
    throw std::runtime_error("unknown opcode");
}

/// The register that an instruction's address is relative to; 0 for those that have none.
uint8_t base_of(const isa::Words& words) {
    switch (info_of(words).unit) {
        case isa::Unit::kDmaIn:
        case isa::Unit::kDmaOut:
            return isa::ReadHost::decode(words).base;
        case isa::Unit::kWeights:
            return isa::ReadWeights::decode(words).base;
        default:
            return 0;
    }
}

}  // namespace

Order Order::number(uint32_t n) {
    if (n == 0) return {Kind::kProgram, n};
    if (n == 1) return {Kind::kReverse, n};
    constexpr Kind kKinds[] = {Kind::kByUnit, Kind::kPrecedence, Kind::kShuffled, Kind::kShuffled};
    return {kKinds[n % 4], n};
}

IsaInterpreter::IsaInterpreter(const arch::ChipConfig& chip,
                               const std::vector<CoreProgram>& programs, const Setting& setting,
                               const Order& order)
    : chip_(chip), order_(order), random_(order.seed) {
    for (const Region& region : setting.device) device_.add(region);
    for (const Region& region : setting.host) host_.add(region);
    const uint32_t units = kFirstArray + 2 * chip.mxu.count;
    for (uint32_t c = 0; c < programs.size(); ++c) {
        Core core{&programs[c],
                  InterpretedCore(chip, device_, host_, random_),
                  std::vector<Unit>(units),
                  setting.scalars,
                  {},
                  0,
                  false};
        core.scalars[4] = c;
        cores_.push_back(std::move(core));
    }
    for (uint32_t c = 0; c < programs.size(); ++c)
        for (uint32_t unit = 0; unit < units; ++unit)
            for (const bool finishes : {false, true})
                if (unit != 0 || !finishes) moves_.push_back({c, unit, finishes});
    constexpr uint32_t kEvery[] = {1, 3, 10, 50, 300};
    shuffle_every_ = kEvery[random_() % std::size(kEvery)];
    constexpr uint32_t kLate[] = {0, 50, 100};
    late_percent_ = kLate[random_() % std::size(kLate)];
    shuffle();
}

bool IsaInterpreter::late() { return random_() % 100 < late_percent_; }

/// With kByUnit, moves of the same kind of unit keep together.
void IsaInterpreter::shuffle() {
    std::map<std::pair<uint32_t, bool>, uint32_t> rank;
    std::vector<uint32_t> own;
    for (const Move& m : moves_) {
        const uint32_t kind = m.unit < kFirstArray ? m.unit : kFirstArray + m.unit % 2;
        const auto found = rank.try_emplace({kind, m.finishes}, static_cast<uint32_t>(random_()));
        own.push_back(order_.kind == Order::Kind::kByUnit ? found.first->second
                                                          : static_cast<uint32_t>(random_()));
    }
    std::vector<size_t> by(moves_.size());
    for (size_t i = 0; i < by.size(); ++i) by[i] = i;
    std::stable_sort(by.begin(), by.end(), [&](size_t a, size_t b) { return own[a] < own[b]; });
    std::vector<Move> sorted;
    for (const size_t i : by) sorted.push_back(moves_[i]);
    moves_ = std::move(sorted);
}

void IsaInterpreter::run() {
    while (!std::all_of(cores_.begin(), cores_.end(), [](const Core& c) { return c.halted; }))
        if (!any_move()) throw std::runtime_error("deadlock: " + who_waits());
}

/// The number of the instruction that would move; negative: none.
int64_t IsaInterpreter::age(const Move& m) const {
    const Core& core = cores_[m.core];
    const Unit& unit = core.units[m.unit];
    if (m.unit == 0) return core.halted ? -1 : int64_t{core.pc};
    const auto& from = m.finishes ? unit.started : unit.queue;
    return from.empty() ? -1 : int64_t{from.front().index};
}

bool IsaInterpreter::any_move() {
    ++moves_made_;
    if (order_.kind == Order::Kind::kProgram || order_.kind == Order::Kind::kReverse) {
        const bool reverse = order_.kind == Order::Kind::kReverse;
        std::stable_sort(moves_.begin(), moves_.end(), [&](const Move& a, const Move& b) {
            return reverse ? age(a) > age(b) : age(a) < age(b);
        });
    }
    if (order_.kind == Order::Kind::kShuffled && moves_made_ % shuffle_every_ == 0) shuffle();
    return std::any_of(moves_.begin(), moves_.end(),
                       [&](const Move& m) { return age(m) >= 0 && attempt(m); });
}

bool IsaInterpreter::attempt(const Move& m) {
    Core& core = cores_[m.core];
    try {
        if (m.unit == 0) return sequence(core, m.core);
        return m.finishes ? finish(core, m.core, m.unit) : start(core, m.unit);
    } catch (const std::runtime_error& error) {
        throw std::runtime_error(unit_name(m.core, m.unit) + ", instruction " +
                                 std::to_string(age(m)) + ": " + error.what());
    }
}

// ---- sequencer

bool IsaInterpreter::sequence(Core& core, uint32_t number) {
    require(core.pc < core.program->instructions.size(), "program ran past its end");
    const isa::Words& words = core.program->instructions[core.pc];
    const auto& info = info_of(words);
    const bool fence = info.opcode == isa::Opcode::kFence;
    const bool own =
        info.unit == isa::Unit::kSequencer && (!fence || isa::Fence::decode(words).unit == 0);
    return own ? run_scalar(core, number, info.opcode, words) : dispatch(core, words);
}

/// Numbers of the units whose queue takes it; set_window goes to all arrays.
std::vector<uint32_t> IsaInterpreter::units_of(const isa::Words& words) const {
    const auto& info = info_of(words);
    isa::Unit unit = info.unit;
    uint32_t mxu = 0;
    if (info.opcode == isa::Opcode::kFence) {
        const auto fence = isa::Fence::decode(words);
        require(fence.unit < isa::kUnitNames.size(), "a fence in no unit");
        unit = static_cast<isa::Unit>(fence.unit), mxu = fence.mxu;
    } else if (info.opcode == isa::Opcode::kReadWeights) {
        mxu = isa::ReadWeights::decode(words).mxu;
    } else if (info.opcode == isa::Opcode::kMatmul) {
        mxu = isa::Matmul::decode(words).mxu;
    }
    require(mxu < chip_.mxu.count, "an array that the core does not have");
    if (unit == isa::Unit::kDmaIn) return {1};
    if (unit == isa::Unit::kDmaOut) return {2};
    if (unit == isa::Unit::kVector) return {3};
    if (unit == isa::Unit::kWeights) return {kFirstArray + 2 * mxu};
    if (info.opcode != isa::Opcode::kSetWindow) return {kFirstArray + 2 * mxu + 1};
    std::vector<uint32_t> all;
    for (uint32_t array = 0; array < chip_.mxu.count; ++array)
        all.push_back(kFirstArray + 2 * array + 1);
    return all;
}

/// The instruction at work has left the queue, whether it waits for flags or runs.
bool IsaInterpreter::has_room(const Unit& unit, uint32_t number) const {
    const size_t at_work = !is_array(number) && !unit.started.empty() ? 0 : 1;
    return unit.queue.size() < chip_.sequencer.queue_entries + at_work;
}

bool IsaInterpreter::dispatch(Core& core, const isa::Words& words) {
    const auto units = units_of(words);
    for (const uint32_t unit : units)
        if (!has_room(core.units[unit], unit)) return false;
    Execution e;
    e.index = core.pc++;
    e.words = words;
    e.base = core.scalars[base_of(words)];
    if (info_of(words).opcode == isa::Opcode::kSetWindow) {
        const isa::Header h = isa::header_of(words);
        require(h.wait_a == 0 && h.wait_b == 0 && h.signal_a == 0 && h.signal_b == 0,
                "a set_window with flags");
    }
    for (const uint32_t unit : units) core.units[unit].queue.push_back(e);
    return true;
}

bool IsaInterpreter::run_scalar(Core& core, uint32_t number, isa::Opcode opcode,
                                const isa::Words& words) {
    const isa::Header header = isa::header_of(words);
    if (!ready(core, header)) return false;
    const uint32_t index = core.pc;
    int64_t next = index + 1;
    if (opcode == isa::Opcode::kHalt) {
        for (const Unit& unit : core.units)
            if (!unit.queue.empty() || !unit.started.empty()) return false;
        core.halted = true;
    } else if (opcode == isa::Opcode::kSetScalar) {
        const auto op = isa::SetScalar::decode(words);
        core.scalars[op.rd] = op.imm;
    } else if (opcode == isa::Opcode::kAddScalar) {
        const auto op = isa::AddScalar::decode(words);
        core.scalars[op.rd] = core.scalars[op.rs] + static_cast<uint64_t>(int64_t{op.imm});
    } else if (opcode == isa::Opcode::kBranchNonzero) {
        const auto op = isa::BranchNonzero::decode(words);
        if (core.scalars[op.rs] != 0) next = int64_t{index} + op.offset;
    }
    core.scalars[0] = 0;
    require(next >= 0, "a branch ahead of the program");
    core.pc = static_cast<uint32_t>(next);
    take(core, header);
    retire(number, index, words);
    return true;
}

// ---- flags

bool IsaInterpreter::ready(const Core& core, const isa::Header& header) {
    const auto count = [&](uint8_t flag) { return flag == 0 ? 2 : core.flags[flag]; };
    if (header.wait_a == header.wait_b) return count(header.wait_a) >= 2;
    return count(header.wait_a) >= 1 && count(header.wait_b) >= 1;
}

void IsaInterpreter::take(Core& core, const isa::Header& header) {
    for (const uint8_t flag : {header.wait_a, header.wait_b})
        if (flag != 0) --core.flags[flag];
}

void IsaInterpreter::retire(uint32_t core, uint32_t index, const isa::Words& words) {
    if (on_retire) on_retire(core, index);
    const isa::Header header = isa::header_of(words);
    require(header.core <= cores_.size(), "a flag of a core that takes no part");
    Core& other = cores_[header.core == 0 ? core : header.core - 1u];
    if (header.signal_a != 0) ++cores_[core].flags[header.signal_a];
    if (header.signal_b != 0) ++other.flags[header.signal_b];
}

// ---- units

bool IsaInterpreter::start(Core& core, uint32_t number) {
    Unit& unit = core.units[number];
    if (unit.started.size() >= (is_array(number) ? kInFlight : 1)) return false;
    Execution& e = unit.queue.front();
    const isa::Header header = isa::header_of(e.words);
    if (!ready(core, header)) return false;
    const auto opcode = info_of(e.words).opcode;
    if (opcode == isa::Opcode::kMatmul) {
        const auto m = isa::Matmul::decode(e.words);
        if (m.new_weights != 0 && core.memories.fifo_empty(m.mxu)) return false;
        core.memories.begin_matmul(e);
        e.window = unit.window;
    }
    take(core, header);
    if (opcode == isa::Opcode::kSetWindow) {  // done at once, products may be in flight
        unit.window = isa::SetWindow::decode(e.words).geometry;
        unit.queue.pop_front();
        return true;
    }
    if (!late()) core.memories.read(e);
    unit.started.push_back(std::move(e));
    unit.queue.pop_front();
    return true;
}

/// In order, so that a fence finishes behind all that stands before it.
bool IsaInterpreter::finish(Core& core, uint32_t number, uint32_t unit_number) {
    Unit& unit = core.units[unit_number];
    Execution& e = unit.started.front();
    if (is_weights(unit_number) && info_of(e.words).opcode == isa::Opcode::kReadWeights) {
        const auto r = isa::ReadWeights::decode(e.words);
        require(r.tiles >= 1, "read_weights without tiles");
        if (core.memories.fifo_full(r.mxu)) return false;
        core.memories.fetch_tile(e, unit.tiles);
        if (++unit.tiles < r.tiles) return true;
        unit.tiles = 0;
    }
    if (!e.has_read) core.memories.read(e);
    core.memories.write(e);
    const uint32_t index = e.index;
    const isa::Words words = e.words;
    unit.started.pop_front();
    retire(number, index, words);
    return true;
}

// ---- what is left

uint64_t IsaInterpreter::macs() const {
    uint64_t macs = 0;
    for (const Core& core : cores_) macs += core.memories.macs();
    return macs;
}

std::string IsaInterpreter::unit_name(uint32_t core, uint32_t unit) const {
    const std::string prefix = "core" + std::to_string(core) + ".";
    if (unit >= kFirstArray)
        return prefix + (unit % 2 == 0 ? "weights" : "mxu") +
               std::to_string((unit - kFirstArray) / 2);
    constexpr const char* kNames[] = {"sequencer", "dma_in", "dma_out", "vector"};
    return prefix + kNames[unit];
}

std::string IsaInterpreter::left_over() const {
    std::string text;
    for (uint32_t c = 0; c < cores_.size(); ++c) {
        const Core& core = cores_[c];
        for (size_t flag = 1; flag < core.flags.size(); ++flag)
            if (core.flags[flag] != 0)
                text += "core" + std::to_string(c) + " flag " + std::to_string(flag) + ": " +
                        std::to_string(core.flags[flag]) + "; ";
        if (core.memories.tiles_left() != 0)
            text += std::to_string(core.memories.tiles_left()) + " tiles; ";
    }
    return text;
}

std::string IsaInterpreter::who_waits() const {
    std::string text;
    for (uint32_t c = 0; c < cores_.size(); ++c) {
        const Core& core = cores_[c];
        const auto tell = [&](uint32_t unit, uint32_t index, const isa::Words& words) {
            const isa::Header h = isa::header_of(words);
            text += unit_name(c, unit) + " at " + std::to_string(index) + " " +
                    std::string(info_of(words).name);
            for (const uint8_t flag : {h.wait_a, h.wait_b})
                if (flag != 0)
                    text += ", flag " + std::to_string(flag) + " (" +
                            std::to_string(core.flags[flag]) + ")";
            text += "; ";
        };
        if (!core.halted && core.pc < core.program->instructions.size())
            tell(0, core.pc, core.program->instructions[core.pc]);
        for (uint32_t u = 1; u < core.units.size(); ++u) {
            const Unit& unit = core.units[u];
            if (!unit.started.empty())
                tell(u, unit.started.front().index, unit.started.front().words);
            if (!unit.queue.empty()) tell(u, unit.queue.front().index, unit.queue.front().words);
        }
    }
    return text;
}

}  // namespace tandem::testbench
