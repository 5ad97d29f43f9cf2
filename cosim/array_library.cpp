// SPDX-License-Identifier: Apache-2.0
#include "cosim/array_library.h"

namespace tandem::cosim {

ArrayLibrary::ArrayLibrary(const std::filesystem::path& path) : object_(path, "an array") {
    decltype(&tandem_array_info) describe = nullptr;
    object_.bind("tandem_array_info", describe);
    info_ = describe();
    object_.check(info_->abi_version, TANDEM_ARRAY_ABI_VERSION, info_->build_key);
    object_.bind("tandem_array_create", create);
    object_.bind("tandem_array_create_random", create_random);
    object_.bind("tandem_array_destroy", destroy);
    object_.bind("tandem_array_reset", reset);
    object_.bind("tandem_array_step", step);
    object_.bind("tandem_array_pe", pe);
    object_.bind("tandem_array_settle", settle);
    object_.bind("tandem_array_taps", taps);
    object_.bind("tandem_array_watch", watch);
    object_.bind("tandem_array_trace_open", trace_open);
    object_.bind("tandem_array_trace_close", trace_close);
    object_.bind("tandem_array_trace_call", trace_call);
    object_.bind("tandem_array_wave_signals", wave_signals);
    object_.bind("tandem_array_wave_to_vcd", wave_to_vcd);
}

}  // namespace tandem::cosim
