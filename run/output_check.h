// SPDX-License-Identifier: Apache-2.0
// Outputs of a network beside what they should be.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tandem::run {

/// Difference that a float output may have from the expected one.
struct Tolerance {
    double of_largest = 0.05;  ///< as a share of the largest expected magnitude
    /// In place of that: absolute + relative * |expected|, for each value its own.
    bool is_of_each = false;
    double relative = 0, absolute = 0;

    double allowed(double expected, double largest) const;
    std::string text() const;  ///< "5 % of the largest"
};

/// float32 outputs beside those of another arithmetic, which are close at best.
struct FloatCheck {
    uint64_t values = 0;
    double largest = 0;  ///< magnitude of all expected values: what differences are measured by
    double largest_difference = 0;  ///< of a value from the expected one
    uint64_t worst_sample = 0, worst_element = 0;
    float worst_expected = 0, worst_actual = 0;
    Tolerance tolerance;
    uint64_t beyond = 0;  ///< values that differ by more
    uint64_t samples = 0;
    uint64_t same_class = 0;  ///< samples whose largest output is the expected one
};

/// Both have the same size. A NaN beside a number differs by infinity.
FloatCheck compare_floats(const std::vector<uint8_t>& outputs, const std::vector<uint8_t>& expected,
                          uint64_t sample_bytes, const Tolerance& tolerance);

/// Elements of int8 (1 byte), bf16 (2) or fp32 (4) as numbers.
std::vector<float> numbers_of(const std::vector<uint8_t>& bytes, uint32_t element_bytes);

/// For each sample the place of its first largest value.
std::vector<uint64_t> classes_of(const std::vector<float>& values, uint64_t sample_values);

/// Share of the samples whose class is their label.
double accuracy_of(const std::vector<uint8_t>& outputs, uint32_t element_bytes,
                   const std::vector<uint8_t>& labels, uint64_t sample_bytes);

}  // namespace tandem::run
