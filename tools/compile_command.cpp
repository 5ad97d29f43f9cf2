// SPDX-License-Identifier: Apache-2.0
// tandem compile, tandem disasm: programs as files and as text.
#include <fmt/format.h>

#include "arch/disassembler.h"
#include "arch/program.h"
#include "tools/command.h"
#include "tools/model_file.h"
#include "tools/output_files.h"
#include "tools/paths.h"

namespace tandem::tools {

void add_compile_command(CLI::App& app, Action& action) {
    struct Arguments {
        std::string model, chip = "test_16x16", output;
        ModelOptions options;
    };
    auto* command = app.add_subcommand("compile", "Compile a network for a chip");
    auto a = std::make_shared<Arguments>();
    command->add_option("MODEL", a->model, ".tflite")->required();
    command->add_option("--chip", a->chip, "name of a shipped chip, or a chip file")
        ->capture_default_str();
    command->add_option("-o,--output", a->output, "program file (.tpu)")->required();
    command->add_option("--batch", a->options.batch, "samples per inference")
        ->check(CLI::Range(1u, 65535u))
        ->capture_default_str();
    command->add_option("--rounding", a->options.rounding, "TFLite's convention for requantisation")
        ->check(CLI::IsMember({"single", "gemmlowp"}))
        ->capture_default_str();
    command->callback([&action, a] {
        action = [a] {
            const auto program =
                load_program(a->model, arch::find_chip(a->chip, chips_dir()), a->options);
            check_output_files({{"--output", a->output}}, {{"MODEL", a->model}});
            arch::write_program(program, a->output);
            fmt::print("{}: {} instructions, {} bytes of data, {} nodes, for {}\n", a->output,
                       program.instructions.size(), program.data.size(), program.nodes.size(),
                       program.chip);
            return kGood;
        };
    });
}

void add_disasm_command(CLI::App& app, Action& action) {
    auto* command = app.add_subcommand("disasm", "Show a compiled program as text");
    auto file = std::make_shared<std::string>();
    command->add_option("FILE", *file, "program file (.tpu)")->required();
    command->callback([&action, file] {
        action = [file] {
            fmt::print("{}", arch::disassemble(arch::read_program(*file)));
            return kGood;
        };
    });
}

}  // namespace tandem::tools
