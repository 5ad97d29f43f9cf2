// SPDX-License-Identifier: Apache-2.0
#include "tools/paths.h"

#include <unistd.h>

#include <cstdlib>

namespace tandem::tools {
namespace {

const char* environment(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0' ? value : nullptr;
}

}  // namespace

std::filesystem::path source_dir() {
    if (const char* dir = environment("TANDEM_SOURCE_DIR")) return dir;
    return TANDEM_BUILD_SOURCE_DIR;
}

std::filesystem::path chips_dir() { return source_dir() / "arch" / "chips"; }

std::filesystem::path firmware_elf() {
    if (const char* file = environment("TANDEM_FIRMWARE")) return file;
    return std::filesystem::path(TANDEM_BUILD_BINARY_DIR) / "firmware" / "inference.elf";
}

std::filesystem::path float_filter() {
    return std::filesystem::path(TANDEM_BUILD_BINARY_DIR) / "tandem-float-filter";
}

std::filesystem::path array_cache_dir() {
    if (const char* dir = environment("TANDEM_ARRAY_CACHE")) return dir;
    const std::filesystem::path built = std::filesystem::path(TANDEM_BUILD_BINARY_DIR) / "arrays";
    if (::access(TANDEM_BUILD_BINARY_DIR, W_OK) == 0) return built;
    if (const char* dir = environment("XDG_CACHE_HOME"))
        return std::filesystem::path(dir) / "tandem" / "arrays";
    const char* home = environment("HOME");
    return std::filesystem::path(home != nullptr ? home : "/tmp") / ".cache" / "tandem" / "arrays";
}

}  // namespace tandem::tools
