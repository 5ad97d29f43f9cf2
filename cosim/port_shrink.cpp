// SPDX-License-Identifier: Apache-2.0
// A failing stream made small, and as a file.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "base/error.h"
#include "base/output_file.h"
#include "base/stopwatch.h"
#include "cosim/port_bench.h"

namespace tandem::cosim {

namespace {

constexpr double kMostSeconds = 10;

class Shrinker {
  public:
    Shrinker(PortStream stream, const PortMismatch& found, const engine::MxuShape& shape,
             const std::shared_ptr<ArrayLibrary>& library)
        : best_(std::move(stream)), signal_(found.signal), shape_(shape), library_(library) {
        best_.edges.resize(std::min<size_t>(best_.edges.size(), found.edge + 1));
    }

    PortStream run() {
        for (size_t size = 0; size != best_.edges.size() && !tired();) {
            size = best_.edges.size();
            leave_out_edges();
            leave_out_work();
        }
        make_values_small();
        return std::move(best_);
    }

  private:
    bool tired() const { return watch_.seconds() > kMostSeconds; }

    /// Takes the stream if it fails at the same port.
    bool take(PortStream stream) {
        if (tired()) return false;
        PortBench bench(shape_, library_, stream.initial);
        const auto found = replay(stream, bench);
        if (!found || found->signal != signal_) return false;
        stream.edges.resize(found->edge + 1);
        best_ = std::move(stream);
        return true;
    }

    /// Ever shorter parts, from the end, where most of them do not matter.
    void leave_out_edges() {
        for (size_t part = std::max<size_t>(1, best_.edges.size() / 2); !tired(); part /= 2) {
            for (size_t end = best_.edges.size(); end >= part && !tired();) {
                PortStream shorter = best_;
                const auto first = shorter.edges.begin() + static_cast<ptrdiff_t>(end - part);
                shorter.edges.erase(first, first + static_cast<ptrdiff_t>(part));
                take(std::move(shorter));
                end = std::min(end - part, best_.edges.size());
            }
            if (part == 1) return;
        }
    }

    template <class Change>
    void change(size_t edge, const Change& change) {
        if (edge >= best_.edges.size()) return;
        PortStream changed = best_;
        change(changed.edges[edge]);
        if (changed.edges[edge] != best_.edges[edge]) take(std::move(changed));
    }

    void leave_out_work() {
        const PortEdge idle = idle_edge(shape_);
        for (size_t e = 0; e < best_.edges.size() && !tired(); ++e) {
            change(e, [&](PortEdge& edge) { edge = idle; });
            change(e, [&](PortEdge& edge) {
                edge.weight = false;
                edge.weights = idle.weights;
            });
            change(e, [&](PortEdge& edge) {
                edge.activation = edge.swap = edge.accumulate = false;
                edge.address = 0;
                edge.activations = idle.activations;
            });
            change(e, [](PortEdge& edge) { edge.read = false, edge.read_address = 0; });
            change(e, [](PortEdge& edge) { edge.reset = false; });
            change(e, [](PortEdge& edge) { edge.take = true; });
            change(e, [](PortEdge& edge) { edge.accumulate = false; });
            change(e, [](PortEdge& edge) { edge.swap = false; });
        }
    }

    void make_values_small() {
        const PortEdge idle = idle_edge(shape_);
        for (size_t e = 0; e < best_.edges.size() && !tired(); ++e) {
            change(e, [&](PortEdge& edge) { edge.weights = idle.weights; });
            change(e, [&](PortEdge& edge) { edge.activations = idle.activations; });
        }
        for (size_t e = 0; e < best_.edges.size() && !tired(); ++e)
            for (const auto data : {&PortEdge::weights, &PortEdge::activations})
                for (size_t i = 0; i < (best_.edges[e].*data).size() && !tired(); ++i)
                    change(e, [&](PortEdge& edge) { (edge.*data)[i] = std::byte{0}; });
    }

    PortStream best_;
    const std::string signal_;
    const engine::MxuShape& shape_;
    const std::shared_ptr<ArrayLibrary>& library_;
    const base::Stopwatch watch_;
};

constexpr std::string_view kInitial = "initial ";

}  // namespace

PortStream shrink(const PortStream& stream, const PortMismatch& found,
                  const engine::MxuShape& shape, const std::shared_ptr<ArrayLibrary>& library) {
    return Shrinker(stream, found, shape, library).run();
}

void write_port_stream(const std::filesystem::path& file, const PortStream& stream,
                       const std::string& comment) {
    std::string text = fmt::format("# {}\n{}{}\n", comment, kInitial, stream.initial);
    for (size_t edge = 0; edge < stream.edges.size(); ++edge)
        text += fmt::format("{}  # edge {}\n", to_text(stream.edges[edge]), edge);
    base::write_file(file, text);
}

PortStream read_port_stream(const std::filesystem::path& file, const engine::MxuShape& shape) {
    constexpr size_t kMostEdges = 10'000'000;
    std::ifstream in(file);
    if (!in) throw UserError(file.string() + " cannot be read");
    PortStream stream;
    std::string line;
    for (size_t number = 1; std::getline(in, line); ++number) {
        line.resize(std::min(line.find('#'), line.size()));
        line.resize(line.find_last_not_of(" \t\r") + 1);
        const std::string where = fmt::format("{}, line {}", file.string(), number);
        if (line.empty()) continue;
        if (line.starts_with(kInitial)) {
            try {
                stream.initial = std::stoull(line.substr(kInitial.size()));
            } catch (const std::exception&) {
                throw UserError(where, "initial", "a number", line);
            }
            continue;
        }
        stream.edges.push_back(parse_port_edge(line, shape, where));
        if (stream.edges.size() > kMostEdges)
            throw UserError(where, "edges", fmt::format("at most {}", kMostEdges), "more");
    }
    return stream;
}

}  // namespace tandem::cosim
