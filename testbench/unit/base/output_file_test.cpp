// SPDX-License-Identifier: Apache-2.0
#include "base/output_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "base/error.h"
#include "base/file.h"

namespace tandem::base {
namespace {

namespace fs = std::filesystem;

class OutputFileTest : public ::testing::Test {
  protected:
    OutputFileTest() {
        std::string form = (fs::temp_directory_path() / "tandem_file_XXXXXX").string();
        folder_ = ::mkdtemp(form.data());
    }
    ~OutputFileTest() override { fs::remove_all(folder_); }

    static std::string text_of(const fs::path& file) {
        const auto bytes = read_file(file);
        return {bytes.begin(), bytes.end()};
    }
    size_t files() const {
        return static_cast<size_t>(
            std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
    }
    static std::string error_of(const fs::path& file) {
        try {
            write_file(file, "text");
        } catch (const UserError& error) {
            return error.what();
        }
        return "none";
    }

    fs::path folder_;
};

TEST_F(OutputFileTest, TakesItsPlaceWhenItIsWhole) {
    const fs::path file = folder_ / "out";
    write_file(file, "before");
    const std::string text(200'000, 'x');
    OutputFile out(file);
    out.write(text);
    EXPECT_EQ(text_of(file), "before");
    out.commit();
    EXPECT_EQ(text_of(file), text);
    EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFileTest, LeavesNothingWithoutCommit) {
    {
        OutputFile out(folder_ / "out");
        out.write(std::string(200'000, 'x'));
    }
    EXPECT_EQ(files(), 0u);
    EXPECT_EQ(why_not_writable(folder_ / "out"), "");
    EXPECT_EQ(files(), 0u);
}

TEST_F(OutputFileTest, KeepsModeAndLink) {
    const fs::path file = folder_ / "file", link = folder_ / "link", away = folder_ / "away";
    write_file(file, "before");
    ::chmod(file.c_str(), 0640);
    fs::create_symlink("file", link);
    write_file(link, "after");
    EXPECT_TRUE(fs::is_symlink(link));
    EXPECT_EQ(text_of(file), "after");
    struct stat status {};
    ASSERT_EQ(::stat(file.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0640u);
    fs::create_symlink("not_there_yet", away);
    write_file(away, "new");
    EXPECT_TRUE(fs::is_symlink(away));
    EXPECT_EQ(text_of(folder_ / "not_there_yet"), "new");
}

TEST_F(OutputFileTest, SaysWhyNot) {
    EXPECT_EQ(error_of("/dev/full"), "/dev/full: cannot be written: No space left on device");
    EXPECT_EQ(error_of(folder_), folder_.string() + ": cannot be written: Is a directory");
    EXPECT_EQ(
        error_of(folder_ / "no" / "file"),
        (folder_ / "no" / "file").string() + ": cannot be written: No such file or directory");
    const std::string name(300, 'n');
    EXPECT_NE(error_of(folder_ / name).find("File name too long"), std::string::npos);
    EXPECT_NE(why_not_writable(folder_ / name), "");
    EXPECT_EQ(why_not_writable(folder_), "Is a directory");
    EXPECT_EQ(why_not_writable("/dev/null"), "");
    EXPECT_EQ(error_of("/dev/null"), "none");
    EXPECT_TRUE(fs::is_character_file("/dev/null")) << "a device keeps its place";
}

}  // namespace
}  // namespace tandem::base
