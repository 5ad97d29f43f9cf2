// SPDX-License-Identifier: Apache-2.0
#include "run/output_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>

namespace tandem::run {
namespace {

double difference_of(float actual, float expected) {
    if (std::bit_cast<uint32_t>(actual) == std::bit_cast<uint32_t>(expected)) return 0;
    if (std::isnan(actual) && std::isnan(expected)) return 0;
    const double difference = std::fabs(double{actual} - double{expected});
    return std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
}

}  // namespace

double Tolerance::allowed(double expected, double largest) const {
    if (!is_of_each) return of_largest * largest;
    return std::isfinite(expected) ? absolute + relative * std::fabs(expected) : 0;
}

std::string Tolerance::text() const {
    if (!is_of_each)
        return fmt::format("{:g} % of the largest expected magnitude", of_largest * 100);
    return fmt::format("{:g} + {:g} % of what is expected", absolute, relative * 100);
}

FloatCheck compare_floats(const std::vector<uint8_t>& outputs, const std::vector<uint8_t>& expected,
                          uint64_t sample_bytes, const Tolerance& tolerance) {
    const auto actual = numbers_of(outputs, 4), wanted = numbers_of(expected, 4);
    const uint64_t sample_values = sample_bytes / 4;
    FloatCheck check;
    check.values = actual.size();
    check.tolerance = tolerance;
    for (const float value : wanted)
        if (std::isfinite(value)) check.largest = std::max(check.largest, std::fabs(double{value}));
    for (size_t i = 0; i < actual.size(); ++i) {
        const double difference = difference_of(actual[i], wanted[i]);
        check.beyond += difference > tolerance.allowed(double{wanted[i]}, check.largest);
        if (difference <= check.largest_difference) continue;
        check.largest_difference = difference;
        check.worst_sample = i / sample_values, check.worst_element = i % sample_values;
        check.worst_expected = wanted[i], check.worst_actual = actual[i];
    }
    const auto found = classes_of(actual, sample_values), right = classes_of(wanted, sample_values);
    check.samples = found.size();
    for (size_t i = 0; i < found.size(); ++i) check.same_class += found[i] == right[i];
    return check;
}

std::vector<float> numbers_of(const std::vector<uint8_t>& bytes, uint32_t element_bytes) {
    std::vector<float> values(bytes.size() / element_bytes);
    for (size_t i = 0; i < values.size(); ++i) {
        uint32_t word = 0;
        for (uint32_t byte = 0; byte < element_bytes; ++byte)
            word |= uint32_t{bytes[i * element_bytes + byte]} << 8 * byte;
        if (element_bytes == 1)
            values[i] = static_cast<float>(static_cast<int8_t>(word));
        else
            values[i] = std::bit_cast<float>(element_bytes == 2 ? word << 16 : word);
    }
    return values;
}

std::vector<uint64_t> classes_of(const std::vector<float>& values, uint64_t sample_values) {
    std::vector<uint64_t> classes;
    for (size_t first = 0; first + sample_values <= values.size(); first += sample_values) {
        const auto begin = values.begin() + static_cast<ptrdiff_t>(first);
        classes.push_back(static_cast<uint64_t>(
            std::max_element(begin, begin + static_cast<ptrdiff_t>(sample_values)) - begin));
    }
    return classes;
}

double accuracy_of(const std::vector<uint8_t>& outputs, uint32_t element_bytes,
                   const std::vector<uint8_t>& labels, uint64_t sample_bytes) {
    const auto classes =
        classes_of(numbers_of(outputs, element_bytes), sample_bytes / element_bytes);
    uint64_t right = 0;
    for (size_t i = 0; i < classes.size(); ++i) right += classes[i] == labels.at(i);
    return static_cast<double>(right) / static_cast<double>(classes.size());
}

}  // namespace tandem::run
