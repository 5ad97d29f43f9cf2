// SPDX-License-Identifier: Apache-2.0
#include "tools/wave_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <filesystem>

#include "arch/error.h"

namespace tandem::tools {
namespace {

constexpr uint64_t kMargin = 16;  // cycles after the last instruction: its rows leave the array

std::optional<uint32_t> number(const std::string& text) {
    uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::string describe(const arch::ProgramNode& node) {
    return fmt::format("{} {} {}", node.index, node.op, node.name);
}

bool is_called(const arch::ProgramNode& node, const std::string& at) {
    if (const auto index = number(at.starts_with("#") ? at.substr(1) : at))
        return node.index == *index;
    return node.op == at || node.name == at || at == "#" + describe(node);
}

/// Index into the program's nodes.
uint32_t find_node(const std::string& at, const arch::Program& program) {
    std::vector<uint32_t> found;
    std::string all, candidates;
    for (uint32_t i = 0; i < program.nodes.size(); ++i) {
        const auto add = [text = describe(program.nodes[i])](std::string& list) {
            list += (list.empty() ? "" : ", ") + text;
        };
        add(all);
        if (!is_called(program.nodes[i], at)) continue;
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

WaveWindow::WaveWindow(const WaveOptions& options, const arch::Program& program)
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
    inside_.assign(program.instructions.size(), false);
    constexpr std::string_view kInstruction = "instruction ";
    if (options.at.starts_with(kInstruction)) {
        const auto index = number(options.at.substr(kInstruction.size()));
        if (!index || *index >= inside_.size())
            throw UserError("--wave-at", "instruction",
                            fmt::format("a number from 0 to {}", inside_.size() - 1), options.at);
        inside_[*index] = true;
        last_ = *index;
    } else {
        const uint32_t node = find_node(options.at, program);
        last_ = program.nodes[node].last_instruction;
        for (size_t i = 0; i < program.sources.size(); ++i)
            inside_[i] = program.sources[i].node == static_cast<int32_t>(node);
    }
    if (std::find(inside_.begin(), inside_.end(), true) == inside_.end())
        throw UserError("--wave-at " + options.at + ": this node has no instructions of its own");
}

void WaveWindow::begin(cosim::RtlMxuEngine& engine, const cosim::WaveRequest& request) {
    if (options_.path.empty()) return;
    make_room(options_.path);
    std::signal(SIGXFSZ, SIG_IGN);  // a limit of file sizes is a full disk, not the run's end
    engine_ = &engine;
    request_ = request;
    request_.path = options_.path;
    request_.most_bytes = options_.limit_mb * 1'000'000;
    if (!inside_.empty()) return;
    request_.from = options_.from.value_or(0);
    request_.to = options_.to.value_or(~uint64_t{0});
    engine.record(request_);
}

// The first time only: with several inferences the node comes back.
void WaveWindow::on_start(uint32_t instruction, uint64_t cycle) {
    if (engine_ == nullptr || started_ || !inside(instruction)) return;
    started_ = true;
    request_.from = cycle;
    engine_->record(request_);
}

void WaveWindow::on_retire(uint32_t instruction, uint64_t cycle) {
    if (!started_ || ended_ || instruction != last_) return;
    ended_ = true;
    engine_->record_until(cycle + kMargin);
}

}  // namespace tandem::tools
