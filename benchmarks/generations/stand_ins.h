// SPDX-License-Identifier: Apache-2.0
// Public lists of layers that stand for the kinds of networks of which publications on TPUs speak.
// None of them is a network that those publications measured.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "compiler/import/tables/layers.h"

namespace tandem::generations {

struct List {
    std::string kind;  ///< "transformer"
    std::string name;  ///< "scalesim_GEMM_mnk_gpt2, batch 8"
    tables::Workload workload;
};
using Lists = std::vector<List>;

/// Tables without a batch of their own are run with each of these, which all count alike.
inline const std::vector<uint64_t> kBatches = {1, 8, 64};
inline const std::vector<uint64_t> kOneBatch = {8};

/// Kernels by themselves, operands and results in device memory: forward passes, and gradients
/// where a table has them with its batch.
Lists training_lists(const std::filesystem::path& tables, const std::vector<uint64_t>& batches);

/// Layers that read what the one before has written; weights may stay in CMEM.
Lists inference_lists(const std::filesystem::path& tables, const std::vector<uint64_t>& batches);

/// The convolutional networks of scalesim_conv_nets, as inference lists, but MobileNet, whose
/// depthwise layers are written there as one filter over all channels, and U-Net, whose activations
/// of a batch do not fit the device memory.
Lists convolutional_lists(const std::filesystem::path& tables,
                          const std::vector<uint64_t>& batches);

}  // namespace tandem::generations
