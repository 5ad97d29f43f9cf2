// SPDX-License-Identifier: Apache-2.0
#include "base/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio_ext.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cfenv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <system_error>

#include "base/error.h"

namespace tandem::base {
namespace {

constexpr int kAnswer = 3;  ///< descriptor of the child behind the three standard ones
constexpr size_t kLastWords = 2000;

enum class Kind : char { kResult = 'r', kUserError = 'u', kFault = 'f' };

std::shared_mutex& forks() {
    static std::shared_mutex mutex;
    return mutex;
}

[[noreturn]] void fail(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

/// A descriptor that nobody inherits through exec, and none of the standard ones, which the caller
/// may have closed.
class Descriptor {
  public:
    explicit Descriptor(int from = -1) : number_(from) {
        if (from < 0 || from > STDERR_FILENO) return;
        number_ = fcntl(from, F_DUPFD_CLOEXEC, kAnswer);
        close(from);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() { reset(); }
    void reset() {
        if (number_ >= 0) close(number_);
        number_ = -1;
    }
    int get() const { return number_; }

  private:
    int number_;
};

/// No handler of the caller's may run in the child before its handlers are gone.
class SignalsBlocked {
  public:
    SignalsBlocked() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, &before_);
    }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;
    ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  private:
    sigset_t before_{};
};

void be_alone(int answer, int output) {
    for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
    // What the caller's streams hold is for the caller to write.
    __fpurge(stdout);
    __fpurge(stderr);
    const int nothing = open("/dev/null", O_RDWR);
    dup2(nothing, STDIN_FILENO);
    dup2(output >= 0 ? output : nothing, STDOUT_FILENO);
    dup2(output >= 0 ? output : nothing, STDERR_FILENO);
    if (answer != kAnswer) dup2(answer, kAnswer);
    close_range(kAnswer + 1, ~0u, 0);
    fcntl(kAnswer, F_SETFD, FD_CLOEXEC);
    std::fesetenv(FE_DFL_ENV);
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, nullptr);
}

void send(const void* from, size_t bytes) {
    const auto* at = static_cast<const char*>(from);
    while (bytes != 0) {
        const ssize_t sent = write(kAnswer, at, bytes);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) _exit(1);
        at += sent;
        bytes -= static_cast<size_t>(sent);
    }
}

[[noreturn]] void answer(const std::function<std::string()>& work) {
    Kind kind = Kind::kResult;
    std::string text;
    try {
        text = work();
    } catch (const UserError& error) {
        kind = Kind::kUserError;
        text = error.what();
    } catch (const std::bad_alloc&) {
        kind = Kind::kUserError;
        text = "no memory left";
    } catch (const std::exception& error) {
        kind = Kind::kFault;
        text = error.what();
    }
    const uint64_t bytes = text.size();
    send(&kind, sizeof kind);
    send(&bytes, sizeof bytes);
    send(text.data(), text.size());
    _exit(0);
}

using Clock = std::chrono::steady_clock;

/// Reads an answer from the pipe as it comes; a child that has ended writes no more, whoever else
/// holds the pipe's other end.
class Reader {
  public:
    Reader(pid_t child, int pipe, double timeout_seconds)
        : pipe_(pipe),
          pidfd_(static_cast<int>(syscall(SYS_pidfd_open, child, 0))),
          seconds_(timeout_seconds) {}

    enum class End { kAnswer, kNone, kTimeout };

    End read() {
        const auto begin = Clock::now();
        while (!complete()) {
            int wait_ms = -1;
            if (seconds_ > 0) {
                const std::chrono::duration<double> gone = Clock::now() - begin;
                if (gone.count() >= seconds_) return End::kTimeout;
                wait_ms = static_cast<int>(std::min((seconds_ - gone.count()) * 1e3 + 1, 1e9));
            }
            pollfd ends[] = {{pipe_, POLLIN, 0}, {pidfd_.get(), POLLIN, 0}};
            if (poll(ends, 2, wait_ms) <= 0) continue;
            if (ends[0].revents != 0 ? !take() : ends[1].revents != 0) return End::kNone;
        }
        return End::kAnswer;
    }
    Kind kind() const { return static_cast<Kind>(got_[0]); }
    std::string text() { return got_.substr(kHeader); }

  private:
    static constexpr size_t kHeader = sizeof(Kind) + sizeof(uint64_t);

    bool complete() const {
        uint64_t bytes = 0;
        if (got_.size() < kHeader) return false;
        std::memcpy(&bytes, got_.data() + sizeof(Kind), sizeof bytes);
        return got_.size() - kHeader >= bytes;
    }
    bool take() {
        char piece[65536];
        const ssize_t bytes = ::read(pipe_, piece, sizeof piece);
        if (bytes < 0 && errno == EINTR) return true;
        if (bytes <= 0) return false;
        got_.append(piece, static_cast<size_t>(bytes));
        return true;
    }

    const int pipe_;
    const Descriptor pidfd_;
    const double seconds_;
    std::string got_;
};

std::string written(int output) {
    const off_t end = lseek(output, 0, SEEK_END);
    if (end <= 0) return {};
    std::string text(static_cast<size_t>(end), '\0');
    const ssize_t bytes = pread(output, text.data(), text.size(), 0);
    text.resize(bytes < 0 ? 0 : static_cast<size_t>(bytes));
    return text;
}

/// `status` of waitpid; the caller's process may have taken it away from us.
std::string how_it_ended(bool known, int status, int output) {
    std::string how = "died";
    if (known && WIFSIGNALED(status))
        how = "was ended by signal " + std::to_string(WTERMSIG(status)) + " (" +
              strsignal(WTERMSIG(status)) + ")";
    else if (known)
        how = "ended with status " + std::to_string(WEXITSTATUS(status)) + " without an answer";
    std::string words = written(output);
    if (words.size() > kLastWords) words = "..." + words.substr(words.size() - kLastWords);
    return words.empty() ? how : how + ": " + words;
}

}  // namespace

NoFork::NoFork() { forks().lock_shared(); }
NoFork::~NoFork() { forks().unlock_shared(); }

std::string in_child(const ChildOptions& options, const std::function<std::string()>& work) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) fail("pipe");
    const Descriptor from(ends[0]);
    Descriptor to(ends[1]);
    const Descriptor output(memfd_create("tandem", MFD_CLOEXEC));
    pid_t child = 0;
    {
        const std::unique_lock alone(forks());
        const SignalsBlocked blocked;
        const pid_t parent = getpid();
        child = fork();
        if (child < 0) fail("fork");
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() != parent) _exit(1);
            be_alone(to.get(), output.get());
            answer(work);
        }
    }
    to.reset();
    Reader reader(child, from.get(), options.timeout_seconds);
    const Reader::End end = reader.read();
    if (end == Reader::End::kTimeout) kill(child, SIGKILL);
    int status = 0;
    pid_t waited = 0;
    do waited = waitpid(child, &status, 0);
    while (waited < 0 && errno == EINTR);
    if (end == Reader::End::kTimeout)
        throw UserError(options.name, "time-out",
                        "an end within " + std::to_string(options.timeout_seconds) + " s", "none");
    if (end == Reader::End::kNone)
        throw ChildDied(options.name + " " + how_it_ended(waited == child, status, output.get()));
    if (reader.kind() == Kind::kUserError) throw UserError(reader.text());
    if (reader.kind() == Kind::kFault) throw std::logic_error(reader.text());
    return reader.text();
}

std::string child_output() {
    std::fflush(stdout);
    return written(STDOUT_FILENO);
}

}  // namespace tandem::base
