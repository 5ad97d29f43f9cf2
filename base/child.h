// SPDX-License-Identifier: Apache-2.0
// Work in a child process, as often as one likes and from any thread: what it does to globals,
// files, streams and signals, and how it ends, is not the caller's.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>

namespace tandem::base {

/// The child gave no answer: a signal, an exit, no memory for it.
class ChildDied : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

struct ChildOptions {
    std::string name;            ///< of the work, for errors
    double timeout_seconds = 0;  ///< after which the child is killed; 0: none
};

/// While one exists in_child() of other threads waits before it forks: a child does not have the
/// other threads, and locks that they hold are held for ever. For work beside it in a process that
/// calls in_child(); not around it.
class NoFork {
  public:
    NoFork();
    NoFork(const NoFork&) = delete;
    NoFork& operator=(const NoFork&) = delete;
    ~NoFork();
};

/// What `work` returns. UserError and std::logic_error of the work come back as they were, other
/// exceptions as std::logic_error; a child that took too long is a UserError. In the child standard
/// output and error are one file without a name, which child_output() reads; all other descriptors
/// are closed, signals have their defaults, floating point its default environment. The child ends
/// when the calling thread does. Nothing remains of it when the call returns.
std::string in_child(const ChildOptions& options, const std::function<std::string()>& work);

/// In the child: what it has written to standard output and error so far.
std::string child_output();

}  // namespace tandem::base
