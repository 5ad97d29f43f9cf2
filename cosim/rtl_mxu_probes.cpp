// SPDX-License-Identifier: Apache-2.0
// What is seen and upset inside the array of an RtlMxuEngine: registers, nets, bit flips, waves.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "cosim/rtl_mxu_engine.h"

namespace tandem::cosim {

namespace {

void* place_of(const TandemPeRegisters& pe, PeRegister which) {
    switch (which) {
        case PeRegister::kActivation:
            return pe.activation;
        case PeRegister::kWeight:
            return pe.weight;
        case PeRegister::kShadow:
            return pe.shadow;
        case PeRegister::kPsum:
            return pe.psum;
        case PeRegister::kSwap:
            return pe.swap;
        case PeRegister::kLoad:
            return pe.load;
    }
    return nullptr;
}

}  // namespace

std::span<const TandemTap> RtlMxuEngine::watch_nets() {
    library_->watch(array_, 1);
    const TandemTap* first = nullptr;
    const size_t count = library_->taps(array_, &first);
    return {first, count};
}

TandemPeRegisters RtlMxuEngine::pe(uint32_t row, uint32_t col) const {
    TandemPeRegisters registers{};
    library_->pe(array_, row, col, &registers);
    return registers;
}

void RtlMxuEngine::inject(const Injection& injection) {
    if (place_of(pe(injection.pe_row, injection.pe_col), injection.which) == nullptr)
        throw UserError(
            "--inject", "register",
            fmt::format("one that this array has (pipeline {}, form {}; swap and load: form grid)",
                        shape_.pipeline, info().form),
            fmt::format("{} of PE {},{}", to_string(injection.which), injection.pe_row,
                        injection.pe_col));
    injection_ = injection;
    injected_.reset();
    rows_accepted_ = 0;
}

void RtlMxuEngine::apply_injection(Cycle next_edge) {
    if (injection_->at_row || !origin_ || next_edge <= injection_->cycle + *origin_) return;
    void* place = place_of(pe(injection_->pe_row, injection_->pe_col), injection_->which);
    static_cast<uint8_t*>(place)[injection_->bit / 8] ^=
        static_cast<uint8_t>(1u << (injection_->bit % 8));
    library_->settle(array_);
    injected_ = injection_;
    injection_.reset();
}

void RtlMxuEngine::open_wave_if_due() {
    if (!wave_) return;
    if (wave_open_) return close_wave_if_due();
    if (edge_ < wave_begin()) return;
    const Cycle edge = edge_ - origin();
    wave_open_ = library_->trace_open(array_, wave_->path.c_str(), edge, wave_->period_fs,
                                      wave_->probes.data(), wave_->probes.size()) == 0;
    const auto on_moment = [](void* self, const TandemArrayPorts* ports, int rose) {
        static_cast<RtlMxuEngine*>(self)->on_trace(*ports, rose != 0);
    };
    if (wave_open_) library_->trace_call(array_, on_moment, this);
    wave_bytes_ = 0;
    wave_growth_ = wave_->most_bytes / 16;
    wave_record_ = {wave_open_, edge, edge, false, !wave_open_};
    if (!wave_open_) wave_.reset();
}

/// A flip after an edge is seen at that edge.
void RtlMxuEngine::on_trace(const TandemArrayPorts& ports, bool rose) {
    if (rose && injection_) apply_injection(edge_ + 1);
    if (wave_->call != nullptr) wave_->call(wave_->user, &ports, rose ? 1 : 0);
}

void RtlMxuEngine::close_wave_if_due() {
    constexpr Cycle kEdgesBetweenLooks = 64;  // no more than there are in a block of the file
    if (edge_ - origin() > wave_->to) return close_wave();
    if (edge_ % kEdgesBetweenLooks != 0 || wave_->most_bytes == ~0ull) return;
    std::error_code error;
    const uint64_t bytes = std::filesystem::file_size(wave_->path, error);
    if (error) return;
    // Two more blocks have to fit: one that is being filled, and the names.
    wave_growth_ = std::max(wave_growth_, bytes - std::min(bytes, wave_bytes_));
    wave_bytes_ = bytes;
    if (bytes + 2 * wave_growth_ <= wave_->most_bytes) return;
    wave_record_.too_large = true;
    close_wave();
}

void RtlMxuEngine::record_until(Cycle edge) {
    if (wave_) wave_->to = std::min(wave_->to, edge);
}

void RtlMxuEngine::close_wave() {
    if (!wave_open_) return;
    library_->trace_close(array_);
    wave_record_.to = edge_ > origin() ? edge_ - origin() - 1 : 0;
    wave_open_ = false;
    wave_.reset();
}

}  // namespace tandem::cosim
