// SPDX-License-Identifier: Apache-2.0
// Mistakes that users make: each ends with exit status 2 and says where, what was expected and what
// was found.
#include "testbench/system/command_line.h"

namespace tandem::testbench {
namespace {

class ErrorsTest : public CommandLineTest {
  protected:
    static std::string model() {
        return (source_dir() / "models/digits/digits_int8.tflite").string();
    }
    static std::string chip(const std::string& name) {
        return read_text(source_dir() / "arch/chips" / (name + ".yaml"));
    }

    void expect_mistake(const std::string& arguments, const std::vector<std::string>& texts) {
        const auto result = run(arguments);
        EXPECT_EQ(result.status, 2) << arguments << "\n" << result.output;
        for (const auto& text : texts)
            EXPECT_NE(result.output.find(text), std::string::npos)
                << "missing \"" << text << "\" in\n"
                << result.output;
    }
    void expect_chip_mistake(const std::string& from, const std::string& to,
                             const std::vector<std::string>& texts) {
        std::string text = chip("test_8x8");
        const auto at = text.find(from);
        ASSERT_NE(at, std::string::npos) << from;
        text.replace(at, from.size(), to);
        write_text(folder_ / "chip.yaml", text);
        expect_mistake("run " + model() + " --chip chip.yaml", texts);
    }
};

TEST_F(ErrorsTest, AProgramForAnotherChip) {
    ASSERT_EQ(run("compile " + model() + " --chip test_8x8 -o p.tpu").status, 0);
    expect_mistake("run p.tpu --chip test_16x16", {"p.tpu", "test_16x16", "test_8x8"});
}

TEST_F(ErrorsTest, AChipFileWithAWrongValue) {
    expect_chip_mistake("rows: 8", "rows: 0", {"chip.yaml", "mxu.rows", "from 1 to 1024", "0"});
    expect_chip_mistake("rows: 8", "rows: many", {"mxu.rows", "whole number", "many"});
    expect_chip_mistake("clock: 500 MHz", "clock: 500 GB", {"clock", "frequency", "500 GB"});
    expect_chip_mistake("64 KiB", "64 kiB", {"unified_buffer", "64 kiB"});
    expect_chip_mistake("lanes: 8", "lanes: 8, colour: red", {"vector.colour", "unknown key"});
    expect_chip_mistake("dtype: int8", "dtype: int7", {"mxu.dtype", "int8", "int7"});
    expect_chip_mistake("clock: 500 MHz\n", "", {"clock", "nothing"});
    expect_chip_mistake("clock: 500 MHz", "clock: [500", {"chip.yaml", "YAML"});
}

TEST_F(ErrorsTest, AChipThatDoesNotExist) {
    expect_mistake("run " + model() + " --chip tpu_v99", {"tpu_v99", "tpu_v1", "test_8x8"});
}

TEST_F(ErrorsTest, AModelThatDoesNotExist) {
    expect_mistake("run nothing.tflite", {"nothing.tflite", "cannot be read"});
}

TEST_F(ErrorsTest, ATruncatedModel) {
    const std::string bytes = read_text(model());
    for (const size_t length :
         {size_t{0}, size_t{7}, size_t{100}, bytes.size() / 2, bytes.size() - 1}) {
        write_text(folder_ / "short.tflite", bytes.substr(0, length));
        const auto result = run("run short.tflite");
        EXPECT_EQ(result.status, 2) << length << " bytes\n" << result.output;
        EXPECT_NE(result.output.find("short.tflite"), std::string::npos) << result.output;
    }
}

TEST_F(ErrorsTest, ACorruptModelNeverCrashes) {
    const std::string bytes = read_text(model());
    uint32_t state = 1;
    for (int i = 0; i < 40; ++i) {
        std::string corrupt = bytes;
        for (int flips = 0; flips < 4; ++flips) {
            state = state * 1664525u + 1013904223u;
            corrupt[(state >> 8) % 2000] = static_cast<char>(state);
        }
        write_text(folder_ / "corrupt.tflite", corrupt);
        const auto result = run("run corrupt.tflite --host native");
        EXPECT_TRUE(result.status == 0 || result.status == 2)
            << "case " << i << ": status " << result.status << "\n"
            << result.output;
    }
}

TEST_F(ErrorsTest, ACorruptProgram) {
    ASSERT_EQ(run("compile " + model() + " -o p.tpu").status, 0);
    std::string bytes = read_text(folder_ / "p.tpu");
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 4);
    write_text(folder_ / "corrupt.tpu", bytes);
    expect_mistake("run corrupt.tpu", {"corrupt.tpu", "corrupt bytes"});
    write_text(folder_ / "short.tpu", bytes.substr(0, bytes.size() / 3));
    expect_mistake("run short.tpu", {"short.tpu", "truncated"});
    write_text(folder_ / "text.tpu", "hello, this is no program");
    expect_mistake("disasm text.tpu", {"text.tpu", "TPUP"});
}

TEST_F(ErrorsTest, AModelWithAnUnsupportedOperator) {
    TANDEM_NEEDS_NETWORKS();
    expect_mistake("run " + environment("TANDEM_MODELS") + "/mnist-lstm/mnist_lstm_int8.tflite",
                   {"LSTM", "mnist_lstm_int8.tflite"});
}

TEST_F(ErrorsTest, AFloatModel) {
    TANDEM_NEEDS_NETWORKS();
    expect_mistake("run " + environment("TANDEM_MODELS") + "/resnet8-cifar10/resnet8_float.tflite",
                   {"resnet8_float.tflite: elements: expected a chip whose arrays take bf16 (",
                    "tpu_v4", "found test_16x16, which has int8 alone"});
}

TEST_F(ErrorsTest, AnInt8NetworkOnAChipWithoutInt8) {
    for (const std::string on : {"tpu_v2", "tpu_v3", "test_8x8_bf16"}) {
        const std::vector<std::string> texts = {
            "digits_int8.tflite: elements: expected a chip whose arrays take int8 (edge_tpu, "
            "test_16x16, test_8x8, tpu_v1, tpu_v4, tpu_v4i, tpu_v5e, tpu_v5p, tpu_v6e), found " +
            on + ", which has bf16 alone"};
        expect_mistake("run " + model() + " --chip " + on, texts);
        expect_mistake("compile " + model() + " -o p.tpu --chip " + on, texts);
    }
}

TEST_F(ErrorsTest, AFloatGraphOnAChipWithoutBf16) {
    write_text(folder_ / "x.csv", "Layer, M, N, K\nfirst, 20, 8, 8\n");
    ASSERT_EQ(run("compile x.csv --chip tpu_v2 --dump dump").status, 0);
    for (const std::string on : {"tpu_v1", "edge_tpu", "test_8x8"})
        expect_mistake("run dump/graph.tgraph --chip " + on,
                       {"graph.tgraph: elements: expected a chip whose arrays take bf16 "
                        "(test_16x16_bf16, test_8x8_bf16, tpu_v2, tpu_v3, tpu_v4, tpu_v4i, "
                        "tpu_v5e, tpu_v5p, tpu_v6e), found " +
                        on + ", which has int8 alone"});
    EXPECT_EQ(run("run dump/graph.tgraph --chip tpu_v6e").status, 0);
}

TEST_F(ErrorsTest, AnElementTypeThatTheChipOrTheModelHasNot) {
    write_text(folder_ / "x.csv", "Layer, M, N, K\nfirst, 20, 8, 8\n");
    expect_mistake("run x.csv --chip tpu_v3 --dtype int8",
                   {"x.csv: --dtype int8: expected a chip whose arrays take int8 (", "tpu_v4",
                    "found tpu_v3, which has bf16 alone"});
    expect_mistake("run x.csv --chip tpu_v1 --dtype bf16", {"--dtype bf16", "tpu_v2"});
    expect_mistake("run x.csv --dtype fp32", {"--dtype", "fp32"});
    expect_mistake("run x.csv --timing scalesim-ws --dtype int8", {"x.csv", "--dtype"});
    expect_mistake("run " + model() + " --dtype int8",
                   {"digits_int8.tflite: --dtype: expected a list of layers"});
    ASSERT_EQ(run("compile " + model() + " -o p.tpu").status, 0);
    expect_mistake("run p.tpu --dtype int8", {"p.tpu: --dtype: expected a list of layers"});
}

TEST_F(ErrorsTest, AnArrayLargerThanAnyRtl) {
    for (const char* backend : {"rtl", "tandem"})
        expect_mistake("run " + model() + " --host native --chip tpu_v6e --backend " + backend,
                       {"256x256", "--backend tlm", "512x256 int8"});
    EXPECT_EQ(run("run " + model() + " --host native --chip tpu_v6e").status, 0);
}

TEST_F(ErrorsTest, AnInputOfTheWrongSize) {
    write_text(folder_ / "input.bin", std::string(257, 'x'));
    expect_mistake("run " + model() + " --input input.bin", {"input.bin", "256", "257"});
    write_text(folder_ / "input.bin", "");
    expect_mistake("run " + model() + " --input input.bin", {"input.bin", "256"});
    write_text(folder_ / "one.bin", std::string(256, 'x'));
    expect_mistake("run " + model() + " --input one.bin --count 2", {"one.bin", "--count 2"});
    expect_mistake("run " + model() + " --input one.bin --expect one_too_few.bin",
                   {"one_too_few.bin"});
}

TEST_F(ErrorsTest, AnInjectionThatNamesNoRegister) {
    for (const char* spec : {"pe[16][0].psum:bit0@cycle=1", "pe[0][16].psum:bit0@cycle=1",
                             "pe[0][0].psum:bit32@cycle=1", "pe[0][0].weight:bit8@cycle=1",
                             "pe[0][0].colour:bit0@cycle=1", "nonsense", "seed=x"})
        expect_mistake("run " + model() + " --host native --backend tandem --inject '" + spec + "'",
                       {"--inject"});
    expect_mistake(
        "run " + model() + " --host native --backend tlm --inject 'pe[0][0].psum:bit0@cycle=1'",
        {"--inject", "--backend rtl or tandem"});
}

TEST_F(ErrorsTest, AWrongWordIsNamedWithTheNearestRightOne) {
    expect_mistake("foo", {"tandem: unknown subcommand foo"});
    expect_mistake("rnu x", {"unknown subcommand rnu (nearest: run)"});
    expect_mistake("rtl bulid", {"tandem rtl: unknown subcommand bulid (nearest: build)"});
    expect_mistake("--versio", {"tandem: unknown option --versio (nearest: --version)"});
    expect_mistake("run --bogus", {"tandem run: unknown option --bogus"});
    expect_mistake("run --backnd tlm",
                   {"tandem run: unknown option --backnd (nearest: --backend)"});
    expect_mistake("gemm 1 2 3 --backnd tlm", {"tandem gemm: unknown option --backnd"});
    expect_mistake("gemm 1 2 3 --sede=1", {"--sede=1 (nearest: --seed)"});
    expect_mistake("gemm 1 2 3 4", {"tandem gemm: unexpected word 4"});
    expect_mistake(
        "run x --backend tandm",
        {"--backend: expected one of tlm, rtl, tandem, found \"tandm\" (nearest: tandem)"});
    expect_mistake("run x --plan ruls", {"--plan", "\"ruls\" (nearest: rules)"});
    expect_mistake("run " + model() + " --chip tpu_v7", {"found tpu_v7 (nearest: tpu_v1)"});
    expect_mistake("run", {"tandem run: MODEL is required", "tandem run --help"});
}

TEST_F(ErrorsTest, AModelOfAnotherKindIsToldTheWay) {
    expect_mistake("run x.h5", {"x.h5", "TFLiteConverter", "int8"});
    expect_mistake("run x.keras", {"x.keras", "TFLiteConverter"});
    expect_mistake("run x.pt", {"x.pt", "ai-edge-torch"});
    expect_mistake("run x.xyz", {"x.xyz", "found \".xyz\""});
}

TEST_F(ErrorsTest, WrongUsage) {
    expect_mistake("", {});
    expect_mistake("fly", {});
    expect_mistake("run", {"MODEL"});
    expect_mistake("run x --backend fpga", {"--backend", "fpga"});
    expect_mistake("gemm 1 2", {});
    expect_mistake("verify --rows 257", {"257"});
    expect_mistake("run x.onnx", {"x.onnx", "cannot be read"});
}

TEST_F(ErrorsTest, ANetworkThatDoesNotFit) {
    std::string text = chip("test_8x8");
    text.replace(text.find("64 KiB"), 6, "1 KiB");
    write_text(folder_ / "small.yaml", text);
    expect_mistake("run " + model() + " --chip small.yaml",
                   {"digits_int8.tflite: node ", "unified buffer of 1024 bytes", "bytes needed",
                    "; tensors '", " bytes), parameters ("});
}

}  // namespace
}  // namespace tandem::testbench
