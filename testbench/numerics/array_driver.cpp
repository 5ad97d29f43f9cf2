// SPDX-License-Identifier: Apache-2.0
#include "testbench/numerics/array_driver.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

namespace tandem::testbench {

ArrayDriver::ArrayDriver(engine::MxuShape shape, std::shared_ptr<cosim::ArrayLibrary> library,
                         OnCommit on_commit)
    : shape_(std::move(shape)),
      library_(std::move(library)),
      on_commit_(std::move(on_commit)),
      array_(library_->create()),
      no_weights_(shape_.cols),
      no_activations_(shape_.rows),
      row_(shape_.cols) {
    library_->reset(array_);
}

ArrayDriver::~ArrayDriver() { library_->destroy(array_); }

void ArrayDriver::step(TandemArrayPorts& ports) {
    if (ports.wgt_data == nullptr) ports.wgt_data = no_weights_.data();
    if (ports.act_data == nullptr) ports.act_data = no_activations_.data();
    ports.res_ready = 1;
    library_->step(array_, &ports);
    ++edges_;
    if (ports.failure != nullptr)
        throw ArrayFault(
            fmt::format("edge {}: an assertion of the RTL failed: {}", edges_ - 1, ports.failure));
    if (ports.cmt_valid == 0) return;
    std::memcpy(row_.data(), ports.cmt_data, row_.size() * sizeof(uint32_t));
    on_commit_(ports.cmt_addr, row_);
}

template <class Done>
void ArrayDriver::step_until(TandemArrayPorts& ports, const char* port, Done done) {
    const uint64_t most = 1000 + 8 * (shape_.rows + engine::commit_latency(shape_));
    for (uint64_t edge = 0; edge < most; ++edge) {
        step(ports);
        if (done(ports)) return;
    }
    throw ArrayFault(fmt::format("{} has not come for {} edges", port, most));
}

void ArrayDriver::load(std::span<const uint16_t> tile) {
    for (uint32_t row = shape_.rows; row-- > 0;) {
        TandemArrayPorts ports{};
        ports.wgt_data = tile.subspan(size_t{row} * shape_.cols).data();
        ports.wgt_valid = 1;
        step_until(ports, "wgt_ready_o", [](const auto& p) { return p.wgt_ready != 0; });
    }
}

void ArrayDriver::push(std::span<const uint16_t> activations, bool swap, uint32_t address,
                       bool accumulate) {
    TandemArrayPorts ports{};
    ports.act_data = activations.data();
    ports.act_valid = 1;
    ports.act_swap = swap;
    ports.act_addr = address;
    ports.act_accumulate = accumulate;
    step_until(ports, "act_ready_o", [](const auto& p) { return p.act_ready != 0; });
}

void ArrayDriver::drain() {
    TandemArrayPorts ports{};
    step_until(ports, "a low busy_o", [](const auto& p) { return p.busy == 0; });
}

}  // namespace tandem::testbench
