// SPDX-License-Identifier: Apache-2.0
// Runs the tandem command as a user would, in a folder of its own.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "testbench/support/source_tree.h"
#include "testbench/system/json_schema.h"

namespace tandem::testbench {

struct CommandResult {
    int status = -1;     ///< exit status; -1: ended by a signal
    std::string output;  ///< stdout and stderr
    nlohmann::json report;
};

/// A fresh folder for the test's files, removed at the end.
class CommandLineTest : public ::testing::Test {
  protected:
    CommandLineTest() {
        std::string form = (std::filesystem::temp_directory_path() / "tandem_test_XXXXXX").string();
        folder_ = ::mkdtemp(form.data());
    }
    ~CommandLineTest() override { std::filesystem::remove_all(folder_); }

    /// `arguments` as in a shell; reads the JSON report where --json was given by
    /// run_with_report().
    CommandResult run(const std::string& arguments) const {
        return shell('\'' + environment("TANDEM_BINARY") + "' " + arguments);
    }
    /// Any command; "$TANDEM_BINARY" is ours.
    CommandResult shell(const std::string& command) const {
        const auto log = folder_ / "log.txt";
        const int status = std::system(
            ("cd '" + folder_.string() + "' && { " + command + "\n} > '" + log.string() + "' 2>&1")
                .c_str());
        CommandResult result;
        if (WIFEXITED(status)) result.status = WEXITSTATUS(status);
        result.output = read_text(log);
        return result;
    }
    static void expect(const CommandResult& result, int status,
                       const std::vector<std::string>& texts) {
        EXPECT_EQ(result.status, status) << result.output;
        for (const auto& text : texts)
            EXPECT_NE(result.output.find(text), std::string::npos)
                << "missing \"" << text << "\" in\n"
                << result.output;
    }
    /// Changes one place of a file, which the folder holds unless it is named whole.
    void change(const std::filesystem::path& file, const std::string& from,
                const std::string& to) const {
        std::string text = read_text(folder_ / file);
        const auto at = text.find(from);
        ASSERT_NE(at, std::string::npos) << from;
        write_text(folder_ / file, text.replace(at, from.size(), to));
    }
    CommandResult run_with_report(const std::string& arguments) const {
        const auto file = folder_ / "report.json";
        std::filesystem::remove(file);
        auto result = run(arguments + " --json '" + file.string() + "'");
        if (!std::filesystem::exists(file)) return result;
        result.report = nlohmann::json::parse(read_text(file));
        const auto first = arguments.substr(0, arguments.find(' '));
        EXPECT_EQ(mistakes_of(result.report, schema_of(first)), "") << arguments;
        return result;
    }
    /// Name of the schema in docs/ of what `subcommand --json` writes.
    static std::string schema_of(const std::string& subcommand) {
        static const std::map<std::string, std::string> kSchemas = {{"chips", "chip"},
                                                                    {"compile", "plan"},
                                                                    {"gemm", "report"},
                                                                    {"run", "report"},
                                                                    {"verify", "verify"}};
        const auto found = kSchemas.find(subcommand);
        return found == kSchemas.end() ? "" : found->second;
    }
    /// What in `value` does not fit docs/NAME.schema.json; empty: all does.
    static std::string mistakes_of(const nlohmann::json& value, const std::string& name) {
        const auto file = source_dir() / "docs" / (name + ".schema.json");
        if (!std::filesystem::exists(file)) return "no schema " + file.string();
        return JsonSchema(nlohmann::json::parse(read_text(file))).mistakes(value);
    }
    static std::string digits() {
        const auto folder = (source_dir() / "models/digits").string();
        return "run " + folder + "/digits_int8.tflite --input " + folder + "/inputs.bin --expect " +
               folder + "/expected.bin --labels " + folder + "/labels.bin ";
    }

    std::filesystem::path folder_;
};

}  // namespace tandem::testbench

/// Other people's networks: skipped aloud where they are not, a failure in continuous integration.
#define TANDEM_NEEDS_NETWORKS()                                                                \
    do {                                                                                       \
        if (tandem::testbench::environment("TANDEM_MODELS").empty()) {                         \
            if (tandem::testbench::environment("CI") == "true")                                \
                FAIL() << "TANDEM_MODELS must be set in CI";                                   \
            GTEST_SKIP() << "TANDEM_MODELS is not set: README.md says where the networks are"; \
        }                                                                                      \
    } while (false)
