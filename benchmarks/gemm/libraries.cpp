// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "benchmarks/gemm/contenders.h"

#if TANDEM_ONEDNN
#include <dnnl.h>
#endif
#if TANDEM_OPENBLAS
#include <cblas.h>
extern "C" char* openblas_get_corename();
#endif

namespace tandem::benchmarks {
namespace {

constexpr const char* kProbe = "--probe-openblas";

#if TANDEM_OPENBLAS
/// Seconds of the fastest of some products.
void probe_openblas() {
    constexpr uint32_t kSize = 768;
    std::vector<float> a(kSize * kSize, 1.0f), b(kSize * kSize, 0.5f), c(kSize * kSize);
    double best = 1e9;
    for (int turn = 0; turn < 8; ++turn)
        best =
            std::min(best, seconds_of([&] {
                         cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, kSize, kSize, kSize,
                                     1, a.data(), kSize, b.data(), kSize, 0, c.data(), kSize);
                     }));
    fmt::print("{}\n", best);
}

/// The same in a process of its own, with OPENBLAS_CORETYPE as said (null: what it detects). A
/// type that this CPU cannot run takes for ever.
double openblas_seconds(const char* self, const char* core_type) {
    const std::string command = fmt::format(
        "{} '{}' {} 2>/dev/null",
        core_type == nullptr ? "env" : fmt::format("env OPENBLAS_CORETYPE={}", core_type), self,
        kProbe);
    FILE* pipe = popen(command.c_str(), "r");
    double seconds = 1e9;
    const bool read = pipe != nullptr && std::fscanf(pipe, "%lf", &seconds) == 1;
    if (pipe != nullptr) pclose(pipe);
    return read ? seconds : 1e9;
}
#endif

}  // namespace

bool probe(int argc, char** argv) {
#if TANDEM_OPENBLAS
    if (argc == 2 && std::strcmp(argv[1], kProbe) == 0) {
        probe_openblas();
        return true;
    }
#endif
    static_cast<void>(argc), static_cast<void>(argv);
    return false;
}

void pin(char** argv) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(static_cast<size_t>(std::max(sched_getcpu(), 0)), &cpus);
    sched_setaffinity(0, sizeof cpus, &cpus);
    if (std::getenv("TANDEM_GEMM_PINNED") != nullptr) return;
    setenv("TANDEM_GEMM_PINNED", "1", 1);
    setenv("OMP_NUM_THREADS", "1", 1);
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    const std::string self = std::filesystem::read_symlink("/proc/self/exe");
#if TANDEM_OPENBLAS
    double detected = 1e9, skylake = 1e9;
    for (int turn = 0; turn < 3; ++turn) {
        detected = std::min(detected, openblas_seconds(self.c_str(), nullptr));
        skylake = std::min(skylake, openblas_seconds(self.c_str(), "SkylakeX"));
    }
    if (skylake < detected) setenv("OPENBLAS_CORETYPE", "SkylakeX", 1);
#endif
    execv(self.c_str(), argv);
    throw std::runtime_error("cannot start " + self + " again");
}

nlohmann::json environment() {
    nlohmann::json out = {{"onednn", nullptr}, {"openblas", nullptr}};
#if TANDEM_ONEDNN
    const dnnl_version_t* version = dnnl_version();
    out["onednn"] = fmt::format("{}.{}.{}", version->major, version->minor, version->patch);
#else
    fmt::print(stderr, "oneDNN is missing (scripts/setup installs it): not measured\n");
#endif
#if TANDEM_OPENBLAS
    const char* chosen = std::getenv("OPENBLAS_CORETYPE");
    out["openblas"] =
        fmt::format("core type {}, {}", openblas_get_corename(),
                    chosen == nullptr
                        ? "as detected"
                        : fmt::format("OPENBLAS_CORETYPE={}: faster than what it detects", chosen));
    fmt::print(stderr, "openblas: {}\n", out["openblas"].get<std::string>());
#else
    fmt::print(stderr, "OpenBLAS is missing (scripts/setup installs it): not measured\n");
#endif
    return out;
}

}  // namespace tandem::benchmarks
