// SPDX-License-Identifier: Apache-2.0
#include "cosim/checkpoint.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>

namespace tandem::cosim {
namespace {

constexpr int kAnswered = 77;  // exit status of a worker that sent its answer

bool write_all(int file, const void* data, size_t bytes) {
    const char* at = static_cast<const char*>(data);
    while (bytes != 0) {
        const ssize_t done = ::send(file, at, bytes, MSG_NOSIGNAL);
        if (done <= 0) return false;
        at += done;
        bytes -= static_cast<size_t>(done);
    }
    return true;
}

bool read_all(int file, void* data, size_t bytes) {
    char* at = static_cast<char*>(data);
    while (bytes != 0) {
        const ssize_t done = ::read(file, at, bytes);
        if (done <= 0) return false;
        at += done;
        bytes -= static_cast<size_t>(done);
    }
    return true;
}

bool send_text(int file, const std::string& text) {
    const uint64_t bytes = text.size();
    return write_all(file, &bytes, sizeof bytes) && write_all(file, text.data(), text.size());
}

std::optional<std::string> receive(int file) {
    uint64_t bytes = 0;
    if (!read_all(file, &bytes, sizeof bytes)) return std::nullopt;
    std::string text(bytes, '\0');
    if (!read_all(file, text.data(), text.size())) return std::nullopt;
    return text;
}

void silence() {
    const int nowhere = ::open("/dev/null", O_RDWR);
    for (const int file : {0, 1, 2}) ::dup2(nowhere, file);
    ::close(nowhere);
}

}  // namespace

bool Checkpoint::revived_ = false;

std::optional<std::string> Checkpoint::take() {
    if (revived_) return std::nullopt;
    discard();
    int commands[2], answers[2];
    // Sockets, for writing to a pipe whose reader has died raises a signal.
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, commands) != 0) return std::nullopt;
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, answers) != 0) {
        ::close(commands[0]);
        ::close(commands[1]);
        return std::nullopt;
    }
    ::fflush(nullptr);  // or buffered output would come twice
    const pid_t parent = ::getpid();
    child_ = ::fork();
    if (child_ != 0) {
        ::close(commands[0]);
        ::close(answers[1]);
        commands_ = commands[1];
        answers_ = answers[0];
        if (child_ < 0) discard();
        return std::nullopt;
    }
    // The copy must never outlive the simulation that it belongs to.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(0);
    ::close(commands[1]);
    ::close(answers[0]);
    commands_ = commands[0];
    answers_ = answers[1];
    silence();
    return serve();
}

/// In the copy: every command is served by a fresh process, so that the copy stays as it was.
std::string Checkpoint::serve() {
    for (;;) {
        const auto command = receive(commands_);
        if (!command) ::_exit(0);
        const pid_t self = ::getpid();
        const pid_t worker = ::fork();
        if (worker == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (::getppid() != self) ::_exit(0);
            child_ = -1;
            revived_ = true;
            return *command;
        }
        int status = 1;
        if (worker > 0) ::waitpid(worker, &status, 0);
        // An empty answer says that the worker ended without one.
        if (!WIFEXITED(status) || WEXITSTATUS(status) != kAnswered) send_text(answers_, "");
    }
}

std::optional<std::string> Checkpoint::revive(const std::string& command) {
    if (!taken() || !send_text(commands_, command)) return std::nullopt;
    auto text = receive(answers_);
    if (text && text->empty()) return std::nullopt;
    return text;
}

void Checkpoint::discard() {
    if (child_ > 0 && !revived_) {
        ::kill(child_, SIGKILL);
        ::waitpid(child_, nullptr, 0);
    }
    if (commands_ >= 0) ::close(commands_);
    if (answers_ >= 0) ::close(answers_);
    child_ = commands_ = answers_ = -1;
}

void Checkpoint::answer(const std::string& text) {
    const bool sent = send_text(answers_, text);
    ::_exit(sent ? kAnswered : 1);
}

}  // namespace tandem::cosim
