// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/scaled_chip.h"

#include <cmath>
#include <stdexcept>

namespace tandem::benchmarks {
namespace {

template <class Figure>
void multiply(Figure& figure, double scale) {
    const double product = static_cast<double>(figure) * scale;
    if (product != std::floor(product) || (product < 1 && figure != 0))
        throw std::invalid_argument("a scaled figure is not whole");
    figure = static_cast<Figure>(product);
}

void scale_array(arch::ChipConfig& chip, double scale) {
    multiply(chip.mxu.rows, scale);
    multiply(chip.mxu.cols, scale);
    // Else a larger array would only show that its port has stayed narrow.
    multiply(chip.buffer_ports.read_bytes_per_cycle, scale);
    multiply(chip.buffer_ports.write_bytes_per_cycle, scale);
    multiply(chip.vector.lanes, scale);
}

}  // namespace

arch::ChipConfig scaled(const arch::ChipConfig& chip, Knob knob, double scale) {
    arch::ChipConfig result = chip;
    switch (knob) {
        case Knob::kMemory:
            multiply(result.memory.bytes_per_second, scale);
            break;
        case Knob::kClockPlus:
            multiply(result.mxu.accumulator_rows, scale);
            [[fallthrough]];
        case Knob::kClock:
            multiply(result.clock_hz, scale);
            break;
        case Knob::kMatrixPlus:
            multiply(result.mxu.accumulator_rows, scale * scale);
            [[fallthrough]];
        case Knob::kMatrix:
            scale_array(result, scale);
            break;
    }
    return result;
}

double deployment_share(const std::string& application) {
    constexpr double kMlp = 61, kLstm = 29, kCnn = 5, kAll = kMlp + kLstm + kCnn;
    const auto of_type = [&](const char* type) { return application.starts_with(type); };
    if (of_type("MLP")) return kMlp / kAll / 2;
    if (of_type("LSTM")) return kLstm / kAll / 2;
    if (of_type("CNN")) return kCnn / kAll / 2;
    throw std::invalid_argument(application + " is not in Table 1");
}

double weighted_mean(const std::map<std::string, double>& figures) {
    double sum = 0, shares = 0;
    for (const auto& [application, figure] : figures) {
        sum += deployment_share(application) * figure;
        shares += deployment_share(application);
    }
    return sum / shares;
}

double geometric_mean(const std::map<std::string, double>& figures) {
    double sum = 0;
    for (const auto& [application, figure] : figures) sum += std::log(figure);
    return std::exp(sum / static_cast<double>(figures.size()));
}

}  // namespace tandem::benchmarks
