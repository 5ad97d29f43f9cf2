// SPDX-License-Identifier: Apache-2.0
// The real gdb-multiarch at the firmware of a run. Skipped aloud where there is none, a failure in
// continuous integration.
#include "testbench/system/command_line.h"

namespace tandem::testbench {
namespace {

#define TANDEM_NEEDS_GDB()                                                                  \
    do {                                                                                    \
        if (std::system("command -v gdb-multiarch > /dev/null") != 0) {                     \
            if (environment("CI") == "true") FAIL() << "gdb-multiarch must be there in CI"; \
            GTEST_SKIP() << "gdb-multiarch is not installed: scripts/setup --developer";    \
        }                                                                                   \
    } while (false)

class GdbTest : public CommandLineTest {
  protected:
    struct Debugged {
        std::string gdb;  ///< what gdb printed
        int status = -1;  ///< of the run
        std::string run;  ///< what the run printed
        nlohmann::json report;
    };

    /// Runs digits on the default chip under gdb, which does `commands`.
    Debugged debug(const std::string& options, const std::vector<std::string>& commands) const {
        const std::string name = folder_.string();
        std::string script = "cd '" + name + "'; rm -f report.json run.txt; '" +
                             environment("TANDEM_BINARY") + "' " + digits() + options +
                             " --gdb 0 --json report.json > run.txt 2>&1 & run=$!; "
                             "for i in $(seq 200); do grep -q 'waiting for gdb' '" +
                             name +
                             "/run.txt' 2> /dev/null && break; sleep 0.05; done; "
                             "port=$(sed -n 's/.*127.0.0.1:\\([0-9]*\\);.*/\\1/p' '" +
                             name + "/run.txt'); timeout 60 gdb-multiarch -nx -batch '" +
                             firmware() + "' -ex \"target remote :$port\"";
        for (const std::string& command : commands) script += " -ex '" + command + "'";
        script += " > '" + name + "/gdb.txt' 2>&1; wait $run";
        const int status = std::system(script.c_str());
        Debugged result;
        if (WIFEXITED(status)) result.status = WEXITSTATUS(status);
        result.gdb = read_text(folder_ / "gdb.txt");
        result.run = read_text(folder_ / "run.txt");
        if (std::filesystem::exists(folder_ / "report.json"))
            result.report = nlohmann::json::parse(read_text(folder_ / "report.json"));
        return result;
    }
    static std::string firmware() {
        return (std::filesystem::path(environment("TANDEM_BINARY")).parent_path() /
                "firmware/inference.elf")
            .string();
    }
    static void expect(const std::string& text, const Debugged& result) {
        EXPECT_NE(result.gdb.find(text), std::string::npos) << "expected: " << text << "\n"
                                                            << result.gdb << "\n"
                                                            << result.run;
    }
    /// Cycles, simulated time and firmware instructions are those of a run that nobody watches.
    void expect_unwatched(const std::string& options, const Debugged& result) const {
        const auto alone = run_with_report(digits() + options);
        EXPECT_EQ(result.status, 0) << result.run;
        EXPECT_EQ(result.report["cycles"], alone.report["cycles"]);
        for (const char* key : {"firmware_instructions", "simulated_seconds"})
            EXPECT_EQ(result.report["host"][key], alone.report["host"][key]) << key;
        EXPECT_EQ(result.report["checks"]["mismatches"], 0);
    }
};

TEST_F(GdbTest, ARunThatIsWatchedIsTheSame) {
    TANDEM_NEEDS_GDB();
    const auto result = debug("--count 20", {"continue"});
    expect("exited normally", result);
    expect_unwatched("--count 20", result);
}

TEST_F(GdbTest, StopsLooksStepsAndGoesOn) {
    TANDEM_NEEDS_GDB();
    const auto result =
        debug("--count 20", {"break tandem::firmware::Driver::submit", "continue", "backtrace 1",
                             "info registers pc sp", "print command.opcode", "stepi", "stepi",
                             "next", "finish", "delete", "print/x *(unsigned*)$sp",
                             "info registers mtvec", "monitor status", "continue"});
    expect("Breakpoint 1, tandem::firmware::Driver::submit", result);
    expect("#0  tandem::firmware::Driver::submit", result);
    expect("$1 = 1", result);  // the first command is LOAD
    expect("mtvec", result);
    expect(" instructions, ", result);
    expect("exited normally", result);
    expect_unwatched("--count 20", result);
}

TEST_F(GdbTest, ABreakpointIsMetEveryTime) {
    TANDEM_NEEDS_GDB();
    const auto result =
        debug("--count 3 --level lt", {"break tandem::firmware::Driver::submit", "ignore 1 1000",
                                       "continue", "info breakpoints"});
    expect("breakpoint already hit 6 times", result);  // three loads, three runs
    expect_unwatched("--count 3 --level lt", result);
}

TEST_F(GdbTest, StopsAtWhatWritesAVariable) {
    TANDEM_NEEDS_GDB();
    const auto result =
        debug("--count 3", {"break tandem::firmware::run_inference_job", "continue",
                            "watch -location job->runs_done", "continue", "delete", "continue"});
    expect("Hardware watchpoint 2", result);
    expect("New value = 1", result);
    expect("exited normally", result);
    expect_unwatched("--count 3", result);
}

TEST_F(GdbTest, LeavesOrEndsIt) {
    TANDEM_NEEDS_GDB();
    const auto left =
        debug("--count 3", {"break tandem::firmware::Driver::submit", "continue", "detach"});
    expect_unwatched("--count 3", left);
    const auto gone = debug("--count 3", {});  // batch mode detaches
    expect_unwatched("--count 3", gone);
    const auto killed = debug("--count 3", {"kill"});
    EXPECT_EQ(killed.status, 2) << killed.run;
    EXPECT_NE(killed.run.find("gdb has ended the program"), std::string::npos) << killed.run;
}

TEST_F(GdbTest, RefusesWhatHasNoCpu) {
    const auto native = run(digits() + "--host native --gdb 0");
    EXPECT_EQ(native.status, 2);
    EXPECT_NE(native.output.find("host \"native\" is part of the simulator"), std::string::npos)
        << native.output;
    const auto list =
        run("run " + (source_dir() / "models/applications/mlp0.yaml").string() + " --gdb 0");
    EXPECT_EQ(list.status, 2);
    EXPECT_NE(list.output.find("--gdb: expected a network that firmware runs"), std::string::npos)
        << list.output;
    EXPECT_EQ(run(digits() + "--gdb 70000").status, 2);
}

}  // namespace
}  // namespace tandem::testbench
