// SPDX-License-Identifier: Apache-2.0
// A frozen copy of the whole simulation, made with fork(). Nothing is paid for it until it is used:
// then it lives on as often as asked, and each life reports back through a pipe.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace tandem::cosim {

class Checkpoint {
  public:
    Checkpoint() = default;
    ~Checkpoint() { discard(); }
    Checkpoint(const Checkpoint&) = delete;
    Checkpoint& operator=(const Checkpoint&) = delete;

    /// Freezes a copy here, replacing an earlier one. Returns nothing in the running simulation. In
    /// a revived copy it returns the command that revive() was given; that process has no terminal,
    /// and ends with answer().
    std::optional<std::string> take();
    bool taken() const { return child_ > 0; }
    /// This process is a revived copy: other checkpoints of the simulation belong to the original.
    static bool revived() { return revived_; }
    /// Revives the copy with a command and waits for its answer. Nothing: the copy died.
    std::optional<std::string> revive(const std::string& command);
    void discard();

    /// Only in a revived copy: sends the answer and ends the process.
    [[noreturn]] void answer(const std::string& text);

  private:
    std::string serve();

    static bool revived_;
    pid_t child_ = -1;
    int commands_ = -1;  ///< parent: write end; copy: read end
    int answers_ = -1;   ///< parent: read end; copy: write end
};

}  // namespace tandem::cosim
