// SPDX-License-Identifier: Apache-2.0
// Arrays of small size in a cache of their own.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cosim/array_builder.h"
#include "testbench/support/source_tree.h"

namespace tandem::testbench {

namespace fs = std::filesystem;

/// A cache of its own, and arrays that are compiled without optimisation.
class BuilderTest : public testing::Test {
  protected:
    BuilderTest() {
        ::setenv("TANDEM_ARRAY_OPT", "-O0", 1);
        std::string form = (fs::temp_directory_path() / "tandem_builder_XXXXXX").string();
        folder_ = ::mkdtemp(form.data());
        options_.rtl_dir = source_dir() / "rtl";
        options_.shim_dir = source_dir() / "cosim";
        options_.cache_dir = folder_ / "cache";
        copy_runtime();
        options_.progress = [this](std::string_view line) { said_ += std::string(line) + '\n'; };
    }
    ~BuilderTest() override { fs::remove_all(folder_); }

    /// Verilator's runtime from the cache of the build: it takes longer than a small array.
    void copy_runtime() {
        const char* const cache = std::getenv("TANDEM_ARRAY_CACHE");
        std::error_code error;
        fs::create_directories(options_.cache_dir);
        for (const auto& entry : fs::directory_iterator(cache != nullptr ? cache : "", error))
            if (entry.is_regular_file(error) &&
                entry.path().filename().string().starts_with("runtime-"))
                fs::copy(entry.path(), options_.cache_dir / entry.path().filename(), error);
    }

    std::string message_of(const std::function<void()>& action) {
        try {
            action();
        } catch (const UserError& error) {
            return error.what();
        }
        ADD_FAILURE() << "nothing was thrown";
        return {};
    }

    void expect_texts(const std::string& message, const std::vector<std::string>& texts) {
        for (const auto& text : texts)
            EXPECT_NE(message.find(text), std::string::npos) << '"' << text << "\" in\n" << message;
    }

    /// A top module of its own, from the text of tree_mxu.
    cosim::ArraySpec other(const std::function<void(std::string&)>& change) {
        const fs::path tree = source_dir() / "rtl" / "adder_tree";
        for (const char* file : {"tree_column.sv", "tree_accumulators.sv", "filelist.f"})
            fs::copy_file(tree / file, folder_ / file, fs::copy_options::overwrite_existing);
        std::string text = read_text(tree / "tree_mxu.sv");
        change(text);
        write_text(folder_ / "tree_mxu.sv", text);
        cosim::ArraySpec spec{2, 2, 4};
        spec.other = cosim::OtherRtl{folder_ / "filelist.f", "tree_mxu"};
        return spec;
    }
    static void replace(std::string& text, const std::string& from, const std::string& to) {
        const auto at = text.find(from);
        ASSERT_NE(at, std::string::npos) << from;
        text.replace(at, from.size(), to);
    }

    fs::path folder_;
    cosim::BuildOptions options_;
    std::string said_;
};

}  // namespace tandem::testbench
