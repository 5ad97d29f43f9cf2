// SPDX-License-Identifier: Apache-2.0
// A core's program as whoever watches its run sees it: the same for an image and for a stream.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/program.h"
#include "arch/program_source.h"

namespace tandem::run {

class ProgramView {
  public:
    virtual ~ProgramView() = default;
    virtual arch::InstructionSource source(uint64_t index) const = 0;
    /// For timelines; empty words: not known any more.
    virtual isa::Words words(uint64_t index) const = 0;
};

class ImageView final : public ProgramView {
  public:
    explicit ImageView(const arch::CoreProgram& program) : program_(program) {}
    arch::InstructionSource source(uint64_t index) const override {
        return index < program_.sources.size() ? program_.sources[index]
                                               : arch::InstructionSource{};
    }
    isa::Words words(uint64_t index) const override {
        return index < program_.instructions.size() ? program_.instructions[index] : isa::Words{};
    }

  private:
    const arch::CoreProgram& program_;
};

/// Stands before a stream. Keeps the last instructions, more than can be under way.
class StreamView final : public ProgramView, public arch::ProgramSource {
  public:
    explicit StreamView(arch::ProgramSource& source) : source_(source), kept_(kKept) {}
    size_t next(std::span<isa::Words> words) override {
        const size_t count = source_.next(words);
        for (size_t i = 0; i < count; ++i) kept_[made_++ % kKept] = words[i];
        return count;
    }
    arch::InstructionSource source(uint64_t index) const override { return source_.source(index); }
    isa::Words words(uint64_t index) const override {
        const bool there = index < made_ && index + kKept >= made_;
        return there ? kept_[index % kKept] : isa::Words{};
    }

  private:
    static constexpr size_t kKept = 1 << 16;
    arch::ProgramSource& source_;
    std::vector<isa::Words> kept_;
    uint64_t made_ = 0;
};

}  // namespace tandem::run
