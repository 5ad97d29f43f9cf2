// SPDX-License-Identifier: Apache-2.0
// The C interface of unit_abi.h around one Verilated unit. Compiled once per unit, with
//   TANDEM_UNIT_TOP, TANDEM_UNIT_BUILD_KEY   string literals
//   TANDEM_UNIT_PORTS(PORT)                  PORT(name, bits, input) for each of its ports
//   TANDEM_UNIT_PORT_COUNT                   how many these are
#include <verilated.h>

#include <cstdio>
#include <iterator>
#include <string>
#include <utility>

#include "Vunit.h"
#include "shim_context.h"
#include "unit_abi.h"

static std::string failed_assertion;

/// Combinational logic does not come to rest: the evaluation would never return.
struct UnitIsBroken {};

static void note_failure(const char* filename, int linenum) {
    if (failed_assertion.empty())
        failed_assertion = std::string(filename) + ":" + std::to_string(linenum);
}

// These replace the runtime's own, which end the process.
void vl_stop(const char* filename, int linenum, const char*) { note_failure(filename, linenum); }
void vl_finish(const char* filename, int linenum, const char*) { note_failure(filename, linenum); }
void vl_fatal(const char* filename, int linenum, const char*, const char* message) {
    std::printf("%%Error: %s:%d: %s\n", filename, linenum, message);
    std::fflush(stdout);
    note_failure(filename, linenum);
    throw UnitIsBroken{};
}

struct TandemUnit {
    VerilatedContext context;
    ContextGuard guard;
    Vunit model{&context, "rtl"};
    std::string told;
    bool broken = false;
#define PORT(name, bits, input) {#name, &model.name, bits, input},
    const TandemUnitPort ports[TANDEM_UNIT_PORT_COUNT] = {TANDEM_UNIT_PORTS(PORT)};
#undef PORT

    explicit TandemUnit(int seed) : guard(&context, seed) {
        failed_assertion.clear();  // of a unit before this one
        settle();
    }
    ~TandemUnit() {
        Verilated::threadContextp(&context);
        model.final();
    }

    void evaluate() {
        if (broken) return;
        try {
            model.eval();
        } catch (const UnitIsBroken&) {
            broken = true;
        }
    }
    void settle() {
        model.clk_i = 0;
        evaluate();
    }
};

extern "C" {
#pragma GCC visibility push(default)

const TandemUnitInfo* tandem_unit_info() {
    static constexpr TandemUnitInfo kInfo = {TANDEM_UNIT_ABI_VERSION, TANDEM_UNIT_TOP,
                                             TANDEM_UNIT_BUILD_KEY};
    return &kInfo;
}

TandemUnit* tandem_unit_create(uint64_t seed) {
    resolve_thread_state();
    return new TandemUnit(seed == 0 ? 0 : verilator_seed(seed));
}

void tandem_unit_destroy(TandemUnit* unit) { delete unit; }

size_t tandem_unit_ports(TandemUnit* unit, const TandemUnitPort** first) {
    *first = unit->ports;
    return std::size(unit->ports);
}

void tandem_unit_settle(TandemUnit* unit) { unit->settle(); }

void tandem_unit_edge(TandemUnit* unit) {
    unit->context.timeInc(1);
    unit->model.clk_i = 1;
    unit->evaluate();
}

const char* tandem_unit_failure(TandemUnit* unit) {
    unit->told = std::exchange(failed_assertion, {});
    return unit->told.empty() ? nullptr : unit->told.c_str();
}

#pragma GCC visibility pop
}
