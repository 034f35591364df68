// SPDX-License-Identifier: Apache-2.0
#include "client/rest/connection.h"

#include "client/http/proxy.h"
#include "client/http/server_url.h"

namespace ks::client {

Result<std::unique_ptr<Connection>> Connection::Make(const ClusterAccess& access,
                                                     const Clock& clock,
                                                     Duration unacknowledged_most,
                                                     ConnectionMetrics* metrics) {
  std::unique_ptr<Connection> connection(new Connection());
  const Result<ServerUrl> url = ParseServerUrl(access.server);
  if (!url.ok()) return url.error();
  connection->server_ = url->Text();
  connection->timers_ = NewTimerThread(clock);
  Result<std::unique_ptr<Credentials>> credentials = NewCredentials(access, clock, metrics);
  if (!credentials.ok()) return credentials.error();
  connection->credentials_ = std::move(*credentials);
  Result<std::unique_ptr<Transport>> transport =
      NewBeastTransport(TransportOptions{.server = access.server,
                                         .tls = connection->credentials_->InitialTls(),
                                         .proxy = ChooseProxy(access.proxy_url, *url),
                                         .unacknowledged_most = unacknowledged_most});
  if (!transport.ok()) return transport.error();
  connection->transport_ = std::move(*transport);
  connection->metrics_ = metrics;
  if (metrics != nullptr) metrics->Made();
  return connection;
}

// The members go in the reverse of their order: transport, credentials, timers.
Connection::~Connection() {
  if (metrics_ != nullptr) metrics_->Gone();
}

std::unique_ptr<RestClient> Connection::NewRestClient(RestOptions options) {
  if (metrics_ != nullptr && shared_) metrics_->Shared();
  shared_ = true;
  return std::make_unique<RestClient>(*transport_, *credentials_, *timers_, std::move(options));
}

}  // namespace ks::client
