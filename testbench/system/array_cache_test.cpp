// SPDX-License-Identifier: Apache-2.0
// Where the command keeps arrays, and what it refuses to load.
#include <sys/stat.h>

#include "testbench/system/command_line.h"

namespace tandem::testbench {
namespace {

class ArrayCacheTest : public CommandLineTest {
  protected:
    CommandResult build(const std::string& environment) const {
        return shell("env " + environment + " \"$TANDEM_BINARY\" rtl build --rows 1 --cols 1");
    }
};

TEST_F(ArrayCacheTest, AFolderThatEverybodyCanWriteIsRefused) {
    const auto cache = folder_ / "cache";
    std::filesystem::create_directory(cache);
    ASSERT_EQ(::chmod(cache.c_str(), 0777), 0);
    expect(build("TANDEM_ARRAY_CACHE='" + cache.string() + "'"), 2,
           {cache.string(), "everybody can write to it", "TANDEM_ARRAY_CACHE names another"});
    EXPECT_TRUE(std::filesystem::is_empty(cache));
}

TEST_F(ArrayCacheTest, AFolderOfAnotherUserIsRefused) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can give files to another user";
    const auto cache = folder_ / "cache";
    std::filesystem::create_directory(cache);
    ASSERT_EQ(::chown(cache.c_str(), 54321, 54321), 0);
    expect(build("TANDEM_ARRAY_CACHE='" + cache.string() + "'"), 2,
           {cache.string(), "it belongs to user 54321: expected user 0 or root"});
}

// No fixed folder below /tmp that somebody else could have made before.
TEST_F(ArrayCacheTest, AUserWithoutAHomeIsAskedForAFolder) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become a user without an account";
    const std::string user =
        "-u TANDEM_ARRAY_CACHE -u HOME -u XDG_CACHE_HOME setpriv --reuid 54321 "
        "--regid 54321 --clear-groups";
    if (std::system(("env " + user + " test -x '" + environment("TANDEM_BINARY") + "'").c_str()) !=
        0)
        GTEST_SKIP() << "the command is in a folder that only root can read";
    expect(build(user), 2, {"no place for the cache of arrays", "TANDEM_ARRAY_CACHE"});
}

}  // namespace
}  // namespace tandem::testbench
