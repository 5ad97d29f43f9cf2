// SPDX-License-Identifier: Apache-2.0
#include "systemc/chip/core.h"

#include <string>

#include "systemc/sequencer/loose_sequencer.h"

namespace tandem::sim {
namespace {

std::string numbered(const char* name, size_t number) {
    return number == 0 ? name : name + std::to_string(number);
}

std::vector<std::unique_ptr<Mxu>> make_arrays(ChipServices& services, UnifiedBuffer& buffer,
                                              Core::Engines engines) {
    std::vector<std::unique_ptr<Mxu>> arrays;
    for (auto& engine : engines)
        arrays.push_back(std::make_unique<Mxu>(numbered("mxu", arrays.size()).c_str(), services,
                                               buffer, std::move(engine)));
    return arrays;
}

std::vector<std::unique_ptr<WeightFetcher>> make_fetchers(
    ChipServices& services, const std::vector<std::unique_ptr<Mxu>>& arrays) {
    std::vector<std::unique_ptr<WeightFetcher>> fetchers;
    for (const auto& array : arrays)
        fetchers.push_back(
            std::make_unique<WeightFetcher>(numbered("weights", fetchers.size()).c_str(), services,
                                            *array, static_cast<uint32_t>(fetchers.size())));
    return fetchers;
}

std::unique_ptr<Sequencer> make_sequencer(SharedPaths* paths, ChipServices& services,
                                          const std::vector<Unit*>& units, uint32_t core) {
    if (paths != nullptr)
        return std::make_unique<LooseSequencer>("sequencer", services, units, core, *paths);
    return std::make_unique<Sequencer>("sequencer", services, units, core);
}

}  // namespace

Core::Core(sc_core::sc_module_name name, uint32_t index, const arch::ChipConfig& config,
           bool functional, SharedPaths* paths, DeviceMemory& memory, HostLink& link,
           Engines engines, Requantisers requantisers, const Connect& connect)
    : sc_module(name),
      services_(config, functional, index, paths != nullptr ? Level::kLt : Level::kAt),
      unified_buffer_("unified_buffer", config),
      mxus_(make_arrays(services_, unified_buffer_, std::move(engines))),
      weights_(make_fetchers(services_, mxus_)),
      vector_("vector", services_, unified_buffer_, mxu_pointers(), std::move(requantisers)),
      dma_in_("dma_in", isa::Unit::kDmaIn, services_, link, unified_buffer_),
      dma_out_("dma_out", isa::Unit::kDmaOut, services_, link, unified_buffer_),
      units_(all_units()),
      sequencer_(make_sequencer(paths, services_, units_, index)) {
    const auto to_buffer = [&](MemoryInitiator& unit) {
        bind_sockets(connect, unit.memory_out, unified_buffer_.memory_in);
    };
    const auto to_memory = [&](MemoryInitiator& unit) {
        bind_sockets(connect, unit.memory_out, memory.memory_in);
    };
    for (const auto& mxu : mxus_) to_buffer(mxu->buffer);
    to_buffer(vector_.buffer);
    to_buffer(dma_in_.buffer);
    to_buffer(dma_out_.buffer);
    for (const auto& weights : weights_) to_memory(weights->memory);
    to_memory(dma_in_.memory);
    to_memory(dma_out_.memory);
    to_memory(sequencer_->memory);
}

std::vector<Mxu*> Core::mxu_pointers() const {
    std::vector<Mxu*> pointers;
    for (const auto& mxu : mxus_) pointers.push_back(mxu.get());
    return pointers;
}

std::vector<Unit*> Core::all_units() {
    std::vector<Unit*> units{&dma_in_, &dma_out_};
    for (size_t i = 0; i < mxus_.size(); ++i) {
        units.push_back(weights_[i].get());
        units.push_back(mxus_[i].get());
    }
    units.push_back(&vector_);
    return units;
}

}  // namespace tandem::sim
