// SPDX-License-Identifier: Apache-2.0
// Work in a child process: what comes back, and what does not.
#include "base/child.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cfenv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "base/error.h"

namespace tandem::base {
namespace {

std::string message_of(const std::function<std::string()>& work, double timeout_seconds = 0) {
    try {
        in_child({.name = "work", .timeout_seconds = timeout_seconds}, work);
    } catch (const std::exception& error) {
        return error.what();
    }
    return "nothing was thrown";
}

bool has_children() { return waitpid(-1, nullptr, WNOHANG) >= 0; }

TEST(Child, GivesBackWhatTheWorkReturns) {
    EXPECT_EQ(in_child({.name = "work"}, [] { return std::string("a\0b", 3); }),
              std::string("a\0b", 3));
    std::string large;
    large.resize(20'000'000, 'x');
    EXPECT_EQ(in_child({.name = "work"}, [&] { return large; }), large);
    EXPECT_FALSE(has_children());
}

TEST(Child, ThrowsWhatTheWorkThrows) {
    const auto throw_user_error = [] {
        in_child({.name = "work"}, []() -> std::string { throw UserError("f", "k", "a", "b"); });
    };
    EXPECT_THROW(throw_user_error(), UserError);
    EXPECT_EQ(message_of([]() -> std::string { throw UserError("f", "k", "a", "b"); }),
              "f: k: expected a, found b");
    const auto throw_fault = [] {
        in_child({.name = "work"}, []() -> std::string { throw std::logic_error("wrong"); });
    };
    EXPECT_THROW(throw_fault(), std::logic_error);
    EXPECT_FALSE(has_children());
}

TEST(Child, TellsHowItDied) {
    EXPECT_EQ(message_of([]() -> std::string {
                  kill(getpid(), SIGKILL);
                  return "";
              }),
              "work was ended by signal 9 (Killed)");
    EXPECT_EQ(message_of([]() -> std::string {
                  std::fputs("last words", stderr);
                  _exit(7);
              }),
              "work ended with status 7 without an answer: last words");
    EXPECT_FALSE(has_children());
}

TEST(Child, IsKilledWhenItTakesTooLong) {
    const auto start = std::chrono::steady_clock::now();
    const std::string message = message_of(
        []() -> std::string {
            for (;;) pause();
        },
        0.2);
    EXPECT_NE(message.find("work: time-out: expected an end within 0.2"), std::string::npos);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
    EXPECT_FALSE(has_children());
}

TEST(Child, HasNothingOfTheCallersState) {
    static volatile sig_atomic_t handled = 0;
    const auto before = signal(SIGUSR1, [](int) { handled = 1; });
    const int file = fcntl(STDERR_FILENO, F_DUPFD, 20);
    const int rounding = fegetround();
    fesetround(FE_UPWARD);
    const std::string said = in_child({.name = "work"}, [&] {
        std::printf("hidden");
        std::string text = fcntl(file, F_GETFD) < 0 ? "closed " : "open ";
        text += fegetround() == FE_TONEAREST ? "nearest " : "upward ";
        text += signal(SIGUSR1, SIG_DFL) == SIG_DFL ? "default " : "handler ";
        return text + child_output();
    });
    EXPECT_EQ(said, "closed nearest default hidden");
    EXPECT_EQ(fegetround(), FE_UPWARD);
    fesetround(rounding);
    EXPECT_EQ(handled, 0);
    close(file);
    signal(SIGUSR1, before);
}

TEST(Child, LeavesUnwrittenOutputToTheCaller) {
    const std::string own = "mine";
    std::vector<char> buffer(1000);
    std::fflush(stdout);
    std::setvbuf(stdout, buffer.data(), _IOFBF, buffer.size());
    std::fputs("[ once     ]\n", stdout);
    EXPECT_EQ(in_child({.name = "work"}, [] { return child_output(); }), "");
    std::fflush(stdout);
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
}

TEST(Child, ComesOutOfManyThreads) {
    std::vector<std::string> answers(8);
    {
        std::vector<std::jthread> threads;
        for (size_t i = 0; i < answers.size(); ++i)
            threads.emplace_back([&answers, i] {
                const auto work = [i] { return std::to_string(i); };
                for (int turn = 0; turn < 10; ++turn) {
                    { const NoFork here; }
                    answers[i] = in_child({.name = "work"}, work);
                }
            });
    }
    for (size_t i = 0; i < answers.size(); ++i) EXPECT_EQ(answers[i], std::to_string(i));
    EXPECT_FALSE(has_children());
}

}  // namespace
}  // namespace tandem::base
