// SPDX-License-Identifier: Apache-2.0
// A run in a child process, its result through a pipe as JSON.
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>

#include "arch/error.h"
#include "explore/pipe.h"
#include "explore/workload_run.h"

namespace tandem::explore {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LayerResult, name, cycles, macs)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(UnitResult, name, causes)

void to_json(nlohmann::json& json, const WorkloadResult& r) {
    json = {{"chip", r.chip},
            {"workload", r.workload},
            {"clock_hz", r.clock_hz},
            {"cycles", r.cycles},
            {"macs", r.macs},
            {"rows", r.rows},
            {"tiles", r.tiles},
            {"instructions", r.instructions},
            {"peak_buffer_bytes", r.peak_buffer_bytes},
            {"peak_macs_per_cycle", r.peak_macs_per_cycle},
            {"utilization", r.utilization()},
            {"traffic_bytes", r.traffic_bytes},
            {"layers", r.layers},
            {"units", r.units}};
}

void from_json(const nlohmann::json& json, WorkloadResult& r) {
    json.at("chip").get_to(r.chip);
    json.at("workload").get_to(r.workload);
    json.at("clock_hz").get_to(r.clock_hz);
    json.at("cycles").get_to(r.cycles);
    json.at("macs").get_to(r.macs);
    json.at("rows").get_to(r.rows);
    json.at("tiles").get_to(r.tiles);
    json.at("instructions").get_to(r.instructions);
    json.at("peak_buffer_bytes").get_to(r.peak_buffer_bytes);
    json.at("peak_macs_per_cycle").get_to(r.peak_macs_per_cycle);
    json.at("traffic_bytes").get_to(r.traffic_bytes);
    json.at("layers").get_to(r.layers);
    json.at("units").get_to(r.units);
}

namespace {

[[noreturn]] void answer(int pipe, const workload::Workload& workload,
                         const arch::ChipConfig& chip) {
    nlohmann::json json;
    try {
        json["result"] = run_workload(workload, chip);
    } catch (const UserError& error) {
        json["user_error"] = error.what();
    } catch (const std::exception& error) {
        json["fault"] = error.what();
    }
    const std::string text = json.dump();
    for (size_t at = 0; at < text.size();) {
        const ssize_t sent = write(pipe, text.data() + at, text.size() - at);
        if (sent < 0 && errno != EINTR) break;
        if (sent > 0) at += static_cast<size_t>(sent);
    }
    _exit(0);
}

}  // namespace

WorkloadResult run_workload_apart(const workload::Workload& workload,
                                  const arch::ChipConfig& chip) {
    int ends[2];
    if (pipe(ends) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    const pid_t child = fork();
    if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (child == 0) {
        close(ends[0]);
        answer(ends[1], workload, chip);
    }
    close(ends[1]);
    const std::string text = read_all(ends[0]);
    close(ends[0]);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (json.is_discarded()) throw std::runtime_error("the run of " + workload.name + " died");
    if (json.contains("user_error")) throw UserError(json["user_error"].get<std::string>());
    if (json.contains("fault")) throw std::logic_error(json["fault"].get<std::string>());
    return json.at("result").get<WorkloadResult>();
}

}  // namespace tandem::explore
