/* SPDX-License-Identifier: Apache-2.0 */
/* The C interface from C. */
#include <stdio.h>
#include <tandem/tandem.h>

int main(void) { return printf("tandem %s from C\n", tandem_version()) < 0; }
