// SPDX-License-Identifier: Apache-2.0
#include "api/c/sample_layout.h"

#include <algorithm>

namespace tandem::c_api {

std::vector<uint8_t> by_inference(const std::vector<Tensor>& tensors,
                                  const std::vector<std::span<const uint8_t>>& data, uint64_t count,
                                  uint64_t batch) {
    std::vector<uint8_t> bytes;
    for (uint64_t first = 0; first < count; first += batch)
        for (size_t i = 0; i < tensors.size(); ++i) {
            const uint64_t sample = tensors[i].bytes, samples = std::min(batch, count - first);
            const auto part = data[i].subspan(first * sample, samples * sample);
            bytes.insert(bytes.end(), part.begin(), part.end());
        }
    return bytes;
}

std::vector<Tensor> by_tensor(std::vector<Tensor> tensors, std::span<const uint8_t> bytes,
                              uint64_t count, uint64_t batch) {
    size_t at = 0;
    for (uint64_t first = 0; first < count; first += batch)
        for (Tensor& tensor : tensors) {
            const uint64_t samples = std::min(batch, count - first);
            const auto part = bytes.subspan(at, samples * tensor.bytes);
            tensor.data.insert(tensor.data.end(), part.begin(), part.end());
            at += batch * tensor.bytes;
        }
    for (Tensor& tensor : tensors) {
        tensor.bytes = tensor.data.size();
        if (tensor.shape.empty() || tensor.shape.front() != 1)
            tensor.shape.insert(tensor.shape.begin(), 1);
        tensor.shape.front() = count;
    }
    return tensors;
}

}  // namespace tandem::c_api
