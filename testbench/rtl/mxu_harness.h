// SPDX-License-Identifier: Apache-2.0
// Loads a Verilated array and steps it, alone or in step with MxuReference.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <string>

#include "cosim/array_builder.h"
#include "cosim/array_library.h"
#include "testbench/rtl/mxu_reference.h"

namespace tandem::testbench {

inline constexpr unsigned kAccDepth = 32;

inline cosim::BuildOptions build_options() {
    const auto directory = [](const char* name, const char* fallback) {
        const char* const value = std::getenv(name);
        return std::filesystem::path(value != nullptr ? value : fallback);
    };
    const std::filesystem::path source = directory("TANDEM_SOURCE_DIR", ".");
    cosim::BuildOptions options;
    options.rtl_dir = source / "rtl";
    options.shim_dir = source / "cosim";
    options.cache_dir = directory("TANDEM_ARRAY_CACHE", "array-cache");
    options.progress = [](std::string_view line) { std::cerr << line << '\n'; };
    return options;
}

inline cosim::ArraySpec spec(const ArrayParameters& array, unsigned acc_depth = kAccDepth) {
    cosim::ArraySpec spec{array.rows, array.cols, acc_depth};
    spec.dtype = array.dtype;
    spec.form = array.form;
    spec.pipeline = array.pipeline;
    spec.sum4 = array.sum4;
    return spec;
}

/// Libraries stay loaded until the end of the test program.
inline const cosim::ArrayLibrary& library(const ArrayParameters& array) {
    static std::map<std::string, std::unique_ptr<cosim::ArrayLibrary>> loaded;
    auto& entry = loaded[array.name()];
    if (!entry)
        entry = std::make_unique<cosim::ArrayLibrary>(
            cosim::ensure_array(spec(array), build_options()));
    return *entry;
}

/// One instance of the RTL.
class Mxu {
  public:
    explicit Mxu(const ArrayParameters& array)
        : parameters(array),
          rows(array.rows),
          cols(array.cols),
          lib_(library(array)),
          array_(lib_.create()) {
        reset();
    }
    ~Mxu() { lib_.destroy(array_); }
    Mxu(const Mxu&) = delete;
    Mxu& operator=(const Mxu&) = delete;

    void reset() { lib_.reset(array_); }

    const TandemArrayPorts& step(const Stimulus& in) {
        ports = TandemArrayPorts{};
        if (in.weight) {
            ports.wgt_valid = 1;
            ports.wgt_data = packed(*in.weight, weight_);
        }
        if (in.activation) {
            ports.act_valid = 1;
            ports.act_data = packed(in.activation->data, activation_);
            ports.act_swap = in.activation->swap;
            ports.act_accumulate = in.activation->accumulate;
            ports.act_addr = in.activation->addr;
        }
        if (in.read) {
            ports.rd_valid = 1;
            ports.rd_addr = *in.read;
        }
        ports.res_ready = in.res_ready;
        lib_.step(array_, &ports);
        return ports;
    }

    Sums commit() const { return row(ports.cmt_data); }
    Sums result() const { return row(ports.res_data); }

    TandemPeRegisters pe(unsigned r, unsigned c) const {
        TandemPeRegisters registers{};
        lib_.pe(array_, r, c, &registers);
        return registers;
    }

    const cosim::ArrayLibrary& lib() const { return lib_; }
    TandemArray* array() const { return array_; }

    const ArrayParameters parameters;
    const unsigned rows, cols;
    TandemArrayPorts ports{};

  private:
    /// As the port takes it: one or two bytes per element.
    const void* packed(const Elements& elements, std::vector<uint8_t>& bytes) const {
        const unsigned width = arch::element_bytes(parameters.dtype);
        bytes.resize(elements.size() * width);
        for (std::size_t i = 0; i < elements.size(); ++i)
            for (unsigned b = 0; b < width; ++b)
                bytes[i * width + b] = static_cast<uint8_t>(elements[i] >> 8 * b);
        return bytes.data();
    }
    Sums row(const void* data) const {
        Sums values(cols);
        std::memcpy(values.data(), data, cols * sizeof(uint32_t));
        return values;
    }
    const cosim::ArrayLibrary& lib_;
    TandemArray* array_;
    std::vector<uint8_t> weight_, activation_;
};

/// The RTL and the reference, stepped together; every port is compared at every edge.
class CheckedMxu {
  public:
    explicit CheckedMxu(const ArrayParameters& array) : rtl(array), reference(array) {}

    void reset() {
        rtl.reset();
        reference.reset();
    }

    Expected step(const Stimulus& in) {
        const uint64_t edge = reference.edge();
        Expected want = reference.step(in);
        const TandemArrayPorts& got = rtl.step(in);
        const auto same = [&](const char* what, auto found, auto expected) {
            EXPECT_EQ(found, expected) << what << " at edge " << edge;
        };
        EXPECT_EQ(got.failure, nullptr)
            << "assertion at " << (got.failure != nullptr ? got.failure : "") << ", edge " << edge;
        same("wgt_ready", bool(got.wgt_ready), want.wgt_ready);
        same("act_ready", bool(got.act_ready), want.act_ready);
        same("rd_ready", bool(got.rd_ready), want.rd_ready);
        same("cmt_valid", bool(got.cmt_valid), want.cmt_valid);
        same("res_valid", bool(got.res_valid), want.res_valid);
        same("busy", bool(got.busy), want.busy);
        if (want.cmt_valid) {
            same("cmt_addr", unsigned{got.cmt_addr}, want.cmt_addr);
            same_row("cmt_data", rtl.commit(), want.cmt_data, edge);
        }
        if (want.res_valid) same_row("res_data", rtl.result(), want.res_data, edge);
        return want;
    }

    void idle(unsigned edges) {
        for (unsigned i = 0; i < edges; ++i) step({});
    }

    /// Edges after which nothing is in flight any more.
    void drain() { idle(rtl.parameters.commit_latency() + 1); }

    Mxu rtl;
    MxuReference reference;

  private:
    static void same_row(const char* what, const Sums& found, const Sums& expected, uint64_t edge) {
        for (std::size_t c = 0; c < expected.size(); ++c)
            EXPECT_EQ(found[c], expected[c])
                << std::hex << what << "[" << std::dec << c << "] at edge " << edge << ": "
                << std::hex << found[c] << ", expected " << expected[c];
    }
};

}  // namespace tandem::testbench
