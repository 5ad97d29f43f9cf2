/* SPDX-License-Identifier: Apache-2.0 */
/* Tandem as a C library: models on chips, matrix products, verification of arrays.
 *
 * Status. Every function that can fail returns one, with the meaning of the command line's exit
 * status. `error`, where it is not NULL, gets NULL or the reason in words, which the caller gives
 * to tandem_free(). Structs. Those that the caller fills start with their own size and are zero
 * otherwise: {sizeof(tandem_run_options)}. A field that is zero, NULL or missing (an older caller's
 * struct is shorter) has its default. All fields have 8 bytes. The library keeps no pointer of the
 * caller's after a call. Ownership. What comes out through a `**` is the caller's: strings go to
 * tandem_free(), models and results to their own functions. What a tandem_tensor points to belongs
 * to the model or result that it was asked of. Processes. Runs, products and verifications are done
 * in a child process, one for each call: SystemC builds one machine in a process. A crash in there
 * is TANDEM_FAULT; the caller's streams, signals, descriptors, environment and globals stay as they
 * are, except that SIGCHLD may come. Threads. Every function may be called by any number of threads
 * at the same time, with the same model, too; only what frees something must be the last. */
#ifndef TANDEM_TANDEM_H
#define TANDEM_TANDEM_H

#include <stddef.h>
#include <stdint.h>

/* Of this header; grows when functions or fields are added. What is there stays. */
#define TANDEM_API_VERSION 1

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tandem_status {
    TANDEM_GOOD = 0,
    TANDEM_MISMATCH = 1,   /* an answer is not as expected, or model and RTL part; there is a result
                              that says where */
    TANDEM_USER_ERROR = 2, /* a mistake in an argument, a file or the configuration, no memory, a
                              time-out; no result */
    TANDEM_FAULT =
        3 /* a fault of Tandem: a crash, a law of the simulator that does not hold; no result */
} tandem_status;

/* ---- The library ---- */

const char* tandem_version(void);  /* "0.1.0"; lives as long as the process */
uint32_t tandem_api_version(void); /* of the library: at least TANDEM_API_VERSION of the header that
                                      a caller was compiled with, or it is too old */

/* Of strings that came out through a `char**`. NULL is allowed. */
void tandem_free(char* text);

/* ---- Chips ---- */

typedef struct tandem_chip {
    uint64_t size;
    const char* name;        /* of a shipped chip, or a chip file; NULL: test_16x16 */
    const char* const* sets; /* "mxu.count=2": figures that differ */
    uint64_t set_count;
} tandem_chip;

/* All figures of a chip, keys with their units, as JSON; of all shipped chips, as an array, if
 * `chip` is NULL. */
tandem_status tandem_chip_figures(const tandem_chip* chip, char** json, char** error);

/* ---- Models ---- */

typedef struct tandem_model tandem_model;

typedef struct tandem_model_options {
    uint64_t size;
    const char* file;        /* .tflite, .tgraph, .tpu (compiled), or layers: .csv, .yaml */
    const tandem_chip* chip; /* NULL: test_16x16 */
    const char* dtype;       /* of layers: int8, bf16; NULL: the chip's own */
    const char* rounding;    /* single, gemmlowp; NULL: single */
    const char* plan;        /* search, rules; NULL: search */
    uint64_t batch;          /* samples per inference; 0: 1 */
} tandem_model_options;

/* Reads a model and, if it has data, compiles it for the chip. */
tandem_status tandem_model_load(const tandem_model_options* options, tandem_model** model,
                                char** error);
void tandem_model_free(tandem_model* model);

/* Writes the program of a model with data as a .tpu file, whole or not at all. */
tandem_status tandem_model_compile(const tandem_model* model, const char* file, char** error);

typedef struct tandem_tensor {
    uint64_t size;
    const char* name;
    const char* dtype;     /* int8, uint8, int16, int32, int64, bf16, float32; elements are
                              little-endian, the last dimension runs fastest */
    const uint64_t* shape; /* of a model: of one sample; of a result: the first dimension, if it is
                              not 1 one before it, counts samples */
    uint64_t rank;
    double scale; /* real = scale * (value - zero_point); 0: not quantised */
    int64_t zero_point;
    const void* data; /* NULL in models */
    uint64_t bytes;   /* of `data`; in models: of one sample */
} tandem_tensor;

/* Which tensors, the `place` of functions. Models have inputs and outputs; layers without data have
 * none, for theirs are seeded. */
typedef enum tandem_place {
    TANDEM_INPUT = 0,
    TANDEM_OUTPUT = 1,
    TANDEM_LAYER = 2 /* what an operator has computed for the first inference
                        (tandem_run_options.keep_layers) */
} tandem_place;

uint64_t tandem_model_tensor_count(const tandem_model* model, uint32_t place);
/* Fills `tensor`, of which the caller has set `size`. */
tandem_status tandem_model_tensor(const tandem_model* model, uint32_t place, uint64_t index,
                                  tandem_tensor* tensor, char** error);

/* ---- Runs ---- */

typedef struct tandem_result tandem_result;

typedef struct tandem_bytes {
    const void* data;
    uint64_t bytes;
} tandem_bytes;

typedef struct tandem_run_options {
    uint64_t size;
    const char* backend; /* tlm, rtl, tandem; NULL: tlm */
    const char*
        mode; /* functional, timing; NULL: functional for a model with data, timing for layers */
    const char* host; /* riscv, native; NULL: riscv; of models with data */
    uint64_t seed;    /* of everything that has no bytes */
    uint64_t count;   /* samples; 0: all that the inputs hold, or one batch */
    const tandem_bytes*
        inputs;           /* one for each input, its samples one behind the other; NULL: seeded */
    uint64_t input_count; /* 0, or the model's */
    const tandem_bytes* expected; /* one for each output, in the same way: TANDEM_MISMATCH if they
                                     differ; NULL: not compared */
    uint64_t expected_count;
    double
        tolerance; /* of float32 outputs, as a share of the largest expected magnitude; 0: 0.05 */
    uint64_t keep_layers; /* not 0: TANDEM_LAYER tensors are in the result; of models with data,
                             functional */
    const char* inject;   /* flips a bit of the RTL: "pe[1][2].psum:bit3@cycle=100", "seed=7" */
    const char* trace;    /* file for a timeline; NULL: none */
    const char* divergence_wave; /* .fst file for the window around a divergence; NULL: none */
    uint64_t firmware_budget; /* instructions of the RISC-V host after which the run fails; 0: the
                                 default */
    double timeout_seconds;   /* of wall time; 0: none */
} tandem_run_options;

/* `options` may be NULL. *result is NULL unless the status is TANDEM_GOOD or TANDEM_MISMATCH; with
 * the latter `error` says what differs. */
tandem_status tandem_run(const tandem_model* model, const tandem_run_options* options,
                         tandem_result** result, char** error);
void tandem_result_free(tandem_result* result);

/* As --json writes it (docs/report.md); it and the summary live as long as the result. */
const char* tandem_result_report(const tandem_result* result);
/* As the command line prints it. */
const char* tandem_result_summary(const tandem_result* result);
/* TANDEM_OUTPUT and TANDEM_LAYER; of layers with seeded data, outputs are the tensors that the chip
 * computed; none in timing mode. */
uint64_t tandem_result_tensor_count(const tandem_result* result, uint32_t place);
tandem_status tandem_result_tensor(const tandem_result* result, uint32_t place, uint64_t index,
                                   tandem_tensor* tensor, char** error);

/* ---- Matrix products ---- */

typedef struct tandem_gemm_options {
    uint64_t size;
    const tandem_chip* chip; /* NULL: test_16x16 */
    const char* dtype;       /* int8, bf16; NULL: the chip's own */
    uint64_t m, k, n;        /* C[m,n] = A[m,k] x B[k,n], each 1 to 65535 */
    const void* a;           /* row after row: m*k elements; NULL: seeded */
    const void* b;           /* row after row: k*n elements; NULL: seeded */
    double multiplier;       /* int8: C = A x B times this, rounded half to even, saturated; 0: what
                                spreads C as A is spread */
    const char* backend;     /* as tandem_run_options has them, and all below */
    const char* mode;
    const char* host;
    const char* plan;
    const char* inject;
    uint64_t seed;
    double timeout_seconds;
} tandem_gemm_options;

/* One output tensor, C. It is compared with plain loops: TANDEM_MISMATCH if it is not what they
 * have. */
tandem_status tandem_gemm(const tandem_gemm_options* options, tandem_result** result, char** error);

/* ---- Verification ---- */

typedef struct tandem_verify_options {
    uint64_t size;
    const tandem_chip* chip;   /* whose array; NULL: the one of the figures below */
    uint64_t rows, cols;       /* 0: 16 */
    const char* dtype;         /* int8, bf16; NULL: int8 */
    uint64_t accumulator_rows; /* 0: 256 */
    uint64_t pipeline;         /* 0: 1 */
    uint64_t sum4;             /* not 0: bf16 products are added in fours */
    uint64_t streams;          /* 0: 100 */
    uint64_t seed;             /* of the first stream; the others count up */
    const char* inject;        /* into every stream */
    const char* waves;         /* folder for the wave of a divergence; NULL: none */
    double timeout_seconds;
} tandem_verify_options;

/* Random command streams, RTL against model; no tensors. The report has counts, and the divergence
 * of TANDEM_MISMATCH. */
tandem_status tandem_verify(const tandem_verify_options* options, tandem_result** result,
                            char** error);

#ifdef __cplusplus
}
#endif

#endif
