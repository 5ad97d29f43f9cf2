// SPDX-License-Identifier: Apache-2.0
// The cache of arrays: nothing is taken from it that is damaged or that somebody else could have
// put there, and nothing of a killed build stays.
#include "cosim/array_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "cosim/array_library.h"
#include "testbench/cosim/builder_fixture.h"

namespace tandem::testbench {
namespace {

const cosim::ArraySpec kSmall{1, 2, 4};

mode_t mode_of(const fs::path& path) {
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
    return status.st_mode & 07777;
}

class CacheTest : public BuilderTest {
  protected:
    std::string refused(const cosim::ArraySpec& spec = kSmall) {
        return message_of([&] { cosim::ensure_array(spec, options_); });
    }
    cosim::ArrayCache with_file() const {
        cosim::ArrayCache cache(options_.cache_dir);
        const cosim::ScratchFolder scratch(cache);
        cache.put("file", "key", "content", scratch.path());
        return cache;
    }
    /// Compiled runtimes of Verilator, for several compilers perhaps.
    std::vector<fs::path> runtimes() const {
        std::vector<fs::path> files;
        for (const auto& entry : fs::directory_iterator(options_.cache_dir))
            if (entry.path().filename().string().starts_with("runtime-"))
                files.push_back(entry.path());
        return files;
    }
    size_t builds() const {
        size_t count = 0;
        for (const auto& entry : fs::directory_iterator(options_.cache_dir))
            count += entry.path().filename().string().starts_with("build-");
        return count;
    }
};

#define NEEDS_ROOT() \
    if (::geteuid() != 0) GTEST_SKIP() << "only root can give files to another user"

constexpr uid_t kSomebodyElse = 54321;

TEST_F(CacheTest, ADamagedFileIsBuiltAgain) {
    const cosim::ArraySpec spec = kSmall;
    const fs::path file = cosim::ensure_array(spec, options_);
    const std::string good = read_text(file);
    const fs::path neighbour = cosim::ensure_array({2, 1, 4}, options_);
    std::string flipped = good;
    flipped[flipped.size() / 2] = static_cast<char>(flipped[flipped.size() / 2] ^ 1);
    for (const std::string& bad :
         {std::string(), good.substr(0, good.size() / 2), good.substr(0, good.size() - 1), flipped,
          std::string("this is no array"), read_text(neighbour)}) {
        // Not in place: a process may have the old one in use.
        fs::remove(file);
        write_text(file, bad);
        said_.clear();
        EXPECT_EQ(cosim::ensure_array(spec, options_), file);
        expect_texts(said_, {file.string() + " is damaged"});
        const cosim::ArrayLibrary library(file);
        EXPECT_EQ(library.info().rows, 1u);
        EXPECT_EQ(library.info().cols, 2u);
    }
    said_.clear();
    cosim::ensure_array(spec, options_);
    EXPECT_EQ(said_, "") << "a good file is taken as it is";
}
TEST_F(CacheTest, TwoProcessesBuildTheSameArrayAtOnce) {
    const cosim::ArraySpec spec{2, 2, 4};
    pid_t children[2];
    for (pid_t& child : children) {
        child = ::fork();
        ASSERT_GE(child, 0);
        if (child != 0) continue;
        int status = 1;
        try {
            options_.progress = {};
            const cosim::ArrayLibrary library(cosim::ensure_array(spec, options_));
            status = library.info().rows == 2 ? 0 : 1;
        } catch (const std::exception&) {
        }
        ::_exit(status);
    }
    for (const pid_t child : children) {
        int status = -1;
        ::waitpid(child, &status, 0);
        EXPECT_EQ(status, 0);
    }
    for (const auto& entry : fs::directory_iterator(options_.cache_dir))
        EXPECT_FALSE(entry.path().filename().string().starts_with("build-")) << entry.path();
}
TEST_F(CacheTest, ACacheThatCannotBeWritten) {
    write_text(folder_ / "file", "");
    options_.cache_dir = folder_ / "file" / "cache";
    expect_texts(message_of([&] {
                     cosim::ensure_array({1, 1, 2}, options_);
                 }),
                 {(folder_ / "file" / "cache").string(), "TANDEM_ARRAY_CACHE"});
}

TEST_F(CacheTest, ItIsTheUsersAlone) {
    const mode_t mask = ::umask(0);
    options_.cache_dir = folder_ / "new" / "cache";
    cosim::ArrayCache cache(options_.cache_dir);
    const cosim::ScratchFolder scratch(cache);
    cache.put("name", "key", "content", scratch.path());
    for (const fs::path& made : {folder_ / "new", options_.cache_dir, scratch.path()})
        EXPECT_EQ(mode_of(made), 0700u) << made;
    EXPECT_EQ(mode_of(options_.cache_dir / "name"), 0600u);
    ::umask(mask);
    EXPECT_EQ(cache.find("name", "key").content, "content");
    EXPECT_EQ(cache.find("name", "other").state, cosim::ArrayCache::State::kDamaged);
    EXPECT_EQ(cache.find("other", "key").state, cosim::ArrayCache::State::kMissing);
}

TEST_F(CacheTest, WhatOthersCanWriteIsRefused) {
    const fs::path file = cosim::ensure_array(kSmall, options_);
    const auto expect_refusal = [&](const fs::path& path, mode_t mode, const std::string& who) {
        const mode_t before = mode_of(path);
        ASSERT_EQ(::chmod(path.c_str(), mode), 0);
        expect_texts(refused(), {path.string(), who});
        expect_texts(message_of([&] { const cosim::ArrayLibrary library(file); }),
                     {path.string(), who});
        ASSERT_EQ(::chmod(path.c_str(), before), 0);
        EXPECT_EQ(cosim::ensure_array(kSmall, options_), file);
    };
    expect_refusal(file, 0666, "everybody can write to it (mode 0666)");
    expect_refusal(options_.cache_dir, 0777, "everybody can write to it (mode 0777)");
    expect_refusal(options_.cache_dir, 01777, "everybody can write to it (mode 1777)");
    expect_refusal(folder_, 0777, "everybody can write to it (mode 0777)");
    // As /tmp: nobody can replace what belongs to another user.
    ASSERT_EQ(::chmod(folder_.c_str(), 01777), 0);
    EXPECT_EQ(cosim::ensure_array(kSmall, options_), file);

    // A folder that is only searched is left out.
    const fs::path shipped = folder_ / "shipped";
    fs::create_directory(shipped);
    fs::copy_file(file, shipped / file.filename());
    options_.search_dirs = {folder_ / "nothing", shipped};
    EXPECT_EQ(cosim::ensure_array(kSmall, options_), shipped / file.filename());
    ASSERT_EQ(::chmod(shipped.c_str(), 0777), 0);
    said_.clear();
    EXPECT_EQ(cosim::ensure_array(kSmall, options_), file);
    expect_texts(said_, {shipped.string(), "everybody can write to it"});
}

TEST_F(CacheTest, AGroupThatIsNotTheUsersOwnCannotWrite) {
    NEEDS_ROOT();
    const cosim::ArrayCache cache = with_file();
    const fs::path file = cache.folder() / "file";
    ASSERT_EQ(::chmod(file.c_str(), 0660), 0);
    EXPECT_EQ(cache.find("file", "key").content, "content") << "root's own group";
    ASSERT_EQ(::chown(file.c_str(), 0, kSomebodyElse), 0);
    expect_texts(message_of([&] { cache.find("file", "key"); }),
                 {file.string(), "its group can write to it"});
}

TEST_F(CacheTest, WhatBelongsToSomebodyElseIsRefused) {
    NEEDS_ROOT();
    const cosim::ArrayCache cache = with_file();
    const fs::path file = cache.folder() / "file";
    for (const fs::path& path : {file, cache.folder(), folder_}) {
        ASSERT_EQ(::chown(path.c_str(), kSomebodyElse, 0), 0);
        const std::vector<std::string> texts = {
            path.string(), "it belongs to user 54321: expected user 0 or root"};
        expect_texts(message_of([&] { cache.find("file", "key"); }), texts);
        expect_texts(message_of([&] { const cosim::ArrayLibrary library(file); }), texts);
        ASSERT_EQ(::chown(path.c_str(), 0, 0), 0);
    }
    EXPECT_EQ(cache.find("file", "key").content, "content");
}

TEST_F(CacheTest, ALinkIsNotFollowed) {
    const cosim::ArrayCache cache = with_file();
    const fs::path file = cache.folder() / "file";
    fs::rename(file, folder_ / "elsewhere");
    fs::create_symlink(folder_ / "elsewhere", file);
    expect_texts(message_of([&] { cache.find("file", "key"); }), {file.string(), "symbolic link"});
    expect_texts(message_of([&] { const cosim::ArrayLibrary library(file); }),
                 {file.string(), "symbolic link"});
}

// A broken object would be linked into every array, and sealed with it.
TEST_F(CacheTest, ADamagedRuntimeIsCompiledAgain) {
    cosim::ensure_array(kSmall, options_);
    ASSERT_FALSE(runtimes().empty());
    for (const fs::path& object : runtimes()) {
        std::string text = read_text(object);
        text[text.size() / 3] = static_cast<char>(text[text.size() / 3] ^ 1);
        fs::remove(object);
        write_text(object, text);
    }
    said_.clear();
    const cosim::ArrayLibrary library(cosim::ensure_array({2, 1, 4}, options_));
    expect_texts(said_, {"runtime-", ".o is damaged: it is compiled again"});
    EXPECT_EQ(library.info().rows, 2u);
    said_.clear();
    cosim::ensure_array({2, 2, 4}, options_);
    EXPECT_EQ(said_.find("runtime"), said_.npos) << said_;
}

TEST_F(CacheTest, WhatAKilledBuildLeavesIsRemovedByTheNext) {
    const cosim::ArrayCache cache(options_.cache_dir);
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        const cosim::ScratchFolder scratch(cache);
        fs::create_directory(scratch.path() / "model");
        if (::write(ready[1], "x", 1) == 1) ::pause();
        ::_exit(1);
    }
    char byte = 0;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    { const cosim::ScratchFolder other(cache); }
    EXPECT_EQ(builds(), 1u) << "its builder lives";
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    EXPECT_EQ(builds(), 1u);
    { const cosim::ScratchFolder other(cache); }
    EXPECT_EQ(builds(), 0u);
}

// Without a lock: being made, or left by an older version.
TEST_F(CacheTest, FoldersWithoutALockAreRemovedAfterAnHour) {
    const fs::path old = options_.cache_dir / "build-killed",
                   young = options_.cache_dir / "build-now";
    fs::create_directories(old / "model");
    fs::create_directories(young);
    fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(2));
    { const cosim::ScratchFolder scratch{cosim::ArrayCache(options_.cache_dir)}; }
    EXPECT_FALSE(fs::exists(old));
    EXPECT_TRUE(fs::exists(young));
}

TEST_F(CacheTest, AToolThatHangsStopsNoRunWhoseArrayIsThere) {
    using namespace std::chrono_literals;
    const fs::path tools = folder_ / "tools", hang = folder_ / "hang";
    fs::create_directory(tools);
    const std::string path = std::getenv("PATH");
    write_text(tools / "verilator", "#!/bin/sh\ncase $1 in --version) [ ! -e '" + hang.string() +
                                        "' ] || sleep 600 ;; esac\nPATH='" + path +
                                        "' exec verilator \"$@\"\n");
    fs::permissions(tools / "verilator", fs::perms::owner_all);
    ::setenv("PATH", (tools.string() + ':' + path).c_str(), 1);

    write_text(hang, "");
    options_.tool_limit = 500ms;
    expect_texts(refused(), {(tools / "verilator").string(), "did not end within 0.5 s"});
    fs::remove(hang);
    options_.tool_limit = 60s;
    // A process remembers what a tool said, so every run is one of its own.
    const auto run = [&] {
        const pid_t child = ::fork();
        if (child == 0) {
            int status = 1;
            try {
                options_.progress = [&](std::string_view line) {
                    if (line.find("its version is taken from the cache") != line.npos) status = 2;
                };
                cosim::ensure_array(kSmall, options_);
                status = status == 2 ? 2 : 0;
            } catch (const std::exception& error) {
                ADD_FAILURE() << error.what();
                status = 1;
            }
            ::_exit(status);
        }
        int status = -1;
        ::waitpid(child, &status, 0);
        return WEXITSTATUS(status);
    };
    EXPECT_EQ(run(), 0);
    write_text(hang, "");
    options_.tool_limit = 500ms;
    EXPECT_EQ(run(), 2);
    // Another file of that name may be another version.
    write_text(tools / "verilator", read_text(tools / "verilator") + "# changed\n");
    expect_texts(refused(), {"did not end within 0.5 s"});
}

}  // namespace
}  // namespace tandem::testbench
