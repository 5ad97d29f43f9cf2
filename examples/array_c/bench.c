/* SPDX-License-Identifier: Apache-2.0
 * Drives a Verilated MAC array through array_abi.h: out = a * w over two weight tiles, the second one
 * added to the first, checked against plain loops. Exit status 0: every sum is right.
 * All values are small whole numbers, which bf16 and fp32 hold exactly. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array_abi.h"

enum { kTiles = 2, kEdgeLimit = 1000000 };

static const TandemArrayInfo* info;
static TandemArray* array;
static unsigned long edges;

static int activation(unsigned row, unsigned k) { return (int)((7 * row + 3 * k) % 11) - 5; }
static int weight(unsigned k, unsigned col) { return (int)((5 * k + 2 * col) % 9) - 4; }

static void fail(const char* what) {
    fprintf(stderr, "bench: %s after %lu edges\n", what, edges);
    exit(1);
}

static void step(TandemArrayPorts* ports) {
    tandem_array_step(array, ports);
    if (ports->failure != NULL) fail(ports->failure);
    if (++edges > kEdgeLimit) fail("the array does not go on");
}

/* An element at the ports: int8, or bf16, which is the upper half of an fp32. */
static void put(void* elements, unsigned index, int value) {
    if (info->element_bytes == 1) {
        ((int8_t*)elements)[index] = (int8_t)value;
    } else {
        const float number = (float)value;
        uint32_t bits;
        memcpy(&bits, &number, sizeof bits);
        ((uint16_t*)elements)[index] = (uint16_t)(bits >> 16);
    }
}

/* A sum at the ports: int32 or fp32. */
static double sum_at(const void* row, unsigned col) {
    int32_t whole;
    float number;
    memcpy(&whole, (const char*)row + 4 * col, 4);
    memcpy(&number, (const char*)row + 4 * col, 4);
    return info->element_bytes == 1 ? (double)whole : (double)number;
}

/* Row Rows-1 of the tile first. */
static void load_tile(unsigned tile, void* elements) {
    for (unsigned left = info->rows; left > 0; --left) {
        TandemArrayPorts ports = {0};
        for (unsigned col = 0; col < info->cols; ++col)
            put(elements, col, weight(tile * info->rows + left - 1, col));
        ports.wgt_valid = 1;
        ports.wgt_data = elements;
        do step(&ports);
        while (!ports.wgt_ready);
    }
}

/* The first row swaps the tile in; rows of later tiles are added to what is there. */
static void send_rows(unsigned tile, unsigned rows, void* elements) {
    for (unsigned row = 0; row < rows; ++row) {
        TandemArrayPorts ports = {0};
        for (unsigned k = 0; k < info->rows; ++k)
            put(elements, k, activation(row, tile * info->rows + k));
        ports.act_valid = 1;
        ports.act_data = elements;
        ports.act_addr = row;
        ports.act_swap = row == 0;
        ports.act_accumulate = tile > 0;
        do step(&ports);
        while (!ports.act_ready);
    }
}

static void drain(void) {
    TandemArrayPorts ports = {0};
    do step(&ports);
    while (ports.busy);
}

/* The result of a read stands at the ports after the edge that accepts it. */
static unsigned wrong_sums(unsigned row) {
    TandemArrayPorts ports = {0};
    unsigned wrong = 0;
    ports.rd_valid = 1;
    ports.rd_addr = row;
    ports.res_ready = 1;
    do step(&ports);
    while (!ports.rd_ready);
    if (!ports.res_valid) fail("a read without a result");
    for (unsigned col = 0; col < info->cols; ++col) {
        int expected = 0;
        for (unsigned k = 0; k < kTiles * info->rows; ++k)
            expected += activation(row, k) * weight(k, col);
        if (sum_at(ports.res_data, col) != expected) {
            fprintf(stderr, "row %u, column %u: expected %d, the array has %g\n", row, col, expected,
                    sum_at(ports.res_data, col));
            ++wrong;
        }
    }
    return wrong;
}

int main(void) {
    info = tandem_array_info();
    if (info->abi_version != TANDEM_ARRAY_ABI_VERSION) fail("another version of array_abi.h");
    const unsigned rows = info->acc_depth < 16 ? info->acc_depth : 16;
    void* const elements = calloc(info->rows + info->cols, info->element_bytes);
    array = tandem_array_create();
    if (elements == NULL || array == NULL) fail("out of memory");
    tandem_array_reset(array);
    for (unsigned tile = 0; tile < kTiles; ++tile) {
        load_tile(tile, elements);
        send_rows(tile, rows, elements);
    }
    drain();
    unsigned wrong = 0;
    for (unsigned row = 0; row < rows; ++row) wrong += wrong_sums(row);
    printf("%ux%u %s: %u of %u sums are wrong, %lu edges\n", info->rows, info->cols, info->dtype,
           wrong, rows * info->cols, edges);
    tandem_array_destroy(array);
    free(elements);
    return wrong == 0 ? 0 : 1;
}
