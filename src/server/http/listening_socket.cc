// SPDX-License-Identifier: Apache-2.0
#include "server/http/listening_socket.h"

#include <fcntl.h>

#include <boost/asio/ip/v6_only.hpp>

namespace ks::server {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;
using ErrorCode = boost::system::error_code;

// The wildcard of both families where the machine has IPv6, as upstream's listener.
Result<void> BindAcceptor(Tcp::acceptor& acceptor, const ListenAddress& where) {
  ErrorCode error;
  const bool any =
      where.bind_address.empty() || where.bind_address == "0.0.0.0" || where.bind_address == "::";
  asio::ip::address address = any ? asio::ip::address(asio::ip::address_v6::any())
                                  : asio::ip::make_address(where.bind_address, error);
  if (error) {
    return Error{"failed to parse IP: \"" + where.bind_address + "\""};
  }
  Tcp::endpoint endpoint(address, where.port);
  acceptor.open(endpoint.protocol(), error);
  if (error && any) {
    endpoint = Tcp::endpoint(Tcp::v4(), where.port);
    acceptor.open(endpoint.protocol(), error);
  }
  if (!error && any && endpoint.address().is_v6()) {
    acceptor.set_option(asio::ip::v6_only(false), error);
  }
  const char* step = "socket";
  if (!error) {
    step = "bind";
    acceptor.set_option(Tcp::acceptor::reuse_address(true), error);
    if (where.share_port) {
      acceptor.set_option(asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>(true),
                          error);
    }
    acceptor.bind(endpoint, error);
  }
  if (!error) {
    step = "listen";
    acceptor.listen(asio::socket_base::max_listen_connections, error);
  }
  if (error) {
    const std::string host = where.bind_address.empty() ? "0.0.0.0" : where.bind_address;
    const std::string shown = (host.find(':') == std::string::npos ? host : "[" + host + "]") +
                              ":" + std::to_string(where.port);
    std::string reason =
        error == boost::system::errc::address_in_use ? "address already in use" : error.message();
    return Error{"failed to create listener: failed to listen on " + shown + ": listen tcp " +
                 shown + ": " + step + ": " + reason};
  }
  CloseOnExec(acceptor.native_handle());
  return {};
}

std::string AddressText(const Tcp::endpoint& endpoint) {
  const asio::ip::address address = endpoint.address();
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).to_string();
  }
  return address.to_string();
}

std::string EndpointText(const Tcp::endpoint& endpoint) {
  const std::string address = AddressText(endpoint);
  const std::string port = ":" + std::to_string(endpoint.port());
  return address.find(':') == std::string::npos ? address + port : "[" + address + "]" + port;
}

void CloseOnExec(int socket) { ::fcntl(socket, F_SETFD, FD_CLOEXEC); }

}  // namespace ks::server
