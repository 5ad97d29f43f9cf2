// SPDX-License-Identifier: Apache-2.0
#include "systemc/host/gdb_socket.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace tandem::host::gdb {
namespace {

[[noreturn]] void fail(uint16_t port) {
    throw UserError("--gdb", "port " + std::to_string(port), "one that this user may listen on",
                    std::strerror(errno));
}

}  // namespace

Socket::Socket(uint16_t port) : listening_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (listening_ < 0) fail(port);
    const int on = 1;
    ::setsockopt(listening_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    socklen_t bytes = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listening_, generic, bytes) != 0 || ::listen(listening_, 1) != 0 ||
        ::getsockname(listening_, generic, &bytes) != 0) {
        ::close(listening_);
        fail(port);
    }
    port_ = ntohs(address.sin_port);
}

Socket::~Socket() {
    if (connected_ >= 0) ::close(connected_);
    if (listening_ >= 0) ::close(listening_);
}

void Socket::accept() {
    do connected_ = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
    while (connected_ < 0 && errno == EINTR);
    if (connected_ < 0) fail(port_);
    const int on = 1;  // packets are small, and each is waited for
    ::setsockopt(connected_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::close(listening_);
    listening_ = -1;
}

std::optional<size_t> Socket::receive(std::span<uint8_t> bytes, bool block) {
    for (;;) {
        const ssize_t count =
            ::recv(connected_, bytes.data(), bytes.size(), block ? 0 : MSG_DONTWAIT);
        if (count > 0) return static_cast<size_t>(count);
        if (count == 0) return std::nullopt;
        if (errno == EINTR) continue;
        if (errno == EAGAIN || errno == EWOULDBLOCK) return 0;
        return std::nullopt;
    }
}

bool Socket::send(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::send(connected_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        bytes.remove_prefix(static_cast<size_t>(count));
    }
    return true;
}

}  // namespace tandem::host::gdb
