// SPDX-License-Identifier: Apache-2.0
// tandem gemm: one product C[M,N] = A[M,K] x B[K,N] of seeded random int8 matrices, requantised to
// int8, through the same compiler, firmware and chip as a network.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>

#include "arch/error.h"
#include "arch/file.h"
#include "compiler/compile.h"
#include "tools/command.h"
#include "tools/output_files.h"
#include "tools/paths.h"
#include "tools/progress.h"
#include "tools/report.h"
#include "tools/session.h"

namespace tandem::tools {
namespace {

struct GemmArguments {
    uint32_t m = 0, k = 0, n = 0;
    std::string chip = "test_16x16", dtype = "int8", mode = "functional", json, trace;
    uint64_t seed = 0;
    SessionOptions session;
};

std::vector<uint8_t> random_bytes(size_t count, std::mt19937_64& random) {
    std::vector<uint8_t> bytes(count);
    std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<uint8_t>(random()); });
    return bytes;
}

compiler::Tensor tensor(const std::string& name, std::vector<int32_t> shape,
                        compiler::DataType type, float scale) {
    compiler::Tensor t;
    t.name = name;
    t.shape = std::move(shape);
    t.type = type;
    t.quantization = {{scale}, {0}, 0};
    return t;
}

/// A network of one fully connected layer.
compiler::Graph gemm_graph(const GemmArguments& a, std::mt19937_64& random) {
    const auto m = static_cast<int32_t>(a.m), k = static_cast<int32_t>(a.k),
               n = static_cast<int32_t>(a.n);
    compiler::Graph graph;
    graph.file = fmt::format("gemm {}x{}x{}", a.m, a.k, a.n);
    // Sums of K random products have a deviation of about 74 * 74 * sqrt(K); keep three of them.
    const float output_scale = 3.0f * 74.0f * 74.0f * std::sqrt(static_cast<float>(a.k)) / 127.0f;
    graph.tensors = {tensor("A", {m, k}, compiler::DataType::kInt8, 1.0f),
                     tensor("B", {n, k}, compiler::DataType::kInt8, 1.0f),
                     tensor("C", {m, n}, compiler::DataType::kInt8, output_scale)};
    graph.tensors[1].is_constant = true;
    graph.tensors[1].data = random_bytes(size_t{a.n} * a.k, random);
    // Symmetric weights as in TFLite: -127 to 127.
    for (auto& weight : graph.tensors[1].data)
        if (weight == 0x80) weight = 0x81;
    compiler::Node node;
    node.op = compiler::Operator::kFullyConnected;
    node.name = "C";
    node.inputs = {0, 1};
    node.outputs = {2};
    node.attributes = compiler::FullyConnectedAttributes{};
    graph.nodes = {node};
    graph.inputs = {0};
    graph.outputs = {2};
    return graph;
}

/// The product by plain loops, from the matrices alone.
std::vector<uint8_t> plain_product(const GemmArguments& a, const compiler::Graph& graph,
                                   const std::vector<uint8_t>& input) {
    const auto& weights = graph.tensors[1].data;
    const float multiplier = 1.0f / graph.tensors[2].scale();
    std::vector<uint8_t> product;
    for (size_t row = 0; row < a.m; ++row)
        for (size_t column = 0; column < a.n; ++column) {
            int32_t sum = 0;
            for (size_t i = 0; i < a.k; ++i)
                sum += static_cast<int8_t>(input[row * a.k + i]) *
                       static_cast<int8_t>(weights[column * a.k + i]);
            const float scaled = std::nearbyint(static_cast<float>(sum) * multiplier);
            const auto value = static_cast<int8_t>(std::clamp(scaled, -128.0f, 127.0f));
            product.push_back(static_cast<uint8_t>(value));
        }
    return product;
}

int gemm(GemmArguments a) {
    const auto chip = arch::find_chip(a.chip, chips_dir());
    std::mt19937_64 random(a.seed);
    const auto graph = gemm_graph(a, random);
    const auto program = compiler::compile(graph, chip, {});
    const auto input = random_bytes(size_t{a.m} * a.k, random);
    a.session.functional = a.mode == "functional";
    a.session.trace_path = a.trace;
    a.session.wave_path = "tandem_divergence_gemm.fst";
    if (a.session.backend == "tlm" && !a.session.wave.path.empty())
        throw UserError("--wave needs --backend rtl or tandem: the RTL's signals are recorded");
    check_output_files({{"--json", a.json}, {"--trace", a.trace}, {"--wave", a.session.wave.path}},
                       {});
    Progress progress("instructions");
    a.session.progress = [&](uint64_t done, uint64_t total) { progress.update(done, total); };
    const auto start = std::chrono::steady_clock::now();
    const auto result = run_session(chip, program, input, 1, a.session);
    RunReport report;
    report.wall_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    report.peak_rss_bytes = peak_rss_bytes();
    report.seed = a.seed;
    report.backend = a.session.backend;
    report.host = a.session.host;
    report.mode = a.mode;
    report.model = graph.file;
    report.samples = 1;
    report.rerun = fmt::format("tandem gemm {} {} {} --chip {} --backend {} --host {} --seed {}",
                               a.m, a.k, a.n, a.chip, a.session.backend, a.session.host, a.seed);
    report.rerun += a.session.array.to_string();
    if (result.injected) report.rerun += " --inject '" + result.injected->to_string() + "'";
    if (a.session.functional && !result.divergence && result.failure.empty()) {
        const auto expected = plain_product(a, graph, input);
        report.check = compare_outputs(result.outputs, expected, expected.size());
    }
    report.gtkw = result.gtkw;
    return conclude(chip, program, result, report, a.json);
}

}  // namespace

void add_gemm_command(CLI::App& app, Action& action) {
    auto* command = app.add_subcommand("gemm", "One matrix product, checked against plain loops");
    auto a = std::make_shared<GemmArguments>();
    command->add_option("M", a->m, "rows of A and C")->required()->check(CLI::Range(1u, 65535u));
    command->add_option("K", a->k, "columns of A, rows of B")
        ->required()
        ->check(CLI::Range(1u, 65535u));
    command->add_option("N", a->n, "columns of B and C")->required()->check(CLI::Range(1u, 65535u));
    command->add_option("--chip", a->chip, "name of a shipped chip, or a chip file")
        ->capture_default_str();
    command->add_option("--dtype", a->dtype, "element type")
        ->check(CLI::IsMember({"int8"}))
        ->capture_default_str();
    command->add_option("--backend", a->session.backend, "what computes the MAC array")
        ->check(CLI::IsMember({"tlm", "rtl", "tandem"}))
        ->capture_default_str();
    command->add_option("--host", a->session.host, "what runs the firmware")
        ->check(CLI::IsMember({"riscv", "native"}))
        ->capture_default_str();
    command->add_option("--mode", a->mode, "functional: data and time; timing: time only")
        ->check(CLI::IsMember({"functional", "timing"}))
        ->capture_default_str();
    add_rtl_options(*command, a->session.array);
    add_wave_options(*command, a->session.wave);
    command->add_option("--seed", a->seed, "of the matrices")->capture_default_str();
    command->add_option("--inject", a->session.inject,
                        "flip a bit of the RTL: pe[R][C].psum:bitB@cycle=T, or seed=N");
    command->add_option("--json", a->json, "write the report to this file");
    command->add_option("--trace", a->trace, "write a timeline for Perfetto or chrome://tracing");
    command->callback([&action, a] { action = [a] { return gemm(*a); }; });
}

}  // namespace tandem::tools
