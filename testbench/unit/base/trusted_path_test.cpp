// SPDX-License-Identifier: Apache-2.0
#include "base/trusted_path.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/error.h"

namespace tandem::base {
namespace {

namespace fs = std::filesystem;

TEST(UserCache, FollowsTheRulesOfXdg) {
    ::setenv("HOME", "/h", 1);
    ::setenv("XDG_CACHE_HOME", "/x/cache", 1);
    EXPECT_EQ(user_cache_folder(), "/x/cache");
    ::setenv("XDG_CACHE_HOME", "relative", 1);
    EXPECT_EQ(user_cache_folder(), "/h/.cache");
    ::setenv("XDG_CACHE_HOME", "", 1);
    EXPECT_EQ(user_cache_folder(), "/h/.cache");
    // The home folder of the account, not a place that others can guess and make first.
    for (const char* home : {"", "relative"}) {
        ::setenv("HOME", home, 1);
        const auto folder = user_cache_folder();
        if (folder) {
            EXPECT_TRUE(folder->is_absolute());
            EXPECT_EQ(folder->filename(), ".cache");
            EXPECT_NE(*folder, "/h/.cache");
        }
    }
}

TEST(TrustedPath, MistakesNameTheirPath) {
    std::string form = (fs::temp_directory_path() / "tandem_trusted_XXXXXX").string();
    const fs::path folder = ::mkdtemp(form.data());
    write_private_file(folder / "file", "text");
    EXPECT_EQ(read_trusted_file(folder / "file"), "text");
    EXPECT_EQ(read_trusted_file(folder / "none"), std::nullopt);
    EXPECT_EQ(read_trusted_file(folder / "none" / "none"), std::nullopt);
    EXPECT_EQ(trusted_file(folder / "file"), fs::canonical(folder) / "file");
    EXPECT_THROW(trusted_file(folder / "none"), UserError);
    EXPECT_THROW(read_trusted_file(folder), UserError) << "no regular file";
    EXPECT_THROW(write_private_file(folder / "file", "again"), UserError);
    EXPECT_THROW(make_private_folders(folder / "file" / "below"), UserError);
    make_private_folders(folder / "a" / "b");
    EXPECT_TRUE(fs::is_directory(folder / "a" / "b"));
    // A link above is followed, and what it leads to is examined.
    fs::create_directory_symlink(folder / "a", folder / "link");
    EXPECT_EQ(trusted_folder(folder / "link" / "b"), fs::canonical(folder) / "a" / "b");
    ASSERT_EQ(::chmod((folder / "a").c_str(), 0777), 0);
    try {
        trusted_folder(folder / "link" / "b");
        ADD_FAILURE() << "everybody can write to a";
    } catch (const UserError& error) {
        EXPECT_NE(std::string(error.what()).find((folder / "a").string() + ": is not used"),
                  std::string::npos)
            << error.what();
    }
    fs::remove_all(folder);
}

}  // namespace
}  // namespace tandem::base
