// SPDX-License-Identifier: Apache-2.0
#include "api/c/tensor.h"

#include <algorithm>
#include <cstring>

#include "api/c/options.h"

namespace tandem::c_api {

std::string dtype_name(compiler::ElementType type) {
    if (type == compiler::ElementType::kBf16) return "bf16";
    std::string name(compiler::element_type_name(type));
    std::ranges::transform(name, name.begin(), [](char c) {
        return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    });
    return name;
}

std::string dtype_name(uint64_t element_bytes) {
    return element_bytes == 1 ? "int8" : element_bytes == 2 ? "bf16" : "float32";
}

Tensor described(const compiler::Tensor& tensor) {
    Tensor described{.name = tensor.name,
                     .dtype = dtype_name(tensor.type),
                     .shape = {tensor.shape.begin(), tensor.shape.end()},
                     .bytes = tensor.size_bytes()};
    if (tensor.quantization.scales.size() == 1) {
        described.scale = static_cast<double>(tensor.scale());
        described.zero_point = tensor.zero_point();
    }
    return described;
}

void show(const std::vector<Tensor>& tensors, uint64_t index, tandem_tensor* out) {
    need(out, "tensor");
    if (index >= tensors.size())
        throw UserError("tensor", "index", "less than " + std::to_string(tensors.size()),
                        std::to_string(index));
    const Tensor& tensor = tensors[index];
    const tandem_tensor shown{.size = out->size,
                              .name = tensor.name.c_str(),
                              .dtype = tensor.dtype.c_str(),
                              .shape = tensor.shape.data(),
                              .rank = tensor.shape.size(),
                              .scale = tensor.scale,
                              .zero_point = tensor.zero_point,
                              .data = tensor.data.empty() ? nullptr : tensor.data.data(),
                              .bytes = tensor.bytes};
    // What a newer caller has behind it stays zero.
    std::memcpy(out, &shown, checked_size(out->size, sizeof shown, out, "tandem_tensor"));
}

}  // namespace tandem::c_api
