// SPDX-License-Identifier: Apache-2.0
#include "systemc/host/host_cpu.h"

namespace tandem::host {

tlm::tlm_response_status HostCpu::access(tlm::tlm_command command, uint64_t address, uint8_t* data,
                                         unsigned bytes) {
    payload_.set_command(command);
    payload_.set_address(address);
    payload_.set_data_ptr(data);
    payload_.set_data_length(bytes);
    payload_.set_streaming_width(bytes);
    payload_.set_dmi_allowed(false);
    payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    bus_out->b_transport(payload_, delay);
    if (delay != sc_core::SC_ZERO_TIME) wait(delay);
    return payload_.get_response_status();
}

}  // namespace tandem::host
