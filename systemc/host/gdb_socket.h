// SPDX-License-Identifier: Apache-2.0
// One gdb over TCP, on the loopback interface only.
#pragma once

#include "systemc/host/gdb_target.h"

namespace tandem::host::gdb {

class Socket final : public Connection {
  public:
    /// Listens on 127.0.0.1; port 0: one that is free. Throws UserError when the port cannot be
    /// had.
    explicit Socket(uint16_t port);
    ~Socket() override;
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;

    uint16_t port() const { return port_; }
    /// Blocks until gdb has connected; nobody else can from then on.
    void accept();

    std::optional<size_t> receive(std::span<uint8_t> bytes, bool block) override;
    bool send(std::string_view bytes) override;

  private:
    uint16_t port_ = 0;
    int listening_ = -1;
    int connected_ = -1;
};

}  // namespace tandem::host::gdb
