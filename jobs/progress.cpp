// SPDX-License-Identifier: Apache-2.0
#include "jobs/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace tandem::jobs {
namespace {

/// Never throws, as fmt::print would when nobody listens.
void show(const std::string& text) { std::fputs(text.c_str(), stderr); }

}  // namespace

Progress::Progress(std::string what)
    : what_(std::move(what)), terminal_(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
    if (shown_ && terminal_) show("\r\x1b[K");
}

void Progress::update(uint64_t done, uint64_t total) {
    const auto now = Clock::now();
    if (!start_) {
        start_ = now;
        done_before_ = done;
        next_ = now + std::chrono::milliseconds(terminal_ ? 1000 : 5000);
    }
    if (now < next_ || done <= done_before_) return;
    next_ = now + (terminal_ ? std::chrono::milliseconds(200) : std::chrono::milliseconds(10000));
    const double seconds = std::chrono::duration<double>(now - *start_).count();
    const double rate = static_cast<double>(done - done_before_) / seconds;
    const double left = static_cast<double>(total - std::min(done, total)) / rate;
    const double share =
        total == 0 ? 1.0 : std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
    shown_ = true;
    if (terminal_) {
        constexpr int kWidth = 30;
        const int filled = static_cast<int>(share * kWidth);
        show(fmt::format("\r\x1b[K[{:#<{}}{:.<{}}] {:3.0f} %  {:.3g} {}/s  {:.0f} s to go", "",
                         filled, "", kWidth - filled, share * 100, rate, what_, left));
    } else {
        show(fmt::format("{:3.0f} %  {}/{} {}  {:.3g}/s  {:.0f} s to go\n", share * 100, done,
                         total, what_, rate, left));
    }
}

}  // namespace tandem::jobs
