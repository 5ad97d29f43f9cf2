// SPDX-License-Identifier: Apache-2.0
#include "cosim/array_timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <optional>

#include "base/error.h"
#include "base/yaml_section.h"

namespace tandem::cosim {
namespace {

using base::YamlSection;
using engine::Cycle;

constexpr int64_t kLimit = 1'000'000;

int64_t ceil_log2(uint32_t value) { return std::bit_width(value - 1); }

LatencyFormula read_formula(const YamlSection& top, const std::string& key) {
    LatencyFormula formula;
    if (!top.is_mapping(key)) {
        formula.constant = top.integer(key, 1, kLimit);
        return formula;
    }
    const std::map<std::string, int64_t*> terms = {{"constant", &formula.constant},
                                                   {"per_row", &formula.per_row},
                                                   {"per_col", &formula.per_col},
                                                   {"per_log2_row", &formula.per_log2_row},
                                                   {"per_log2_col", &formula.per_log2_col}};
    const YamlSection section =
        top.section(key, {"constant", "per_row", "per_col", "per_log2_row", "per_log2_col"});
    for (const auto& [name, value] : terms)
        if (section.has(name)) *value = section.integer(name, -kLimit, kLimit);
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
        failed_ = ports.failure != nullptr;
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

int64_t LatencyFormula::value(uint32_t rows, uint32_t cols) const {
    return constant + per_row * rows + per_col * cols + per_log2_row * ceil_log2(rows) +
           per_log2_col * ceil_log2(cols);
}

engine::MxuTiming ArrayDeclaration::timing(const engine::MxuShape& shape) const {
    if (std::find(dtypes.begin(), dtypes.end(), shape.dtype) == dtypes.end()) {
        std::vector<std::string_view> names;
        for (const arch::Dtype dtype : dtypes) names.push_back(arch::to_string(dtype));
        throw UserError(file, "dtypes", fmt::format("{}", fmt::join(names, ", ")),
                        fmt::format("an array of {} asked for", arch::to_string(shape.dtype)));
    }
    const int64_t latency = commit_latency.value(shape.rows, shape.cols);
    if (latency < 1)
        throw UserError(file, "commit_latency", "at least 1",
                        fmt::format("{} at {} x {}", latency, shape.rows, shape.cols));
    return {static_cast<Cycle>(latency), weight_interval, weight_latency};
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
        declaration.weight_interval = static_cast<Cycle>(top.integer("weight_interval", 1, 65536));
    if (top.has("weight_latency"))
        declaration.weight_latency = static_cast<Cycle>(top.integer("weight_latency", 1, 65536));
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
