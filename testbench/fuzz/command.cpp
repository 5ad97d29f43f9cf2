// SPDX-License-Identifier: Apache-2.0
#include "testbench/fuzz/command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <sstream>

#include "base/error.h"

namespace tandem::fuzz {
namespace {

constexpr rlim_t kCpuSeconds = 30;
constexpr unsigned kWallSeconds = 100;
constexpr size_t kMostWord = 100'000;  ///< the system takes 128 KiB
[[maybe_unused]] constexpr rlim_t kMostMemory = rlim_t{4} << 30;

/// In the child. Tools that arrays are built with are not found, so that none is.
[[noreturn]] void become(std::vector<std::string> words, const std::filesystem::path& log) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(out, STDERR_FILENO);
    const rlimit cpu{kCpuSeconds, kCpuSeconds};
    ::setrlimit(RLIMIT_CPU, &cpu);
#ifndef __SANITIZE_ADDRESS__
    const rlimit memory{kMostMemory, kMostMemory};
    ::setrlimit(RLIMIT_AS, &memory);
#endif
    ::alarm(kWallSeconds);  // stays across exec
    ::setenv("ASAN_OPTIONS", "exitcode=99:detect_leaks=0:allocator_may_return_null=1", 1);
    ::setenv("UBSAN_OPTIONS", "exitcode=99", 1);
    ::setenv("PATH", "/nonexistent", 1);
    ::setenv("TANDEM_ARRAY_CACHE", (scratch() / "arrays").c_str(), 1);
    if (::chdir(scratch().c_str()) == 0) ::execv(arguments[0], arguments.data());
    ::_exit(98);
}

/// None leaves the folder.
void add_lines(std::vector<std::string>& words, const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (line == "DIGITS")
            words.push_back((source_dir() / "models/digits/digits_int8.tflite").string());
        else if (line.size() < kMostWord && line.find('/') == line.npos &&
                 line.find('\0') == line.npos)
            words.push_back(line);
    }
}

}  // namespace

std::string run_command(const std::string& tandem, const Target& target, const Bytes& input) {
    std::vector<std::string> words{tandem};
    for (const std::string& word : target.command) {
        if (word == "FILE")
            words.push_back(scratch_file("whole" + target.extension, input).string());
        else if (word == "TEXT")
            words.push_back(text_of(input).substr(0, kMostWord).c_str());  // up to a zero
        else if (word == "LINES")
            add_lines(words, text_of(input));
        else
            words.push_back(word);
    }
    const auto log = scratch() / "whole.log";
    const pid_t child = ::fork();
    if (child < 0) throw std::runtime_error("no more processes");
    if (child == 0) become(words, log);
    int status = 0;
    ::waitpid(child, &status, 0);
    const std::string said = text_of(read(log));
    std::string line = said.substr(0, said.find('\n'));
    const bool is_late =
        WIFSIGNALED(status) &&
        (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGALRM);
    if (is_late && target.may_take_long) return "long";
    if (WIFSIGNALED(status))
        throw Broken(fmt::format("the command ends by signal {}", ::strsignal(WTERMSIG(status))));
    const int code = WEXITSTATUS(status);
    if (code == 2) throw UserError(line);
    if (code != 0 && code != 1) throw Broken(fmt::format("exit status {}: {}", code, said));
    return line;
}

}  // namespace tandem::fuzz
