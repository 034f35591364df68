// SPDX-License-Identifier: Apache-2.0
#include "server/http/server_listener.h"

#include <boost/asio/post.hpp>
#include <iterator>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/logging.h"
#include "server/http/server_connection.h"

namespace ks::server {

ServerListener::ServerListener(const ServerLimits& limits)
    : limits_(limits), acceptor_(io_), timer_(io_) {}

ServerListener::~ServerListener() = default;

Result<void> ServerListener::Bind(const ListenAddress& where) {
  if (Result<void> bound = BindAcceptor(acceptor_, where); !bound.ok()) {
    return bound.error();
  }
  ErrorCode ignored;
  const Tcp::endpoint endpoint = acceptor_.local_endpoint(ignored);
  port_ = endpoint.port();
  address_ = EndpointText(endpoint);
  return {};
}

void ServerListener::SetTls(std::shared_ptr<boost::asio::ssl::context> tls) {
  const MutexLock lock(tls_mutex_);
  tls_.swap(tls);
}

std::shared_ptr<boost::asio::ssl::context> ServerListener::tls() const {
  const MutexLock lock(tls_mutex_);
  return tls_;
}

void ServerListener::Serve() {
  KS_CHECK(!serving() && !stopping_, "Serve called twice");
  Accept();
  thread_ = std::thread([this] { io_.run(); });
}

void ServerListener::Stop() {
  if (!serving()) {
    return;
  }
  boost::asio::post(io_, [this] { BeginStop(); });
  thread_.join();
}

ServerListener::Connections::iterator ServerListener::Enter(ServerConnection* connection) {
  ++connection_count_;
  return connections_.insert(connections_.end(), connection);
}

void ServerListener::Leave(Connections::iterator place) {
  connections_.erase(place);
  --connection_count_;
  if (stopping_ && connections_.empty()) {
    timer_.cancel();
  }
}

void ServerListener::MoveToBack(Connections::iterator place) {
  connections_.splice(connections_.end(), connections_, place);
}

bool ServerListener::Admits(Tcp::socket&) { return true; }

void ServerListener::Accept() {
  acceptor_.async_accept(io_, [this](const ErrorCode& error, Tcp::socket socket) {
    OnAccept(error, std::move(socket));
  });
}

void ServerListener::OnAccept(const ErrorCode& error, Tcp::socket socket) {
  if (stopping_ || error == boost::asio::error::operation_aborted) {
    return;
  }
  if (error) {
    // Mostly "too many open files": trying again at once would only burn a core.
    KS_LOG(limits_.accept_error_verbosity, "Accepting a connection failed; pausing",
           {{"err", error.message()}});
    timer_.expires_after(limits_.accept_pause);
    timer_.async_wait([this](const ErrorCode&) {
      if (!stopping_) {
        Accept();
      }
    });
    return;
  }
  if (Admits(socket)) {
    MakeRoom();
    if (connections_.size() <= limits_.max_connections) {
      MakeConnection(std::move(socket))->Start();
    }
  }
  Accept();
}

// A closed connection leaves the list when its operation has ended, hence one above the limit.
// Callers that only wait go first, then those who are kept waiting: were they never cut, slow
// answers could lock others out.
void ServerListener::MakeRoom() {
  if (connections_.size() < limits_.max_connections) {
    return;
  }
  ServerConnection* chosen = nullptr;
  for (ServerConnection* connection : connections_) {
    const ServerConnection::Standing standing = connection->standing();
    if (standing == ServerConnection::Standing::kLeaving) {
      return;
    }
    if (standing == ServerConnection::Standing::kWaiting) {
      chosen = connection;
      break;
    }
    if (chosen == nullptr && standing == ServerConnection::Standing::kAsking) {
      chosen = connection;
    }
  }
  if (chosen != nullptr) {
    chosen->Close();
  }
}

void ServerListener::CloseConnections(bool only_waiting) {
  const std::vector<ServerConnection*> all(connections_.begin(), connections_.end());
  for (ServerConnection* connection : all) {
    if (!only_waiting || connection->standing() == ServerConnection::Standing::kWaiting) {
      connection->Close();
    }
  }
}

void ServerListener::BeginStop() {
  stopping_ = true;
  ErrorCode ignored;
  acceptor_.close(ignored);
  timer_.cancel();
  CloseConnections(limits_.stop_timeout > Duration{});
  if (connections_.empty()) {
    return;
  }
  timer_.expires_after(limits_.stop_timeout);
  timer_.async_wait([this](const ErrorCode& error) {
    if (!error) {
      CloseConnections(false);
    }
  });
}

}  // namespace ks::server
