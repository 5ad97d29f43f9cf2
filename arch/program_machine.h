// SPDX-License-Identifier: Apache-2.0
// Executes the programs of all cores without data and without time: sequencers, queues, counting
// flags, weight FIFOs. Part of check_program.
//
// Every flag is taken by one unit only, and every queue and FIFO has one reader. In such a machine
// it does not matter who moves first: what gets stuck in one order gets stuck in every order.
#pragma once

#include <vector>

#include "arch/core_machine.h"

namespace tandem::arch {

class ProgramMachine {
  public:
    explicit ProgramMachine(ProgramCheck& check);

    /// From the first instructions to all halts; whatever would stop the chip is a UserError.
    void run();

  private:
    [[noreturn]] void stuck() const;

    MachineFlags flags_;
    std::vector<CoreMachine> cores_;
};

}  // namespace tandem::arch
