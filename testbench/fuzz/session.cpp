// SPDX-License-Identifier: Apache-2.0
#include "testbench/fuzz/session.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <new>
#include <set>
#include <sstream>

#include "base/error.h"
#include "base/hash.h"
#include "testbench/fuzz/command.h"
#include "testbench/fuzz/mutate.h"

namespace tandem::fuzz {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kHangSeconds = 10;        ///< of the processor
constexpr int kSleepSeconds = 120;      ///< of the clock
constexpr uint64_t kBatch = 20'000;     ///< inputs of one process
constexpr uint64_t kMostFindings = 10;  ///< then the target is left
constexpr size_t kKeptBytes = size_t{1} << 28;
constexpr size_t kMostForms = 2000;
constexpr size_t kKeptInput = 16384;  ///< longer ones are not kept
constexpr int kBadAnswer = 77;        ///< the child's exit status

uint64_t hash_of(std::string_view text) {
    base::Fnv64 hash;
    hash.add(text);
    return hash.value();
}

/// Survives the child.
struct Shared {
    uint64_t next, accepted, refused;
    bool ends;  ///< runs or time are over
    uint64_t length;
    uint8_t input[kMostBytes];
    char what[2048];
    /// {form, length, bytes} of inputs with answers of a new kind.
    uint64_t kept_bytes;
    uint8_t kept[kKeptBytes];
};

class SharedMemory {
  public:
    SharedMemory()
        : at_(::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
        if (at_ == MAP_FAILED) throw std::runtime_error("no shared memory");
    }
    ~SharedMemory() { ::munmap(at_, sizeof(Shared)); }
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;
    Shared& operator*() const { return *static_cast<Shared*>(at_); }

  private:
    void* at_;
};

/// What a message expects, without words that have numbers and without what it quotes: the place
/// and what was found are words of the input.
uint64_t form_of(const std::string& message) {
    const size_t expected = message.find("expected ");
    const size_t from = expected == message.npos ? 0 : expected;
    std::istringstream words(message.substr(from, message.rfind("found ") - from));
    std::string form, word;
    bool quoted = false;
    while (words >> word) {
        const bool plain = word.find_first_of("0123456789") == word.npos;
        if (plain && !quoted) form += word + ' ';
        for (const char c : word) quoted ^= c == '"' || c == '\'';
    }
    return hash_of(form);
}

void limit_time() {
    const itimerval cpu{{0, 0}, {kHangSeconds, 0}}, wall{{0, 0}, {kSleepSeconds, 0}};
    ::setitimer(ITIMER_PROF, &cpu, nullptr);
    ::setitimer(ITIMER_REAL, &wall, nullptr);
}

[[noreturn]] void tell_fault(Shared& shared, const std::string& what) {
    std::strncpy(shared.what, what.c_str(), sizeof shared.what - 1);
    ::_exit(kBadAnswer);
}

/// The answer to one input, or the process ends.
std::string answer(const Target& target, const Bytes& input, const std::string& tandem,
                   Shared& shared) {
    limit_time();
    try {
        std::string text = tandem.empty() ? target.run(input) : run_command(tandem, target, input);
        ++shared.accepted;
        return text;
    } catch (const UserError& error) {
        ++shared.refused;
        return error.what();
    } catch (const std::filesystem::filesystem_error& error) {
        ++shared.refused;
        return error.what();
    } catch (const std::bad_alloc&) {
        tell_fault(shared, "more than 1 GiB of memory for one input");
    } catch (const std::exception& error) {
        tell_fault(shared, error.what());
    }
}

class Session {
  public:
    Session(const Target& target, const SessionOptions& options)
        : target_(target), options_(options), corpus_(target.seeds()) {
        if (corpus_.empty()) corpus_.push_back({});
        std::vector<std::filesystem::path> files;
        const auto folder = options.corpus / target.name;
        if (!options.corpus.empty() && std::filesystem::is_directory(folder))
            for (const auto& entry : std::filesystem::directory_iterator(folder))
                files.push_back(entry.path());
        std::sort(files.begin(), files.end());
        for (const auto& file : files) corpus_.push_back(read(file));
        seeds_ = corpus_.size();
    }

    SessionResult run() {
        const auto start = Clock::now();
        SessionResult result;
        for (Shared& shared = *memory_; !shared.ends && result.findings < kMostFindings;) {
            const std::string fault = run_child(start);
            if (fault.empty()) continue;
            if (faults_.insert(form_of(fault)).second) {
                ++result.findings;
                tell(fault);
            }
            ++shared.next;
        }
        const Shared& shared = *memory_;
        result.inputs = shared.next;
        result.accepted = shared.accepted;
        result.refused = shared.refused;
        result.answers = keep();
        result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
        return result;
    }

  private:
    /// What ended it; empty: the batch is done.
    std::string run_child(Clock::time_point start) {
        Shared& shared = *memory_;
        shared.what[0] = 0;
        const pid_t child = ::fork();
        if (child < 0) throw std::runtime_error("no more processes");
        if (child == 0) work(start);
        int status = 0;
        ::waitpid(child, &status, 0);
        if (WIFSIGNALED(status)) {
            const int signal = WTERMSIG(status);
            return signal == SIGPROF || signal == SIGALRM
                       ? fmt::format("hangs: more than {} s", kHangSeconds)
                       : fmt::format("signal {}", ::strsignal(signal));
        }
        if (WEXITSTATUS(status) == 0) return "";
        if (shared.what[0] != 0) return shared.what;
        // Sanitizers tell for themselves; every report is one of its own.
        return fmt::format("exit status {} of {}", WEXITSTATUS(status),
                           std::string(faults_.size() + 1, '*'));
    }

    [[noreturn]] void work(Clock::time_point start) {
        ::rlimit none{0, 0};
        ::setrlimit(RLIMIT_CORE, &none);
        Shared& shared = *memory_;
        std::set<uint64_t> forms = load_kept();
        for (const uint64_t last = shared.next + kBatch; shared.next < last; ++shared.next) {
            const std::chrono::duration<double> passed = Clock::now() - start;
            const bool over = (options_.runs != 0 && shared.next >= options_.runs) ||
                              (options_.seconds != 0 && passed.count() > options_.seconds);
            // The corpus as it is runs whatever the limits are.
            if (over && shared.next >= seeds_) {
                shared.ends = true;
                break;
            }
            Bytes input = next_input(shared.next);
            shared.length = input.size();
            std::copy(input.begin(), input.end(), shared.input);
            const uint64_t form = form_of(answer(target_, input, options_.tandem, shared));
            if (forms.size() < kMostForms && forms.insert(form).second &&
                input.size() <= kKeptInput) {
                store(form, input);
                corpus_.push_back(std::move(input));
            }
        }
        ::_exit(0);
    }

    Bytes next_input(uint64_t number) const {
        if (number < seeds_) {
            Bytes input = corpus_[number];
            input.resize(std::min(input.size(), kMostBytes));
            return input;
        }
        testbench::Seeded random(
            hash_of(fmt::format("{} {} {}", target_.name, options_.seed, number)));
        return mutated(corpus_, target_, random);
    }

    void store(uint64_t form, const Bytes& input) {
        Shared& shared = *memory_;
        const uint64_t length = input.size();
        if (shared.kept_bytes + 16 + length > kKeptBytes) return;
        uint8_t* at = shared.kept + shared.kept_bytes;
        std::memcpy(at, &form, 8);
        std::memcpy(at + 8, &length, 8);
        std::copy(input.begin(), input.end(), at + 16);
        shared.kept_bytes += 16 + length;
    }

    /// Into the child's corpus; returns their forms.
    std::set<uint64_t> load_kept() {
        std::set<uint64_t> forms;
        corpus_.resize(seeds_);
        const Shared& shared = *memory_;
        for (uint64_t at = 0; at < shared.kept_bytes;) {
            uint64_t form = 0, length = 0;
            std::memcpy(&form, shared.kept + at, 8);
            std::memcpy(&length, shared.kept + at + 8, 8);
            forms.insert(form);
            corpus_.emplace_back(shared.kept + at + 16, shared.kept + at + 16 + length);
            at += 16 + length;
        }
        return forms;
    }

    void tell(const std::string& fault) const {
        const Shared& shared = *memory_;
        std::filesystem::create_directories(options_.findings);
        const auto file =
            options_.findings / fmt::format("{}-seed{}-{}{}", target_.name, options_.seed,
                                            shared.next, target_.extension);
        write(file, {shared.input, shared.input + shared.length});
        fmt::print("fuzz: {}: {}\n  again: fuzz --target {}{} --repeat {}\n", target_.name, fault,
                   target_.name, options_.tandem.empty() ? "" : " --tandem " + options_.tandem,
                   file.string());
        std::fflush(stdout);
    }

    /// Kinds of answers.
    size_t keep() {
        const size_t kinds = load_kept().size();
        if (options_.keep.empty()) return kinds;
        std::filesystem::create_directories(options_.keep / target_.name);
        for (size_t i = seeds_; i < corpus_.size(); ++i)
            write(options_.keep / target_.name /
                      fmt::format("{:016x}{}", hash_of(text_of(corpus_[i])), target_.extension),
                  corpus_[i]);
        return kinds;
    }

    const Target& target_;
    const SessionOptions& options_;
    const SharedMemory memory_;
    std::vector<Bytes> corpus_;
    size_t seeds_ = 0;  ///< of them, that were there at the start
    std::set<uint64_t> faults_;
};

}  // namespace

SessionResult run_session(const Target& target, const SessionOptions& options) {
    return Session(target, options).run();
}

bool run_once(const Target& target, const std::filesystem::path& file, const std::string& tandem) {
    const Bytes input = read(file);
    limit_time();
    try {
        const std::string text =
            tandem.empty() ? target.run(input) : run_command(tandem, target, input);
        fmt::print("accepted: {}\n", text);
        return true;
    } catch (const UserError& error) {
        fmt::print("refused: {}\n", error.what());
        return true;
    } catch (const std::filesystem::filesystem_error& error) {
        fmt::print("refused: {}\n", error.what());
        return true;
    } catch (const std::exception& error) {
        fmt::print("fault: {}\n", error.what());
        return false;
    }
}

}  // namespace tandem::fuzz
