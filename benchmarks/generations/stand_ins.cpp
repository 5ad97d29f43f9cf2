// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/generations/stand_ins.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tandem::generations {
namespace {

/// A step of a recurrent network takes as long as every other one.
constexpr uint64_t kMostRepeats = 2;

class Reader {
  public:
    Reader(std::filesystem::path tables, bool chained)
        : tables_(std::move(tables)), chained_(chained) {}

    void add(const std::string& kind, const std::string& table,
             const std::vector<uint64_t>& batches) {
        for (const uint64_t batch : batches)
            add(kind, fmt::format("{}, batch {}", table, batch), read(table, batch));
    }

    /// With the batch that it has.
    void add(const std::string& kind, const std::string& table) {
        add(kind, table, read(table, 1));
    }

    /// Every row of DeepBench's recurrent networks whose name begins so, as a list of its own.
    void add_recurrent(const std::string& kind, const std::string& begins) {
        const tables::Workload all = read("deepbench_rnn", 1);
        for (size_t i = 0; i + 1 < all.layers.size(); i += 2) {  // product and pointwise work
            if (!all.layers[i].name.starts_with(begins)) continue;
            tables::Workload one = all;
            one.layers = {all.layers[i], all.layers[i + 1]};
            add(kind, all.layers[i].name, std::move(one));
        }
    }

    Lists lists;

  private:
    tables::Workload read(const std::string& table, uint64_t batch) const {
        tables::Workload list = tables::load_table(tables_ / (table + ".csv"), batch);
        list.chained = chained_;
        for (auto& layer : list.layers) layer.repeat = std::min(layer.repeat, kMostRepeats);
        return list;
    }
    void add(const std::string& kind, const std::string& name, tables::Workload list) {
        lists.push_back({kind, name, std::move(list)});
    }

    std::filesystem::path tables_;
    bool chained_;
};

}  // namespace

Lists training_lists(const std::filesystem::path& tables, const std::vector<uint64_t>& batches) {
    Reader reader(tables, false);
    reader.add("convolutional", "scalesim_resnet_resnet_fwd", batches);
    reader.add("transformer", "scalesim_GEMM_mnk_transformer_partial", batches);
    reader.add("transformer", "scalesim_GEMM_mnk_gpt2", batches);
    reader.add("translation", "scalesim_GEMM_mnk_gnmt");
    reader.add_recurrent("recurrent", "training_set lstm");
    for (const char* pass : {"fwd", "inp_grad", "weight_grad"})
        reader.add("recommendation", fmt::format("scalesim_dlrm_dlrm_{}", pass));
    return reader.lists;
}

Lists inference_lists(const std::filesystem::path& tables, const std::vector<uint64_t>& batches) {
    Reader reader(tables, true);
    reader.add("convolutional", "scalesim_conv_nets_Resnet50", batches);
    reader.add("convolutional", "scalesim_conv_nets_Googlenet", batches);
    reader.add("transformer", "scalesim_GEMM_mnk_transformer_partial", batches);
    reader.add("transformer", "scalesim_GEMM_mnk_gpt2", batches);
    reader.add_recurrent("recurrent", "inference_server_set lstm");
    reader.add("recommendation", "scalesim_dlrm_DLRM");
    reader.add("recommendation", "scalesim_GEMM_mnk_NCF");
    return reader.lists;
}

Lists convolutional_lists(const std::filesystem::path& tables,
                          const std::vector<uint64_t>& batches) {
    Reader reader(tables, true);
    for (const char* network : {"alexnet", "Googlenet", "Resnet18", "Resnet50", "yolo_tiny"})
        reader.add(network, fmt::format("scalesim_conv_nets_{}", network), batches);
    return reader.lists;
}

}  // namespace tandem::generations
