// SPDX-License-Identifier: Apache-2.0
// Twenty faults of the outside world: each ends with the status and the words that belong to it,
// and leaves no half a file.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include <chrono>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "testbench/system/command_line.h"

namespace tandem::testbench {
namespace {

class OutsideFaultsTest : public CommandLineTest {
  protected:
    void SetUp() override {
        const auto digits = source_dir() / "models/digits";
        std::filesystem::copy(digits / "digits_int8.tflite", folder_ / "m.tflite");
        std::filesystem::copy(digits / "inputs.bin", folder_ / "in.bin");
    }
    /// Of a shell; `tandem` is ours.
    CommandResult sh(const std::string& command) const {
        return shell("tandem() { \"$TANDEM_BINARY\" \"$@\"; }\n" + command);
    }
    /// A command of ours as somebody whom permissions concern; as root: who is nobody.
    CommandResult as_user(const std::string& arguments) const {
        const std::string command = binary() + " " + arguments;
        if (::geteuid() != 0) return shell(command);
        ::chmod(folder_.c_str(), 0755);
        return shell("setpriv --reuid=65534 --regid=65534 --clear-groups " + command);
    }
    /// The process of a command, without a shell between.
    pid_t start(std::vector<std::string> words) const {
        const pid_t child = ::fork();
        if (child != 0) return child;
        const int nothing = ::open("/dev/null", O_WRONLY);
        ::dup2(nothing, STDOUT_FILENO);
        ::dup2(nothing, STDERR_FILENO);
        ::signal(SIGINT, SIG_DFL);
        words.insert(words.begin(), "tandem");
        std::vector<char*> argv;
        for (std::string& word : words) argv.push_back(word.data());
        argv.push_back(nullptr);
        if (::chdir(folder_.c_str()) == 0)
            ::execv(environment("TANDEM_BINARY").c_str(), argv.data());
        ::_exit(127);
    }
    static int end_of(pid_t child) {
        int status = 0;
        ::waitpid(child, &status, 0);
        return status;
    }
    static std::string binary() { return "\"$TANDEM_BINARY\""; }
};

TEST_F(OutsideFaultsTest, ADirectoryInPlaceOfAFile) {
    for (const char* name : {"d.yaml", "d.tflite", "d.tpu", "d.csv", "d.bin", "d.tgraph"})
        std::filesystem::create_directory(folder_ / name);
    for (const char* command :
         {"run d.yaml", "run d.tflite", "run d.tpu", "run d.csv", "run d.tgraph",
          "run m.tflite --chip ./d.yaml", "run m.tflite --input d.bin",
          "run m.tflite --layers d.bin", "run m.tflite --expect d.bin",
          "run m.tflite --labels d.bin", "disasm d.tpu"})
        expect(run(command), 2, {"d.", "a directory"});
    for (const char* command : {"run m.tflite --json d.bin", "run m.tflite --output d.bin",
                                "compile m.tflite -o d.tpu", "run m.tflite --trace d.bin"})
        expect(run(command), 2, {"d.", "directory"});
}

TEST_F(OutsideFaultsTest, AnEmptyFile) {
    for (const char* name : {"e.yaml", "e.tflite", "e.tpu", "e.csv", "e.bin", "e.tgraph"})
        write_text(folder_ / name, "");
    for (const char* command :
         {"run e.yaml", "run e.tflite", "run e.tpu", "run e.csv", "run e.tgraph",
          "run m.tflite --chip ./e.yaml", "run m.tflite --input e.bin", "disasm e.tpu"})
        expect(run(command), 2, {"e."});
}

/// Where nobody else may come, permissions cannot be tried.
#define TANDEM_NEEDS_ANOTHER_USER() \
    if (as_user("--version").status != 0) GTEST_SKIP() << "another user cannot run the command"

TEST_F(OutsideFaultsTest, AFileThatCannotBeRead) {
    expect(run("run nothing.tflite"), 2, {"nothing.tflite: cannot be read: No such file"});
    TANDEM_NEEDS_ANOTHER_USER();
    ::chmod((folder_ / "m.tflite").c_str(), 0);
    expect(as_user("run m.tflite"), 2, {"m.tflite: cannot be read: Permission denied"});
}

TEST_F(OutsideFaultsTest, APipeAsInput) {
    expect(sh("mkfifo p.bin; cat in.bin > p.bin & tandem run m.tflite --input p.bin"), 0,
           {"200 samples"});
    expect(sh("mkfifo c.yaml; echo 'name: x' > c.yaml & tandem run m.tflite --chip ./c.yaml"), 2,
           {"c.yaml"});
}

TEST_F(OutsideFaultsTest, APipeAsOutput) {
    const auto result = sh("mkfifo p; cat p > r.json & tandem run m.tflite --json p; wait");
    EXPECT_EQ(result.status, 0) << result.output;
    EXPECT_TRUE(nlohmann::json::accept(read_text(folder_ / "r.json")));
}

TEST_F(OutsideFaultsTest, AFolderThatCannotBeWritten) {
    TANDEM_NEEDS_ANOTHER_USER();
    std::filesystem::create_directory(folder_ / "ro");
    ::chmod((folder_ / "ro").c_str(), 0555);
    for (const std::string option : {"--json", "--trace", "--output", "--csv"})
        expect(as_user("run m.tflite " + option + " ro/x"), 2,
               {option + ": ro/x cannot be written: Permission denied"});
}

TEST_F(OutsideFaultsTest, AHugeFileName) {
    const std::string name(300, 'n');
    expect(run("run " + name + ".tflite"), 2, {"File name too long"});
    expect(run("run m.tflite --json " + name), 2, {"--json", "File name too long"});
    expect(run("run m.tflite --chip ./" + name + ".yaml"), 2, {"File name too long"});
}

TEST_F(OutsideFaultsTest, AFullDisk) {
    expect(run("run m.tflite --output /dev/full"), 2,
           {"cycles (", "/dev/full: cannot be written: No space left on device"});
}

TEST_F(OutsideFaultsTest, StandardOutputThatIsFullOrClosed) {
    expect(sh("tandem chips > /dev/full"), 2,
           {"standard output: cannot be written: No space left"});
    expect(sh("tandem chips >&-"), 2, {"standard output: cannot be written: Bad file descriptor"});
}

TEST_F(OutsideFaultsTest, StandardErrorThatIsFull) {
    EXPECT_EQ(sh("tandem run m.tflite 2> /dev/full").status, 0);
    EXPECT_EQ(sh("tandem run nothing.tflite 2> /dev/full").status, 2);
    EXPECT_EQ(sh("tandem fly 2>&-").status, 2);
}

TEST_F(OutsideFaultsTest, AReaderThatGoesAway) {
    const auto result = sh("tandem chips --json | head -c 1 >/dev/null; true");
    EXPECT_EQ(result.status, 0) << result.output;
    EXPECT_EQ(result.output.find("internal fault"), std::string::npos) << result.output;
}

TEST_F(OutsideFaultsTest, ALimitOfFileSizes) {
    expect(sh("ulimit -f 1; tandem run m.tflite --trace t.json > /dev/null"), 2,
           {"t.json: cannot be written: File too large"});
    EXPECT_FALSE(std::filesystem::exists(folder_ / "t.json"));
}

TEST_F(OutsideFaultsTest, ALimitOfMemory) {
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "the address sanitizer reserves all addresses";
#endif
    for (const char* host : {"riscv", "native"})
        for (int megabytes = 20; megabytes <= 1600; megabytes = megabytes * 5 / 4) {
            const std::string limit = "ulimit -v " + std::to_string(megabytes * 1024) + "; ";
            // So few bytes may not even be enough for the libraries, which load before main().
            if (sh(limit + "tandem --version").status != 0) continue;
            const auto result = sh(limit + "tandem run m.tflite --host " + host);
            EXPECT_TRUE(result.status == 0 || result.status == 2)
                << megabytes << " MB, status " << result.status << "\n"
                << result.output;
            if (result.status == 2) {
                EXPECT_NE(result.output.find("not enough memory for "), std::string::npos)
                    << megabytes << " MB\n"
                    << result.output;
                EXPECT_NE(result.output.find("ulimit -v"), std::string::npos) << result.output;
            }
        }
}

TEST_F(OutsideFaultsTest, MoreMemoryThanAHostCanHave) {
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "the address sanitizer reserves all addresses";
#endif
    const auto result = sh("ulimit -v 4000000; tandem run m.tflite --count 30000000");
    expect(result, 2, {"bytes of host memory, it has at most 2147483648: use --count"});
}

TEST_F(OutsideFaultsTest, ALimitOfOpenFiles) {
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "the sanitizers open files of their own";
#endif
    for (int files = 3; files <= 12; ++files) {
        const auto result =
            sh("ulimit -n " + std::to_string(files) + "; tandem run m.tflite --json r.json");
        if (result.output.find("shared libraries") != std::string::npos) continue;
        EXPECT_TRUE(result.status == 0 || result.status == 2) << files << "\n" << result.output;
        if (result.status == 2) {
            EXPECT_NE(result.output.find("Too many open files"), std::string::npos)
                << result.output;
        }
    }
}

TEST_F(OutsideFaultsTest, NoFirmware) {
    const auto with = [&](const std::string& file) {
        return shell("env TANDEM_FIRMWARE=" + file + " " + binary() + " run m.tflite");
    };
    expect(with("nothing.elf"), 2, {"nothing.elf", "cannot be read"});
    write_text(folder_ / "text.elf", "no firmware");
    expect(with("text.elf"), 2, {"text.elf"});
}

TEST_F(OutsideFaultsTest, FirmwareThatLoopsForEver) {
    // Its first instruction jumps to itself.
    const auto elf = std::filesystem::path(environment("TANDEM_BINARY")).parent_path() /
                     "firmware/inference.elf";
    std::string bytes = read_text(elf);
    const auto word = [&](size_t at) {
        uint32_t value = 0;
        std::memcpy(&value, bytes.data() + at, sizeof value);
        return value;
    };
    const uint32_t entry = word(24), first_header = word(28);
    const uint32_t offset = word(first_header + 4), address = word(first_header + 8);
    ASSERT_EQ(entry, address) << "the program begins with its first segment";
    const uint32_t loop = 0x0000006f;
    std::memcpy(bytes.data() + offset, &loop, sizeof loop);
    write_text(folder_ / "loop.elf", bytes);
    expect(shell("env TANDEM_FIRMWARE=loop.elf " + binary() + " run m.tflite"), 3,
           {"firmware instructions is used up (--firmware-budget)", "loop for ever"});
}

TEST_F(OutsideFaultsTest, NoHome) {
    expect(shell("env -u HOME -u XDG_CACHE_HOME " + binary() + " run m.tflite"), 0, {"cycles ("});
}

TEST_F(OutsideFaultsTest, NoToolsForAnArray) {
    expect(shell("mkdir -m 700 cache; env PATH=/nowhere \"TANDEM_ARRAY_CACHE=$PWD/cache\" " +
                 binary() + " verify --rows 3 --cols 5 --streams 1"),
           2, {"verilator"});
}

TEST_F(OutsideFaultsTest, ACacheThatCannotBeWritten) {
    expect(shell("env TANDEM_ARRAY_CACHE=/dev/null/cache " + binary() +
                 " verify --rows 3 --cols 5 --streams 1"),
           2, {"/dev/null/cache"});
}

TEST_F(OutsideFaultsTest, AnInterrupt) {
    const pid_t child = start({"run", "m.tflite", "--count", "50000", "--json", "r.json"});
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    ::kill(child, SIGINT);
    const int status = end_of(child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) << status;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "r.json"));
}

TEST_F(OutsideFaultsTest, KilledAtAnyMoment) {
    std::mt19937 random(1);
    for (int i = 0; i < 12; ++i) {
        for (const char* file : {"r.json", "t.json", "o.bin"})
            std::filesystem::remove(folder_ / file);
        const pid_t child = start({"run", "m.tflite", "--count", "200", "--json", "r.json",
                                   "--trace", "t.json", "--output", "o.bin"});
        std::this_thread::sleep_for(std::chrono::milliseconds(random() % 250));
        ::kill(child, SIGKILL);
        end_of(child);
        for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
            const std::string name = entry.path().filename().string();
            if (name == "r.json" || name == "t.json")
                EXPECT_TRUE(nlohmann::json::accept(read_text(entry.path()))) << name;
            else if (name == "o.bin")
                EXPECT_EQ(entry.file_size(), 2000u);
            else
                EXPECT_TRUE(name == "m.tflite" || name == "in.bin" || name.starts_with(".tandem-"))
                    << name;
        }
    }
}

}  // namespace
}  // namespace tandem::testbench
