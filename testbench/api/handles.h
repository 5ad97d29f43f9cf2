// SPDX-License-Identifier: Apache-2.0
// Owners of what the C interface gives out.
#pragma once

#include <tandem/tandem.h>

#include <cstdint>
#include <string>
#include <vector>

#include "testbench/support/source_tree.h"

namespace tandem::testbench {

/// A struct of this version with all defaults.
template <class Options>
Options fresh() {
    Options options{};
    options.size = sizeof options;
    return options;
}

/// Where an error goes to.
class Call {
  public:
    Call() = default;
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    ~Call() { tandem_free(error_); }
    char** error() {
        tandem_free(error_);
        error_ = nullptr;
        return &error_;
    }
    std::string message() const { return error_ == nullptr ? "" : error_; }

  private:
    char* error_ = nullptr;
};

class Result {
  public:
    Result() = default;
    Result(const Result&) = delete;
    Result& operator=(const Result&) = delete;
    ~Result() { tandem_result_free(result_); }
    tandem_result** out() { return &result_; }
    const tandem_result* get() const { return result_; }
    std::vector<int8_t> bytes(uint32_t place, uint64_t index) const {
        auto tensor = fresh<tandem_tensor>();
        if (tandem_result_tensor(result_, place, index, &tensor, nullptr) != TANDEM_GOOD) return {};
        const auto* begin = static_cast<const int8_t*>(tensor.data);
        return {begin, begin + tensor.bytes};
    }

  private:
    tandem_result* result_ = nullptr;
};

class Model {
  public:
    explicit Model(const std::string& file) {
        auto options = fresh<tandem_model_options>();
        options.file = file.c_str();
        tandem_model_load(&options, &model_, call_.error());
    }
    Model(const Model&) = delete;
    Model& operator=(const Model&) = delete;
    ~Model() { tandem_model_free(model_); }
    const tandem_model* get() const { return model_; }
    std::string message() const { return call_.message(); }

  private:
    Call call_;
    tandem_model* model_ = nullptr;
};

inline std::string digits() { return source_dir() / "models/digits/digits_int8.tflite"; }

}  // namespace tandem::testbench
