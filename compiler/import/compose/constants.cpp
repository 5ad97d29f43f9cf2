// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/compose/constants.h"

#include <cstring>

namespace tandem::compiler {
namespace {

template <class T>
std::vector<T> elements_of(const Tensor& constant) {
    std::vector<T> values(constant.bytes().size() / sizeof(T));
    if (!values.empty())
        std::memcpy(values.data(), constant.bytes().data(), values.size() * sizeof(T));
    return values;
}

template <class T>
Tensor tensor_of(const std::vector<T>& values, const Shape& shape, ElementType type) {
    Tensor tensor;
    tensor.is_constant = true;
    tensor.type = type;
    tensor.shape = shape;
    std::vector<uint8_t> bytes(values.size() * sizeof(T));
    if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
    tensor.set_bytes(std::move(bytes));
    return tensor;
}

}  // namespace

std::vector<int64_t> integers_of(const Tensor& constant) { return elements_of<int64_t>(constant); }
std::vector<float> reals_of(const Tensor& constant) { return elements_of<float>(constant); }

Tensor integer_tensor(const std::vector<int64_t>& values, const Shape& shape) {
    return tensor_of(values, shape, ElementType::kInt64);
}
Tensor real_tensor(const std::vector<float>& values, const Shape& shape) {
    return tensor_of(values, shape, ElementType::kFloat32);
}

}  // namespace tandem::compiler
