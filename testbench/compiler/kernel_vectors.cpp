// SPDX-License-Identifier: Apache-2.0
#include "testbench/compiler/kernel_vectors.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "testbench/compiler/model_data.h"

namespace tandem::testbench {

namespace {

/// `name` without the case in front, whichever case of letters it is written in.
std::string without_prefix(const std::string& name, const std::string& prefix) {
    const bool same = name.size() > prefix.size() &&
                      std::equal(prefix.begin(), prefix.end(), name.begin(),
                                 [](char a, char b) { return std::tolower(a) == std::tolower(b); });
    return same ? name.substr(prefix.size() + 1) : name;
}

}  // namespace

KernelVector::KernelVector(const std::string& name) {
    const auto file = models_folder() / "tflite-kernel-vectors" / (name + ".txt");
    std::ifstream in(file);
    if (!in) throw std::runtime_error("cannot read " + file.string());
    std::string line, kind, key;
    while (std::getline(in, line)) {
        std::istringstream words(line);
        words >> kind >> key;
        key = without_prefix(key, name);
        if (kind == "param") {
            words >> params_[key];
        } else if (kind == "array") {
            std::string type;
            size_t count = 0;
            words >> type >> count;
            auto& values = arrays_[key];
            for (int32_t value = 0; words >> value;) values.push_back(value);
            if (values.size() != count) throw std::runtime_error(file.string() + ": " + key);
        }
    }
}

int KernelVector::number(const std::string& name) const { return std::stoi(params_.at(name)); }

int KernelVector::number_or(const std::string& name, int otherwise) const {
    return has(name) ? number(name) : otherwise;
}

std::vector<int32_t> KernelVector::numbers(std::initializer_list<const char*> names) const {
    for (const char* name : names)
        if (const auto found = arrays_.find(name); found != arrays_.end()) return found->second;
    throw std::runtime_error(std::string("no array ") + *names.begin());
}

Int8s KernelVector::bytes(std::initializer_list<const char*> names) const {
    const auto values = numbers(names);
    return {values.begin(), values.end()};
}

NaiveWindow KernelVector::window(bool pooling) const {
    NaiveWindow w;
    w.batch = pooling ? number("BATCH_SIZE") : number("INPUT_BATCHES");
    w.in_h = number("INPUT_H"), w.in_w = number("INPUT_W");
    w.in_c = pooling ? number("INPUT_C") : number("IN_CH");
    w.out_h = number("OUTPUT_H"), w.out_w = number("OUTPUT_W");
    w.kernel_h = number(pooling ? "FILTER_H" : "FILTER_Y");
    w.kernel_w = number(pooling ? "FILTER_W" : "FILTER_X");
    w.stride_h = number(pooling ? "STRIDE_H" : "STRIDE_Y");
    w.stride_w = number(pooling ? "STRIDE_W" : "STRIDE_X");
    w.dilation_h = number_or("DILATION_Y", 1), w.dilation_w = number_or("DILATION_X", 1);
    w.pad_top = number(pooling ? "PADDING_H" : "PAD_Y");
    w.pad_left = number(pooling ? "PADDING_W" : "PAD_X");
    return w;
}

NaiveOutput KernelVector::output(size_t channels) const {
    NaiveOutput o;
    o.rounding = NaiveRounding::kGemmlowp;
    o.zero_point = number("OUTPUT_OFFSET");
    o.low = number("OUT_ACTIVATION_MIN"), o.high = number("OUT_ACTIVATION_MAX");
    if (has("OUTPUT_MULTIPLIER")) {
        o.scales = {{0, number("OUTPUT_MULTIPLIER"), number("OUTPUT_SHIFT")}};
        return o;
    }
    const auto multipliers = numbers({"output_mult", "output_multiplier"});
    const auto shifts = numbers({"output_shift"});
    for (size_t i = 0; i < channels; ++i) o.scales.push_back({0, multipliers[i], shifts[i]});
    return o;
}

}  // namespace tandem::testbench
