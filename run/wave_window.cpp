// SPDX-License-Identifier: Apache-2.0
#include "run/wave_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/error.h"
#include "base/output_file.h"

namespace tandem::run {
namespace {

constexpr uint64_t kMargin = 16;  // cycles after the last instruction: its rows leave the array

std::optional<uint32_t> number(const std::string& text) {
    uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::string describe(const RunNode& node) {
    return fmt::format("{} {} {}", node.index, node.op, node.name);
}

bool is_called(const RunNode& node, const std::string& at) {
    if (const auto index = number(at.starts_with("#") ? at.substr(1) : at))
        return node.index == *index;
    return node.op == at || node.name == at || at == "#" + describe(node);
}

/// Index into the nodes.
uint32_t find_node(const std::string& at, const std::vector<RunNode>& nodes) {
    std::vector<uint32_t> found;
    std::string all, candidates;
    for (uint32_t i = 0; i < nodes.size(); ++i) {
        const auto add = [text = describe(nodes[i])](std::string& list) {
            list += (list.empty() ? "" : ", ") + text;
        };
        add(all);
        if (!is_called(nodes[i], at)) continue;
        found.push_back(i);
        add(candidates);
    }
    if (found.size() == 1) return found.front();
    throw UserError("--wave-at", "node", "one of: " + (found.empty() ? all : candidates), at);
}

void make_room(const std::string& path) {
    namespace fs = std::filesystem;
    std::error_code error;
    if (fs::exists(path, error) && !fs::is_regular_file(path, error))
        throw UserError("--wave", "file", "a new or a regular one", path);
    // What is there belongs to another run, and might be taken for this one's.
    fs::remove(path, error);
    fs::remove(fs::path(path).replace_extension(".gtkw"), error);
}

}  // namespace

WaveWindow::WaveWindow(const WaveOptions& options, const std::vector<RunNode>& nodes)
    : options_(options) {
    if (options.path.empty()) {
        if (options.from || options.to || !options.at.empty())
            throw UserError("--wave-from, --wave-to and --wave-at need --wave FILE");
        return;
    }
    if (!options.at.empty() && (options.from || options.to))
        throw UserError("--wave-at is a window already: not with --wave-from, --wave-to");
    if (options.from && options.to && *options.from > *options.to)
        throw UserError("--wave-to", "cycle", fmt::format("at least {}", *options.from),
                        std::to_string(*options.to));
    if (options.at.empty()) return;
    constexpr std::string_view kInstruction = "instruction ";
    if (!options.at.starts_with(kInstruction)) {
        node_ = static_cast<int32_t>(find_node(options.at, nodes));
        return;
    }
    instruction_ = last_ = number(options.at.substr(kInstruction.size()));
    if (!instruction_) throw UserError("--wave-at", "instruction", "a number", options.at);
}

void WaveWindow::check(const arch::Program& image, uint32_t core) {
    const arch::CoreProgram& program = image.cores[core];
    if (instruction_ && *instruction_ >= program.instructions.size())
        throw UserError("--wave-at", "instruction",
                        fmt::format("a number from 0 to {}", program.instructions.size() - 1),
                        options_.at);
    if (!node_) return;
    for (const arch::NodePart& part : image.nodes[static_cast<size_t>(*node_)].parts)
        if (part.core == core) last_ = part.last_instruction;
    const auto own = [&](const arch::InstructionSource& s) { return s.node == *node_; };
    if (std::none_of(program.sources.begin(), program.sources.end(), own))
        throw UserError("--wave-at " + options_.at + ": this node has no instructions of its own");
}

void WaveWindow::begin(cosim::RtlMxuEngine& engine, const cosim::WaveRequest& request) {
    if (options_.path.empty()) return;
    make_room(options_.path);
    engine_ = &engine;
    request_ = request;
    request_.path = base::part_of(options_.path).string();
    request_.most_bytes = options_.limit_mb * 1'000'000;
    if (!of_cycles()) return;
    ended_ = true;  // nothing to wait for
    request_.from = options_.from.value_or(0);
    request_.to = options_.to.value_or(~uint64_t{0});
    engine.record(request_);
}

// The first time only: with several inferences the node comes back.
void WaveWindow::on_start(uint32_t instruction, int32_t node, uint64_t cycle) {
    if (started_ || (node_ ? node != *node_ : instruction != *instruction_)) return;
    started_ = true;
    request_.from = cycle - engine_->origin();
    engine_->record(request_);
}

void WaveWindow::on_retire(uint32_t instruction, int32_t node, uint64_t cycle) {
    if (!started_ || (last_ ? instruction != *last_ : node <= *node_)) return;
    ended_ = true;
    engine_->record_until(cycle - engine_->origin() + kMargin);
}

}  // namespace tandem::run
