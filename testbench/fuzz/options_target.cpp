// SPDX-License-Identifier: Apache-2.0
// Whole command lines, an argument a line: with --tandem alone.
#include "testbench/fuzz/target.h"

namespace tandem::fuzz {
namespace {

std::vector<Bytes> seeds() {
    const std::string digits = "DIGITS\n";
    std::vector<Bytes> all;
    for (const std::string& text :
         {std::string("chips\n"), std::string("chips\ntpu_v1\n--json\n"),
          std::string("chips\n--set\nmxu.count=2\ntest_8x8\n"),
          "run\n" + digits + "--chip\ntest_16x16\n--host\nnative\n--count\n1\n--json\nr.json\n",
          "run\n" + digits + "--mode\ntiming\n--csv\nl.csv\n--trace\nt.json\n--batch\n2\n",
          "run\n" + digits + "--backend\nrtl\n--wave\nw.fst\n--wave-at\n0\n--wave-limit\n1\n",
          "run\n" + digits + "--backend\ntandem\n--inject\nseed=1\n--rtl-arrays\n0.0\n",
          "run\n" + digits + "--check\nplain\n--rounding\ngemmlowp\n--tolerance\n0.5\n",
          "run\n" + digits + "--input\nx.bin\n--expect\ny.bin\n--labels\nz.bin\n--output\no\n",
          "compile\n" + digits + "-o\np.tpu\n--dump\nd\n--plan\nrules\n--explain\n",
          std::string("disasm\np.tpu\n"),
          std::string("gemm\n8\n9\n10\n--dtype\nint8\n--mode\ntiming\n--arrays\nall\n"),
          std::string("gemm\n8\n9\n10\n--chip\ntest_8x8\n--host\nnative\n--seed\n3\n"),
          std::string("verify\n--rows\n4\n--cols\n4\n--streams\n1\n--dtype\nbf16\n--sum4\n"),
          std::string("rtl\nbuild\n--chip\ntest_8x8\n"), std::string("--version\n"),
          std::string("run\n--help\n")})
        all.push_back(bytes_of(text));
    return all;
}

}  // namespace

Target options_target() {
    return {.name = "options",
            .extension = ".txt",
            .text = true,
            .words = {"run\n",    "compile\n", "gemm\n",
                      "chips\n",  "verify\n",  "--\n",
                      "-\n",      "=\n",       "--chip\n",
                      "--json\n", "--set\n",   "--help\n",
                      "DIGITS\n", "\n",        "test_8x8\n",
                      "native\n", "timing\n",  "18446744073709551616\n",
                      "-1\n",     "nan\n",     "0\n"},
            .seeds = seeds,
            .command = {"LINES"},
            .may_take_long = true};
}

}  // namespace tandem::fuzz
