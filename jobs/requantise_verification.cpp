// SPDX-License-Identifier: Apache-2.0
#include "jobs/requantise_verification.h"

#include "base/stopwatch.h"
#include "jobs/progress.h"

namespace tandem::jobs {

RequantiseVerification verify_requantise(const RequantiseRequest& request) {
    const auto library = run::load_requantise(request.shape, request.rtl);
    RequantiseVerification done;
    Progress progress("streams");
    const base::Stopwatch whole;
    for (uint32_t stream = 0; stream < request.streams; ++stream) {
        done.seed = request.seed + stream;
        const base::Stopwatch since;
        cosim::RequantiseBench bench(request.shape, library, done.seed);
        ++done.streams;
        done.found = bench.run(kRequantiseEdges, done.counters);
        if (request.on_stream)
            request.on_stream({true, done.seed, since.seconds(), !done.found.has_value()});
        if (done.found) break;
        progress.update(stream, request.streams);
    }
    done.seconds = whole.seconds();
    return done;
}

nlohmann::json requantise_report(const RequantiseRequest& request,
                                 const RequantiseVerification& done, const std::string& rerun) {
    nlohmann::json report = {
        {"report_version", 1},           {"tandem_version", TANDEM_VERSION},
        {"unit", "requantise"},          {"cols", request.shape.cols},
        {"lanes", request.shape.lanes},  {"seed", request.seed},
        {"streams", done.streams},       {"streams_asked_for", request.streams},
        {"rows", done.counters.rows},    {"values", done.counters.values},
        {"edges", done.counters.edges},  {"stalls", done.counters.stalls},
        {"resets", done.counters.resets}};
    if (!done.found) return report;
    const auto& found = *done.found;
    report["first_divergence"] = {
        {"kind", found.signal == "assertion" ? "assertion"
                 : found.col                 ? "value"
                                             : "port"},
        {"unit", "requantise"},
        {"signal", found.signal},
        {"seed", done.seed},
        {"edge", found.edge},
        {"col", found.col ? nlohmann::json(*found.col) : nlohmann::json()},
        {"expected", found.expected},
        {"actual", found.actual},
        {"operands", found.operands},
        {"note", found.note},
        {"rerun", rerun}};
    return report;
}

}  // namespace tandem::jobs
