// SPDX-License-Identifier: Apache-2.0
// What timing mode costs: processor time and memory of ResNet-50 on tpu_v1, against a bound; how
// the cost grows with weight tiles, and that it does not grow with the multiply-accumulates of a
// tile. Every run is a process of its own, this program started again, so that its peak memory is
// its own.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/error.h"
#include "base/pipe.h"
#include "benchmarks/efficiency.h"
#include "benchmarks/resnet50.h"
#include "benchmarks/study.h"
#include "run/apart.h"
#include "run/graph_run.h"
#include "run/paths.h"

// The library's main() is not used, but it refers to this.
extern "C" int sc_main(int, char*[]) { return 0; }

namespace {

using namespace tandem;
using namespace tandem::benchmarks;
using Command = std::vector<std::string>;

constexpr const char* kCommand =
    "build/release/benchmarks/timing_speed --markdown docs/timing_speed.md";
constexpr double kBoundSeconds = 0.050, kBoundMegabytes = 100;
/// A million tiles of tpu_v1 are 61 GiB; its memory is as large as that in the tables of tiles.
constexpr uint64_t kTableMemory = uint64_t{128} << 30;

// ---- one run

/// "resnet50", "table:FILE" or "gemm:M:K:N:REPEAT", in arrays' sizes for the last one.
tables::Workload parse_work(const std::string& work) {
    if (work == "resnet50") return resnet50();
    if (work.starts_with("table:")) return tables::load_table(work.substr(6));
    uint64_t m = 0, k = 0, n = 0, repeat = 0;
    if (std::sscanf(work.c_str(), "gemm:%lu:%lu:%lu:%lu", &m, &k, &n, &repeat) != 4)
        throw UserError("--work", "work", "resnet50, table:FILE or gemm:M:K:N:REPEAT", work);
    tables::Workload kernel = gemm(m, k, n);
    kernel.layers.front().repeat = repeat;
    return kernel;
}

double processor_seconds(const rusage& usage) {
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// In the process of its own. Writes JSON to stdout.
int run_here(const std::string& work, const std::string& chip_name) {
    arch::ChipConfig chip = arch::find_chip(chip_name, run::chips_dir());
    const tables::Workload workload = parse_work(work);
    if (work.starts_with("gemm")) chip.memory.bytes = std::max(chip.memory.bytes, kTableMemory);
    rusage before{}, after{};
    getrusage(RUSAGE_SELF, &before);
    const run::RunResult result = run::time_list(workload, chip);
    getrusage(RUSAGE_SELF, &after);
    nlohmann::json json = result;
    json["seconds"] = processor_seconds(after) - processor_seconds(before);
    fmt::print("{}\n", json.dump());
    return 0;
}

/// A process that has ended.
struct Ended {
    int status = 0;
    double seconds = 0;  ///< of the processor, user and system
    double megabytes = 0;
    std::string output;
};

Ended start(const Command& command) {
    int ends[2];
    if (pipe(ends) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    const pid_t child = fork();
    if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        std::vector<char*> words;
        for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
        words.push_back(nullptr);
        execv(words[0], words.data());
        _exit(127);
    }
    close(ends[1]);
    Ended ended;
    ended.output = base::read_all(ends[0]);
    close(ends[0]);
    rusage usage{};
    while (wait4(child, &ended.status, 0, &usage) < 0 && errno == EINTR) {
    }
    ended.seconds = processor_seconds(usage);
    ended.megabytes = static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
    return ended;
}

/// What a run has cost.
struct Cost {
    uint64_t tiles = 0, macs = 0;
    double run = 0;      ///< seconds of the run alone
    double process = 0;  ///< of the whole process
    double megabytes = 0;
};

Cost measure(const std::string& work, const std::string& chip) {
    const std::string self = std::filesystem::read_symlink("/proc/self/exe");
    const Ended ended = start({self, "--work", work, "--chip", chip});
    const auto json = nlohmann::json::parse(ended.output, nullptr, false);
    if (ended.status != 0 || json.is_discarded())
        throw std::runtime_error("the run of " + work + " failed");
    return {json.at("tiles"), json.at("macs"), json.at("seconds"), ended.seconds, ended.megabytes};
}

// ---- several runs

struct Spread {
    explicit Spread(std::vector<double> values) {
        std::ranges::sort(values);
        low = values.front(), median = values[values.size() / 2], high = values.back();
    }
    std::string text(double unit, int places) const {
        return fmt::format("{:.{}f} ({:.{}f} to {:.{}f})", median * unit, places, low * unit,
                           places, high * unit, places);
    }
    nlohmann::json json() const { return {{"low", low}, {"median", median}, {"high", high}}; }
    double low, median, high;
};

template <class Figure>
Spread spread(const std::vector<Cost>& costs, Figure figure) {
    std::vector<double> values;
    for (const Cost& cost : costs) values.push_back(figure(cost));
    return Spread(values);
}

/// The products of a workload as a table (SCALE-Sim's "Layer, M, N, K"), as long as the object.
class ScratchTable {
  public:
    explicit ScratchTable(const tables::Workload& workload)
        : path_(std::filesystem::temp_directory_path() /
                fmt::format("tandem_timing_speed_{}.csv", getpid())) {
        std::string text = "Layer, M, N, K,\n";
        for (const tables::Layer& layer : workload.layers)
            text += fmt::format("{}, {}, {}, {},\n", layer.name, layer.m, layer.n, layer.k);
        write_file("TABLE", path_, text);
    }
    ~ScratchTable() {
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);
    }
    ScratchTable(const ScratchTable&) = delete;
    ScratchTable& operator=(const ScratchTable&) = delete;
    std::string file() const { return path_; }

  private:
    std::filesystem::path path_;
};

struct Options {
    std::string table, tandem;
    uint32_t turns = 11;
    bool quick = false, check = false;
};

class Study {
  public:
    Study(StudyOptions study, Options options)
        : study_(std::move(study)), options_(std::move(options)) {}

    int go() {
        std::string text = head();
        text += network();
        text += as_a_user();
        text += tiles();
        text += macs();
        text += chips();
        fmt::print("{}", text);
        write_markdown(study_, command(), text);
        if (!study_.json.empty()) write_file("--json", study_.json, json_.dump(1) + "\n");
        return options_.check && !good_ ? 1 : 0;
    }

  private:
    std::string command() const { return kCommand + std::string(options_.quick ? " --quick" : ""); }

    std::string head() const {
        return fmt::format(
            R"(# What timing mode costs

{}Repeat with `{}` on a quiet machine.
Each run is a process of its own; processor time is user and system time together, figures are
medians with the range of all runs behind them.

)",
            options_.quick ? "**Reduced form (`--quick`): at most 10^4 tiles.**\n\n" : "",
            command());
    }

    std::vector<Cost> measure_often(const std::string& work, uint32_t turns,
                                    const std::string& chip = "tpu_v1") const {
        std::vector<Cost> costs;
        measure(work, chip);  // the first one reads files from disk
        for (uint32_t i = 0; i < turns; ++i) costs.push_back(measure(work, chip));
        return costs;
    }

    std::string network() {
        const bool built_in = options_.table.empty();
        const auto costs =
            measure_often(built_in ? "resnet50" : "table:" + options_.table, options_.turns);
        const Spread run = spread(costs, [](const Cost& c) { return c.run; });
        const Spread process = spread(costs, [](const Cost& c) { return c.process; });
        const Spread memory = spread(costs, [](const Cost& c) { return c.megabytes; });
        good_ = keeps_bounds(process, memory);
        json_["quick"] = options_.quick;
        json_["network"] = {{"run_seconds", run.json()},
                            {"process_seconds", process.json()},
                            {"megabytes", memory.json()},
                            {"within_bounds", good_}};
        return fmt::format(
                   "## {} on tpu_v1\n\n"
                   "{:.2f} G multiply-accumulates, {} weight tiles, {} runs. Bounds: {:.0f} ms of "
                   "processor time of the whole process (median), {:.0f} MB: **{}**.\n\n",
                   built_in ? "ResNet-50, one image of 224x224," : "The table",
                   static_cast<double>(costs[0].macs) / 1e9, costs[0].tiles, costs.size(),
                   kBoundSeconds * 1e3, kBoundMegabytes, good_ ? "kept" : "missed") +
               table({"what", "value"},
                     {{"processor time of the run, ms", run.text(1e3, 1)},
                      {"processor time of the process, ms", process.text(1e3, 1)},
                      {"peak memory of the process, MB", memory.text(1, 1)}});
    }

    /// The command line, with everything it prints.
    std::string as_a_user() {
        if (!std::filesystem::exists(options_.tandem)) return "";
        const ScratchTable scratch(resnet50());
        const std::string file = options_.table.empty() ? scratch.file() : options_.table;
        const Command command = {options_.tandem, "run",    file,    "--chip",
                                 "tpu_v1",        "--mode", "timing"};
        if (start(command).status != 0) return "";
        std::vector<Cost> costs;
        for (uint32_t i = 0; i < options_.turns; ++i) {
            const Ended ended = start(command);
            costs.push_back({0, 0, 0, ended.seconds, ended.megabytes});
        }
        const Spread process = spread(costs, [](const Cost& c) { return c.process; });
        const Spread memory = spread(costs, [](const Cost& c) { return c.megabytes; });
        const bool good = keeps_bounds(process, memory);
        good_ = good_ && good;
        json_["user"] = {{"process_seconds", process.json()},
                         {"megabytes", memory.json()},
                         {"within_bounds", good}};
        return fmt::format(
            "As a user sees it, `tandem run TABLE.csv --chip tpu_v1 --mode timing` with all that "
            "it "
            "prints: {} ms of processor time, {} MB, bounds **{}**.\n\n",
            process.text(1e3, 1), memory.text(1, 1), good ? "kept" : "missed");
    }

    static bool keeps_bounds(const Spread& process, const Spread& memory) {
        return process.median <= kBoundSeconds && memory.high <= kBoundMegabytes;
    }

    /// Tiles of a product, k by n.
    struct Grid {
        uint64_t k, n;
    };

    std::string tiles() {
        constexpr uint64_t kSide = 256, kRows = 16;
        constexpr Grid kGrids[] = {{1, 1},     {2, 5},     {10, 10},    {25, 40},
                                   {100, 100}, {250, 400}, {1000, 1000}};
        std::vector<Row> rows;
        for (const Grid& grid : kGrids) {
            if (options_.quick && grid.k * grid.n > 10000) continue;
            const auto costs = measure_often(
                fmt::format("gemm:{}:{}:{}:1", kRows, grid.k * kSide, grid.n * kSide), 3);
            Row row = tile_row(costs, "tiles");
            row.push_back(megabytes(kRows * kSide * (grid.k + grid.n)));
            rows.push_back(row);
        }
        return fmt::format(
                   "## Cost of a tile\n\nOne product of {} rows on tpu_v1, with {} GiB of memory "
                   "so that all weights have room. *Activations* are the bytes of input and "
                   "output.\n\n",
                   kRows, kTableMemory >> 30) +
               table({"tiles", "MACs", "processor time of the run, ms", "ns per tile",
                      "peak memory, MB", "activations, MB"},
                     rows);
    }

    std::string macs() {
        // 16 x 16 tiles: inputs and outputs of 2048 rows have room in the unified buffer.
        constexpr uint64_t kSide = 16 * 256, kRepeat = 40;
        std::vector<Row> rows;
        for (const uint64_t m : {2, 8, 32, 128, 512, 2048}) {
            const auto costs =
                measure_often(fmt::format("gemm:{}:{}:{}:{}", m, kSide, kSide, kRepeat), 3);
            Row row = tile_row(costs, "macs");
            row.insert(row.begin(), std::to_string(m));
            row.push_back(megabytes(m * 2 * kSide));
            rows.push_back(row);
        }
        return fmt::format(
                   "## Cost of a multiply-accumulate\n\nThe same number of tiles, more rows for "
                   "each: a product of 16x16 tiles, {} times.\n\n",
                   kRepeat) +
               table({"rows", "tiles", "MACs", "processor time of the run, ms", "ns per tile",
                      "peak memory, MB", "activations, MB"},
                     rows);
    }

    /// Arrays run beside one another; each costs by itself what it costs alone, or it should.
    std::string chips() {
        const std::string work = options_.quick ? "gemm:1024:1024:1024:1" : "gemm:2048:2048:2048:1";
        std::vector<Row> rows;
        for (const std::string& name : arch::shipped_chips(run::chips_dir())) {
            const arch::ChipConfig chip = arch::find_chip(name, run::chips_dir());
            if (chip.published.peak_ops_per_second == 0) continue;
            Row row = tile_row(measure_often(work, 3, name), "chips");
            row.insert(row.begin(), {name, fmt::format("{} x {}", chip.cores, chip.mxu.count)});
            rows.push_back(row);
        }
        return fmt::format("## Cost on other chips\n\nThe product `{}`.\n\n", work) +
               table({"chip", "cores x arrays", "tiles", "MACs", "processor time of the run, ms",
                      "ns per tile", "peak memory, MB"},
                     rows);
    }

    static std::string megabytes(uint64_t bytes) {
        return fmt::format("{:.1f}", static_cast<double>(bytes) / 1e6);
    }

    Row tile_row(const std::vector<Cost>& costs, const char* where) {
        const Spread run = spread(costs, [](const Cost& c) { return c.run; });
        const Spread memory = spread(costs, [](const Cost& c) { return c.megabytes; });
        const auto count = static_cast<double>(costs[0].tiles);
        json_[where].push_back({{"tiles", costs[0].tiles},
                                {"macs", costs[0].macs},
                                {"run_seconds", run.json()},
                                {"megabytes", memory.json()}});
        return {std::to_string(costs[0].tiles),
                fmt::format("{:.3g}", static_cast<double>(costs[0].macs)), run.text(1e3, 1),
                fmt::format("{:.0f}", run.median * 1e9 / count),
                fmt::format("{:.1f}", memory.high)};
    }

    const StudyOptions study_;
    const Options options_;
    bool good_ = true;
    nlohmann::json json_;
};

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{
        "What timing mode costs: processor time and memory.\n"
        "Exit status with --check: 1 when ResNet-50 takes more than its bounds."};
    StudyOptions study;
    Options options;
    options.tandem =
        (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "../tandem").string();
    std::string work, chip = "tpu_v1";
    add_study_options(app, study);
    app.add_option("--table", options.table, "a table of layers instead of the built-in ResNet-50")
        ->check(CLI::ExistingFile);
    app.add_option("--tandem", options.tandem, "the command line that runs the table too");
    app.add_option("--turns", options.turns, "runs of the network")->check(CLI::Range(1, 1000));
    app.add_flag("--quick", options.quick, "at most 10^4 tiles");
    app.add_flag("--check", options.check, "exit status 1 when a bound is missed");
    app.add_option("--work", work, "one run in this process, its result as JSON")
        ->group("Internal");
    app.add_option("--chip", chip, "of that run")->group("Internal");
    return run_study(app, argc, argv, [&] {
        return work.empty() ? Study(study, options).go() : run_here(work, chip);
    });
}
