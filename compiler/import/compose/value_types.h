// SPDX-License-Identifier: Apache-2.0
// Types that values have in a file, numbered as ONNX numbers them.
#pragma once

#include <cstdint>

namespace tandem::compiler {

inline constexpr int32_t kOnnxFloat = 1, kOnnxInt32 = 6, kOnnxInt64 = 7, kOnnxBool = 9,
                         kOnnxFloat16 = 10, kOnnxDouble = 11, kOnnxBfloat16 = 16;

/// Of eight bits, in its four forms.
inline bool is_float8(int32_t type) { return type >= 17 && type <= 20; }

/// Held as FLOAT32; all others are integers or truth, held as INT32.
inline bool is_float_type(int32_t type) {
    return type == kOnnxFloat || type == kOnnxFloat16 || type == kOnnxBfloat16 ||
           type == kOnnxDouble || is_float8(type);
}

}  // namespace tandem::compiler
