// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/plan/public_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "base/error.h"

namespace tandem::benchmarks {
namespace {

/// Time steps are alike: two of them show what one costs behind another.
constexpr uint64_t kMostRepeats = 2;

/// All that decides how long a layer takes.
std::string sizes_of(const tables::Layer& layer) {
    std::string sizes =
        fmt::format("{} {} {} {} {} {} {} {} {} {}", static_cast<int>(layer.kind), layer.m, layer.k,
                    layer.n, layer.groups, layer.repeat, layer.passes, layer.input_elements,
                    layer.output_elements, layer.elements);
    if (layer.convolution) {
        const auto& [images, height, width, channels, window] = *layer.convolution;
        sizes +=
            fmt::format(" {} {} {} {} {} {} {} {} {} {} {} {}", images, height, width, channels,
                        window.kernel_h, window.kernel_w, window.stride_h, window.stride_w,
                        window.pad_top, window.pad_left, window.pad_bottom, window.pad_right);
    }
    return sizes;
}

/// A message about a file, with its name alone: pages do not say where somebody keeps tables.
std::string without_folder(const std::string& message, const std::filesystem::path& file) {
    const std::string folder = file.parent_path().string() + "/";
    return message.starts_with(folder) ? message.substr(folder.size()) : message;
}

}  // namespace

std::filesystem::path shapes_dir() {
    const char* folder = std::getenv("TANDEM_SHAPES");
    if (folder == nullptr || *folder == '\0')
        throw UserError("TANDEM_SHAPES", "environment", "a folder of tables", "nothing");
    return folder;
}

PublicTables load_public_tables() {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(shapes_dir()))
        if (entry.path().extension() == ".csv") files.push_back(entry.path());
    std::ranges::sort(files);
    PublicTables found;
    for (const auto& file : files) {
        try {
            tables::Workload table = tables::load_table(file);
            for (tables::Layer& layer : table.layers)
                layer.repeat = std::min(layer.repeat, kMostRepeats);
            found.tables.push_back(std::move(table));
        } catch (const UserError& error) {
            found.unreadable.push_back(without_folder(error.what(), file));
        }
    }
    return found;
}

std::vector<tables::Workload> single_kernels(const std::vector<tables::Workload>& tables) {
    std::vector<tables::Workload> kernels;
    std::set<std::string> seen;
    for (const tables::Workload& table : tables) {
        if (table.chained) continue;
        for (const tables::Layer& layer : table.layers) {
            if (!seen.insert(sizes_of(layer)).second) continue;
            tables::Workload kernel;
            kernel.name = fmt::format("{}: {}", table.name, layer.name);
            kernel.file = table.file;
            kernel.batch = table.batch;
            kernel.layers.push_back(layer);
            kernels.push_back(std::move(kernel));
        }
    }
    return kernels;
}

}  // namespace tandem::benchmarks
