// SPDX-License-Identifier: Apache-2.0
// The files behind a file list, as far as they can be known before Verilator reads them: those it
// names, nested lists, and what they include.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/fnv128.h"

namespace tandem::cosim {

class RtlSources {
  public:
    /// Throws UserError when the list cannot be read, or holds a word that is neither a file nor
    /// about finding and reading files. A file that it names and that is missing is left to
    /// Verilator.
    explicit RtlSources(const std::filesystem::path& filelist);

    void add_to(base::Fnv128& hash) const;
    bool contains(const std::filesystem::path& file) const;
    /// Throws UserError where Verilator read a file that is not known here, by its list of
    /// dependencies: it would be no part of the key, and stale models would follow. What lies in
    /// folders of `others`, or has the name `ours`, is no source.
    void check_used(const std::filesystem::path& dependencies,
                    const std::vector<std::filesystem::path>& others,
                    std::string_view ours = {}) const;

  private:
    void read_list(const std::filesystem::path& list, const std::filesystem::path& base);
    void add_source(const std::filesystem::path& file);
    void add_folder(const std::filesystem::path& folder);
    void add_included();
    void add_includes_of(const std::filesystem::path& file, std::set<std::filesystem::path>& next);

    const std::filesystem::path filelist_;
    std::filesystem::path top_folder_;
    std::set<std::filesystem::path> files_, folders_;  // canonical
};

}  // namespace tandem::cosim
