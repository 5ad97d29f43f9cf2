// SPDX-License-Identifier: Apache-2.0
// JUnit XML of verify, run and the scripts, read back by Python's XML parser.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "run/junit.h"
#include "testbench/system/command_line.h"

namespace tandem::testbench {
namespace {

using nlohmann::json;
using run::JunitCase;

class JunitTest : public CommandLineTest {
  protected:
    /// The one suite of a file, its numbers checked against its cases; of a case outcome, message
    /// and text.
    json read(const std::string& file) const {
        write_text(folder_ / "read.py", R"(
import json, sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
suite, = root
assert root.tag == "testsuites" and suite.tag == "testsuite", (root.tag, suite.tag)
cases = []
for case in suite.iter("testcase"):
    inner = list(case)
    assert len(inner) <= 1 and set(case.attrib) == {"classname", "name", "time"}
    outcome = inner[0].tag if inner else "passed"
    cases.append({"group": case.get("classname"), "name": case.get("name"), "seconds": float(case.get("time")),
                  "outcome": "passed" if outcome == "system-out" else outcome,
                  "message": inner[0].get("message", "") if inner else "", "text": (inner[0].text or "") if inner else ""})
count = lambda outcome: sum(case["outcome"] == outcome for case in cases)
for node in (root, suite):
    found = [int(node.get(key)) for key in ("tests", "failures", "errors", "skipped")]
    assert found == [len(cases), count("failure"), count("error"), count("skipped")], found
properties = {p.get("name"): p.get("value") for p in suite.find("properties")}
print(json.dumps({"name": suite.get("name"), "properties": properties, "cases": cases}))
)");
        const auto result = shell("python3 read.py '" + file + "'");
        EXPECT_EQ(result.status, 0) << result.output;
        return result.status == 0 ? json::parse(result.output) : json();
    }
    static size_t count(const json& suite, const std::string& outcome) {
        return static_cast<size_t>(std::ranges::count_if(
            suite["cases"], [&](const json& one) { return one["outcome"] == outcome; }));
    }
    static json find(const json& suite, const std::string& name) {
        for (const json& one : suite["cases"])
            if (one["name"] == name) return one;
        ADD_FAILURE() << "no case " << name << " in " << suite.dump(1);
        return {};
    }
};

constexpr const char* kReplaced = "\xef\xbf\xbd";

TEST_F(JunitTest, WhatXmlCannotHoldIsReplacedAndTheRestComesBack) {
    const std::string odd = "<a href='x'>&amp; ]]>\t\r\n \"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80";
    std::string refused;
    size_t pieces = 0;
    for (const std::string_view bad :
         {"\x01", "\x1f", "\xff", "\xc0\xaf", "\xe2\x82", "\xed\xa0\x80", "\xef\xbf\xbf"})
        refused += std::string(bad) + "|", ++pieces;
    refused += '\0';
    run::JunitSuite suite{.name = odd};
    suite.add_property("key", odd);
    suite.cases.push_back({.group = "g", .name = odd, .seconds = 0.5});
    suite.cases.push_back({.group = "g",
                           .name = "bad",
                           .outcome = JunitCase::Outcome::kFailed,
                           .message = refused,
                           .text = odd});
    write_text(folder_ / "odd.xml", run::junit_text(suite));
    const json found = read("odd.xml");
    EXPECT_EQ(found["name"], odd);
    EXPECT_EQ(found["properties"]["key"], odd);
    EXPECT_EQ(found["cases"][0]["name"], odd);
    EXPECT_EQ(found["cases"][0]["seconds"], 0.5);
    EXPECT_EQ(found["cases"][1]["text"], odd);
    const std::string message = found["cases"][1]["message"];
    EXPECT_EQ(static_cast<size_t>(std::ranges::count(message, '|')), pieces) << message;
    EXPECT_TRUE(message.starts_with(std::string(kReplaced) + "|" + kReplaced + "|")) << message;
    EXPECT_TRUE(message.ends_with(std::string("|") + kReplaced)) << message;
}

TEST_F(JunitTest, EveryStreamOfAnotherUnitIsACase) {
    const std::string verify = "verify --unit requantise --cols 5 --lanes 2 --streams 3 --junit ";
    expect(run(verify + "good.xml"), 0, {"3 streams"});
    const json good = read("good.xml");
    EXPECT_EQ(good["name"], "verify.tpu_requantise_5x2");
    EXPECT_EQ(count(good, "passed"), 4u) << good.dump(1);
    std::filesystem::copy(source_dir() / "rtl", folder_ / "rtl",
                          std::filesystem::copy_options::recursive);
    change(folder_ / "rtl/tpu_requantise.sv", "assign row_ready_o = rst_ni && advance",
           "assign row_ready_o = rst_ni && row_valid_i && advance");
    expect(run(verify + "bad.xml --rtl rtl/requantise.f --rtl-top tpu_requantise"), 1,
           {"row_ready_o: expected 1, RTL has 0", "again: tandem verify --unit requantise"});
    const json bad = read("bad.xml");
    EXPECT_EQ(find(bad, "seed 0")["outcome"], "failure");
    EXPECT_EQ(find(bad, "ran to its end")["outcome"], "skipped");
}

TEST_F(JunitTest, EveryStreamOfVerifyIsACaseWithItsSeed) {
    const std::string verify = "verify --rows 3 --cols 2 --accumulators 16 --streams 3 --seed 7";
    expect(run(verify), 0, {});  // builds the array, which it tells
    const auto plain = run(verify);
    const auto result = run(verify + " --junit out.xml");
    expect(result, 0, {"every port as the contract says"});
    EXPECT_EQ(result.output, plain.output);
    const json suite = read("out.xml");
    EXPECT_EQ(suite["name"], "verify.tpu_mxu_flat_3x2_int8");
    EXPECT_EQ(suite["properties"]["seed"], "7");
    EXPECT_EQ(suite["properties"]["streams"], "3");
    EXPECT_NE(suite["properties"]["array"].get<std::string>().find("3x2 int8"), std::string::npos);
    EXPECT_TRUE(suite["properties"].contains("tandem_version"));
    std::vector<std::string> names;
    for (const json& one : suite["cases"])
        names.push_back(one["group"].get<std::string>().substr(28) + " " +
                        one["name"].get<std::string>());
    EXPECT_EQ(names, (std::vector<std::string>{".seam seed 7", ".ports seed 7", ".seam seed 8",
                                               ".ports seed 8", ".seam seed 9", ".ports seed 9",
                                               " ran to its end"}));
    EXPECT_EQ(count(suite, "passed"), 7u);
}

TEST_F(JunitTest, ManyStreamsShareCases) {
    expect(run("verify --rows 1 --cols 1 --accumulators 4 --streams 501 --junit out.xml"), 0, {});
    const json suite = read("out.xml");
    EXPECT_EQ(suite["cases"].size(), 503u) << "two streams in each, at both places, and the end";
    EXPECT_EQ(find(suite, "seeds 2 to 3")["group"], "verify.tpu_mxu_flat_1x1_int8.seam");
    EXPECT_EQ(find(suite, "seed 500")["outcome"], "passed");
}

TEST_F(JunitTest, ADivergenceIsAFailureWithTheCommandThatRepeatsIt) {
    const auto result = run(
        "verify --rows 3 --cols 2 --accumulators 16 --streams 3 --inject seed=3 --junit out.xml");
    EXPECT_EQ(result.status, 1) << result.output;
    const json suite = read("out.xml");
    EXPECT_EQ(count(suite, "failure"), 1u);
    EXPECT_EQ(count(suite, "skipped"), 1u);
    const json bad = find(suite, "seed 0");
    EXPECT_NE(bad["message"].get<std::string>().find("model and RTL part (value)"),
              std::string::npos);
    const std::string text = bad["text"];
    EXPECT_NE(text.find("again: tandem verify --rows 3"), std::string::npos) << text;
    EXPECT_NE(result.output.find(text), std::string::npos) << "as on the terminal";
}

TEST_F(JunitTest, AKilledRunLeavesAFileThatSaysSo) {
    expect(run("rtl build --rows 3 --cols 2 --accumulators 16"), 0, {});
    const auto result = shell(
        "timeout -s KILL 4 '" + environment("TANDEM_BINARY") +
        "' verify --rows 3 --cols 2 --accumulators 16 --streams 1000000 --junit out.xml; true");
    EXPECT_EQ(result.status, 0) << result.output;
    const json suite = read("out.xml");
    ASSERT_EQ(count(suite, "error"), 1u);
    const json last = suite["cases"].back();
    EXPECT_EQ(last["name"], "ran to its end");
    EXPECT_EQ(last["outcome"], "error");
    EXPECT_TRUE(last["message"].get<std::string>().starts_with("the run has not ended: "));
}

TEST_F(JunitTest, WhatEndsTheRunIsAnError) {
    expect(run("verify --rows 3 --cols 2 --streams 1 --rtl nothing.f --rtl-top nothing "
               "--junit out.xml"),
           2, {"nothing.f"});
    const json suite = read("out.xml");
    EXPECT_EQ(suite["name"], "verify.nothing_3x2_int8");
    const json last = suite["cases"].back();
    EXPECT_EQ(last["outcome"], "error");
    EXPECT_NE(last["message"].get<std::string>().find("nothing.f cannot be read"),
              std::string::npos);
}

TEST_F(JunitTest, AFileThatCannotBeWrittenIsToldBeforeAnyWork) {
    expect(run("verify --streams 1 --junit nowhere/out.xml"), 2, {"--junit", "nowhere/out.xml"});
    expect(run("verify --streams 1 --json same --junit same"), 2, {"--junit", "another one"});
    expect(run(digits() + "--count 1 --junit nowhere/out.xml"), 2, {"--junit"});
    const auto piped = run("verify --rows 3 --cols 2 --streams 1 --junit /dev/stdout | cat");
    expect(piped, 0, {"<testsuites"});
    EXPECT_EQ(piped.output.find("<testsuites"), piped.output.rfind("<testsuites"))
        << "a stream gets one file";
}

TEST_F(JunitTest, ARunSaysWhatWasCompared) {
    expect(run(digits() + "--count 2 --chip test_8x8 --backend tandem --junit out.xml"), 0, {});
    const json suite = read("out.xml");
    EXPECT_EQ(suite["name"], "run.digits_int8.test_8x8");
    EXPECT_EQ(suite["properties"]["array"], "8x8 int8");
    EXPECT_EQ(count(suite, "passed"), suite["cases"].size());
    EXPECT_EQ(find(suite, "outputs")["text"], "20 bytes equal");
    EXPECT_NE(find(suite, "model and RTL: every value")["text"].get<std::string>().find("rows"),
              std::string::npos);

    expect(run("gemm 8 8 8 --junit out.xml"), 2, {"--junit"});
    expect(run("run " + (source_dir() / "models/digits/digits_int8.tflite").string() +
               " --count 2 --chip test_8x8 --backend tandem --junit out.xml "
               "--inject 'pe[3][3].psum:bit20@cycle=1000'"),
           1, {});
    const json other = read("out.xml");
    EXPECT_EQ(count(other, "failure"), 1u);
    EXPECT_EQ(find(other, "model and RTL: every value")["outcome"], "failure");
    EXPECT_EQ(find(other, "outputs")["outcome"], "skipped");
}

TEST_F(JunitTest, WrongOutputsAreAFailure) {
    std::string bytes = read_text(source_dir() / "models/digits/expected.bin");
    bytes[3] = static_cast<char>(bytes[3] ^ 1);
    write_text(folder_ / "expected.bin", bytes);
    const std::string folder = (source_dir() / "models/digits").string();
    expect(run("run " + folder + "/digits_int8.tflite --input " + folder +
               "/inputs.bin --expect expected.bin --count 2 --chip test_8x8 --junit out.xml"),
           1, {});
    const json outputs = find(read("out.xml"), "outputs");
    EXPECT_EQ(outputs["outcome"], "failure");
    const std::string message = outputs["message"];
    EXPECT_NE(message.find("1 of 20 bytes differ"), std::string::npos) << message;
    EXPECT_NE(outputs["text"].get<std::string>().find("again: tandem run"), std::string::npos);
}

/// The scripts' results, made up: their tools take minutes.
TEST_F(JunitTest, TheScriptsSayTheSameOfTheirResults) {
    write_text(folder_ / "write.py", R"(
import importlib.machinery, importlib.util, pathlib, sys
sys.dont_write_bytecode = True
scripts = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(scripts))
def load(name):
    loader = importlib.machinery.SourceFileLoader(name, str(scripts / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module
formal, mutate, faults = load("formal"), load("mutate"), load("faults")
import junit
mutant = {"key": "k1", "file": "tpu_pe.sv", "line": 3, "operator": "op", "what": "a < b", "original": "x", "equivalent": "", "seconds": 1.0}
with junit.File(pathlib.Path("out.xml"), "scripts", {"seed": 4}) as file:
    formal.add_case(file, {"property": "order", "bug": None, "good": True, "bmc": "passed", "bmc_seconds": 2.0})
    formal.add_case(file, {"property": "order", "bug": "late \x01", "good": False, "bmc": "passed", "bmc_seconds": 2.0})
    mutate.add_case(file, {**mutant, "status": "survived", "met": ["3x4 40 streams"]})
    mutate.add_case(file, {**mutant, "status": "survived", "met": [], "equivalent": "same"})
    mutate.add_case(file, {**mutant, "status": "killed", "kind": "value", "named": True, "unit": "PE", "signal": "psum"})
    mutate.add_case(file, {**mutant, "status": "crashed", "why": "signal 11"})
    faults.add_case(file, {"name": "f", "array": "own", "breaks": "all", "result": "MISSED", "seconds": 1.0, "unit": "", "named": False,
                           "signal": "", "kind": "", "note": "", "expected": "PE"})
    file.reached("1 of 2")
    print(pathlib.Path("out.xml").read_text().count("the run has not ended"))
    if len(sys.argv) > 2:
        raise SystemExit(143)
)");
    const std::string write = "python3 write.py '" + (source_dir() / "scripts").string() + "'";
    expect(shell(write), 0, {"1\n"});
    const json suite = read("out.xml");
    std::vector<std::string> outcomes;
    for (const json& one : suite["cases"]) outcomes.push_back(one["outcome"]);
    EXPECT_EQ(outcomes, (std::vector<std::string>{"passed", "failure", "failure", "skipped",
                                                  "passed", "error", "failure"}));
    EXPECT_EQ(suite["properties"]["seed"], "4");
    EXPECT_EQ(suite["cases"][1]["name"], std::string("order: late ") + kReplaced);
    EXPECT_EQ(suite["cases"][2]["message"], "survived 3x4 40 streams");
    EXPECT_EQ(suite["cases"][3]["message"], "known equivalent: same");
    EXPECT_EQ(shell(write + " killed").status, 143);
    const json ended = read("out.xml");
    EXPECT_EQ(ended["cases"].back()["message"], "the run was interrupted");
}

TEST_F(JunitTest, ScriptsRefuseAFileThatCannotBeWritten) {
    const std::string formal = "'" + (source_dir() / "scripts/formal").string() + "'";
    expect(shell(formal + " int8_product --junit nowhere/out.xml"), 2,
           {"scripts/formal: --junit: nowhere/out.xml cannot be written"});
}

}  // namespace
}  // namespace tandem::testbench
