// SPDX-License-Identifier: Apache-2.0
#include "base/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/terminal.h"

extern char** environ;

namespace tandem::base {
namespace {

/// 0, or an error number.
int spawn(const Command& command, posix_spawn_file_actions_t& actions,
          const posix_spawnattr_t* attributes, pid_t& child) {
    std::vector<char*> argv;
    for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    const int error = posix_spawnp(&child, argv[0], &actions, attributes, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

int exit_status(int status) {
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int wait_for(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return kNotStarted;
    return exit_status(status);
}

/// Nothing: it goes on.
std::optional<int> wait_until(pid_t child, std::chrono::steady_clock::time_point end) {
    for (;;) {
        int status = 0;
        if (waitpid(child, &status, WNOHANG) == child) return exit_status(status);
        if (std::chrono::steady_clock::now() >= end) return std::nullopt;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

}  // namespace

int run(const Command& command, const std::filesystem::path& directory,
        const std::filesystem::path& log) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    if (!directory.empty()) posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
    pid_t child = 0;
    if (const int error = spawn(command, actions, nullptr, child); error != 0) {
        std::ofstream(log, std::ios::app) << command[0] << ": " << std::strerror(error) << '\n';
        return kNotStarted;
    }
    return wait_for(child);
}

std::optional<std::string> output_of(const Command& command, std::chrono::milliseconds limit) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + limit;
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return "";
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawnattr_t attributes;  // a process group, so that all of it can be killed
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    pid_t child = 0;
    const int error = spawn(command, actions, &attributes, child);
    posix_spawnattr_destroy(&attributes);
    ::close(ends[1]);
    std::string text;
    bool late = false;
    while (error == 0) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
        pollfd wait = {ends[0], POLLIN, 0};
        late = left.count() <= 0;
        if (late) break;
        if (::poll(&wait, 1, static_cast<int>(left.count())) <= 0) continue;
        char buffer[4096];
        const ssize_t bytes = ::read(ends[0], buffer, sizeof buffer);
        if (bytes > 0) text.append(buffer, static_cast<size_t>(bytes));
        if (bytes == 0 || (bytes < 0 && errno != EINTR)) break;
    }
    ::close(ends[0]);
    if (error != 0) return "";
    const auto status = late ? std::nullopt : wait_until(child, end);
    if (!status) {
        ::kill(-child, SIGKILL);
        wait_for(child);
        return std::nullopt;
    }
    return *status == 0 ? text : std::string{};
}

std::string shell_word(const std::string& text) {
    constexpr std::string_view kPlain =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-";
    if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
    // What could not be shown is written as $'...' has it.
    const bool shows = printable(text) == text && text.find('\n') == std::string::npos;
    std::string word = shows ? "'" : "$'";
    for (const char c : text) {
        if (shows)
            word += c == '\'' ? std::string("'\\''") : std::string(1, c);
        else if (c == '\'' || c == '\\')
            word += std::string("\\") + c;
        else if (c < ' ' || c > '~')
            word += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        else
            word += c;
    }
    return word + "'";
}

std::string quoted(const Command& command) {
    std::string line;
    for (const std::string& word : command) line += (line.empty() ? "" : " ") + shell_word(word);
    return line;
}

std::optional<std::filesystem::path> in_path(const std::string& program) {
    const char* const path = std::getenv("PATH");
    std::istringstream folders(path != nullptr ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');)
        if (const auto file = std::filesystem::path(folder + '/') / program;
            ::access(file.c_str(), X_OK) == 0)
            return file;
    return std::nullopt;
}

}  // namespace tandem::base
