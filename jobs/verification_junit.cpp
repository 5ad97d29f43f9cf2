// SPDX-License-Identifier: Apache-2.0
#include "jobs/verification_junit.h"

#include <fmt/format.h>

#include <algorithm>

namespace tandem::jobs {
namespace {

using run::JunitCase;

constexpr uint32_t kMostCases = 500;  // of a kind

std::string array_name(const engine::MxuShape& shape, const run::ArrayChoice& choice) {
    auto name = fmt::format("verify.{}_{}x{}_{}",
                            choice.other() ? choice.rtl_top : "tpu_mxu_" + choice.form, shape.rows,
                            shape.cols, to_string(shape.dtype));
    if (shape.pipeline != 1) name += fmt::format("_pipeline{}", shape.pipeline);
    if (shape.sum4) name += "_sum4";
    return name;
}

const char* kind_of(const StreamEnd& stream) { return stream.at_ports ? "ports" : "seam"; }

}  // namespace

run::JunitSuite junit_suite(const engine::MxuShape& shape, const run::ArrayChoice& choice,
                            const VerifyRequest& request, const std::string& again) {
    run::JunitSuite suite{.name = array_name(shape, choice)};
    suite.add_property("tandem_version", TANDEM_VERSION);
    suite.add_property(
        "array", fmt::format("{}x{} {}, {} accumulator rows, pipeline {}{}", shape.rows, shape.cols,
                             to_string(shape.dtype), shape.accumulator_rows, shape.pipeline,
                             shape.sum4 ? ", sum4" : ""));
    suite.add_property("rtl", choice.other() ? choice.rtl + ", top " + choice.rtl_top
                                             : "Tandem's own, form " + choice.form);
    if (!request.chip.empty()) suite.add_property("chip", request.chip);
    if (request.replay.empty()) {
        suite.add_property("seed", std::to_string(request.seed));
        suite.add_property("streams", std::to_string(request.streams));
    } else {
        suite.add_property("replay", request.replay);
    }
    if (!request.inject.empty()) suite.add_property("inject", request.inject);
    suite.add_property("command", again);
    return suite;
}

run::JunitSuite junit_suite(const RequantiseRequest& request, const std::string& again) {
    run::JunitSuite suite{
        .name = fmt::format("verify.{}_{}x{}",
                            request.rtl.rtl.empty() ? "tpu_requantise" : request.rtl.rtl_top,
                            request.shape.cols, request.shape.lanes)};
    suite.add_property("tandem_version", TANDEM_VERSION);
    suite.add_property(
        "unit", fmt::format("{} columns, {} lanes", request.shape.cols, request.shape.lanes));
    suite.add_property("rtl", request.rtl.rtl.empty()
                                  ? "Tandem's own"
                                  : request.rtl.rtl + ", top " + request.rtl.rtl_top);
    suite.add_property("seed", std::to_string(request.seed));
    suite.add_property("streams", std::to_string(request.streams));
    suite.add_property("command", again);
    return suite;
}

VerificationJunit::VerificationJunit(const std::string& path, const run::JunitSuite& suite,
                                     uint32_t streams)
    : name_(suite.name),
      streams_(streams),
      streams_of_case_((streams_ + kMostCases - 1) / kMostCases),
      file_(path, suite, "not one stream was through") {}

void VerificationJunit::close(Group& group, const char* kind) {
    if (group.streams == 0) return;
    JunitCase good{.group = group_of(kind), .name = fmt::format("seed {}", group.first)};
    if (group.streams > 1)
        good.name = fmt::format("seeds {} to {}", group.first, group.first + group.streams - 1);
    good.seconds = group.seconds;
    file_.add(std::move(good));
    group = {};
}

void VerificationJunit::add(const StreamEnd& stream) {
    if (!stream.good) {
        bad_ = stream;
        return;
    }
    ++done_[stream.at_ports];
    file_.reached(
        fmt::format("{} of {} streams were through", std::max(done_[0], done_[1]), streams_));
    Group& group = stream.at_ports ? ports_ : seam_;
    if (group.streams++ == 0) group.first = stream.seed;
    group.seconds += stream.seconds;
    if (group.streams == streams_of_case_) close(group, kind_of(stream));
}

void VerificationJunit::conclude(const std::string& difference, uint32_t streams, double seconds) {
    close(seam_, "seam");
    close(ports_, "ports");
    const bool replay = streams_ == 0;
    JunitCase last{.group = replay ? group_of("replay") : name_,
                   .name = replay ? "stream of the file" : run::kJunitEnd};
    if (!difference.empty()) {
        JunitCase bad{.group = group_of(bad_ ? kind_of(*bad_) : "replay"),
                      .name = bad_ ? fmt::format("seed {}", bad_->seed) : last.name,
                      .seconds = bad_ ? bad_->seconds : seconds,
                      .outcome = JunitCase::Outcome::kFailed};
        bad.message = run::junit_headline(difference);
        bad.text = difference;
        file_.add(std::move(bad));
        if (replay) return;
        last.outcome = JunitCase::Outcome::kSkipped;
        last.message =
            fmt::format("ended at the first difference, in stream {} of {}", streams, streams_);
    } else if (replay) {
        last.seconds = seconds;
    }
    file_.add(std::move(last));
}

}  // namespace tandem::jobs
