// SPDX-License-Identifier: Apache-2.0
#include "cosim/failure_probes.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "cosim/array_ports.h"
#include "cosim/gtkw.h"
#include "cosim/signal_lanes.h"

namespace tandem::cosim {
namespace {

constexpr const char* kExpected = "expected";

}  // namespace

FailureProbes::FailureProbes(FailurePlace place)
    : place_(std::move(place)),
      no_registers_{},
      port_model_(place_.shape),
      address_bits_(address_bits(place_.shape)) {
    add_pes();
    add_ports();
    add_nets();
    new_oracles(place_.active, place_.shadow);
    port_model_.resume(place_.active, place_.shadow);
}

void FailureProbes::new_oracles(std::span<const std::byte> active,
                                std::span<const std::byte> shadow) {
    beats_ = 0;
    pe_oracle_ = std::make_unique<PeOracle>(place_.shape, active, shadow);
    if (place_.taps.empty()) return;
    unit_oracle_ = std::make_unique<UnitOracle>(place_.shape, active, shadow);
    unit_oracle_->watch(place_.taps);
    unit_oracle_->set_listener([this](const char* signal, uint32_t lane, uint64_t value) {
        expect_net(signal, lane, value);
    });
}

void FailureProbes::reset() {
    new_oracles({}, {});
    PortEdge edge = idle_edge(place_.shape);
    edge.reset = true;
    port_model_.step(edge);
}

void FailureProbes::add_pes() {
    const engine::MxuShape& shape = place_.shape;
    if (!place_.whole) return add_pes_around();
    if (!are_all_recorded(shape)) return;
    for (uint32_t r = 0; r < shape.rows; ++r)
        for (uint32_t c = 0; c < shape.cols; ++c)
            pe_probes_.add(place_.pe(r, c), shape.dtype, r, c);
}

void FailureProbes::add_pes_around() {
    const engine::MxuShape& shape = place_.shape;
    const uint32_t r0 = place_.pe_row, c0 = place_.pe_col;
    const auto add = [&](uint32_t r, uint32_t c) {
        pe_probes_.add(place_.pe(r, c), shape.dtype, r, c);
    };
    for (uint32_t r = r0 - std::min(r0, kPeReach); r <= std::min(shape.rows - 1, r0 + kPeReach);
         ++r)
        add(r, c0);
    for (uint32_t c = c0 - std::min(c0, kPeReach); c <= std::min(shape.cols - 1, c0 + kPeReach);
         ++c)
        if (c != c0) add(r0, c);
    expect_pe(r0, c0);
    if (r0 != 0) expect_pe(r0 - 1, c0);
    if (c0 != 0) expect_pe(r0, c0 - 1);
}

void FailureProbes::expect_pe(uint32_t r, uint32_t c) {
    const TandemPeRegisters pe = place_.pe(r, c);
    const std::pair<PeRegister, const void*> registers[] = {
        {PeRegister::kActivation, pe.activation},
        {PeRegister::kWeight, pe.weight},
        {PeRegister::kShadow, pe.shadow},
        {PeRegister::kPsum, pe.psum},
        {PeRegister::kSwap, pe.swap},
        {PeRegister::kLoad, pe.load}};
    Pe& expected = pes_.emplace_back(Pe{fmt::format("{}.r{}_c{}", kExpected, r, c), r, c, {}});
    for (const auto& [which, where] : registers) {
        if (where == nullptr) continue;
        expected.registers.push_back(which);
        expected_.add(expected.scope, to_string(which), bits_of(which, place_.shape.dtype),
                      Moment::kAfterEdge);
    }
}

void FailureProbes::add_ports() {
    for (const ArrayPort& port : array_ports(place_.shape))
        if (!port.input)
            expected_.add(kExpected, port.name, port.bits,
                          stands_before_edge(port.name) ? Moment::kBeforeEdge : Moment::kAfterEdge);
}

void FailureProbes::add_nets() {
    for (const TandemTap& tap : place_.taps)
        expected_.add(kExpected, tap.name, tap.bits, Moment::kBeforeEdge);
}

std::vector<TandemProbe> FailureProbes::list() const {
    std::vector<TandemProbe> probes = pe_probes_.list();
    const auto expected = expected_.list();
    probes.insert(probes.end(), expected.begin(), expected.end());
    return probes;
}

/// Ports are not among the taps: the port model knows them.
void FailureProbes::expect_net(const char* signal, uint32_t lane, uint64_t value) {
    for (const TandemTap& tap : place_.taps) {
        if (std::string_view(tap.name) != signal) continue;
        const uint32_t lanes = lane_bits(signal, place_.shape),
                       bits = lanes == 0 ? tap.bits : lanes;
        expected_.set(kExpected, signal, lane * bits, bits, value);
    }
}

void FailureProbes::expect(const char* port, uint32_t bits, uint64_t value) {
    expected_.set(kExpected, port, 0, bits, value);
}

void FailureProbes::expect_ports_before() {
    expect("wgt_ready_o", 1, shown_.weight_ready);
    expect("act_ready_o", 1, shown_.activation_ready);
    expect("rd_ready_o", 1, shown_.read_ready);
}

void FailureProbes::expect_ports_after() {
    expect("cmt_valid_o", 1, shown_.commit);
    if (shown_.commit) expect("cmt_addr_o", address_bits_, shown_.commit_address);
    expected_.set_row(kExpected, "cmt_data_o", shown_.commit_row);
    expect("res_valid_o", 1, shown_.result);
    expected_.set_row(kExpected, "res_data_o", shown_.result_row);
    expect("busy_o", 1, shown_.busy);
}

void FailureProbes::expect_commit(uint32_t address, std::span<const int32_t> row) {
    expect("cmt_valid_o", 1, 1);
    expect("cmt_addr_o", address_bits_, address);
    expected_.set_row(kExpected, "cmt_data_o", row);
}

void FailureProbes::before(engine::Cycle edge, const TandemArrayPorts& ports) {
    expected_.begin(Moment::kBeforeEdge);
    shown_ = port_model_.step(edge_of(ports, place_.shape));
    expect_ports_before();
    if (ports.reset == 0 && unit_oracle_ != nullptr) unit_oracle_->before(edge, ports);
}

void FailureProbes::after(engine::Cycle edge, const TandemArrayPorts& ports) {
    expected_.begin(Moment::kAfterEdge);
    expect_ports_after();
    if (ports.reset != 0) return new_oracles({}, {});
    if (unit_oracle_ != nullptr) unit_oracle_->after(edge, ports);
    accept(edge, ports);
    for (const Pe& pe : pes_)
        for (const PeRegister which : pe.registers)
            if (const auto value = pe_oracle_->expected(which, edge, pe.row, pe.col))
                expected_.set(pe.scope, to_string(which), 0, bits_of(which, place_.shape.dtype),
                              *value);
    pe_oracle_->check(edge, no_registers_);
}

void FailureProbes::accept(engine::Cycle edge, const TandemArrayPorts& ports) {
    const uint32_t rows = place_.shape.rows;
    if (ports.wgt_valid != 0 && ports.wgt_ready != 0) {
        pe_oracle_->weight_row(edge, rows - 1 - beats_,
                               static_cast<const std::byte*>(ports.wgt_data));
        beats_ = (beats_ + 1) % rows;
    }
    if (ports.act_valid != 0 && ports.act_ready != 0)
        pe_oracle_->activation_row(edge, static_cast<const std::byte*>(ports.act_data),
                                   ports.act_swap != 0);
}

}  // namespace tandem::cosim
