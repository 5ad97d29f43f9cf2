// SPDX-License-Identifier: Apache-2.0
// C interface of a Verilated unit: its ports by name, and its clock. The same for every unit; the
// MAC array, with its registers, probes and waves, has one of its own (array_abi.h).
#pragma once

#include <stddef.h>
#include <stdint.h>

#define TANDEM_UNIT_ABI_VERSION 1

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TandemUnit TandemUnit;

typedef struct {
    uint32_t abi_version;
    const char* top;
    const char* build_key;
} TandemUnitInfo;

/// Bits from 0 up, in 1, 2, 4, 8 or n x 4 bytes, little endian; those beyond the port's are zero.
typedef struct {
    const char* name;
    void* data;  ///< of an input: may be written, takes effect with the next call
    uint32_t bits;
    int input;
} TandemUnitPort;

const TandemUnitInfo* tandem_unit_info(void);
/// Registers are random, seed 0: zero. The clock is low, all inputs are zero.
TandemUnit* tandem_unit_create(uint64_t seed);
void tandem_unit_destroy(TandemUnit* unit);
/// Returns their number.
size_t tandem_unit_ports(TandemUnit* unit, const TandemUnitPort** first);
/// Clock low: combinational outputs follow the inputs as they stand before the coming edge.
void tandem_unit_settle(TandemUnit* unit);
/// The rising edge, after tandem_unit_settle().
void tandem_unit_edge(TandemUnit* unit);
/// "file:line" of the first assertion that failed since the last call; null: none did.
const char* tandem_unit_failure(TandemUnit* unit);

#ifdef __cplusplus
}
#endif
