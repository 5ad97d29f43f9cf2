// SPDX-License-Identifier: Apache-2.0
#include "base/trusted_path.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/error.h"

namespace tandem::base {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& path, const std::string& why) {
    throw UserError(path.string() + ": is not used, for " + why);
}

[[noreturn]] void fail(const fs::path& path, const std::string& what) {
    throw UserError(path.string() + ": " + what + ": " + std::strerror(errno));
}

/// Many systems give every user a group of the same name, and let it write.
bool is_own_group(gid_t group, uid_t owner) {
    const passwd* const account = ::getpwuid(owner);
    if (account == nullptr || account->pw_gid != group) return false;
    const std::string name = account->pw_name;
    const struct group* const entry = ::getgrgid(group);
    if (entry == nullptr || name != entry->gr_name) return false;
    for (char** member = entry->gr_mem; *member != nullptr; ++member)
        if (name != *member) return false;
    return true;
}

/// Throws when somebody else than the effective user and root can change it.
void check(const fs::path& path, const struct stat& status, bool sticky_will_do) {
    if (status.st_uid != ::geteuid() && status.st_uid != 0)
        refuse(path, fmt::format("it belongs to user {}: expected user {} or root", status.st_uid,
                                 ::geteuid()));
    const bool sticky = S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0;
    if (sticky && sticky_will_do) return;
    const bool by_group =
        (status.st_mode & S_IWGRP) != 0 && !is_own_group(status.st_gid, status.st_uid);
    if (by_group || (status.st_mode & S_IWOTH) != 0)
        refuse(path, fmt::format("{} can write to it (mode {:04o}): chmod go-w makes it safe",
                                 by_group ? "its group" : "everybody", status.st_mode & 07777));
}

/// Closed at the end.
struct Descriptor {
    int number;
    explicit Descriptor(int number) : number(number) {}
    ~Descriptor() {
        if (number >= 0) ::close(number);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
};

/// A regular file that is trusted, or no descriptor when there is none.
Descriptor open_trusted(const fs::path& path) {
    const int number = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (number < 0 && errno == ELOOP) refuse(path, "it is a symbolic link: expected a file");
    if (number < 0 && errno != ENOENT) fail(path, "cannot be read");
    if (number < 0) return Descriptor(number);
    struct stat status {};
    if (::fstat(number, &status) != 0 || !S_ISREG(status.st_mode)) {
        ::close(number);
        refuse(path, "it is no regular file");
    }
    try {
        check(path, status, false);
    } catch (...) {
        ::close(number);
        throw;
    }
    return Descriptor(number);
}

}  // namespace

fs::path trusted_folder(const fs::path& folder) {
    std::error_code error;
    fs::path place = fs::canonical(folder, error);
    if (error) throw UserError(folder.string() + ": " + error.message());
    bool last = true;
    for (fs::path at = place;; at = at.parent_path(), last = false) {
        struct stat status {};
        if (::lstat(at.c_str(), &status) != 0) fail(at, "cannot be examined");
        if (!S_ISDIR(status.st_mode)) refuse(at, "it is no folder");
        check(at, status, !last);
        if (at == at.root_path()) return place;
    }
}

fs::path trusted_file(const fs::path& file) {
    fs::path place = trusted_folder(fs::absolute(file).parent_path()) / file.filename();
    if (open_trusted(place).number < 0) throw UserError(file.string() + ": no such file");
    return place;
}

std::optional<std::string> read_trusted_file(const fs::path& file) {
    const fs::path folder = fs::absolute(file).parent_path();
    std::error_code error;
    if (!fs::exists(folder, error)) return std::nullopt;
    const Descriptor opened = open_trusted(trusted_folder(folder) / file.filename());
    if (opened.number < 0) return std::nullopt;
    struct stat status {};
    if (::fstat(opened.number, &status) != 0) fail(file, "cannot be read");
    std::string content(static_cast<size_t>(status.st_size), '\0');
    size_t done = 0;
    while (done < content.size()) {
        const ssize_t bytes = ::read(opened.number, content.data() + done, content.size() - done);
        if (bytes < 0 && errno == EINTR) continue;
        if (bytes < 0) fail(file, "cannot be read");
        if (bytes == 0) break;
        done += static_cast<size_t>(bytes);
    }
    content.resize(done);
    return content;
}

void make_private_folders(const fs::path& folder) {
    fs::path path;
    for (const fs::path& part : fs::absolute(folder).lexically_normal()) {
        path /= part;
        if (part.empty()) continue;
        std::error_code error;
        if (fs::is_directory(path, error)) continue;
        if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) fail(path, "cannot be made");
        if (!fs::is_directory(path, error)) {
            errno = ENOTDIR;
            fail(path, "cannot be made");
        }
    }
}

void write_private_file(const fs::path& file, const std::string& content) {
    const Descriptor opened(
        ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (opened.number < 0) fail(file, "cannot be written");
    for (size_t done = 0; done < content.size();) {
        const ssize_t bytes = ::write(opened.number, content.data() + done, content.size() - done);
        if (bytes < 0 && errno == EINTR) continue;
        if (bytes < 0) fail(file, "cannot be written");
        done += static_cast<size_t>(bytes);
    }
}

std::optional<fs::path> user_cache_folder() {
    const auto absolute = [](const char* text) { return text != nullptr && text[0] == '/'; };
    if (const char* const cache = std::getenv("XDG_CACHE_HOME"); absolute(cache)) return cache;
    if (const char* const home = std::getenv("HOME"); absolute(home))
        return fs::path(home) / ".cache";
    const passwd* const account = ::getpwuid(::geteuid());
    if (account != nullptr && absolute(account->pw_dir))
        return fs::path(account->pw_dir) / ".cache";
    return std::nullopt;
}

}  // namespace tandem::base
