// SPDX-License-Identifier: Apache-2.0
// The C interface of array_abi.h around one Verilated MAC array. Compiled once per array, with
//   TANDEM_ARRAY_ROWS, _COLS, _ACC_DEPTH, _PIPELINE, _SUM4   its parameters
//   TANDEM_ARRAY_ELEMENT_BYTES                               of an element at its ports
//   TANDEM_ARRAY_DTYPE, TANDEM_ARRAY_BUILD_KEY               string literals
//   array_places.h (array_view.cpp)                          where its registers and nets stand
//   contract_rules.h (port_contract.cpp)                     the rules of the checker beside it
// A step is two evaluations (falling edge with the new inputs, rising edge) and allocates nothing.
#include <unistd.h>
#include <verilated.h>
#include <verilated_cov.h>
#include <verilated_fst_c.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "Varray.h"
#include "Varray__Syms.h"
#include "Varray___024root.h"
#include "array_abi.h"
#include "array_places.h"
#include "array_trace.h"
#include "contract_rules.h"
#include "shim_context.h"

// The evaluation itself, as Varray::eval() calls it, and that of all combinational logic.
void Varray___024root___eval(Varray___024root* root);
#if TANDEM_ARRAY_SETTLES
void Varray___024root___eval_settle(Varray___024root* root);
#endif

namespace {

constexpr uint32_t kRows = TANDEM_ARRAY_ROWS;
constexpr uint32_t kCols = TANDEM_ARRAY_COLS;
constexpr uint32_t kPortBytes = TANDEM_ARRAY_ELEMENT_BYTES;
constexpr uint64_t kDefaultPeriodFs = 1'000'000;
#ifdef TANDEM_ARRAY_NO_WAVES
constexpr bool kWaves = false;
#else
constexpr bool kWaves = true;
#endif

constexpr TandemArrayInfo kInfo = {
    TANDEM_ARRAY_ABI_VERSION,
    kRows,
    kCols,
    TANDEM_ARRAY_ACC_DEPTH,
    TANDEM_ARRAY_PIPELINE,
    TANDEM_ARRAY_SUM4,
    TANDEM_ARRAY_DTYPE,
    array_view::kForm,
    TANDEM_ARRAY_BUILD_KEY,
    array_view::kElementBytes,
    array_view::kPsumBytes,
    array_view::kTagBytes,
};

// A trace goes to the file block by block. Short ones, so that its size can be watched: this many
// edges at which the array works, fewer in a large array, or so many edges of any kind.
constexpr uint32_t kBusyEdgesPerBlock = std::clamp(65536u / (kRows * kCols), 64u, 1024u);
constexpr uint32_t kEdgesPerBlock = 16384;

}  // namespace

// Set by the runtime when an assertion fails; its text has gone to stdout by then.
static std::string failed_assertion;

/// The model cannot go on: it would never return from an evaluation.
struct ModelIsBroken {};

static void note_failure(const char* filename, int linenum) {
    if (!failed_assertion.empty()) return;
    failed_assertion = std::string(filename) + ":" + std::to_string(linenum);
    if (std::strcmp(filename, contract::kFile) != 0) return;
    for (const auto* rule = contract::kRules; rule->text != nullptr; ++rule)
        if (rule->line == linenum) failed_assertion += std::string(": ") + rule->text;
}

// These replace the runtime's own, which end the process: a failing assertion is an answer, not a
// crash.
void vl_stop(const char* filename, int linenum, const char*) { note_failure(filename, linenum); }
void vl_finish(const char* filename, int linenum, const char*) { note_failure(filename, linenum); }
/// Combinational logic that does not come to rest ends here.
void vl_fatal(const char* filename, int linenum, const char*, const char* message) {
    std::printf("%%Error: %s:%d: %s\n", filename, linenum, message);
    std::fflush(stdout);
    note_failure(filename, linenum);
    failed_assertion += std::string(": ") + message;
    throw ModelIsBroken{};
}

struct TandemArray {
    VerilatedContext context;
    ContextGuard guard;  // what the model is built with
    Varray model{&context, "rtl"};
    uint64_t edge = 0;  // number of the next rising edge
    uint64_t period_fs = kDefaultPeriodFs;
    Trace trace;
    bool watched = false;
    std::vector<TandemTap> taps;
    std::vector<uint32_t> tap_words;  // what the taps point to, in their order
    bool failure_told = true;         // what failed last has been reported by a step
    std::string broken;               // the model cannot be evaluated any more, and why

    /// `seed` 0: registers are zero.
    explicit TandemArray(int seed) : guard(&context, seed) {
        if (kWaves) context.traceEverOn(true);
        make_taps();
        failed_assertion.clear();  // of an array before this one
        model.clk_i = 1;
        model.rst_ni = 1;
        try {
            model.eval();
        } catch (const ModelIsBroken&) {
        }
        // A check of the parameters, at time zero, stays.
        broken = std::exchange(failed_assertion, {});
    }

    ~TandemArray() {
        Verilated::threadContextp(&context);
        trace.end();
        model.final();
        write_coverage();
    }

    /// What this instance met, as a file of its own in $TANDEM_ARRAY_COVERAGE.
    void write_coverage() {
#if VM_COVERAGE
        static unsigned instances = 0;
        const char* const folder = std::getenv("TANDEM_ARRAY_COVERAGE");
        if (folder == nullptr) return;
        const std::string file = std::string(folder) + "/" TANDEM_ARRAY_BUILD_KEY "-" +
                                 std::to_string(getpid()) + "-" + std::to_string(instances++);
        context.coveragep()->write((file + ".dat").c_str());
#endif
    }

    /// Varray::eval() after the first one, without its book-keeping for threads (thread-local
    /// accesses, which are calls in a shared object): 10 % of a step of a small array.
    void evaluate() {
        note_activity();
        Varray___024root___eval(model.rootp);
    }

    /// What a trace looks at; there only if the model can be traced.
    void note_activity() {
#ifndef TANDEM_ARRAY_NO_WAVES
        model.rootp->vlSymsp->__Vm_activity = true;
#endif
    }

    void make_taps() {
        size_t words = 0;
        for (const auto* net = array_view::kNets; net->name != nullptr; ++net)
            words += (net->bits + 31) / 32;
        tap_words.assign(words, 0);
        words = 0;
        for (const auto* net = array_view::kNets; net->name != nullptr; ++net) {
            taps.push_back({net->name, &tap_words[words], net->bits});
            words += (net->bits + 31) / 32;
        }
    }

    void sample_taps() {
        const char* const root = reinterpret_cast<const char*>(model.rootp);
        const auto* net = array_view::kNets;
        for (const TandemTap& tap : taps) {
            // A container is 1, 2, 4, 8 or n x 4 bytes wide.
            const size_t bytes = tap.bits <= 8 ? 1 : tap.bits <= 16 ? 2 : (tap.bits + 31) / 32 * 4;
            std::memcpy(const_cast<void*>(tap.data), root + net->offset, bytes);
            ++net;
        }
    }

    /// Low half of the period, with the inputs of the coming edge: combinational outputs settle.
    void fall() {
        model.clk_i = 0;
        evaluate();
    }

    void rise() {
        context.time(edge * period_fs);
        model.clk_i = 1;
        evaluate();
        ++edge;
    }

    bool tracing() const { return kWaves && __builtin_expect(trace.open(), 0); }

    /// Two edges of a reset that the trace does not count.
    void trace_reset() {
        for (uint64_t half = 1; half <= 4; ++half) {
            model.clk_i = half % 2 == 0;
            evaluate();
            trace.reset(half);
        }
    }

    /// Those that are registered.
    void show_outputs(TandemArrayPorts* ports) const {
        ports->cmt_valid = model.cmt_valid_o;
        ports->res_valid = model.res_valid_o;
        ports->busy = model.busy_o;
        ports->cmt_addr = model.cmt_addr_o;
        ports->cmt_data = &model.cmt_data_o;
        ports->res_data = &model.res_data_o;
    }

    /// Calls `evaluations`, unless the model is broken, and finds out whether it breaks.
    template <typename Evaluations>
    void guarded(Evaluations evaluations) {
        if (__builtin_expect(!broken.empty(), 0)) return;
        try {
            evaluations();
        } catch (const ModelIsBroken&) {
            broken = failed_assertion;
        }
    }

    const char* failure() const {
        if (__builtin_expect(!broken.empty(), 0)) return broken.c_str();
        return failed_assertion.empty() ? nullptr : failed_assertion.c_str();
    }
};

extern "C" {
#pragma GCC visibility push(default)

const TandemArrayInfo* tandem_array_info() { return &kInfo; }

TandemArray* tandem_array_create() {
    resolve_thread_state();
    return new TandemArray(0);
}

TandemArray* tandem_array_create_random(uint64_t seed) {
    resolve_thread_state();
    return new TandemArray(verilator_seed(seed));
}

void tandem_array_destroy(TandemArray* array) { delete array; }

/// Rows in flight are dropped; weights of an incomplete tile as well. Accumulator rows keep what
/// they hold.
void tandem_array_reset(TandemArray* array) {
    Varray& model = array->model;
    model.wgt_valid_i = 0;
    model.act_valid_i = 0;
    model.rd_valid_i = 0;
    model.res_ready_i = 0;
    model.rst_ni = 0;
    failed_assertion.clear();
    array->failure_told = false;
    const bool tracing = array->tracing();
    array->guarded([array, tracing] {
        if (tracing) return array->trace_reset();
        for (int edge = 0; edge < 2; ++edge) {
            array->fall();
            array->rise();
        }
    });
    model.rst_ni = 1;
    if (!tracing) array->edge = 0;
}

void tandem_array_step(TandemArray* array, TandemArrayPorts* ports) {
    Varray& model = array->model;
    model.wgt_valid_i = ports->wgt_valid;
    if (ports->wgt_valid || ports->idle_data)
        std::memcpy(&model.wgt_data_i, ports->wgt_data, kCols * kPortBytes);
    model.act_valid_i = ports->act_valid;
    model.act_swap_i = ports->act_swap;  // act_ready depends on it, valid or not
    if (ports->act_valid || ports->idle_data) {
        std::memcpy(&model.act_data_i, ports->act_data, kRows * kPortBytes);
        model.act_accumulate_i = ports->act_accumulate;
        model.act_addr_i = static_cast<std::decay_t<decltype(model.act_addr_i)>>(ports->act_addr);
    }
    model.rd_valid_i = ports->rd_valid;
    if (ports->rd_valid || ports->idle_data)
        model.rd_addr_i = static_cast<std::decay_t<decltype(model.rd_addr_i)>>(ports->rd_addr);
    model.res_ready_i = ports->res_ready;
    model.rst_ni = !ports->reset;
    // What failed during a reset is told by the step after it.
    if (__builtin_expect(!failed_assertion.empty(), 0) && array->failure_told)
        failed_assertion.clear();
    array->guarded([array, ports, &model] {
        array->fall();
        ports->wgt_ready = model.wgt_ready_o;
        ports->act_ready = model.act_ready_o;
        ports->rd_ready = model.rd_ready_o;
        if (__builtin_expect(array->watched, 0)) array->sample_taps();
        if (array->tracing()) array->trace.fall(array->edge, ports);
        array->rise();
        array->show_outputs(ports);
        if (array->tracing())
            array->trace.rise(array->edge - 1, ports, kBusyEdgesPerBlock, kEdgesPerBlock);
    });
    if (__builtin_expect(!array->broken.empty(), 0)) array->show_outputs(ports);
    ports->failure = array->failure();
    array->failure_told = true;
}

void tandem_array_pe(TandemArray* array, uint32_t row, uint32_t col, TandemPeRegisters* pe) {
    array_view::find_pe(*array->model.rootp, row, col, pe);
}

void tandem_array_settle(TandemArray* array) {
#if TANDEM_ARRAY_SETTLES
    Verilated::threadContextp(&array->context);
    array->guarded([array] {
        array->note_activity();
        Varray___024root___eval_settle(array->model.rootp);
    });
#else
    (void)array;
#endif
}

size_t tandem_array_taps(TandemArray* array, const TandemTap** first) {
    *first = array->taps.data();
    return array->taps.size();
}

void tandem_array_watch(TandemArray* array, int on) { array->watched = on != 0; }

int tandem_array_trace_open(TandemArray* array, const char* path, uint64_t edge, uint64_t period_fs,
                            const TandemProbe* probes, size_t probe_count) {
    array->trace.end();
    array->edge = edge;
#ifdef TANDEM_ARRAY_NO_WAVES
    (void)path, (void)period_fs, (void)probes, (void)probe_count;
    return -1;
#else
    array->period_fs = period_fs;
    Verilated::threadContextp(&array->context);
    return array->trace.begin(array->model, path, edge, period_fs, probes, probe_count) ? 0 : -1;
#endif
}

void tandem_array_trace_close(TandemArray* array) { array->trace.end(); }

void tandem_array_trace_call(TandemArray* array, TandemTraceCall call, void* user) {
    array->trace.call(call, user);
}

int tandem_array_wave_signals(const char* path, TandemSignalCall call, void* user) {
    return tell_signals(path, call, user) ? 0 : -1;
}

int tandem_array_wave_to_vcd(const char* fst, const char* vcd) {
    return write_vcd(fst, vcd) ? 0 : -1;
}

#pragma GCC visibility pop
}
