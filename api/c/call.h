// SPDX-License-Identifier: Apache-2.0
// The border of the C interface: no exception crosses it, and what the caller has set of floating
// point and locale neither changes a result nor is changed.
#pragma once

#include <functional>
#include <string>

#include "tandem/tandem.h"

namespace tandem::c_api {

/// For the caller, who frees it with tandem_free().
char* copy_of(const std::string& text);

/// What `work` returns; UserError, missing files and missing memory are TANDEM_USER_ERROR, other
/// exceptions TANDEM_FAULT. `error` gets what is wrong, or NULL.
tandem_status call(char** error, const std::function<tandem_status()>& work) noexcept;

/// An answer that is given beside a result: TANDEM_MISMATCH and why.
void tell(char** error, const std::string& why);

}  // namespace tandem::c_api
