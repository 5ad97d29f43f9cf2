// SPDX-License-Identifier: Apache-2.0
#include "cosim/array_timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/yaml_section.h"
#include "cosim/port_contract.h"

namespace tandem::cosim {
namespace {

using base::YamlSection;
using engine::Cycle;

/// The form of declarations before there were formulas: factors by name.
std::string factors(const YamlSection& top, const std::string& key) {
    constexpr int64_t kLimit = 1'000'000;
    const std::vector<std::pair<std::string, std::string>> terms = {
        {"constant", "1"},
        {"per_row", "rows"},
        {"per_col", "cols"},
        {"per_log2_row", "log2ceil(rows)"},
        {"per_log2_col", "log2ceil(cols)"}};
    std::vector<std::string> names, texts{"0"};
    for (const auto& [name, term] : terms) names.push_back(name);
    const YamlSection section = top.section(key, names);
    for (const auto& [name, term] : terms)
        if (section.has(name))
            texts.push_back(fmt::format("{} * {}", section.integer(name, -kLimit, kLimit), term));
    return fmt::format("{}", fmt::join(texts, " + "));
}

SizeFormula read_formula(const YamlSection& top, const std::string& key) {
    SizeFormula formula(top.is_mapping(key) ? factors(top, key) : top.text(key));
    if (const auto mistake = formula.mistake())
        top.fail(key,
                 fmt::format("{} at column {} of \"{}\"", mistake->expected, mistake->column,
                             formula.text().substr(0, SizeFormula::kLongest)),
                 mistake->found);
    return formula;
}

std::vector<arch::Dtype> read_dtypes(const YamlSection& top) {
    std::vector<arch::Dtype> dtypes;
    for (const std::string& text : top.list("dtypes", "int8, bf16")) {
        const auto dtype = arch::parse_dtype(text);
        if (!dtype) top.fail("dtypes", "int8 or bf16", '"' + text + '"');
        dtypes.push_back(*dtype);
    }
    return dtypes;
}

/// One tile and one row through an empty array, everything offered from the first edge on.
class Probe {
  public:
    Probe(const ArrayLibrary& library, const engine::MxuShape& shape)
        : library_(library), rows_(shape.rows), array_(library.create()) {
        const size_t bytes = arch::element_bytes(shape.dtype);
        data_.resize(std::max(shape.rows, shape.cols) * bytes);
        library_.reset(array_);
        constexpr Cycle kPatience = 100;  // times what anybody would declare
        const Cycle last = kPatience * (shape.rows + shape.cols + 16) *
                           std::max<Cycle>(1, shape.declared->weight_interval);
        while (!committed_ && !failed_ && edge_ < last + shape.declared->commit_latency) step();
    }
    ~Probe() { library_.destroy(array_); }
    Probe(const Probe&) = delete;
    Probe& operator=(const Probe&) = delete;

    /// Nothing: it did not happen.
    std::optional<Cycle> weight_interval() const { return interval_; }
    std::optional<Cycle> weight_latency() const {
        if (!row_) return std::nullopt;
        return *row_ - last_beat_;
    }
    std::optional<Cycle> commit_latency() const {
        if (!committed_) return std::nullopt;
        return *committed_ - *row_;
    }
    bool loaded() const { return beats_ == rows_; }
    bool failed() const { return failed_; }
    Cycle edges() const { return edge_; }

  private:
    void step() {
        TandemArrayPorts ports{};
        ports.wgt_valid = beats_ < rows_;
        ports.wgt_data = data_.data();
        ports.act_valid = !row_;
        ports.act_swap = 1;
        ports.act_data = data_.data();
        library_.step(array_, &ports);
        // What the checker of the contract says of wrong latencies is said better here.
        failed_ = ports.failure != nullptr && !is_of_contract(ports.failure);
        if (beats_ < rows_ && ports.wgt_ready) {
            // The longest one is what a stream of beats has to expect.
            if (beats_ > 0) interval_ = std::max(interval_.value_or(0), edge_ - last_beat_);
            last_beat_ = edge_;
            ++beats_;
        }
        if (ports.cmt_valid && row_) committed_ = edge_;
        if (!row_ && ports.act_ready) row_ = edge_;
        ++edge_;
    }

    const ArrayLibrary& library_;
    const uint32_t rows_;
    TandemArray* array_;
    std::vector<std::byte> data_;
    Cycle edge_ = 0, last_beat_ = 0;
    uint32_t beats_ = 0;
    std::optional<Cycle> interval_, row_, committed_;
    bool failed_ = false;
};

}  // namespace

engine::MxuTiming ArrayDeclaration::timing(const engine::MxuShape& shape) const {
    if (std::find(dtypes.begin(), dtypes.end(), shape.dtype) == dtypes.end()) {
        std::vector<std::string_view> names;
        for (const arch::Dtype dtype : dtypes) names.push_back(arch::to_string(dtype));
        throw UserError(file, "dtypes", fmt::format("{}", fmt::join(names, ", ")),
                        fmt::format("an array of {} asked for", arch::to_string(shape.dtype)));
    }
    const auto edges = [&](const char* key, const SizeFormula& formula) {
        const auto value = formula.value(shape);
        if (value && *value >= 1 && *value <= kMostEdges) return static_cast<Cycle>(*value);
        throw UserError(file, key, fmt::format("a number from 1 to {}", kMostEdges),
                        fmt::format("{} for {} at {} x {}", value ? std::to_string(*value) : "none",
                                    formula.text(), shape.rows, shape.cols));
    };
    return {edges("commit_latency", commit_latency), edges("weight_interval", weight_interval),
            edges("weight_latency", weight_latency)};
}

ArrayDeclaration read_declaration(const std::filesystem::path& file) {
    ArrayDeclaration declaration;
    declaration.file = file.string();
    const YamlSection top(
        declaration.file, "", base::load_yaml(file),
        {"name", "commit_latency", "weight_interval", "weight_latency", "dtypes"});
    declaration.name = top.text("name");
    declaration.commit_latency = read_formula(top, "commit_latency");
    if (top.has("weight_interval"))
        declaration.weight_interval = read_formula(top, "weight_interval");
    if (top.has("weight_latency")) declaration.weight_latency = read_formula(top, "weight_latency");
    declaration.dtypes = read_dtypes(top);
    return declaration;
}

void check_declaration(const ArrayLibrary& library, const engine::MxuShape& shape,
                       const ArrayDeclaration& declaration) {
    const Probe probe(library, shape);
    if (probe.failed()) return;  // an assertion: an answer for the run, which will meet it as well
    const auto compare = [&](const char* key, Cycle declared, std::optional<Cycle> measured) {
        if (measured == declared) return;
        throw UserError(fmt::format(
            "{}: declared {} {}, {} (rows {}, cols {})", declaration.file, key, declared,
            measured ? fmt::format("the RTL took {}", *measured)
                     : fmt::format("the RTL did nothing for {} edges", probe.edges()),
            shape.rows, shape.cols));
    };
    const engine::MxuTiming& declared = *shape.declared;
    if (shape.rows > 1 || !probe.loaded())
        compare("weight_interval", declared.weight_interval,
                probe.loaded() ? probe.weight_interval() : std::nullopt);
    compare("weight_latency", declared.weight_latency, probe.weight_latency());
    compare("commit_latency", declared.commit_latency, probe.commit_latency());
}

}  // namespace tandem::cosim
