// SPDX-License-Identifier: Apache-2.0
#include "run/apart.h"

#include <nlohmann/json.hpp>

#include "base/child.h"

namespace tandem::compiler {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Bounds, arrays, vector, drain, weights, activations,
                                   device_memory, cmem, host_in, host_out, synchronisation, launch,
                                   compulsory, least_memory, least_host_in, least_host_out)

}  // namespace tandem::compiler

namespace tandem::run {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(UnitResult, name, core, cycles)

void to_json(nlohmann::json& out, const LayerResult& layer) {
    out = {{"index", layer.index},
           {"op", layer.op},
           {"name", layer.name},
           {"cycles", layer.cycles},
           {"macs", layer.macs},
           {"output_bytes", layer.output_bytes},
           {"moved_bytes", layer.moved_bytes}};
    if (layer.bounds) out["bounds"] = *layer.bounds;
}

void from_json(const nlohmann::json& in, LayerResult& layer) {
    in.at("index").get_to(layer.index);
    in.at("op").get_to(layer.op);
    in.at("name").get_to(layer.name);
    in.at("cycles").get_to(layer.cycles);
    in.at("macs").get_to(layer.macs);
    in.at("output_bytes").get_to(layer.output_bytes);
    in.at("moved_bytes").get_to(layer.moved_bytes);
    if (in.contains("bounds")) layer.bounds = in["bounds"].get<compiler::Bounds>();
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Traffic, memory_read, memory_write, cmem, host_to_chip,
                                   chip_to_host)

void to_json(nlohmann::json& out, const RunResult& r) {
    out = {{"chip", r.chip},
           {"model", r.model},
           {"clock_hz", r.clock_hz},
           {"cores", r.cores},
           {"arrays", r.arrays},
           {"peak_macs_per_cycle", r.peak_macs_per_cycle},
           {"utilization", r.utilization()},
           {"cycles", r.cycles},
           {"core_cycles", r.core_cycles},
           {"macs", r.macs},
           {"array_macs", r.array_macs},
           {"rows", r.rows},
           {"tiles", r.tiles},
           {"instructions", r.instructions},
           {"traffic", r.traffic},
           {"units", r.units},
           {"layers", r.layers},
           {"host_instructions", r.host_instructions},
           {"simulated_seconds", r.simulated_seconds},
           {"failure", r.failure},
           {"laws_broken", r.laws_broken}};
    if (r.peak_buffer_bytes) out["peak_buffer_bytes"] = *r.peak_buffer_bytes;
}

namespace {

using nlohmann::json;

RunResult from_text(const json& in) {
    RunResult r;
    in.at("chip").get_to(r.chip);
    in.at("model").get_to(r.model);
    in.at("clock_hz").get_to(r.clock_hz);
    in.at("cores").get_to(r.cores);
    in.at("arrays").get_to(r.arrays);
    in.at("peak_macs_per_cycle").get_to(r.peak_macs_per_cycle);
    in.at("cycles").get_to(r.cycles);
    in.at("core_cycles").get_to(r.core_cycles);
    in.at("macs").get_to(r.macs);
    in.at("array_macs").get_to(r.array_macs);
    in.at("rows").get_to(r.rows);
    in.at("tiles").get_to(r.tiles);
    in.at("instructions").get_to(r.instructions);
    in.at("traffic").get_to(r.traffic);
    in.at("units").get_to(r.units);
    in.at("layers").get_to(r.layers);
    in.at("host_instructions").get_to(r.host_instructions);
    in.at("simulated_seconds").get_to(r.simulated_seconds);
    in.at("failure").get_to(r.failure);
    in.at("laws_broken").get_to(r.laws_broken);
    if (in.contains("peak_buffer_bytes"))
        r.peak_buffer_bytes = in["peak_buffer_bytes"].get<uint64_t>();
    return r;
}

}  // namespace

RunResult run_apart(const std::string& name, const std::function<RunResult()>& run) {
    return from_text(json::parse(
        base::in_child({.name = "the run of " + name}, [&] { return json(run()).dump(); })));
}

}  // namespace tandem::run
