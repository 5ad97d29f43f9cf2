// SPDX-License-Identifier: Apache-2.0
// The C interface between one Verilated MAC array (a shared object) and the co-simulation.
// A plain C ABI keeps Verilator's headers out of every other translation unit, so that arrays of
// different sizes can live in one process and be built on demand.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

#define TANDEM_ARRAY_ABI_VERSION 2u

/// What the shared object contains. Strings live as long as the object is loaded.
struct TandemArrayInfo {
    uint32_t abi_version;
    uint32_t rows;
    uint32_t cols;
    uint32_t acc_depth;     ///< accumulator rows
    const char* dtype;      ///< "int8"
    const char* build_key;  ///< hash of sources, parameters and tool versions
};

/// One clock edge at the ports. Inputs are applied before the edge; `*_ready` are sampled just
/// before it (a beat is accepted when valid and ready meet); the rest are registered outputs as
/// they stand after it. See rtl/README.md for the port contract.
struct TandemArrayPorts {
    // inputs
    const void* wgt_data;  ///< cols bytes; read only while wgt_valid
    const void* act_data;  ///< rows bytes; read only while act_valid
    uint32_t act_addr;     ///< accumulator row
    uint32_t rd_addr;      ///< accumulator row
    uint8_t wgt_valid;
    uint8_t act_valid;
    uint8_t act_swap;        ///< this row is the first to use the complete shadow tile
    uint8_t act_accumulate;  ///< add to the accumulator row instead of replacing it
    uint8_t rd_valid;
    uint8_t res_ready;
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
};

/// The registers of the PEs, readable and writable in place. PE(r, c) stands at index
/// (rows - 1 - r) * cols + (cols - 1 - c) of each; an element is `*_bytes` wide.
struct TandemArrayState {
    void* activation;
    void* weight;
    void* shadow;
    void* psum;
    uint32_t activation_bytes;
    uint32_t weight_bytes;
    uint32_t psum_bytes;
};

/// A signal of the model that is recorded in the same waveform as the RTL. `data` is read at every
/// recorded edge and must stay valid until the trace is closed.
struct TandemProbe {
    const char* scope;  ///< dot separated, e.g. "model.mxu"
    const char* name;
    const void* data;  ///< little-endian, (bits + 7) / 8 bytes rounded up to a multiple of 4
    uint32_t bits;
};

typedef struct TandemArray TandemArray;

const TandemArrayInfo* tandem_array_info();
TandemArray* tandem_array_create();
void tandem_array_destroy(TandemArray*);
/// Holds reset low for two edges and releases it; afterwards the next step is edge 0.
void tandem_array_reset(TandemArray*);
void tandem_array_step(TandemArray*, TandemArrayPorts*);
void tandem_array_state(TandemArray*, TandemArrayState*);
/// Starts an FST at the current edge; edges are `period_ps` apart and edge number `edge` stands at
/// edge * period_ps. Returns 0, or -1 when the file cannot be written.
int tandem_array_trace_open(TandemArray*, const char* path, uint64_t edge, uint64_t period_ps,
                            const TandemProbe* probes, size_t probe_count);
void tandem_array_trace_close(TandemArray*);
}
