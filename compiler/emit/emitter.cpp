// SPDX-License-Identifier: Apache-2.0
#include "compiler/emit/emitter.h"

#include <stdexcept>

#include "base/error.h"
#include "compiler/plan/product_grid.h"

namespace tandem::compiler {

Emitter::Emitter(const KernelGraph& graph, const Plan& plan, const arch::ChipConfig& chip,
                 const CoreEmitter::Add& add)
    : graph_(graph), plan_(plan), work_(plan.cores) {
    for (uint32_t core = 0; core < plan.cores; ++core)
        cores_.push_back(std::make_unique<CoreEmitter>(graph, plan, chip, core, add));
}

bool Emitter::advance() {
    if (halted_) return false;
    if (visit_ < plan_.visits.size()) {
        try {
            return emit_some();
        } catch (const std::out_of_range& error) {
            throw UserError(kernel().text + ": expected " + error.what());
        }
    }
    for (auto& core : cores_) {
        Step halt = core->step(isa::Unit::kSequencer, -1);
        halt.words = isa::Halt{}.encode();
        core->add(halt);
    }
    halted_ = true;
    return true;
}

bool Emitter::emit_some() {
    if (!started_) {
        started_ = true;
        for (auto& core : cores_) core->begin_program();
    }
    if (!begun_) begin();
    bool more = false;
    for (size_t c = 0; c < cores_.size(); ++c) {
        bool emitted = false;
        if (auto* matmul = std::get_if<MatmulEmitter>(&work_[c])) emitted = matmul->advance();
        if (auto* vector = std::get_if<VectorEmitter>(&work_[c])) emitted = vector->advance();
        if (emitted && c == 0) ++work_done_;
        more = more || emitted;
    }
    if (!more) end();
    return true;
}

bool Emitter::has_work(const CoreEmitter& core) const {
    return kernel().is_edge() || !core.share(visit()).chunks.empty();
}

void Emitter::begin() {
    begun_ = true;
    for (size_t c = 0; c < cores_.size(); ++c) {
        work_[c] = std::monostate{};
        if (kernel().is_alias() || !has_work(*cores_[c])) continue;
        begin(*cores_[c]);
        if (kernel().is_edge())
            edge(*cores_[c]);
        else if (kernel().matmul() != nullptr)
            work_[c].emplace<MatmulEmitter>(*cores_[c], visit());
        else
            work_[c].emplace<VectorEmitter>(*cores_[c], visit());
    }
}

/// With a synchronisation between layers: nothing of the kernel but its parameters and the inputs
/// that come from outside is issued before what it needs is there.
void Emitter::begin(CoreEmitter& core) {
    const int32_t node = this->node();
    core.visit = visit();
    core.next_visit.reset();
    if (repeat_ + 1 < kernel().repeat)
        core.next_visit = visit();
    else
        core.next_visit = next_work();
    if (!kernel().is_edge() && core.chip().sequencer.kernel_launch_ps != 0) {
        Step launch = core.step(isa::Unit::kSequencer, node);
        launch.words = isa::Launch{}.encode();
        core.add(launch);
    }
    if (repeat_ == 0) core.begin_visit();
    if (core.layer_sync() && !kernel().is_edge()) {
        // Only the first weights of all are under way while the inputs come.
        if (core.written.empty()) MatmulEmitter::fetch_first_wave(core, visit());
        std::vector<Access> reads = core.written;
        for (const ValueId id : kernel().inputs)
            if (plan_.values[id].resident && waits_for(id)) reads.push_back(core.part(id));
        core.barrier(reads, node);
    } else if (repeat_ != 0) {
        // A time step reads what the one before it wrote.
        core.order_after(core.written, node);
    }
}

/// The program of 2015 has all of its input before it begins.
bool Emitter::waits_for(ValueId input) const {
    return plan_.mode == PlanMode::kRules || !graph_.values[input].is_input;
}

/// The next visit of a kernel that has something to do.
std::optional<Visit> Emitter::next_work() const {
    for (size_t next = visit_ + 1; next < plan_.visits.size(); ++next) {
        const Kernel& kernel = graph_.kernels[plan_.visits[next].kernel];
        if (!kernel.is_edge() && !kernel.is_alias()) return plan_.visits[next];
        if (plan_.mode == PlanMode::kRules) break;
    }
    return std::nullopt;
}

/// Its values come from elsewhere; a fence of the vector unit stands for it, behind the layer
/// before it and ahead of the one that reads them.
void Emitter::edge(CoreEmitter& core) {
    const int32_t node = this->node();
    const ValueId in = kernel().inputs[0], out = kernel().output;
    Step step = core.step(isa::Unit::kVector, node);
    isa::Fence fence;
    fence.unit = static_cast<uint8_t>(isa::Unit::kVector);
    step.words = fence.encode();
    step.touches(core.part(in));
    if (plan_.values[out].resident) step.touches(core.part(out, true));
    core.add(step);
    if (!plan_.values[out].resident) core.order_after({core.part(in)}, node);
    core.written = {core.part(in)};
}

void Emitter::end() {
    for (auto& core : cores_)
        if (!kernel().is_alias() && !kernel().is_edge() && has_work(*core)) end(*core);
    begun_ = false;
    if (++repeat_ < kernel().repeat) return;
    repeat_ = 0;
    ++visit_;
}

void Emitter::end(CoreEmitter& core) {
    const int32_t node = this->node();
    const ValueId out = kernel().output;
    const CorePlan& share = core.share(visit());
    if (share.out == Way::kStays) {
        core.written = {core.part(out)};
        if (!graph_.values[out].is_output || repeat_ + 1 < kernel().repeat) return;
        if (core.layer_sync()) core.barrier(core.written, node);
        const Range made = output_of_lines(kernel(), graph_, share.lines);
        core.store_in_pieces(out, made, core.address_of(out, made.begin), node);
        return;
    }
    // The areas of what leaves: whoever reads them waits for all that was written there.
    const uint64_t places = share.out == Way::kWaves ? share.out_places * share.dealing.arrays : 2;
    core.written = {core.buffer(share.out_area, places * share.out_piece)};
    if (!graph_.values[out].is_output || plan_.values[out].copied)
        core.written.push_back(core.part(out));
}

uint64_t Emitter::work() const {
    uint64_t work = 0;
    for (const Visit& visit : plan_.visits) {
        const CorePlan& share = cores_.front()->share(visit);
        const Kernel& kernel = graph_.kernels[visit.kernel];
        const MatmulWork* matmul = kernel.matmul();
        for (const Chunk& chunk : share.chunks) {
            const uint64_t rows = matmul == nullptr ? 0 : chunk.lines.size() * matmul->window.out_w;
            work += kernel.repeat *
                    (matmul == nullptr ? 1 : grid_of(share, rows, cores_.front()->chip()).waves());
        }
    }
    return work;
}

}  // namespace tandem::compiler
