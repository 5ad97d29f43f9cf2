// SPDX-License-Identifier: Apache-2.0
// Lists of layers: tables (.csv) and applications (.yaml).
#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "compiler/graph/operators.h"
#include "compiler/import/import.h"
#include "compiler/import/tables/layers.h"
#include "compiler/import/tables/scalesim.h"
#include "testbench/fuzz/graphs.h"

namespace tandem::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr uintmax_t kMostSeedBytes = 8192;

void add_files(std::vector<Bytes>& all, const fs::path& folder, const std::string& extension) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder))
        if (entry.path().extension() == extension && entry.file_size() <= kMostSeedBytes)
            files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const auto& file : files) all.push_back(read(file));
}

std::vector<Bytes> tables() {
    std::vector<Bytes> all;
    for (const char* text :
         {"Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num "
          "Filter, Strides,\nc1, 9, 7, 3, 2, 5, 11, 2,\nDP1, 8, 8, 3, 3, 4, 1, 1,\n",
          "Layer,M,N,K,\na,12,51,16,\nb,1,1,1,\n",
          "set,m,n,k,a_transposed,b_transposed\nt,17,16,30,false,true\n",
          "set,w,h,c,n,k,filter_w,filter_h,pad_w,pad_h,stride_w,stride_h\nt,20,16,1,4,3,5,5,0,1,2,"
          "2\n",
          "set,hidden,batch,timesteps,cell\nt,16,2,3,vanilla\nt,8,1,2,lstm\nt,8,1,2,gru\n",
          "model,op_index,op,in_h,in_w,in_c,kernel_h,kernel_w,out_h,out_w,out_c,stride_h,stride_w,"
          "padding,gemm_m,gemm_k,gemm_n,macs\nr,0,CONV_2D,8,8,3,3,3,8,8,4,1,1,SAME,64,27,4,6912\n"})
        all.push_back(bytes_of(text));
    add_files(all, source_dir() / "testbench/ledger", ".csv");
    if (const char* folder = std::getenv("TANDEM_SHAPES")) add_files(all, folder, ".csv");
    return all;
}

std::vector<Bytes> applications() {
    std::vector<Bytes> all;
    all.push_back(bytes_of(
        "name: net\nbatch: {value: 2, source: somewhere, note: guessed}\nactivation_bits: 8\n"
        "host: {input: 36, output: 11}\nlayers:\n"
        "  - {conv: stem, height: 9, width: 8, channels: 4, filters: 5, kernel: 3, stride: 1, "
        "padding: same}\n"
        "  - {pool: p1, elements: 100}\n  - repeat: 2\n    layers:\n"
        "      - {fc: hidden, inputs: 30, outputs: 40, count: 3}\n"
        "      - {vector: gate, elements: 41}\n  - {fc: last, inputs: 40, outputs: 7}\n"));
    add_files(all, source_dir() / "models/applications", ".yaml");
    return all;
}

std::string use_list(const tables::Workload& list) {
    for (const tables::Layer& layer : list.layers) {
        (void)tables::scalesim_ws_cycles(layer, 16, 16);
        (void)tables::double_buffered_cycles(layer, 16, 16);
    }
    return use_graph(tables::graph_of(list), "test_16x16");
}

std::vector<std::string> command() {
    return {"run", "FILE", "--timing", "scalesim-ws", "--chip", "test_16x16"};
}

}  // namespace

Target table_target() {
    return {.name = "table",
            .extension = ".csv",
            .text = true,
            .words = {"Layer",
                      "Layer name",
                      "IFMAP Height",
                      "Strides",
                      "set",
                      "m",
                      "n",
                      "k",
                      "hidden",
                      "batch",
                      "timesteps",
                      "cell",
                      "lstm",
                      "gru",
                      "vanilla",
                      "true",
                      "false",
                      "CONV_2D",
                      "DEPTHWISE_CONV_2D",
                      "FULLY_CONNECTED",
                      "SAME",
                      "VALID",
                      "DP",
                      ",,,",
                      "4294967295",
                      "\xEF\xBB\xBF"},
            .seeds = tables,
            .run =
                [](const Bytes& bytes) {
                    const auto file = scratch_file("table.csv", bytes);
                    (void)tables::load_table(file, 65535);
                    return use_list(tables::load_table(file));
                },
            .command = command()};
}

Target application_target() {
    return {
        .name = "application",
        .extension = ".yaml",
        .text = true,
        .words = {"name: ",
                  "batch: ",
                  "activation_bits: 16",
                  "host: ",
                  "input: ",
                  "output: ",
                  "layers:\n",
                  "repeat: ",
                  "fc: ",
                  "conv: ",
                  "vector: ",
                  "pool: ",
                  "elements: ",
                  "inputs: ",
                  "outputs: ",
                  "count: ",
                  "kernel: ",
                  "stride: ",
                  "padding: same",
                  "padding: valid",
                  "height: ",
                  "width: ",
                  "channels: ",
                  "filters: ",
                  "published: ",
                  "weights_millions: ",
                  "macs_per_weight: ",
                  "value: ",
                  "&a ",
                  "*a",
                  "- ",
                  "{",
                  "[",
                  "!!map ",
                  "? ",
                  "<<: *a",
                  "18446744073709551615"},
        .seeds = applications,
        .run =
            [](const Bytes& bytes) {
                return use_list(tables::load_application(scratch_file("application.yaml", bytes)));
            },
        .command = command()};
}

}  // namespace tandem::fuzz
