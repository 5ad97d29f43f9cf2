// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compiler/import/tables/layers.h"

namespace tandem::benchmarks {

/// ResNet-50 (He et al., CVPR 2016) for one image of 224x224, with the stride of a stage in its
/// first 3x3 convolution, as it is mostly implemented: 53 convolutions and a fully connected layer,
/// each a kernel of its own, for the shortcuts are not in the list.
tables::Workload resnet50();

}  // namespace tandem::benchmarks
