/* SPDX-License-Identifier: Apache-2.0 */
/* Tandem as a C library. Errors are values; no call leaves state behind. */
#ifndef TANDEM_TANDEM_H
#define TANDEM_TANDEM_H

#ifdef __cplusplus
extern "C" {
#endif

/* "0.1.0"; lives as long as the process. */
const char* tandem_version(void);

#ifdef __cplusplus
}
#endif

#endif
