// SPDX-License-Identifier: Apache-2.0
#include "cosim/gtkw.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <iterator>

#include "base/output_file.h"
#include "cosim/save_file.h"
#include "cosim/signal_lanes.h"
#include "cosim/wave_groups.h"

namespace tandem::cosim {

void look_at(SaveFileRequest& request, const Divergence& d) {
    request.marker = d.pe ? d.pe->cycle : d.net ? d.net->cycle : d.cycle_rtl;
    request.wrong_pe = d.pe;
    request.wrong_net = d.net;
    request.wrong_col = d.col;
    request.wrong_port = !d.port.empty()     ? d.port
                         : d.what == "value" ? "cmt_data_o"
                         : d.what == "cycle" ? "cmt_valid_o"
                         : d.what == "order" ? "cmt_addr_o"
                                             : "";
    const std::string& wrong = d.net ? d.net->signal : request.wrong_port;
    request.before_edge = (d.net || (!d.pe && d.what == "port")) && stands_before_edge(wrong);
}

std::string write_gtkw(const SaveFileRequest& request) {
    const std::filesystem::path wave = request.wave;
    std::string path = std::filesystem::path(request.wave).replace_extension(".gtkw").string();
    const engine::Cycle before = 5, focus = request.marker;
    const uint64_t edge = focus * request.period_fs,
                   // In the half period in which the net has the value that the edge takes.
        marker = edge - (request.before_edge ? std::min(edge, request.period_fs / 4) : 0),
                   start = (focus > before ? focus - before : 0) * request.period_fs;
    // GTKWave's zoom: 200 pixels are 2^-zoom time units. A cycle is as wide as a value needs; half
    // a cycle of an int8 array holds a sum of six digits, for an injected bit turns up in the
    // middle.
    const double cycle_pixels = request.shape.dtype == arch::Dtype::kInt8 ? 128 : 112,
                 zoom = -std::log2(static_cast<double>(request.period_fs) * 200.0 / cycle_pixels);
    // GTKWave looks for the waveform where it stands relative to the save file.
    std::string text = fmt::format(
        "[dumpfile] \"./{}\"\n[savefile] \"./{}\"\n[timestart] {}\n[size] 1400 900\n[pos] -1 "
        "-1\n*{:.6f} {}",
        wave.filename().string(), std::filesystem::path(path).filename().string(), start, zoom,
        marker);
    for (int i = 0; i < 26; ++i) text += " -1";
    text +=
        "\n[treeopen] rtl.\n[treeopen] pe.\n[treeopen] expected.\n[treeopen] model.\n[sst_width] "
        "220\n[sst_expanded] 0\n[signals_width] 420\n";
    SaveFile file(request.signals, request.float_filter);
    WaveGroups(file, request).add_all();
    base::write_file(path, text + file.text());
    return path;
}

}  // namespace tandem::cosim
