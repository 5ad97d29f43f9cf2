// SPDX-License-Identifier: Apache-2.0
// What was built once and is taken again: sealed files in one folder. Any number of processes may
// share it. The seal tells damage (a file that was cut, changed, or renamed to another name); that
// nobody else planted a file is a matter of owners and modes (base/trusted_path.h).
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/trusted_path.h"

namespace tandem::cosim {

class ArrayCache {
  public:
    /// The folder need not be there. Nothing is checked before something is looked for.
    explicit ArrayCache(const std::filesystem::path& folder);

    const std::filesystem::path& folder() const { return folder_; }

    enum class State { kMissing, kDamaged, kGood };
    struct Found {
        State state = State::kMissing;
        std::string content;  ///< without its seal; of a good one
    };
    /// The file NAME that was sealed with `key`. Throws UserError when somebody else could have
    /// changed it, or anything above it.
    Found find(const std::string& name, const std::string& key) const;

    /// Makes the folder, for the user alone. Throws UserError when it cannot be made, or others can
    /// write to it.
    void open() const;

    /// Seals the content and puts it into its place at once, over what stands there. `scratch` is a
    /// folder on the same file system.
    void put(const std::string& name, const std::string& key, const std::string& content,
             const std::filesystem::path& scratch) const;

  private:
    std::filesystem::path folder_;
};

/// A folder of a build, build-XXXXXX in the cache, removed at the end. Those of builders that were
/// killed are removed by the next one.
class ScratchFolder {
  public:
    /// Throws UserError when it cannot be made.
    explicit ScratchFolder(const ArrayCache& cache);
    ~ScratchFolder();
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
    int lock_ = -1;  // held as long as the builder lives
};

}  // namespace tandem::cosim
