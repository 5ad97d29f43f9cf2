// SPDX-License-Identifier: Apache-2.0
// What `tandem verify` holds every array's ports to (cosim/port_model.h), beside the reference that
// was written from the port contract alone; and what its traffic contains.
#include "cosim/port_model.h"

#include <bit>
#include <regex>
#include <set>

#include "base/error.h"
#include "cosim/port_coverage.h"
#include "cosim/port_traffic.h"
#include "testbench/rtl/mxu_traffic.h"
#include "testbench/support/source_tree.h"

namespace tandem::testbench {
namespace {

using Kind = cosim::PortStreamKind;

class PortModelTest : public testing::TestWithParam<ArrayParameters> {
  protected:
    static engine::MxuShape shape_of(const ArrayParameters& array) {
        return {.rows = array.rows,
                .cols = array.cols,
                .accumulator_rows = kAccDepth,
                .dtype = array.dtype,
                .pipeline = array.pipeline,
                .sum4 = array.sum4};
    }
    Elements elements(const std::vector<std::byte>& bytes) const {
        const unsigned width = arch::element_bytes(array.dtype);
        Elements all(bytes.size() / width);
        for (size_t i = 0; i < all.size(); ++i) std::memcpy(&all[i], &bytes[i * width], width);
        return all;
    }
    Stimulus stimulus(const cosim::PortEdge& edge) const {
        Stimulus in;
        if (edge.weight) in.weight = elements(edge.weights);
        in.res_ready = edge.take;
        if (edge.activation)
            in.activation =
                ActRow{elements(edge.activations), edge.swap, edge.accumulate, edge.address};
        if (edge.read) in.read = edge.read_address;
        return in;
    }
    static void same(const char* what, const cosim::PortRow& found, const Sums& expected,
                     uint64_t edge) {
        if (found.empty()) return;  // undefined
        for (size_t c = 0; c < expected.size(); ++c)
            ASSERT_EQ(std::bit_cast<uint32_t>(found[c]), expected[c])
                << what << "[" << c << "] at edge " << edge;
    }

    const ArrayParameters array = GetParam();
};

TEST_P(PortModelTest, SaysWhatTheReferenceSays) {
    const auto shape = shape_of(array);
    for (uint64_t seed = 1; seed < 5; ++seed) {
        cosim::PortModel model(shape);
        cosim::PortTraffic traffic(shape, seed, Kind::kMixed);
        MxuReference reference(array);
        bool swapped = false;
        for (unsigned n = 0; n < (array.bf16() ? 600u : 1500u) && !HasFailure(); ++n) {
            cosim::PortEdge edge = traffic.next(model);
            // Of what is undefined the reference has no notion.
            if (!reference.written(edge.address)) edge.accumulate = false;
            if (!reference.readable(edge.read_address)) edge.read = false;
            if (!swapped && !edge.swap) edge.activation = false;
            const auto found = model.step(edge);
            traffic.note(found);
            if (edge.reset) {
                reference.reset();
                swapped = false;
                EXPECT_FALSE(found.weight_ready || found.activation_ready || found.read_ready ||
                             found.commit || found.result || found.busy);
                continue;
            }
            const Expected want = reference.step(stimulus(edge));
            swapped = swapped || (edge.activation && want.act_ready);
            EXPECT_EQ(found.weight_ready, want.wgt_ready) << n;
            if (edge.activation) {
                EXPECT_EQ(found.activation_ready, want.act_ready) << n;
            }
            EXPECT_EQ(found.read_ready, want.rd_ready) << n;
            EXPECT_EQ(found.commit, want.cmt_valid) << n;
            EXPECT_EQ(found.result, want.res_valid) << n;
            EXPECT_EQ(found.busy, want.busy) << n;
            if (want.cmt_valid) {
                EXPECT_EQ(found.commit_address, want.cmt_addr) << n;
                EXPECT_FALSE(found.commit_row.empty());
                same("cmt_data", found.commit_row, want.cmt_data, n);
            }
            if (want.res_valid) same("res_data", found.result_row, want.res_data, n);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Arrays, PortModelTest,
                         testing::Values(ArrayParameters{1, 1}, ArrayParameters{4, 3},
                                         ArrayParameters{7, 5, arch::Dtype::kInt8, 3},
                                         ArrayParameters{3, 5, arch::Dtype::kBf16},
                                         ArrayParameters{6, 2, arch::Dtype::kBf16, 4, true}),
                         array_name);

TEST(PortTraffic, DoesEverythingInSomeStreams) {
    const engine::MxuShape shape{.rows = 4, .cols = 3, .accumulator_rows = 64};
    cosim::PortCounters all;
    for (const Kind kind : {Kind::kMixed, Kind::kLong})
        for (uint64_t seed = 0; seed < (kind == Kind::kMixed ? 40u : 2u); ++seed) {
            cosim::PortModel model(shape);
            cosim::PortTraffic traffic(shape, seed, kind);
            for (unsigned n = 0; n < (kind == Kind::kMixed ? 1500u : 130'000u); ++n)
                traffic.note(model.step(traffic.next(model)));
            all += traffic.counters();
        }
    for (const auto& [name, count] : all.list()) EXPECT_GT(count, 10u) << name;
    EXPECT_EQ(all.longest_without_reset, 130'000u);
    EXPECT_GT(all.longest_idle, 8192u);
    EXPECT_GT(all.longest_hold, 8192u);
    EXPECT_GT(all.longest_run, (1u << 31) / (4 * 128 * 128)) << "int8: past 2^31";
}

/// As many streams as verify has by default.
TEST(PortCoverage, IsCompleteAndNothingImpossibleHappens) {
    for (const arch::Dtype dtype : {arch::Dtype::kInt8, arch::Dtype::kBf16}) {
        const engine::MxuShape shape{.rows = 4, .cols = 3, .accumulator_rows = 64, .dtype = dtype};
        cosim::PortCoverage coverage(shape);
        std::vector<size_t> possible;
        for (const auto& group : coverage.groups()) possible.push_back(group.size());
        for (uint64_t seed = 0; seed < 100; ++seed) {
            const Kind kind = seed % 50 == 0 ? Kind::kLong : Kind::kMixed;
            cosim::PortModel model(shape);
            cosim::PortTraffic traffic(shape, seed, kind);
            coverage.restart();
            for (unsigned n = 0; n < (kind == Kind::kMixed ? 2'500u : 160'000u); ++n) {
                const cosim::PortEdge& edge = traffic.next(model);
                coverage.before(model);
                const auto shown = model.step(edge);
                coverage.sample(edge, shown);
                traffic.note(shown);
            }
        }
        for (size_t i = 0; i < possible.size(); ++i) {
            const auto& group = coverage.groups()[i];
            EXPECT_EQ(group.size(), possible[i]) << group.name();
            for (const auto& cross : group.crosses())
                EXPECT_GT(cross.hits, 0u) << group.name() << ": " << cross.name;
        }
    }
}

TEST(PortTraffic, MeetsEveryPairOfInt8InEveryPe) {
    const engine::MxuShape shape{.rows = 3, .cols = 2, .accumulator_rows = 16};
    cosim::PortModel model(shape);
    cosim::PortTraffic traffic(shape, 1, Kind::kOperands);
    std::vector<std::vector<std::byte>> loading, tile;
    std::vector<std::set<std::pair<int, int>>> pairs(6);
    for (unsigned n = 0; n < 66'500; ++n) {
        const cosim::PortEdge edge = traffic.next(model);
        const auto shown = model.step(edge);
        traffic.note(shown);
        if (edge.activation && shown.activation_ready) {
            if (edge.swap) tile = std::exchange(loading, {});
            for (size_t r = 0; r < 3; ++r)
                for (size_t c = 0; c < 2; ++c)
                    pairs[2 * r + c].emplace(static_cast<int>(edge.activations[r]),
                                             static_cast<int>(tile[2 - r][c]));
        }
        if (edge.weight && shown.weight_ready) loading.push_back(edge.weights);
    }
    for (const auto& met : pairs) EXPECT_EQ(met.size(), 65536u);
}

/// The table that people build their arrays from.
TEST(PortTable, HasEveryPortOfTheArray) {
    const std::string table = read_text(source_dir() / "rtl/README.md");
    const std::string source = read_text(source_dir() / "rtl/tpu_mxu.sv");
    const std::regex port(R"((input|output)\s+logic\s+(?:\[([^\]]+)-1:0\])?\s*(\w+)[,\s])");
    unsigned ports = 0;
    for (std::sregex_iterator at(source.begin(), source.end(), port), end; at != end;
         ++at, ++ports) {
        const std::string bits = (*at)[2].matched ? (*at)[2].str() : "1";
        const std::string row =
            "| `" + (*at)[3].str() + "` | " + (*at)[1].str() + " | " + bits + " |";
        EXPECT_NE(table.find(row), std::string::npos) << row;
    }
    EXPECT_EQ(ports, 21u);
}

/// Every check of the checker stands in its table, which has no others, and every output of the
/// array is held by one.
TEST(PortTable, HasEveryRuleOfTheChecker) {
    const std::string readme = read_text(source_dir() / "rtl/README.md");
    const std::string checker = read_text(source_dir() / "rtl/checks/tpu_port_contract.sv");
    const size_t begin = readme.find("`checks/tpu_port_contract.sv`");
    ASSERT_NE(begin, std::string::npos);
    const std::string table = readme.substr(begin, readme.find("Functional cover points") - begin);
    const std::regex rule(R"re(`TPU_RULE\("(\w+_A)", (.*), ")re"), named(R"re(`(\w+_A)`)re"),
        output(R"re(\w+_o\b)re");
    std::set<std::string> rules, documented, held;
    for (std::sregex_iterator at(checker.begin(), checker.end(), rule), end; at != end; ++at) {
        EXPECT_TRUE(rules.insert((*at)[1].str()).second) << (*at)[1].str();
        const std::string condition = (*at)[2].str();
        for (std::sregex_iterator port(condition.begin(), condition.end(), output); port != end;
             ++port)
            held.insert(port->str());
    }
    for (std::sregex_iterator at(table.begin(), table.end(), named), end; at != end; ++at)
        documented.insert((*at)[1].str());
    EXPECT_EQ(rules, documented);
    const std::set<std::string> outputs = {"wgt_ready_o", "act_ready_o", "cmt_valid_o",
                                           "cmt_addr_o",  "cmt_data_o",  "rd_ready_o",
                                           "res_valid_o", "res_data_o",  "busy_o"};
    EXPECT_EQ(held, outputs);
}

TEST(PortEdge, IsItsText) {
    const engine::MxuShape shape{.rows = 2, .cols = 3, .accumulator_rows = 8};
    cosim::PortModel model(shape);
    cosim::PortTraffic traffic(shape, 7, Kind::kMixed);
    for (unsigned n = 0; n < 2000; ++n) {
        const cosim::PortEdge& edge = traffic.next(model);
        const std::string text = cosim::to_text(edge);
        ASSERT_EQ(cosim::parse_port_edge(text, shape, "here"), edge) << text;
        traffic.note(model.step(edge));
    }
    EXPECT_EQ(cosim::to_text(cosim::idle_edge(shape)), "-");
    for (const char* wrong : {"wgt 00", "act 0102@8", "act 0102", "rd", "rd 8", "rd x", "swop",
                              "wgt 00112g", "act@7", "wgt"})
        EXPECT_THROW(cosim::parse_port_edge(wrong, shape, "here"), UserError) << wrong;
}

}  // namespace
}  // namespace tandem::testbench
