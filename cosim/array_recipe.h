// SPDX-License-Identifier: Apache-2.0
// How one array is built: the commands without the places of their files, and the key, a hash of
// all that goes into it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cosim/array_builder.h"
#include "cosim/array_cache.h"
#include "cosim/build_tools.h"
#include "cosim/rtl_sources.h"

namespace tandem::cosim {

inline constexpr const char* kPrefix = "Varray";  ///< of the generated classes, whatever the top

class ArrayRecipe {
  public:
    /// Asks the tools for their versions. Throws UserError for a specification, a file list or a
    /// tool that will not do.
    ArrayRecipe(const ArraySpec& spec, const BuildOptions& options, const ArrayCache& cache);

    const ArraySpec& spec() const { return spec_; }
    const Toolchain& tools() const { return tools_; }
    const std::filesystem::path& filelist() const { return filelist_; }
    const RtlSources& sources() const { return sources_; }
    const std::string& key() const { return key_; }
    /// The checker beside the array; empty: there is none.
    const std::string& contract() const { return contract_; }
    /// Of the array's files in a cache.
    std::string stem() const { return name_of(spec_) + '-' + key_; }

    base::Command verilate() const;
    base::Command compile() const;

    /// TANDEM_ARRAY_OPT says at which level the array is compiled.
    bool level_is_given() const { return !level_.empty(); }
    /// The compiler's level for `bytes` of C++ that Verilator wrote. Throws UserError when that is
    /// too much.
    std::string level_for(uintmax_t bytes) const;

    /// The one translation unit of the array: the files that Verilator wrote, and the shim.
    std::string unit(const std::vector<std::string>& files) const;

  private:
    std::string key_of(const std::filesystem::path& shim_dir) const;

    ArraySpec spec_;
    bool coverage_, waves_;
    std::filesystem::path filelist_;
    std::string level_;
    Toolchain tools_;
    RtlSources sources_;
    std::string contract_;
    std::string key_;
};

}  // namespace tandem::cosim
