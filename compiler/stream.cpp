// SPDX-License-Identifier: Apache-2.0
#include "compiler/stream.h"

#include <bit>

namespace tandem::compiler {

class StreamedProgram::Source final : public arch::ProgramSource {
  public:
    Source(StreamedProgram& program, size_t remembered)
        : program_(program), sources_(std::bit_ceil(remembered)) {}

    size_t next(std::span<isa::Words> words) override {
        size_t count = 0;
        while (count < words.size()) {
            if (ready_.empty() && !program_.make_more()) break;
            if (ready_.empty()) continue;
            words[count++] = ready_.front().words;
            sources_[fetched_++ % sources_.size()] = ready_.front().source;
            ready_.pop_front();
        }
        return count;
    }

    arch::InstructionSource source(uint64_t index) const override {
        return sources_[index % sources_.size()];
    }

    void push(const isa::Words& words, const arch::InstructionSource& source) {
        ready_.push_back({words, source});
    }

  private:
    struct Made {
        isa::Words words;
        arch::InstructionSource source;
    };
    StreamedProgram& program_;
    std::deque<Made> ready_;
    std::vector<arch::InstructionSource> sources_;  ///< of the last instructions fetched
    uint64_t fetched_ = 0;
};

namespace {

/// Instructions of a core that can have been fetched and not be retired: all queues full, those in
/// execution, those fetched ahead.
size_t in_flight(const arch::ChipConfig& chip) {
    constexpr size_t kAhead = 1024;
    const size_t units = 4 + 2 * size_t{chip.mxu.count};
    return kAhead + units * (chip.sequencer.queue_entries + chip.mxu.weight_fifo_tiles);
}

}  // namespace

StreamedProgram::StreamedProgram(Planned planned)
    : planned_(std::move(planned)),
      synchroniser_(planned_.plan.cores, planned_.chip.mxu.count,
                    [this](uint32_t core, const isa::Words& words, const Step& step) {
                        cores_[core]->push(words, step.source);
                    }),
      emitter_(planned_.kernels, planned_.plan, planned_.chip,
               [this](const Step& step) { synchroniser_.add(step); }) {
    for (uint32_t core = 0; core < planned_.plan.cores; ++core)
        cores_.push_back(std::make_unique<Source>(*this, in_flight(planned_.chip)));
}

StreamedProgram::~StreamedProgram() = default;

arch::ProgramSource& StreamedProgram::core(size_t index) { return *cores_.at(index); }

void StreamedProgram::set_progress(std::function<void(uint64_t, uint64_t)> progress) {
    progress_ = std::move(progress);
    total_ = emitter_.work();
}

bool StreamedProgram::make_more() {
    if (emitter_.advance()) {
        if (progress_) progress_(emitter_.work_done(), total_);
        return true;
    }
    if (finished_) return false;
    finished_ = true;
    synchroniser_.finish();
    return true;
}

}  // namespace tandem::compiler
