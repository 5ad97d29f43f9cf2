// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/onnx/tensors.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"

namespace tandem::compiler {
namespace {

using onnx::TensorProto;

constexpr int kMaxRank = 8;
constexpr uint64_t kMaxElements = INT32_MAX;

/// Exact.
float half_to_float(uint16_t half) {
    const int exponent = half >> 10 & 31, fraction = half & 1023;
    const float sign = (half & 0x8000) != 0 ? -1.0f : 1.0f;
    if (exponent == 31)
        return fraction != 0 ? std::numeric_limits<float>::quiet_NaN()
                             : sign * std::numeric_limits<float>::infinity();
    if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
    return sign * std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
}

/// Types of libonnx 1.12 end before these.
constexpr int32_t kFloat8E4M3Fn = 17, kFloat8E4M3Fnuz = 18, kFloat8E5M2 = 19, kFloat8E5M2Fnuz = 20;

/// Exact. FN: no infinities, the largest exponent is one of numbers, NaN all ones; UZ: NaN is -0,
/// and the bias one more.
float float8_to_float(uint8_t bits, int32_t type) {
    const bool wide = type == kFloat8E5M2 || type == kFloat8E5M2Fnuz;
    const bool unsigned_zero = type == kFloat8E4M3Fnuz || type == kFloat8E5M2Fnuz;
    const int fraction_bits = wide ? 2 : 3, bias = (wide ? 15 : 7) + (unsigned_zero ? 1 : 0);
    const int fraction = bits & ((1 << fraction_bits) - 1);
    const int exponent = (bits & 0x7f) >> fraction_bits;
    const float sign = (bits & 0x80) != 0 ? -1.0f : 1.0f;
    constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
    if (unsigned_zero && bits == 0x80) return kNan;
    if (type == kFloat8E4M3Fn && (bits & 0x7f) == 0x7f) return kNan;
    if (type == kFloat8E5M2 && exponent == 31)
        return fraction != 0 ? kNan : sign * std::numeric_limits<float>::infinity();
    const int whole = exponent == 0 ? fraction : fraction + (1 << fraction_bits);
    return sign *
           std::ldexp(static_cast<float>(whole), std::max(exponent, 1) - bias - fraction_bits);
}

/// Bits of an element, as the file's type has them.
template <class Field, class Convert>
auto converted(const Field& field, const Convert& convert) {
    std::vector<decltype(convert(field.Get(0)))> values;
    values.reserve(static_cast<size_t>(field.size()));
    for (int i = 0; i < field.size(); ++i) values.push_back(convert(field.Get(i)));
    return values;
}

template <class Raw, class Convert>
auto of_raw(const std::string& bytes, const Convert& convert) {
    std::vector<decltype(convert(Raw{}))> values(bytes.size() / sizeof(Raw));
    for (size_t i = 0; i < values.size(); ++i) {
        Raw raw{};
        std::memcpy(&raw, bytes.data() + i * sizeof raw, sizeof raw);
        values[i] = convert(raw);
    }
    return values;
}

/// Bytes of an element in `raw_data`; 0: not a number.
size_t raw_bytes(int32_t type) {
    if (is_float8(type)) return 1;
    switch (type) {
        case TensorProto::BOOL:
        case TensorProto::INT8:
        case TensorProto::UINT8:
            return 1;
        case TensorProto::FLOAT16:
        case TensorProto::BFLOAT16:
        case TensorProto::INT16:
        case TensorProto::UINT16:
            return 2;
        case TensorProto::FLOAT:
        case TensorProto::INT32:
        case TensorProto::UINT32:
            return 4;
        case TensorProto::DOUBLE:
        case TensorProto::INT64:
        case TensorProto::UINT64:
            return 8;
        default:
            return 0;
    }
}

std::vector<float> reals(const TensorProto& source) {
    const auto same = [](float value) { return value; };
    const auto narrow = [](double value) { return static_cast<float>(value); };
    const auto half = [](auto bits) { return half_to_float(static_cast<uint16_t>(bits)); };
    const auto brain = [](auto bits) {
        return std::bit_cast<float>(static_cast<uint32_t>(static_cast<uint16_t>(bits)) << 16);
    };
    const std::string& raw = source.raw_data();
    const bool is_raw = source.has_raw_data();
    if (is_float8(source.data_type())) {
        const auto small = [&](auto bits) {
            return float8_to_float(static_cast<uint8_t>(bits), source.data_type());
        };
        return is_raw ? of_raw<uint8_t>(raw, small) : converted(source.int32_data(), small);
    }
    switch (source.data_type()) {
        case TensorProto::FLOAT:
            return is_raw ? of_raw<float>(raw, same) : converted(source.float_data(), same);
        case TensorProto::DOUBLE:
            return is_raw ? of_raw<double>(raw, narrow) : converted(source.double_data(), narrow);
        case TensorProto::FLOAT16:
            return is_raw ? of_raw<uint16_t>(raw, half) : converted(source.int32_data(), half);
        default:
            return is_raw ? of_raw<uint16_t>(raw, brain) : converted(source.int32_data(), brain);
    }
}

/// Of a file's integer; what 64 bits do not hold becomes negative.
template <class T>
int64_t wide(T value) {
    return static_cast<int64_t>(value);
}

std::vector<int64_t> integers(const TensorProto& source) {
    const std::string& raw = source.raw_data();
    const auto to_wide = [](auto value) { return wide(value); };
    if (!source.has_raw_data()) {
        switch (source.data_type()) {
            case TensorProto::INT64:
                return converted(source.int64_data(), to_wide);
            case TensorProto::UINT32:
            case TensorProto::UINT64:
                return converted(source.uint64_data(), to_wide);
            default:
                return converted(source.int32_data(), to_wide);
        }
    }
    switch (source.data_type()) {
        case TensorProto::BOOL:
            return of_raw<uint8_t>(raw, [](uint8_t byte) { return int64_t{byte != 0}; });
        case TensorProto::UINT8:
            return of_raw<uint8_t>(raw, to_wide);
        case TensorProto::INT8:
            return of_raw<int8_t>(raw, to_wide);
        case TensorProto::INT16:
            return of_raw<int16_t>(raw, to_wide);
        case TensorProto::UINT16:
            return of_raw<uint16_t>(raw, to_wide);
        case TensorProto::INT32:
            return of_raw<int32_t>(raw, to_wide);
        case TensorProto::UINT32:
            return of_raw<uint32_t>(raw, to_wide);
        case TensorProto::UINT64:
            return of_raw<uint64_t>(raw, to_wide);
        default:
            return of_raw<int64_t>(raw, to_wide);
    }
}

}  // namespace

bool is_number_type(int32_t type) { return raw_bytes(type) != 0; }

Tensor constant_of(const TensorProto& source, const std::string& where) {
    const auto fail = [&](const std::string& what, const std::string& expected,
                          const std::string& found) {
        throw UserError(where, what, expected, found);
    };
    if (!is_number_type(source.data_type()))
        fail(
            "type", "a type of numbers or BOOL",
            TensorProto::DataType_IsValid(source.data_type())
                ? TensorProto::DataType_Name(static_cast<TensorProto::DataType>(source.data_type()))
                : std::to_string(source.data_type()));
    if (source.data_location() == TensorProto::EXTERNAL || source.external_data_size() != 0)
        fail("values", "values inside the file", "values in another file");
    if (source.has_segment()) fail("values", "a whole tensor", "a segment of one");
    if (source.dims_size() > kMaxRank)
        fail("shape", "at most 8 dimensions", std::to_string(source.dims_size()));
    Shape shape;
    uint64_t elements = 1;
    for (const int64_t extent : source.dims()) {
        if (extent < 0) fail("shape", "positive extents", std::to_string(extent));
        shape.push_back(extent);
        elements *= static_cast<uint64_t>(extent);
        if (static_cast<uint64_t>(extent) > kMaxElements || elements > kMaxElements)
            fail("shape", "at most 2^31 - 1 elements", shape_text(shape));
    }
    if (source.has_raw_data() &&
        source.raw_data().size() != elements * raw_bytes(source.data_type()))
        fail("values",
             std::to_string(elements * raw_bytes(source.data_type())) + " bytes for shape " +
                 shape_text(shape),
             std::to_string(source.raw_data().size()));
    const auto check_count = [&](size_t count) {
        if (count != elements)
            fail("values", std::to_string(elements) + " for shape " + shape_text(shape),
                 std::to_string(count));
    };
    Tensor tensor;
    if (is_float_type(source.data_type())) {
        const auto values = reals(source);
        check_count(values.size());
        tensor = real_tensor(values, shape);
    } else {
        const auto values = integers(source);
        check_count(values.size());
        tensor = integer_tensor(values, shape);
    }
    tensor.name = source.name();
    return tensor;
}

}  // namespace tandem::compiler
