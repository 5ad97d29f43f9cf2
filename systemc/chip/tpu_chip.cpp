// SPDX-License-Identifier: Apache-2.0
#include "systemc/chip/tpu_chip.h"

namespace tandem::sim {

TpuChip::TpuChip(sc_core::sc_module_name name, const arch::ChipConfig& config,
                 const ChipOptions& options, std::unique_ptr<mxu::MxuEngine> engine)
    : sc_module(name),
      services_(config, options.functional),
      unified_buffer_("unified_buffer", config.unified_buffer_bytes),
      device_memory_("device_memory", config.memory),
      link_("link", config.host),
      mxu_("mxu", services_, std::move(engine)),
      weights_("weights", services_, mxu_),
      vector_("vector", services_, mxu_),
      dma_in_("dma_in", isa::Unit::kDmaIn, services_, link_),
      dma_out_("dma_out", isa::Unit::kDmaOut, services_, link_),
      units_{&dma_in_, &dma_out_, &weights_, &mxu_, &vector_},
      sequencer_("sequencer", services_, units_),
      host_interface_("host_interface", services_, link_, sequencer_, mxu_) {
    mxu_.buffer.memory_out.bind(unified_buffer_.memory_in);
    vector_.buffer.memory_out.bind(unified_buffer_.memory_in);
    dma_in_.buffer.memory_out.bind(unified_buffer_.memory_in);
    dma_out_.buffer.memory_out.bind(unified_buffer_.memory_in);
    weights_.memory.memory_out.bind(device_memory_.memory_in);
    dma_in_.memory.memory_out.bind(device_memory_.memory_in);
    dma_out_.memory.memory_out.bind(device_memory_.memory_in);
    sequencer_.memory.memory_out.bind(device_memory_.memory_in);
    host_interface_.memory.memory_out.bind(device_memory_.memory_in);
}

}  // namespace tandem::sim
