// SPDX-License-Identifier: Apache-2.0
#include "base/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace tandem::base {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBufferBytes = 1 << 16;
constexpr mode_t kMode = 0666;  // what the user's mask takes away is not there

/// Follows symbolic links, also to where nothing is yet.
fs::path behind_links(const fs::path& path) {
    std::error_code error;
    const fs::path target = fs::weakly_canonical(path, error);
    if (error || !fs::is_symlink(target, error)) return error ? path : target;
    return target.parent_path() / fs::read_symlink(target, error);
}

fs::path unused_name(const fs::path& folder) {
    static unsigned count = 0;
    return folder / fmt::format(".tandem-{}-{}", ::getpid(), count++);
}

fs::path folder_of(const fs::path& file) {
    return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

}  // namespace

OutputFile::OutputFile(const fs::path& path) : path_(path) {
    struct stat status {};
    const bool exists = ::stat(path.c_str(), &status) == 0;
    if (is_written_in_place(path)) {
        in_place_ = true;
        file_ = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
        if (file_ >= 0) return;
        error_ = errno;
        fail();
    }
    target_ = behind_links(path);
    if (exists && ::access(path.c_str(), W_OK) != 0) {
        error_ = errno;
        fail();
    }
    open_beside();
    if (file_ < 0) fail();
    if (exists) (void)::fchmod(file_, status.st_mode & 07777);
}

OutputFile::~OutputFile() {
    if (file_ >= 0) ::close(file_);
    if (!part_.empty()) ::unlink(part_.c_str());
}

/// Without a name where that is possible: then nothing is left when the process is killed.
void OutputFile::open_beside() {
    const fs::path folder = folder_of(target_);
    // The name itself has to be possible, too.
    if (target_.filename().string().size() > 255) {
        error_ = ENAMETOOLONG;
        return;
    }
#ifdef O_TMPFILE
    if (::access("/proc/self/fd", X_OK) == 0)
        file_ = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, kMode);
    if (file_ >= 0) return;
#endif
    part_ = unused_name(folder);
    file_ = ::open(part_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode);
    if (file_ >= 0) return;
    error_ = errno;
    part_.clear();
}

void OutputFile::write(std::string_view bytes) {
    buffer_.append(bytes);
    if (buffer_.size() >= kBufferBytes) flush();
}

void OutputFile::flush() {
    for (size_t done = 0; error_ == 0 && done < buffer_.size();) {
        const ssize_t written = ::write(file_, buffer_.data() + done, buffer_.size() - done);
        if (written >= 0)
            done += static_cast<size_t>(written);
        else if (errno != EINTR)
            error_ = errno;
    }
    buffer_.clear();
}

bool OutputFile::name_part() {
    if (!part_.empty()) return true;
    const fs::path name = unused_name(folder_of(target_));
    const std::string self = fmt::format("/proc/self/fd/{}", file_);
    if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) != 0)
        return false;
    part_ = name;
    return true;
}

void OutputFile::commit() {
    flush();
    if (error_ == 0 && !in_place_ && !name_part()) error_ = errno;
    if (::close(std::exchange(file_, -1)) != 0 && error_ == 0) error_ = errno;
    if (error_ == 0 && !in_place_) {
        if (::rename(part_.c_str(), target_.c_str()) != 0)
            error_ = errno;
        else
            part_.clear();
    }
    if (error_ != 0) fail();
}

void OutputFile::fail() const {
    throw UserError(path_.string() + ": cannot be written: " + std::strerror(error_));
}

void write_file(const fs::path& file, std::string_view text) {
    OutputFile out(file);
    out.write(text);
    out.commit();
}

void write_file(const fs::path& file, const std::vector<uint8_t>& bytes) {
    write_file(file, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

/// Nothing could take their place: /dev/stdout may be a file.
bool is_written_in_place(const fs::path& file) {
    struct stat status {};
    const std::string name = fs::absolute(file).lexically_normal().string();
    return name.starts_with("/dev/") || name.starts_with("/proc/") ||
           (::stat(file.c_str(), &status) == 0 && !S_ISREG(status.st_mode));
}

std::string why_not_writable(const fs::path& file) {
    struct stat status {};
    if (::stat(file.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
        if (S_ISDIR(status.st_mode)) return std::strerror(EISDIR);
        // Opening a pipe would end it for its reader.
        return ::access(file.c_str(), W_OK) == 0 ? "" : std::strerror(errno);
    }
    try {
        const OutputFile probe(file);
        return {};
    } catch (const UserError& error) {
        const std::string_view what = error.what();
        return std::string(what.substr(what.rfind(": ") + 2));
    }
}

fs::path part_of(const fs::path& file) { return fs::path(file).concat(".part"); }

bool take_place(const fs::path& file) {
    std::error_code error;
    fs::rename(part_of(file), behind_links(file), error);
    return !error;
}

}  // namespace tandem::base
