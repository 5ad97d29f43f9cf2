// SPDX-License-Identifier: Apache-2.0
// Where the instruction `launch` stands in a program.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "compiler/graph/text.h"
#include "compiler/pipeline.h"
#include "testbench/compiler/test_chips.h"

namespace tandem::testbench {
namespace {

/// MAX_POOL_2D, RESHAPE, MAX_POOL_2D.
compiler::Graph pools_with_a_reshape() {
    const std::string tensor = " INT8 1x4x4x64 layout=NHWC scales=0.00390625 zero_points=-128\n";
    return compiler::parse_graph(
        "tgraph 1\n"
        "tensor %0 \"t0\"" +
            tensor + "tensor %1 \"t1\"" + tensor + "tensor %2 \"t2\"" + tensor +
            "tensor %3 \"t3\"" + tensor +
            "node 0 MAX_POOL_2D \"n0\" inputs=%0 outputs=%1 filter=1,1 stride=1,1 padding=0,0,0,0\n"
            "node 1 RESHAPE \"n1\" inputs=%1 outputs=%2\n"
            "node 2 MAX_POOL_2D \"n2\" inputs=%2 outputs=%3 filter=1,1 stride=1,1 padding=0,0,0,0\n"
            "inputs %0\noutputs %3\n",
        "pools");
}

/// What the sequencer itself executes of a node, in order; -1: of the whole program.
using Scalars = std::map<int32_t, std::vector<isa::Opcode>>;

Scalars scalars_of(const arch::CoreProgram& core) {
    Scalars scalars;
    for (size_t i = 0; i < core.instructions.size(); ++i) {
        const auto opcode = static_cast<isa::Opcode>(isa::opcode_of(core.instructions[i]));
        if (opcode == isa::Opcode::kLaunch || opcode == isa::Opcode::kNop)
            scalars[core.sources[i].node].push_back(opcode);
    }
    return scalars;
}

TEST(Launch, StandsOncePerCoreBeforeEachKernelThatRuns) {
    using enum isa::Opcode;
    arch::ChipConfig chip = test_chip(8, 8);
    chip.cores = 2;
    chip.sequencer.kernel_launch_ps = 1;
    const arch::Program program = compiler::compile(pools_with_a_reshape(), chip);
    ASSERT_EQ(program.cores.size(), 2u);
    for (const arch::CoreProgram& core : program.cores)
        EXPECT_EQ(scalars_of(core), (Scalars{{0, {kLaunch}}, {2, {kLaunch}}})) << "no RESHAPE";
}

TEST(Launch, StandsAheadOfTheBarrier) {
    using enum isa::Opcode;
    arch::ChipConfig chip = test_chip(8, 8);
    chip.sequencer.kernel_launch_ps = 1;
    chip.sequencer.layer_sync = true;
    compiler::CompileOptions rules;
    rules.plan = compiler::PlanMode::kRules;
    const arch::Program program = compiler::compile(pools_with_a_reshape(), chip, rules);
    const Scalars scalars = scalars_of(program.cores.at(0));
    for (const int32_t node : {0, 2}) {
        ASSERT_GE(scalars.at(node).size(), 2u) << node;
        EXPECT_EQ(scalars.at(node)[0], kLaunch) << node;
        EXPECT_EQ(scalars.at(node)[1], kNop) << node;
        EXPECT_EQ(std::ranges::count(scalars.at(node), kLaunch), 1) << node;
    }
}

TEST(Launch, IsNotThereWhereItTakesNoTime) {
    const arch::Program program = compiler::compile(pools_with_a_reshape(), test_chip(8, 8));
    EXPECT_TRUE(scalars_of(program.cores.at(0)).empty());
}

}  // namespace
}  // namespace tandem::testbench
