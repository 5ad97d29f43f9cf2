// SPDX-License-Identifier: Apache-2.0
// The frozen copy: it comes to life as often as asked, always from the same state, and leaves
// nothing.
#include "cosim/checkpoint.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <thread>
#include <vector>

namespace tandem::cosim {
namespace {

/// Processes whose parent is this one, zombies too.
std::vector<pid_t> children() {
    std::vector<pid_t> found;
    std::ifstream in("/proc/self/task/" + std::to_string(::getpid()) + "/children");
    for (pid_t pid = 0; in >> pid;) found.push_back(pid);
    return found;
}

/// Answers "COMMAND COUNT" in a revived copy; `count` counts the changes that a life sees.
void serve_echo(Checkpoint& checkpoint, int& count) {
    const auto command = checkpoint.take();
    if (!command) return;
    ++count;
    if (*command == "die") ::_exit(0);
    if (*command == "crash") ::kill(::getpid(), SIGKILL);
    if (*command == "large") checkpoint.answer(std::string(1 << 20, 'x'));
    checkpoint.answer(*command + " " + std::to_string(count));
}

class CheckpointTest : public testing::Test {
  protected:
    Checkpoint checkpoint_;
    int count_ = 0;
};

TEST_F(CheckpointTest, IsNotTakenAtFirst) { EXPECT_FALSE(checkpoint_.taken()); }

TEST_F(CheckpointTest, HasNothingToReviveBeforeItIsTaken) {
    EXPECT_EQ(checkpoint_.revive("x"), std::nullopt);
}

TEST_F(CheckpointTest, GoesOnInTheRunningSimulation) {
    serve_echo(checkpoint_, count_);
    EXPECT_TRUE(checkpoint_.taken());
    EXPECT_EQ(count_, 0) << "the copy's code ran in the original";
}

TEST_F(CheckpointTest, AnswersACommand) {
    serve_echo(checkpoint_, count_);
    EXPECT_EQ(checkpoint_.revive("hello world"), "hello world 1");
}

TEST_F(CheckpointTest, LivesFromTheSameStateEachTime) {
    count_ = 10;
    serve_echo(checkpoint_, count_);
    count_ = 20;  // after the checkpoint: no life may see it
    for (int life = 0; life < 5; ++life)
        EXPECT_EQ(checkpoint_.revive("again"), "again 11") << "life " << life;
}

TEST_F(CheckpointTest, CarriesLongAnswers) {
    serve_echo(checkpoint_, count_);
    const auto answer = checkpoint_.revive("large");
    EXPECT_EQ(answer.value_or("").size(), size_t{1} << 20) << "bytes";
}

TEST_F(CheckpointTest, TellsThatALifeEndedWithoutAnAnswer) {
    serve_echo(checkpoint_, count_);
    EXPECT_EQ(checkpoint_.revive("die"), std::nullopt);
}

TEST_F(CheckpointTest, TellsThatALifeCrashed) {
    serve_echo(checkpoint_, count_);
    EXPECT_EQ(checkpoint_.revive("crash"), std::nullopt);
}

TEST_F(CheckpointTest, LivesAgainAfterACrash) {
    serve_echo(checkpoint_, count_);
    checkpoint_.revive("crash");
    EXPECT_EQ(checkpoint_.revive("next"), "next 1");
}

// The frozen copy itself may be killed, for instance when memory runs short.
TEST_F(CheckpointTest, TellsThatTheFrozenCopyIsGone) {
    serve_echo(checkpoint_, count_);
    const auto pids = children();
    ASSERT_EQ(pids.size(), 1u) << "child processes";
    ::kill(pids[0], SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    EXPECT_EQ(checkpoint_.revive("anyone?"), std::nullopt);
}

TEST_F(CheckpointTest, IsReplacedByANewerOne) {
    count_ = 10;
    serve_echo(checkpoint_, count_);
    count_ = 20;
    serve_echo(checkpoint_, count_);
    EXPECT_EQ(checkpoint_.revive("newer"), "newer 21");
    EXPECT_EQ(children().size(), 1u) << "child processes";
}

TEST_F(CheckpointTest, LeavesNoProcessWhenDiscarded) {
    serve_echo(checkpoint_, count_);
    checkpoint_.revive("once");
    checkpoint_.discard();
    EXPECT_FALSE(checkpoint_.taken());
    EXPECT_TRUE(children().empty()) << children().size() << " child processes";
}

TEST_F(CheckpointTest, LeavesNoProcessWhenDestroyed) {
    {
        Checkpoint inner;
        serve_echo(inner, count_);
        ASSERT_EQ(children().size(), 1u) << "child processes";
    }
    EXPECT_TRUE(children().empty()) << children().size() << " child processes";
}

TEST_F(CheckpointTest, LeavesNoOpenFiles) {
    const auto open_files = [] {
        int count = 0;
        for (int file = 0; file < 1024; ++file)
            count += ::lseek(file, 0, SEEK_CUR) != -1 || errno != EBADF;
        return count;
    };
    const int before = open_files();
    for (int i = 0; i < 5; ++i) {
        serve_echo(checkpoint_, count_);
        checkpoint_.revive("x");
    }
    checkpoint_.discard();
    EXPECT_EQ(open_files(), before) << "open files";
}

TEST_F(CheckpointTest, DoesNotPrintBufferedTextTwice) {
    testing::internal::CaptureStdout();
    std::fputs("once", stdout);
    serve_echo(checkpoint_, count_);
    checkpoint_.revive("x");
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "once");
}

}  // namespace
}  // namespace tandem::cosim
