// SPDX-License-Identifier: Apache-2.0
// The C interface of array_abi.h around one Verilated tpu_mxu. Compiled once per array, with
//   TANDEM_ARRAY_ROWS, TANDEM_ARRAY_COLS, TANDEM_ARRAY_ACC_DEPTH   its parameters
//   TANDEM_ARRAY_DTYPE, TANDEM_ARRAY_BUILD_KEY                     string literals
// A step is two evaluations (falling edge with the new inputs, rising edge) and allocates nothing.
#include <verilated.h>
#include <verilated_fst_c.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "Vtpu_mxu.h"
#include "Vtpu_mxu__Syms.h"
#include "Vtpu_mxu___024root.h"
#include "array_abi.h"

// The evaluation itself, as Vtpu_mxu::eval() calls it.
void Vtpu_mxu___024root___eval(Vtpu_mxu___024root* root);

namespace {

constexpr uint32_t kRows = TANDEM_ARRAY_ROWS;
constexpr uint32_t kCols = TANDEM_ARRAY_COLS;
constexpr uint64_t kDefaultPeriodPs = 1000;

constexpr TandemArrayInfo kInfo = {
    TANDEM_ARRAY_ABI_VERSION, kRows, kCols, TANDEM_ARRAY_ACC_DEPTH, TANDEM_ARRAY_DTYPE,
    TANDEM_ARRAY_BUILD_KEY,
};

/// One declared probe: the trace compares `data` with what it recorded last.
struct Probe {
    std::string scope;  // components followed by a blank, as the trace writer wants them
    std::string name;
    const void* data;
    uint32_t bits;
    uint32_t code;  // position in the trace writer's store of old values

    uint32_t words() const { return (bits + 31) / 32; }
};

std::string trace_scope(const char* dotted) {
    std::string scope;
    bool inside = false;
    for (const char* at = dotted;; ++at) {
        const bool ends = *at == '.' || *at == '\0';
        if (!ends) {
            scope += *at == ' ' ? '_' : *at;
            inside = true;
        } else if (inside) {
            scope += static_cast<char>(0x80 + VLT_TRACE_SCOPE_MODULE);
            scope += ' ';
            inside = false;
        }
        if (*at == '\0') return scope;
    }
}

template <bool kFull>
void record(const Probe& probe, VerilatedFst::Buffer* buffer) {
    uint32_t* const old = buffer->oldp(probe.code);
    if (probe.bits > 64) {
        const auto* const words = static_cast<const WData*>(probe.data);
        if constexpr (kFull) {
            buffer->fullWData(old, words, static_cast<int>(probe.bits));
        } else {
            buffer->chgWData(old, words, static_cast<int>(probe.bits));
        }
        return;
    }
    uint64_t value = 0;
    std::memcpy(&value, probe.data, probe.words() * 4);
    if (probe.bits < 64) value &= (uint64_t{1} << probe.bits) - 1;
    const int bits = static_cast<int>(probe.bits);
    if (probe.bits > 32) {
        if constexpr (kFull) {
            buffer->fullQData(old, value, bits);
        } else {
            buffer->chgQData(old, value, bits);
        }
    } else {
        if constexpr (kFull) {
            buffer->fullIData(old, static_cast<IData>(value), bits);
        } else {
            buffer->chgIData(old, static_cast<IData>(value), bits);
        }
    }
}

}  // namespace

// Set by the runtime when an assertion fails; its text has gone to stdout by then.
static std::string failed_assertion;

/// Replaces the runtime's own, which ends the process: a failing assertion is an answer, not a
/// crash.
void vl_stop(const char* filename, int linenum, const char*) {
    if (failed_assertion.empty())
        failed_assertion = std::string(filename) + ":" + std::to_string(linenum);
}

struct TandemArray {
    /// The runtime finds its context through a thread-local pointer while a model is built or
    /// destroyed; it must never be left on a context that is gone.
    struct ContextGuard {
        explicit ContextGuard(VerilatedContext* context) { Verilated::threadContextp(context); }
        ~ContextGuard() { Verilated::threadContextp(Verilated::defaultContextp()); }
    };

    VerilatedContext context;
    ContextGuard guard{&context};
    Vtpu_mxu model{&context, "rtl"};
    uint64_t edge = 0;  // number of the next rising edge
    uint64_t period_ps = kDefaultPeriodPs;
    std::vector<Probe> probes;
    std::unique_ptr<VerilatedFstC> trace;
    bool fell = true;  // the falling edge before the next rising one is on the time axis

    TandemArray() {
        context.traceEverOn(true);
        model.clk_i = 1;
        model.rst_ni = 1;
        model.eval();
    }

    ~TandemArray() {
        Verilated::threadContextp(&context);
        close_trace();
        model.final();
    }

    /// Vtpu_mxu::eval() after the first one, without its book-keeping for threads (thread-local
    /// accesses, which are calls in a shared object): 10 % of a step of a small array.
    void evaluate() {
        model.rootp->vlSymsp->__Vm_activity = true;
        Vtpu_mxu___024root___eval(model.rootp);
    }

    /// Low half of the period, with the inputs of the coming edge: combinational outputs settle.
    void fall() {
        model.clk_i = 0;
        evaluate();
        if (__builtin_expect(trace != nullptr, 0)) {
            const uint64_t rise_ps = edge * period_ps;
            if (rise_ps >= period_ps / 2 && fell) {
                context.time(rise_ps - period_ps / 2);
                trace->dump(context.time());
            }
        }
    }

    void rise() {
        context.time(edge * period_ps);
        model.clk_i = 1;
        evaluate();
        if (__builtin_expect(trace != nullptr, 0)) {
            trace->dump(context.time());
            fell = true;
        }
        ++edge;
    }

    void close_trace() {
        if (!trace) return;
        trace->close();
        trace.reset();
        probes.clear();
    }

    static void declare_probes(void* self, VerilatedFst* fst, uint32_t code) {
        for (Probe& probe : static_cast<TandemArray*>(self)->probes) {
            probe.code = code;
            code += probe.words();
            fst->pushNamePrefix(probe.scope);
            if (probe.bits == 1) {
                fst->declBit(probe.code, probe.name.c_str(), -1, FST_VD_IMPLICIT, FST_VT_VCD_WIRE,
                             false, -1);
            } else {
                fst->declBus(probe.code, probe.name.c_str(), -1, FST_VD_IMPLICIT, FST_VT_VCD_WIRE,
                             false, -1, static_cast<int>(probe.bits) - 1, 0);
            }
            fst->popNamePrefix();
        }
    }

    static void record_all(void* self, VerilatedFst::Buffer* buffer) {
        for (const Probe& probe : static_cast<TandemArray*>(self)->probes)
            record<true>(probe, buffer);
    }

    static void record_changes(void* self, VerilatedFst::Buffer* buffer) {
        for (const Probe& probe : static_cast<TandemArray*>(self)->probes)
            record<false>(probe, buffer);
    }
};

extern "C" {
#pragma GCC visibility push(default)

const TandemArrayInfo* tandem_array_info() { return &kInfo; }

TandemArray* tandem_array_create() { return new TandemArray; }

void tandem_array_destroy(TandemArray* array) { delete array; }

/// Rows in flight are dropped; weights of an incomplete tile as well. Accumulator rows keep what
/// they hold. An open trace ends, because the edges start again at zero.
void tandem_array_reset(TandemArray* array) {
    array->close_trace();
    Vtpu_mxu& model = array->model;
    model.wgt_valid_i = 0;
    model.act_valid_i = 0;
    model.rd_valid_i = 0;
    model.res_ready_i = 0;
    model.rst_ni = 0;
    for (int edge = 0; edge < 2; ++edge) {
        array->fall();
        array->rise();
    }
    model.rst_ni = 1;
    array->edge = 0;
}

void tandem_array_step(TandemArray* array, TandemArrayPorts* ports) {
    Vtpu_mxu& model = array->model;
    model.wgt_valid_i = ports->wgt_valid;
    if (ports->wgt_valid) std::memcpy(&model.wgt_data_i, ports->wgt_data, kCols);
    model.act_valid_i = ports->act_valid;
    model.act_swap_i = ports->act_swap;  // act_ready depends on it, valid or not
    if (ports->act_valid) {
        std::memcpy(&model.act_data_i, ports->act_data, kRows);
        model.act_accumulate_i = ports->act_accumulate;
        model.act_addr_i = static_cast<std::decay_t<decltype(model.act_addr_i)>>(ports->act_addr);
    }
    model.rd_valid_i = ports->rd_valid;
    if (ports->rd_valid)
        model.rd_addr_i = static_cast<std::decay_t<decltype(model.rd_addr_i)>>(ports->rd_addr);
    model.res_ready_i = ports->res_ready;
    if (__builtin_expect(!failed_assertion.empty(), 0)) failed_assertion.clear();
    array->fall();
    ports->wgt_ready = model.wgt_ready_o;
    ports->act_ready = model.act_ready_o;
    ports->rd_ready = model.rd_ready_o;
    array->rise();
    ports->cmt_valid = model.cmt_valid_o;
    ports->res_valid = model.res_valid_o;
    ports->busy = model.busy_o;
    ports->cmt_addr = model.cmt_addr_o;
    ports->cmt_data = &model.cmt_data_o;
    ports->res_data = &model.res_data_o;
    ports->failure = failed_assertion.empty() ? nullptr : failed_assertion.c_str();
}

void tandem_array_state(TandemArray* array, TandemArrayState* state) {
    Vtpu_mxu___024root& root = *array->model.rootp;
    state->activation = &root.tpu_mxu__DOT__u_array__DOT__act[0];
    state->weight = &root.tpu_mxu__DOT__u_array__DOT__weight[0];
    state->shadow = &root.tpu_mxu__DOT__u_array__DOT__shadow[0];
    state->psum = &root.tpu_mxu__DOT__u_array__DOT__psum[0];
    state->activation_bytes = sizeof(root.tpu_mxu__DOT__u_array__DOT__act[0]);
    state->weight_bytes = sizeof(root.tpu_mxu__DOT__u_array__DOT__weight[0]);
    state->psum_bytes = sizeof(root.tpu_mxu__DOT__u_array__DOT__psum[0]);
}

int tandem_array_trace_open(TandemArray* array, const char* path, uint64_t edge, uint64_t period_ps,
                            const TandemProbe* probes, size_t probe_count) {
    array->close_trace();
    if (period_ps < 2) return -1;
    std::FILE* const file = std::fopen(path, "wb");
    if (file == nullptr) return -1;
    std::fclose(file);

    for (size_t i = 0; i < probe_count; ++i) {
        if (probes[i].bits == 0) continue;
        std::string name = probes[i].name;
        std::replace(name.begin(), name.end(), ' ', '_');
        array->probes.push_back(
            {trace_scope(probes[i].scope), std::move(name), probes[i].data, probes[i].bits, 0});
    }
    // Probes of one scope stand together, so that the file opens the scope once.
    std::stable_sort(array->probes.begin(), array->probes.end(),
                     [](const Probe& a, const Probe& b) { return a.scope < b.scope; });

    array->edge = edge;
    array->period_ps = period_ps;
    array->fell = false;
    Verilated::threadContextp(&array->context);
    array->trace = std::make_unique<VerilatedFstC>();
    array->trace->set_time_unit("1ns");
    array->trace->set_time_resolution("1ps");
    array->model.trace(array->trace.get(), 99);
    VerilatedFst* const fst = array->trace->spTrace();
    if (!array->probes.empty()) {
        fst->addInitCb(&TandemArray::declare_probes, array);
        fst->addFullCb(&TandemArray::record_all, array);
        fst->addChgCb(&TandemArray::record_changes, array);
    }
    array->trace->open(path);
    if (!array->trace->isOpen()) {
        array->close_trace();
        return -1;
    }
    return 0;
}

void tandem_array_trace_close(TandemArray* array) { array->close_trace(); }

#pragma GCC visibility pop
}
