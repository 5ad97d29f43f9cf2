// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/lowered_node.h"

#include <stdexcept>

namespace tandem::compiler {

ImageWindow LoweredNode::image_window(const Shape& output) const {
    const Tensor& input = in();
    const WindowAttributes a = window(graph, node);
    ImageWindow w;
    w.images = batched(static_cast<uint64_t>(input.shape[0]));
    w.in_h = static_cast<uint64_t>(input.shape[1]);
    w.in_w = static_cast<uint64_t>(input.shape[2]);
    w.channels = static_cast<uint64_t>(input.shape[3]);
    w.kernel_h = static_cast<uint64_t>(a.kernel_h);
    w.kernel_w = static_cast<uint64_t>(a.kernel_w);
    w.stride_h = static_cast<uint64_t>(a.stride_h);
    w.stride_w = static_cast<uint64_t>(a.stride_w);
    w.dilation_h = static_cast<uint64_t>(a.dilation_h);
    w.dilation_w = static_cast<uint64_t>(a.dilation_w);
    w.pad_top = static_cast<uint64_t>(a.pad_top);
    w.pad_left = static_cast<uint64_t>(a.pad_left);
    w.out_h = static_cast<uint64_t>(output[1]);
    w.out_w = static_cast<uint64_t>(output[2]);
    // Two passes of one byte each stand for 16-bit integers on an 8-bit array.
    w.element_bytes = input.type == ElementType::kInt16
                          ? 1
                          : static_cast<uint32_t>(element_type_bytes(input.type));
    if (!input.quantization.zero_points.empty())
        w.pad_value = static_cast<int8_t>(input.zero_point());
    return w;
}

arch::VectorType vector_type(ElementType type) {
    switch (type) {
        case ElementType::kInt8:
            return arch::VectorType::kInt8;
        case ElementType::kInt32:
            return arch::VectorType::kInt32;
        case ElementType::kInt16:
        case ElementType::kBf16:
            return arch::VectorType::kBf16;
        case ElementType::kFloat32:
            return arch::VectorType::kFp32;
        default:
            throw std::domain_error("elements of INT8, INT32, BFLOAT16 or FLOAT32, found " +
                                    std::string(element_type_name(type)));
    }
}

}  // namespace tandem::compiler
