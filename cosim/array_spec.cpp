// SPDX-License-Identifier: Apache-2.0
#include "cosim/array_spec.h"

#include <fmt/format.h>

#include "base/error.h"

namespace tandem::cosim {
namespace {

constexpr unsigned kLargestGrid = 32 * 32;  // PEs; larger ones take more than 30 s to compile

void expect(bool good, const std::string& what) {
    if (!good) throw UserError("array specification: " + what);
}

}  // namespace

void check(const ArraySpec& spec) {
    expect(
        spec.rows >= 1 && spec.rows <= kLargestSide && spec.cols >= 1 && spec.cols <= kLargestSide,
        fmt::format("expected up to {0}x{0} PEs of RTL (--backend tlm has every size), found "
                    "{1}x{2} {3}",
                    kLargestSide, spec.rows, spec.cols, arch::to_string(spec.dtype)));
    expect(spec.acc_depth >= 1, "acc_depth must not be zero");
    expect(spec.form == "flat" || spec.form == "grid", "form must be flat or grid");
    expect(spec.form == "flat" || spec.rows * spec.cols <= kLargestGrid,
           fmt::format("form grid is for arrays of up to {} PEs, {} x {} has {}; form flat has "
                       "every size",
                       kLargestGrid, spec.rows, spec.cols, spec.rows * spec.cols));
    expect(spec.pipeline >= 1 && spec.pipeline <= 256, "pipeline must be in 1..256");
    expect(!spec.sum4 || (spec.dtype == arch::Dtype::kBf16 && spec.pipeline % 4 == 0),
           "sum4 needs bf16 and a pipeline that is a multiple of 4");
    expect(!top_of(spec).empty(), "the top module has no name");
}

std::string top_of(const ArraySpec& spec) { return spec.other ? spec.other->top : "tpu_mxu"; }

std::string name_of(const ArraySpec& spec) {
    std::string text = fmt::format("{}_{}", top_of(spec), arch::to_string(spec.dtype));
    if (spec.form != "flat") text += '_' + spec.form;
    if (spec.pipeline != 1) text += "_k" + std::to_string(spec.pipeline);
    if (spec.sum4) text += "_sum4";
    return fmt::format("{}_{}x{}x{}", text, spec.rows, spec.cols, spec.acc_depth);
}

std::string title_of(const ArraySpec& spec) {
    std::string text = fmt::format("{} x {} {}", spec.rows, spec.cols, arch::to_string(spec.dtype));
    if (spec.form != "flat") text += ' ' + spec.form;
    if (spec.pipeline != 1) text += fmt::format(", pipeline {}", spec.pipeline);
    if (spec.sum4) text += ", sum4";
    return text + (spec.other ? " array " + spec.other->top : " array");
}

}  // namespace tandem::cosim
