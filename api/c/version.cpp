// SPDX-License-Identifier: Apache-2.0
#include "tandem/tandem.h"

extern "C" const char* tandem_version(void) { return TANDEM_VERSION; }

extern "C" uint32_t tandem_api_version(void) { return TANDEM_API_VERSION; }
