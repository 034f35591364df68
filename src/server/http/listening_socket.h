// SPDX-License-Identifier: Apache-2.0
#pragma once
// Listening sockets as upstream binds them, and endpoints as texts.

#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace ks::server {

struct ListenAddress {
  std::string bind_address{};  // empty, 0.0.0.0 and ::: all addresses of both families
  uint16_t port = 0;           // 0: any free port
  bool share_port = false;     // SO_REUSEPORT
};

// Opens, binds and listens; SO_REUSEADDR is always set, as Go's listeners have it. Error: `failed
// to create listener: …`.
Result<void> BindAcceptor(boost::asio::ip::tcp::acceptor& acceptor, const ListenAddress& where);

// "10.0.0.1:5", "[::1]:5"; IPv4 also in the form in which a socket of both families shows it.
std::string EndpointText(const boost::asio::ip::tcp::endpoint& endpoint);

// The same without the port and without brackets.
std::string AddressText(const boost::asio::ip::tcp::endpoint& endpoint);

// The socket does not pass to child processes.
void CloseOnExec(int socket);

}  // namespace ks::server
