// SPDX-License-Identifier: Apache-2.0
// Somebody's own sc_main beside the library: one SystemC kernel in the process.
#include <iostream>
#include <systemc>

#include <tandem/tandem.h>

namespace {

SC_MODULE(Own){SC_CTOR(Own){SC_THREAD(run);
}
void run() {
    wait(sc_core::sc_time(5, sc_core::SC_NS));
    std::cout << "tandem " << tandem_version() << " in sc_main at " << sc_core::sc_time_stamp()
              << "\n";
}
}
;

}  // namespace

int sc_main(int, char**) {
    Own own("own");
    sc_core::sc_start();
    return 0;
}
