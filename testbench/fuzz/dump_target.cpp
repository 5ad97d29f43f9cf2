// SPDX-License-Identifier: Apache-2.0
// .tgraph
#include "compiler/graph/narrow.h"
#include "compiler/graph/operators.h"
#include "compiler/graph/text.h"
#include "testbench/fuzz/graphs.h"

namespace tandem::fuzz {
namespace {

std::vector<std::string> words() {
    std::vector<std::string> all = {"tensor %",
                                    "constant %",
                                    "bytes ",
                                    "node ",
                                    "inputs %",
                                    "outputs %",
                                    "name \"",
                                    " layout=NHWC",
                                    " memory=DEVICE",
                                    " scales=",
                                    " zero_points=",
                                    " axis=",
                                    " repeat=",
                                    " where=\"",
                                    "INT8",
                                    "UINT8",
                                    "INT16",
                                    "INT32",
                                    "FLOAT32",
                                    "BFLOAT16",
                                    "INT64",
                                    "RELU",
                                    "RELU6",
                                    "RELU_N1_TO_1",
                                    "nan",
                                    "inf",
                                    "1e-45",
                                    "9007199254740992",
                                    "1x1x1x1"};
    for (const auto& info : compiler::operators()) {
        all.push_back(" " + std::string(info.name) + " ");
        for (const auto& spec : info.attributes) all.push_back(" " + std::string(spec.name) + "=");
    }
    return all;
}

std::vector<Bytes> seeds() {
    std::vector<Bytes> all;
    for (const auto& graph : sample_graphs())
        all.push_back(bytes_of(compiler::to_text(graph, compiler::DumpBytes::kAll)));
    all.push_back(bytes_of(compiler::to_text(tiny_graph(), compiler::DumpBytes::kNone)));
    return all;
}

}  // namespace

Target dump_target() {
    return {.name = "dump",
            .extension = ".tgraph",
            .text = true,
            .words = words(),
            .seeds = seeds,
            .run =
                [](const Bytes& bytes) {
                    return use_graph(
                        compiler::narrow(compiler::parse_graph(text_of(bytes), "dump.tgraph")));
                },
            .command = {"run", "FILE", "--chip", "test_16x16", "--mode", "timing", "--host",
                        "native", "--plan", "rules", "--json", "report.json"}};
}

}  // namespace tandem::fuzz
