// SPDX-License-Identifier: Apache-2.0
// What Unicorn refuses although nothing of the user's is wrong.
#pragma once

#include <unicorn/unicorn.h>

#include <stdexcept>
#include <string>

namespace tandem::host {

inline void require(uc_err error, const std::string& what) {
    if (error != UC_ERR_OK)
        throw std::runtime_error("Unicorn: " + what + ": " + uc_strerror(error));
}

}  // namespace tandem::host
