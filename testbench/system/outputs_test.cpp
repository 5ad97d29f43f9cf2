// SPDX-License-Identifier: Apache-2.0
// What commands write: never over what they read, refused before any work, and told in full.
#include "testbench/system/command_line.h"

#include <sched.h>
#include <sys/mount.h>

namespace tandem::testbench {
namespace {

class OutputsTest : public CommandLineTest {
  protected:
    void SetUp() override {
        const auto digits = source_dir() / "models/digits";
        std::filesystem::copy(digits / "digits_int8.tflite", folder_ / "m.tflite");
        std::filesystem::copy(digits / "inputs.bin", folder_ / "in.bin");
        std::filesystem::copy(digits / "inputs.bin", folder_ / "in.vcd");
    }
    void expect_refused(const std::string& arguments, const std::vector<std::string>& texts) {
        const std::string model = read_text(folder_ / "m.tflite"),
                          inputs = read_text(folder_ / "in.bin");
        const auto result = run(arguments);
        EXPECT_EQ(result.status, 2) << arguments << "\n" << result.output;
        for (const auto& text : texts)
            EXPECT_NE(result.output.find(text), std::string::npos) << text << "\n" << result.output;
        EXPECT_TRUE(read_text(folder_ / "m.tflite") == model) << arguments;
        for (const char* file : {"in.bin", "in.vcd"})
            EXPECT_TRUE(read_text(folder_ / file) == inputs) << arguments;
    }
    static std::string fmt(const std::string& command, const std::string& option,
                           const std::string& value) {
        return command + " " + option + " " + value;
    }
    static bool says(const CommandResult& result, const std::string& text) {
        return result.output.find(text) != std::string::npos;
    }
};

TEST_F(OutputsTest, AreNeverInputs) {
    expect_refused("run m.tflite --json m.tflite", {"--json", "MODEL"});
    expect_refused("run m.tflite --input in.bin --output ./in.bin", {"--output", "--input"});
    expect_refused("run m.tflite --input in.vcd --backend rtl --wave in.vcd",
                   {"--wave", "--input"});
    expect_refused("compile m.tflite -o m.tflite", {"--output", "MODEL"});
    expect_refused("gemm 4 4 4 --json x --trace x", {"--trace", "--json"});
}

TEST_F(OutputsTest, ThatCannotBeWrittenAreRefusedBeforeAnyWork) {
    for (const char* command : {"run m.tflite", "gemm 4 4 4", "verify --rows 4 --cols 4"}) {
        const auto result = run(std::string(command) + " --json nothing/x.json");
        EXPECT_EQ(result.status, 2) << result.output;
        EXPECT_TRUE(says(result, "nothing/x.json cannot be written")) << result.output;
        EXPECT_FALSE(says(result, "cycles (") || says(result, "streams (")) << result.output;
    }
}

TEST_F(OutputsTest, OnAFullDiskEndWithTheirNameAndTheReason) {
    write_text(folder_ / "x.csv", "Layer, M, N, K\nfirst, 20, 8, 8\n");
    const struct {
        const char* command;
        std::vector<const char*> options;
        const char* result;  ///< printed all the same
    } kCommands[] = {
        {"run m.tflite --input in.bin", {"--json", "--csv", "--trace", "--output"}, "cycles ("},
        {"run x.csv", {"--json", "--csv", "--trace"}, "cycles ("},
        {"run x.csv --timing scalesim-ws", {"--json"}, "as SCALE-Sim counts"},
        {"compile m.tflite", {"-o", "--json"}, ""},
        {"gemm 4 4 4", {"--json", "--trace"}, "cycles ("},
        {"gemm 4 4 4 --arrays all", {"--json", "--trace"}, "cycles ("},
        {"verify --rows 4 --cols 4 --streams 1", {"--json"}, "every cycle equal"}};
    for (const auto& [command, options, text] : kCommands)
        for (const char* option : options) {
            const auto result = run(fmt(command, option, "/dev/full"));
            EXPECT_EQ(result.status, 2) << command << " " << option << "\n" << result.output;
            EXPECT_TRUE(says(result, "/dev/full: cannot be written: No space left on device"))
                << command << " " << option << "\n"
                << result.output;
            EXPECT_TRUE(says(result, text)) << command << " " << option << "\n" << result.output;
        }
}

/// A disk of a few pages, in a world of its own.
TEST_F(OutputsTest, OnASmallDiskAreWholeOrNotThere) {
    const auto disk = folder_ / "disk";
    std::filesystem::create_directory(disk);
    const bool mounted = ::unshare(CLONE_NEWNS) == 0 &&
                         ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                         ::mount("none", disk.c_str(), "tmpfs", 0, "size=32k") == 0;
    if (!mounted) GTEST_SKIP() << "a small disk needs the right to mount one";
    const std::string command = "run m.tflite --input in.bin --count 20 --backend tandem ";
    for (const char* option : {"--trace", "--wave", "--json"}) {
        const std::string file =
            "disk/out" + std::string(option == std::string("--wave") ? ".fst" : "");
        if (option != std::string("--wave")) write_text(folder_ / file, "before");
        const auto result = run(fmt(command, option, file));
        const auto left = std::filesystem::directory_iterator(disk);
        if (option == std::string("--json")) {  // fits
            EXPECT_EQ(result.status, 0) << result.output;
            EXPECT_TRUE(nlohmann::json::accept(read_text(folder_ / file)));
        } else {
            EXPECT_EQ(result.status, 2) << option << "\n" << result.output;
            EXPECT_TRUE(says(result, "out")) << result.output;
            EXPECT_TRUE(says(result, "cannot be written")) << result.output;
            EXPECT_TRUE(says(result, "model and RTL agree")) << "the run is not lost";
            for (const auto& entry : left)
                EXPECT_TRUE(entry.path().filename() == "out" && read_text(entry.path()) == "before")
                    << entry.path();
        }
        std::filesystem::remove(folder_ / file);
    }
    ::umount2(disk.c_str(), MNT_DETACH);
}

TEST_F(OutputsTest, ThatNobodyTakesAreToldOnStandardErrorAndByTheStatus) {
    ASSERT_EQ(run("compile m.tflite -o m.tpu").status, 0);
    for (const std::string command :
         {"run m.tflite", "chips", "chips tpu_v1 --json", "--help", "run --help", "--version",
          "disasm m.tpu", "gemm 4 4 4", "verify --rows 4 --cols 4 --streams 1"})
        for (const std::string to : {">/dev/full", ">&-"}) {
            const auto result = shell("\"$TANDEM_BINARY\" " + command + " " + to);
            EXPECT_EQ(result.status, 2) << command << to << "\n" << result.output;
            EXPECT_TRUE(says(result, "tandem: standard output: cannot be written: "))
                << command << to << "\n"
                << result.output;
        }
}

TEST_F(OutputsTest, AClosedStreamBecomesNobodysFile) {
    const auto result =
        shell("\"$TANDEM_BINARY\" run m.tflite --trace t.json --json r.json <&- >&- 2>&-");
    EXPECT_EQ(result.status, 2);
    EXPECT_TRUE(nlohmann::json::accept(read_text(folder_ / "t.json")));
    EXPECT_TRUE(nlohmann::json::accept(read_text(folder_ / "r.json")));
}

TEST_F(OutputsTest, AreThereAlsoWhenTheReaderOfStandardOutputHasGone) {
    const auto result =
        shell("\"$TANDEM_BINARY\" run m.tflite --json r.json --output o.bin | true");
    EXPECT_EQ(result.status, 0) << "that of true";
    EXPECT_TRUE(nlohmann::json::accept(read_text(folder_ / "r.json")));
    EXPECT_EQ(std::filesystem::file_size(folder_ / "o.bin"), 10u);
}

TEST_F(OutputsTest, AWrongProductNamesItsFirstElement) {
    const auto result = run("gemm 16 16 16 --backend rtl --inject seed=1");
    EXPECT_EQ(result.status, 1) << result.output;
    EXPECT_TRUE(says(result, "outputs: ")) << result.output;
    EXPECT_FALSE(says(result, "expected 0, found 0")) << result.output;
    EXPECT_FALSE(says(result, "no output row changed")) << result.output;
}

TEST_F(OutputsTest, VerifyTellsWhatItInjected) {
    const auto result = run("verify --rows 4 --cols 4 --streams 3 --inject seed=1 --json r.json");
    EXPECT_TRUE(says(result, "injected pe[")) << result.output;
    EXPECT_TRUE(std::filesystem::exists(folder_ / "r.json"));
}

TEST_F(OutputsTest, AnOldWaveIsNotTakenForANewOne) {
    write_text(folder_ / "w.fst", "old");
    const auto result =
        run("gemm 4 4 4 --backend rtl --wave w.fst --wave-from 99999999 --wave-to 99999999");
    EXPECT_TRUE(says(result, "the run ended before the window")) << result.output;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "w.fst"));
}

}  // namespace
}  // namespace tandem::testbench
