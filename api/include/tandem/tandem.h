// SPDX-License-Identifier: Apache-2.0
// Tandem as a C library: models on chips, matrix products, verification of arrays. docs/c_api.md
// has the whole.
//
// Status. Every function that can fail returns one. Where `error` is not NULL, it gets NULL or the
// reason in words, which the caller gives to tandem_free().
//
// Structs that the caller fills begin with their own size; a field that is zero or NULL, or that an
// older caller's shorter struct does not have, has its default:
//     tandem_run_options options = {.size = sizeof options};
// All fields have 8 bytes. The library keeps no pointer of the caller's after a call.
//
// Ownership. What comes out through a pointer to a pointer is the caller's: text goes to
// tandem_free(), models and results to their own functions. What a tandem_tensor points to lives as
// long as the model or result that it was asked of.
//
// Processes. Runs, products and verifications are done in a child process, one for each call. A
// crash in there is TANDEM_FAULT; the caller's streams, signal handlers, descriptors, environment
// and globals stay as they are.
//
// Threads. Every function may be called by any number of threads at the same time, with the same
// model, too; what frees something comes last.
#ifndef TANDEM_TANDEM_H
#define TANDEM_TANDEM_H

#include <stddef.h>
#include <stdint.h>

// Of this header; grows when functions or fields are added. What is there stays.
#define TANDEM_API_VERSION 1

#ifdef __cplusplus
extern "C" {
#endif

// As the exit status of the command line.
typedef enum tandem_status {
    TANDEM_GOOD = 0,
    // An answer is not as expected, or model and RTL part: there is a result that says where.
    TANDEM_MISMATCH = 1,
    // A mistake in an argument, a file or the configuration; no memory; a time-out. No result.
    TANDEM_USER_ERROR = 2,
    // A fault of Tandem: a crash, a law of the simulator that does not hold. No result.
    TANDEM_FAULT = 3
} tandem_status;

// ---- The library

// "0.1.0"; lives as long as the process.
const char* tandem_version(void);

// What `tandem --version` prints: also commit, compiler, Verilator in PATH, SystemC.
tandem_status tandem_build_info(char** text, char** error);

// Of the library. It is too old for a caller whose header has a greater TANDEM_API_VERSION.
uint32_t tandem_api_version(void);

// Text that came out through a pointer; NULL is allowed.
void tandem_free(char* text);

// ---- Chips

typedef struct tandem_chip {
    uint64_t size;
    const char* name;         // of a shipped chip, or a chip file; NULL: test_16x16
    const char* const* sets;  // figures that differ: "mxu.count=2"
    uint64_t set_count;
} tandem_chip;

// All figures of a chip, keys with their units, as JSON; NULL: of all shipped chips, an array.
tandem_status tandem_chip_figures(const tandem_chip* chip, char** json, char** error);

// ---- Models

typedef struct tandem_model tandem_model;

typedef struct tandem_model_options {
    uint64_t size;
    const char* file;         // .tflite, .onnx, .tgraph, .tpu (compiled), .csv, .yaml
    const tandem_chip* chip;  // NULL: test_16x16
    const char* dtype;        // of layers: int8, bf16; NULL: the chip's own
    const char* rounding;     // single, gemmlowp; NULL: single
    const char* plan;         // search, rules; NULL: search
    uint64_t batch;           // samples of an inference; 0: 1
} tandem_model_options;

// Reads a model and, if it has data, compiles it for the chip.
tandem_status tandem_model_load(const tandem_model_options* options, tandem_model** model,
                                char** error);
void tandem_model_free(tandem_model* model);

// Writes the program of a model with data as a .tpu file.
tandem_status tandem_model_compile(const tandem_model* model, const char* file, char** error);

// Which tensors; `place` of the functions below. Layers without data have neither inputs nor
// outputs before they have run: theirs are seeded.
enum {
    TANDEM_INPUT = 0,   // of models
    TANDEM_OUTPUT = 1,  // of models and results
    TANDEM_LAYER = 2    // of results: what operators computed for the first inference
};

typedef struct tandem_tensor {
    uint64_t size;
    const char* name;
    // int8, bf16, float32. Little-endian; the last dimension runs fastest.
    const char* dtype;
    // Of a model: of one sample. Of a result: the first dimension counts samples; it stands in
    // front of a sample's own, in place of its first one if that is 1.
    const uint64_t* shape;
    uint64_t rank;
    double scale;  // real = scale * (value - zero_point); 0: not quantised
    int64_t zero_point;
    const void* data;  // NULL in models
    uint64_t bytes;    // of `data`; in models: of one sample
} tandem_tensor;

uint64_t tandem_model_tensor_count(const tandem_model* model, uint32_t place);

// Fills `tensor`, whose `size` the caller has set.
tandem_status tandem_model_tensor(const tandem_model* model, uint32_t place, uint64_t index,
                                  tandem_tensor* tensor, char** error);

// ---- Runs

typedef struct tandem_result tandem_result;

typedef struct tandem_bytes {
    const void* data;
    uint64_t bytes;
} tandem_bytes;

typedef struct tandem_run_options {
    uint64_t size;
    const char* backend;  // tlm, rtl, tandem; NULL: tlm
    // functional, timing; NULL: of a model with data functional, of layers timing, or functional
    // where the backend has RTL.
    const char* mode;
    const char* host;  // of models with data: riscv, native; NULL: riscv
    uint64_t seed;     // of all that has no bytes
    uint64_t count;    // samples; 0: all of the inputs, or one inference
    // One for each input, its samples one behind the other; NULL: seeded.
    const tandem_bytes* inputs;
    uint64_t input_count;  // 0, or as many as the model has
    // One for each output, in the same way: TANDEM_MISMATCH if they differ; NULL: not compared.
    const tandem_bytes* expected;
    uint64_t expected_count;
    // By which float32 outputs may differ, as a share of the largest expected magnitude; 0: 0.05.
    double tolerance;
    uint64_t keep_layers;  // not 0: the result has TANDEM_LAYER tensors; of models with data
    const char* inject;    // flips a bit of the RTL: "pe[1][2].psum:bit3@cycle=100", "seed=7"
    const char* trace;     // file for a timeline; NULL: none
    const char* divergence_wave;  // .fst file for the window around a divergence; NULL: none
    uint64_t firmware_budget;     // instructions of the RISC-V host; 0: the default
    double timeout_seconds;       // of wall time; 0: none
} tandem_run_options;

// `options` may be NULL. *result is NULL unless the status is TANDEM_GOOD or TANDEM_MISMATCH; with
// the latter `error` says what differs.
tandem_status tandem_run(const tandem_model* model, const tandem_run_options* options,
                         tandem_result** result, char** error);
void tandem_result_free(tandem_result* result);

// JSON, as --json writes it (docs/report.md). Lives as long as the result.
const char* tandem_result_report(const tandem_result* result);

// As the command line prints it. Lives as long as the result.
const char* tandem_result_summary(const tandem_result* result);

// Of layers with seeded data, outputs are the tensors that the chip has computed; in timing mode
// there are none.
uint64_t tandem_result_tensor_count(const tandem_result* result, uint32_t place);
tandem_status tandem_result_tensor(const tandem_result* result, uint32_t place, uint64_t index,
                                   tandem_tensor* tensor, char** error);

// ---- Matrix products

typedef struct tandem_gemm_options {
    uint64_t size;
    const tandem_chip* chip;  // NULL: test_16x16
    const char* dtype;        // int8, bf16; NULL: the chip's own
    uint64_t m, k, n;         // C[m,n] = A[m,k] x B[k,n], each 1 to 65535
    const void* a;            // row after row, m*k elements; NULL: seeded
    const void* b;            // row after row, k*n elements; NULL: seeded
    // int8: C = A x B times this, rounded half to even, saturated; 0: so that C is spread as A is.
    double multiplier;
    // As in tandem_run_options and tandem_model_options; NULL of `mode`: functional.
    const char* backend;
    const char* mode;
    const char* host;
    const char* plan;
    const char* inject;
    uint64_t seed;
    double timeout_seconds;
} tandem_gemm_options;

// One output, C, which plain loops confirm: TANDEM_MISMATCH if it is not what they have.
tandem_status tandem_gemm(const tandem_gemm_options* options, tandem_result** result, char** error);

// ---- Verification

typedef struct tandem_verify_options {
    uint64_t size;
    const tandem_chip* chip;    // whose array; NULL: the array that the next figures say
    uint64_t rows, cols;        // 1 to 256; 0: 16
    const char* dtype;          // int8, bf16; NULL: int8
    uint64_t accumulator_rows;  // 0: 256
    uint64_t pipeline;          // PEs between two registers; 0: 1
    uint64_t sum4;              // not 0: bf16 products are added in fours
    uint64_t streams;           // 0: 100
    uint64_t seed;              // of the first stream; the others count up
    const char* inject;         // into every stream
    const char* waves;          // folder for the wave of a divergence; NULL: none
    double timeout_seconds;
} tandem_verify_options;

// Random command streams, RTL against model, up to the first divergence. The report has counts and,
// with TANDEM_MISMATCH, the divergence; there are no tensors.
tandem_status tandem_verify(const tandem_verify_options* options, tandem_result** result,
                            char** error);

#ifdef __cplusplus
}
#endif

#endif
