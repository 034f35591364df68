// SPDX-License-Identifier: Apache-2.0
#pragma once
// Transport, credentials and timers of one API server, made together and destroyed in the right
// order. The RestClients made on it must be gone before it.

#include <memory>

#include "base/result.h"
#include "client/auth/credentials.h"
#include "client/auth/kubeconfig.h"
#include "client/http/connection_metrics.h"
#include "client/http/timer_service.h"
#include "client/http/transport.h"
#include "client/rest/rest_client.h"

namespace ks::client {

class Connection {
 public:
  // Nothing is sent. Requires: InitializeClientProcess() ran.
  // `unacknowledged_most`: TransportOptions. `metrics` may be null, else outlives the connection.
  static Result<std::unique_ptr<Connection>> Make(const ClusterAccess& access,
                                                  const Clock& clock = RealClock(),
                                                  Duration unacknowledged_most = {},
                                                  ConnectionMetrics* metrics = nullptr);
  ~Connection();

  std::unique_ptr<RestClient> NewRestClient(RestOptions options);

  Transport& transport() { return *transport_; }
  Credentials& credentials() { return *credentials_; }
  TimerService& timers() { return *timers_; }
  // For messages: a password is not shown.
  const std::string& server() const { return server_; }

 private:
  Connection() = default;

  std::string server_;
  std::unique_ptr<TimerService> timers_;
  std::unique_ptr<Credentials> credentials_;
  std::unique_ptr<Transport> transport_;
  ConnectionMetrics* metrics_ = nullptr;  // null: nobody counts
  bool shared_ = false;                   // has a client
};

}  // namespace ks::client
