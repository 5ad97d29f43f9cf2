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
#include <random>
#include <string>

#include "cosim/array_builder.h"
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

/// Libraries stay loaded until the end of the test program.
inline const cosim::ArrayLibrary& library(unsigned rows, unsigned cols) {
    static std::map<std::pair<unsigned, unsigned>, std::unique_ptr<cosim::ArrayLibrary>> loaded;
    auto& entry = loaded[{rows, cols}];
    if (!entry)
        entry = std::make_unique<cosim::ArrayLibrary>(
            cosim::ensure_array({rows, cols, kAccDepth, "int8"}, build_options()));
    return *entry;
}

/// One instance of the RTL.
class Mxu {
  public:
    Mxu(unsigned rows, unsigned cols)
        : rows(rows), cols(cols), lib_(library(rows, cols)), array_(lib_.create()) {
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
            ports.wgt_data = in.weight->data();
        }
        if (in.activation) {
            ports.act_valid = 1;
            ports.act_data = in.activation->data.data();
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

    Row32 commit() const { return row(ports.cmt_data); }
    Row32 result() const { return row(ports.res_data); }

    TandemArrayState state() const {
        TandemArrayState state{};
        lib_.state(array_, &state);
        return state;
    }
    std::size_t index(unsigned r, unsigned c) const {
        return std::size_t{rows - 1 - r} * cols + (cols - 1 - c);
    }

    const cosim::ArrayLibrary& lib() const { return lib_; }
    TandemArray* array() const { return array_; }

    const unsigned rows, cols;
    TandemArrayPorts ports{};

  private:
    Row32 row(const void* data) const {
        Row32 values(cols);
        std::memcpy(values.data(), data, cols * sizeof(int32_t));
        return values;
    }
    const cosim::ArrayLibrary& lib_;
    TandemArray* array_;
};

/// The RTL and the reference, stepped together; every port is compared at every edge.
class CheckedMxu {
  public:
    CheckedMxu(unsigned rows, unsigned cols) : rtl(rows, cols), reference(rows, cols) {}

    void reset() {
        rtl.reset();
        reference.reset();
    }

    Expected step(const Stimulus& in) {
        const uint64_t edge = reference.edge();
        const Expected want = reference.step(in);
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
            same("cmt_data", rtl.commit(), want.cmt_data);
        }
        if (want.res_valid) same("res_data", rtl.result(), want.res_data);
        return want;
    }

    void idle(unsigned edges) {
        for (unsigned i = 0; i < edges; ++i) step({});
    }

    Mxu rtl;
    MxuReference reference;
};

/// Seeded values, with the extremes of int8 more often than chance has them.
class Random {
  public:
    explicit Random(unsigned seed) : engine_(seed) {}

    unsigned below(unsigned bound) { return static_cast<unsigned>(engine_()) % bound; }
    bool chance(unsigned percent) { return below(100) < percent; }
    int8_t value() {
        constexpr int8_t kCorners[] = {-128, 127, -1, 0};
        return chance(20) ? kCorners[below(4)] : static_cast<int8_t>(engine_());
    }
    Row8 row(unsigned length) {
        Row8 values(length);
        for (int8_t& element : values) element = value();
        return values;
    }
    Matrix8 tile(unsigned rows, unsigned cols) {
        Matrix8 values(rows);
        for (Row8& line : values) line = row(cols);
        return values;
    }

  private:
    std::mt19937 engine_;
};

}  // namespace tandem::testbench
