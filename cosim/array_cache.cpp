// SPDX-License-Identifier: Apache-2.0
#include "cosim/array_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/fnv128.h"

namespace tandem::cosim {
namespace {

namespace fs = std::filesystem;

constexpr const char* kElsewhere = " (TANDEM_ARRAY_CACHE names another cache of arrays)";
constexpr const char* kLock = "lock";

// After what a loader or linker reads.
std::string seal(const std::string& key, std::string_view content) {
    base::Fnv128 hash;
    hash.add(content);
    return "\ntandem-array " + key + ' ' + hash.hex() + '\n';
}

/// Nobody holds the lock of the folder: its builder is gone. A folder without one is being made, or
/// comes from an older version; no build takes an hour.
bool is_abandoned(const fs::path& folder) {
    const int lock = ::open((folder / kLock).c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (lock >= 0) {
        const bool free = ::flock(lock, LOCK_EX | LOCK_NB) == 0;
        ::close(lock);
        return free;
    }
    std::error_code error;
    const auto age = fs::file_time_type::clock::now() - fs::last_write_time(folder, error);
    return !error && age > std::chrono::hours(1);
}

void remove_abandoned(const fs::path& parent) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(parent, error))
        if (entry.path().filename().string().starts_with("build-") && is_abandoned(entry.path()))
            fs::remove_all(entry.path(), error);
}

/// The lock has its name once it is held: who finds it can judge by it.
int locked(const fs::path& folder) {
    const fs::path made = folder / "lock.new";
    const int lock = ::open(made.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (lock < 0) return -1;
    if (::flock(lock, LOCK_EX | LOCK_NB) == 0 &&
        ::rename(made.c_str(), (folder / kLock).c_str()) == 0)
        return lock;
    ::close(lock);
    return -1;
}

}  // namespace

ArrayCache::ArrayCache(const fs::path& folder) : folder_(fs::absolute(folder)) {}

ArrayCache::Found ArrayCache::find(const std::string& name, const std::string& key) const {
    auto content = base::read_trusted_file(folder_ / name);
    if (!content) return {};
    const size_t length = seal(key, "").size();
    if (content->size() < length) return {State::kDamaged, {}};
    const std::string found = content->substr(content->size() - length);
    content->resize(content->size() - length);
    if (found != seal(key, *content)) return {State::kDamaged, {}};
    return {State::kGood, std::move(*content)};
}

void ArrayCache::open() const {
    try {
        base::make_private_folders(folder_);
        base::trusted_folder(folder_);
    } catch (const UserError& error) {
        throw UserError("the cache of arrays, " + folder_.string() + ": " + error.what() +
                        kElsewhere);
    }
}

void ArrayCache::put(const std::string& name, const std::string& key, const std::string& content,
                     const fs::path& scratch) const {
    const fs::path made = scratch / "sealed", target = folder_ / name;
    base::write_private_file(made, content + seal(key, content));
    std::error_code error;
    fs::rename(made, target, error);
    if (error) throw UserError("cannot write " + target.string() + ": " + error.message());
}

ScratchFolder::ScratchFolder(const ArrayCache& cache) {
    cache.open();
    remove_abandoned(cache.folder());
    std::string name = (cache.folder() / "build-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
        throw UserError("cannot write to the cache of arrays, " + cache.folder().string() + ": " +
                        std::strerror(errno) + kElsewhere);
    path_ = name;
    lock_ = locked(path_);
}

ScratchFolder::~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
    if (lock_ >= 0) ::close(lock_);
}

}  // namespace tandem::cosim
