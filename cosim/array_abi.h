// SPDX-License-Identifier: Apache-2.0
// The C interface of one Verilated MAC array, a shared object: C99 or C++. Tandem's co-simulation
// uses it, and so can any other program (tandem rtl export --as c).
//
// A plain C ABI keeps Verilator's headers out of every other translation unit. All arrays export
// the same names: one can be linked; several in one process are loaded with dlopen(RTLD_LOCAL).
//
//   create -> reset -> step, step, ... -> destroy        one step is one rising edge of the clock
//
// Calls for one array, and those of several arrays of one library, belong to one thread at a time.
// None exits or throws; a step allocates nothing. What an array points to belongs to it, and is
// good until the next call for it, unless the structure says otherwise.
#ifndef TANDEM_ARRAY_ABI_H
#define TANDEM_ARRAY_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Raised whenever a structure or the meaning of a call changes: a program compares it with
/// tandem_array_info()->abi_version before it calls anything else.
#define TANDEM_ARRAY_ABI_VERSION 5u

/// What the shared object contains. Strings live as long as the object is loaded.
typedef struct TandemArrayInfo {
    uint32_t abi_version;
    uint32_t rows;
    uint32_t cols;
    uint32_t acc_depth;     ///< accumulator rows
    uint32_t pipeline;      ///< PEs between two pipeline registers
    uint32_t sum4;          ///< 1: rows are summed in groups of four
    const char* dtype;      ///< "int8", "bf16"
    const char* form;       ///< "flat", "grid"; "other": not Tandem's own RTL
    const char* build_key;  ///< hash of sources, parameters and tool versions
    // Containers of the PE registers; the value stands in their low bits, the rest is zero.
    uint32_t element_bytes;  ///< of activation, weight, shadow
    uint32_t psum_bytes;
    uint32_t tag_bytes;  ///< of swap, load
} TandemArrayInfo;

/// One clock edge at the ports. Inputs are applied before the edge; `*_ready` are sampled just
/// before it (a beat is accepted when valid and ready meet); the rest are registered outputs as
/// they stand after it. See rtl/README.md for the port contract. An element is 1 byte (int8) or 2
/// (bf16) wide.
typedef struct TandemArrayPorts {
    // inputs
    const void* wgt_data;  ///< cols elements; read only while wgt_valid, or with idle_data
    const void* act_data;  ///< rows elements; read only while act_valid, or with idle_data
    uint32_t act_addr;     ///< accumulator row
    uint32_t rd_addr;      ///< accumulator row
    uint8_t wgt_valid;
    uint8_t act_valid;
    uint8_t act_swap;        ///< this row is the first to use the complete shadow tile
    uint8_t act_accumulate;  ///< add to the accumulator row instead of replacing it
    uint8_t rd_valid;
    uint8_t res_ready;
    uint8_t reset;      ///< rst_ni is low at this edge, from before it
    uint8_t idle_data;  ///< data, addresses and flags stand at the ports while their valid is low
    // outputs
    uint8_t wgt_ready;
    uint8_t act_ready;
    uint8_t rd_ready;
    uint8_t cmt_valid;  ///< an accumulator row was written at this edge
    uint8_t res_valid;
    uint8_t busy;
    uint32_t cmt_addr;
    const void* cmt_data;  ///< cols x 4 bytes, the row as written; valid until the next step
    const void* res_data;  ///< cols x 4 bytes
    const char* failure;   ///< "file:line" of an assertion that failed at this edge, or null
} TandemArrayPorts;

/// The registers of one PE, readable and writable in place between two steps; their widths are in
/// TandemArrayInfo. Null: this PE has no such register (Pipeline > 1), or the array does not show
/// it.
typedef struct TandemPeRegisters {
    void* activation;
    void* weight;
    void* shadow;
    void* psum;
    void* swap;  ///< tag that travels with the activation
    void* load;  ///< tag that travels with the weight beat
} TandemPeRegisters;

/// A net between the units of the array, under its name in the RTL (contract in rtl/README.md).
/// `data` holds it as it stood before the last edge, while the array is watched: little-endian,
/// (bits + 7) / 8 bytes rounded up to a multiple of 4.
typedef struct TandemTap {
    const char* name;
    const void* data;
    uint32_t bits;
} TandemTap;

/// A signal of the model that is recorded in the same waveform as the RTL. `data` is read at every
/// recorded edge and must stay valid until the trace is closed.
typedef struct TandemProbe {
    const char* scope;  ///< dot separated, e.g. "model.mxu"
    const char* name;
    const void* data;  ///< little-endian, (bits + 7) / 8 bytes rounded up to a multiple of 4
    uint32_t bits;
} TandemProbe;

typedef struct TandemArray TandemArray;

typedef void (*TandemTraceCall)(void* user, const TandemArrayPorts* ports, int rose);
typedef void (*TandemSignalCall)(void* user, const char* name, uint32_t bits);

const TandemArrayInfo* tandem_array_info(void);
/// A new array, to be reset before its first step. Registers that no reset sets are zero.
TandemArray* tandem_array_create(void);
/// The same, with bits that `seed` decides in all registers.
TandemArray* tandem_array_create_random(uint64_t seed);
void tandem_array_destroy(TandemArray* array);
/// Holds reset low for two edges and releases it; afterwards the next step is edge 0. An open trace
/// goes on, and its edges keep their numbers: these two stand right after the last one, before half
/// of its period has gone by.
void tandem_array_reset(TandemArray* array);
/// One rising edge, with the inputs of `ports`; fills in its outputs.
void tandem_array_step(TandemArray* array, TandemArrayPorts* ports);
/// The places of the registers stay the same as long as the array lives.
void tandem_array_pe(TandemArray* array, uint32_t row, uint32_t col, TandemPeRegisters*);
/// After a register was written from outside: combinational logic behind it takes the new value.
void tandem_array_settle(TandemArray* array);
/// The nets that this array shows; returns their number (0: none). Names and places stay the same
/// as long as the array lives.
size_t tandem_array_taps(TandemArray* array, const TandemTap** first);
/// Taps follow the array while watching is on; off after creation.
void tandem_array_watch(TandemArray* array, int on);
/// Starts an FST at the current edge; edges are `period_fs` apart and edge number `edge` stands at
/// edge * period_fs. Beside the RTL (scope "rtl") and the probes it has "tandem.edge", the number
/// of the edge, from half a period before it. Returns 0, or -1 when the file cannot be written.
int tandem_array_trace_open(TandemArray* array, const char* path, uint64_t edge, uint64_t period_fs,
                            const TandemProbe* probes, size_t probe_count);
void tandem_array_trace_close(TandemArray* array);
/// Of an open trace: `call` is called before each moment is recorded, and may write what probes
/// point to. `rose` 0: half a period before an edge, with its inputs and readies in `ports`, taps
/// as before it; 1: at the edge, all of `ports` as after it. Ends with the trace.
void tandem_array_trace_call(TandemArray* array, TandemTraceCall call, void* user);
/// Tells each signal of a closed trace, "scope.scope.name" without its range. Returns 0, or -1 when
/// the file cannot be read.
int tandem_array_wave_signals(const char* path, TandemSignalCall call, void* user);
/// Writes a closed trace as a VCD. Returns 0, or -1 when one cannot be read or the other written.
int tandem_array_wave_to_vcd(const char* fst, const char* vcd);

#ifdef __cplusplus
}
#endif

#endif  // TANDEM_ARRAY_ABI_H
