// SPDX-License-Identifier: Apache-2.0
#include "run/paths.h"

#include <unistd.h>

#include <cstdlib>

namespace tandem::run {
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

std::filesystem::path command() {
    return std::filesystem::path(TANDEM_BUILD_BINARY_DIR) / "tandem";
}

std::filesystem::path firmware_elf() {
    if (const char* file = environment("TANDEM_FIRMWARE")) return file;
    return std::filesystem::path(TANDEM_BUILD_BINARY_DIR) / "firmware" / "inference.elf";
}

std::filesystem::path float_filter() {
    return std::filesystem::path(TANDEM_BUILD_BINARY_DIR) / "tandem-float-filter";
}

std::filesystem::path array_cache_dir() {
    if (const char* dir = environment("TANDEM_ARRAY_CACHE")) return dir;
    if (::access(TANDEM_BUILD_ARRAYS, W_OK) == 0) return TANDEM_BUILD_ARRAYS;
    if (const char* dir = environment("XDG_CACHE_HOME"))
        return std::filesystem::path(dir) / "tandem" / "arrays";
    const char* home = environment("HOME");
    if (home == nullptr) return TANDEM_BUILD_ARRAYS;
    return std::filesystem::path(home) / ".cache" / "tandem" / "arrays";
}

}  // namespace tandem::run
