// SPDX-License-Identifier: Apache-2.0
#include "run/paths.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "base/error.h"
#include "base/trusted_path.h"

namespace tandem::run {
namespace {

const char* environment(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0' ? value : nullptr;
}

/// The file that this code was loaded from: a program, or libtandem.so.
std::filesystem::path own_file() {
    Dl_info info{};
    link_map* map = nullptr;
    if (dladdr1(reinterpret_cast<void*>(&own_file), &info, reinterpret_cast<void**>(&map),
                RTLD_DL_LINKMAP) == 0 ||
        map->l_name[0] == '\0')
        return std::filesystem::read_symlink("/proc/self/exe");
    return std::filesystem::canonical(map->l_name);
}

/// What lies in share/tandem is compiled and run: it has to be of somebody who could change the
/// program, too.
bool has_data(const std::filesystem::path& folder, const std::filesystem::path& own) {
    struct stat data;
    struct stat program;
    return ::stat((folder / "share/tandem").c_str(), &data) == 0 && S_ISDIR(data.st_mode) &&
           ::stat(own.c_str(), &program) == 0 &&
           (data.st_uid == 0 || data.st_uid == ::geteuid() || data.st_uid == program.st_uid);
}

/// Where share/tandem and libexec/tandem are: beside the running file or at most two folders above
/// it, as in bin, lib/x86_64-linux-gnu and the folders of a build tree.
const std::filesystem::path& prefix() {
    static const std::filesystem::path found = [] {
        const auto own = own_file();
        auto folder = own;
        for (int up = 0; up < 3; ++up) {
            folder = folder.parent_path();
            if (has_data(folder, own)) return folder;
        }
        throw UserError("share/tandem is not where " + own.string() +
                        " looks for it, up to two folders above, or is another user's: install it "
                        "whole (TANDEM_SOURCE_DIR and TANDEM_FIRMWARE name other places)");
    }();
    return found;
}

}  // namespace

std::filesystem::path data_dir() {
    if (const char* dir = environment("TANDEM_SOURCE_DIR")) return dir;
    return prefix() / "share/tandem";
}

std::filesystem::path chips_dir() { return data_dir() / "arch" / "chips"; }

std::filesystem::path firmware_elf() {
    if (const char* file = environment("TANDEM_FIRMWARE")) return file;
    return prefix() / "share/tandem/firmware/inference.elf";
}

std::filesystem::path float_filter() { return prefix() / "libexec/tandem/tandem-float-filter"; }

std::filesystem::path array_cache_dir() {
    if (const char* dir = environment("TANDEM_ARRAY_CACHE")) return dir;
    // The cache of a build, for who built it: a link in its tree.
    const auto built = prefix() / "share/tandem/arrays";
    struct stat status {};
    if (::stat(built.c_str(), &status) == 0 && status.st_uid == ::geteuid())
        return std::filesystem::canonical(built);
    const auto cache = base::user_cache_folder();
    if (!cache)
        throw UserError(
            "no place for the cache of arrays: neither XDG_CACHE_HOME nor HOME is an absolute "
            "path, and the user has no home folder (TANDEM_ARRAY_CACHE names a folder for it)");
    return *cache / "tandem" / "arrays";
}

}  // namespace tandem::run
