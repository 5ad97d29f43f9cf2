// SPDX-License-Identifier: Apache-2.0
#include "cosim/port_edge.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/error.h"

namespace tandem::cosim {

namespace {

std::string hex(const std::vector<std::byte>& bytes) {
    std::string text;
    for (const std::byte byte : bytes) text += fmt::format("{:02x}", static_cast<uint8_t>(byte));
    return text;
}

bool all_zero(const std::vector<std::byte>& bytes) {
    return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; });
}

/// The words of a line, one after another.
class Words {
  public:
    Words(std::string_view line, const std::string& where) : rest_(line), where_(where) {}

    /// Empty at the end.
    std::string_view next() {
        rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size()));
        const std::string_view word = rest_.substr(0, rest_.find(' '));
        rest_.remove_prefix(word.size());
        return word;
    }

    std::vector<std::byte> elements(std::string_view word, size_t bytes) const {
        std::vector<std::byte> data(bytes);
        if (word.size() != 2 * bytes) fail(fmt::format("{} hexadecimal digits", 2 * bytes), word);
        for (size_t i = 0; i < bytes; ++i)
            data[i] = static_cast<std::byte>(number(word.substr(2 * i, 2), 16, 255));
        return data;
    }
    uint32_t number(std::string_view word, int base, uint32_t most) const {
        uint32_t value = 0;
        const auto [end, error] =
            std::from_chars(word.data(), word.data() + word.size(), value, base);
        if (error != std::errc() || end != word.data() + word.size() || value > most)
            fail(fmt::format("a number up to {}", most), word);
        return value;
    }
    [[noreturn]] void fail(const std::string& expected, std::string_view found) const {
        throw UserError(where_, "word", expected, std::string(found));
    }

  private:
    std::string_view rest_;
    const std::string& where_;
};

}  // namespace

PortEdge idle_edge(const engine::MxuShape& shape) {
    PortEdge edge;
    edge.weights.resize(shape.beat_bytes());
    edge.activations.resize(shape.row_bytes());
    return edge;
}

TandemArrayPorts ports_of(const PortEdge& edge) {
    TandemArrayPorts ports{};
    ports.reset = edge.reset;
    ports.idle_data = 1;
    ports.wgt_valid = edge.weight;
    ports.wgt_data = edge.weights.data();
    ports.act_valid = edge.activation;
    ports.act_data = edge.activations.data();
    ports.act_addr = edge.address;
    ports.act_swap = edge.swap;
    ports.act_accumulate = edge.accumulate;
    ports.rd_valid = edge.read;
    ports.rd_addr = edge.read_address;
    ports.res_ready = edge.take;
    return ports;
}

PortEdge edge_of(const TandemArrayPorts& ports, const engine::MxuShape& shape) {
    PortEdge edge = idle_edge(shape);
    edge.reset = ports.reset != 0;
    edge.weight = ports.wgt_valid != 0;
    edge.activation = ports.act_valid != 0;
    edge.read = ports.rd_valid != 0;
    edge.swap = ports.act_swap != 0;
    edge.accumulate = ports.act_accumulate != 0;
    edge.take = ports.res_ready != 0;
    edge.address = ports.act_addr;
    edge.read_address = ports.rd_addr;
    if (edge.weight) std::memcpy(edge.weights.data(), ports.wgt_data, edge.weights.size());
    if (edge.activation)
        std::memcpy(edge.activations.data(), ports.act_data, edge.activations.size());
    return edge;
}

std::string to_text(const PortEdge& edge) {
    std::string text;
    const auto port = [&](const char* name, bool valid, const std::string& value) {
        text += fmt::format("{}{}{} {}", text.empty() ? "" : " ", name, valid ? "" : "~", value);
    };
    if (edge.weight || !all_zero(edge.weights)) port("wgt", edge.weight, hex(edge.weights));
    if (edge.activation || edge.swap || edge.accumulate || edge.address != 0 ||
        !all_zero(edge.activations)) {
        port("act", edge.activation, fmt::format("{}@{}", hex(edge.activations), edge.address));
        text += edge.swap ? " swap" : "";
        text += edge.accumulate ? " acc" : "";
    }
    if (edge.read || edge.read_address != 0)
        port("rd", edge.read, std::to_string(edge.read_address));
    if (!edge.take) text += text.empty() ? "hold" : " hold";
    if (edge.reset) text += text.empty() ? "reset" : " reset";
    return text.empty() ? "-" : text;
}

PortEdge parse_port_edge(std::string_view line, const engine::MxuShape& shape,
                         const std::string& where) {
    PortEdge edge = idle_edge(shape);
    Words words(line, where);
    const uint32_t last_row = shape.accumulator_rows - 1;
    for (auto word = words.next(); !word.empty(); word = words.next()) {
        const bool valid = !word.ends_with('~');
        const std::string_view name = valid ? word : word.substr(0, word.size() - 1);
        if (name == "wgt") {
            edge.weight = valid;
            edge.weights = words.elements(words.next(), shape.beat_bytes());
        } else if (name == "act") {
            edge.activation = valid;
            const auto value = words.next();
            const size_t at = std::min(value.find('@'), value.size());
            edge.activations = words.elements(value.substr(0, at), shape.row_bytes());
            edge.address = words.number(value.substr(std::min(at + 1, value.size())), 10, last_row);
        } else if (name == "rd") {
            edge.read = valid;
            edge.read_address = words.number(words.next(), 10, last_row);
        } else if (word == "swap") {
            edge.swap = true;
        } else if (word == "acc") {
            edge.accumulate = true;
        } else if (word == "hold") {
            edge.take = false;
        } else if (word == "reset") {
            edge.reset = true;
        } else if (word != "-") {
            words.fail("wgt, act, swap, acc, rd, hold, reset or -", word);
        }
    }
    return edge;
}

}  // namespace tandem::cosim
