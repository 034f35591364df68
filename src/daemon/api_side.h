// SPDX-License-Identifier: Apache-2.0
#pragma once
// The daemon's way to the API server: where it is, one connection, and a client with its own rate
// limit for each purpose.
//
// Upstream: docs/spec/config.md section 8.4, docs/spec/operations.md section 9.

#include <memory>
#include <string>

#include "base/result.h"
#include "client/auth/kubeconfig.h"
#include "client/rest/connection.h"
#include "client/rest/rest_client.h"
#include "client/rest/rest_metrics.h"
#include "config/types.h"

namespace ks::daemon {

// Members end in reverse order: clients, connection.
struct ApiSide {
  std::unique_ptr<client::Connection> connection;
  std::unique_ptr<client::RestClient> scheduling;
  std::unique_ptr<client::RestClient> events;
  std::unique_ptr<client::RestClient> election;
  std::unique_ptr<client::RestClient> candidacy;    // the LeaseCandidate; null: no coordination
  std::unique_ptr<client::RestClient> permissions;  // a few questions at start, without limit
  bool legacy_events = false;
};

std::string HostName();

// `metrics` outlives the clients. Asks the server which events it takes; one that does not answer
// gets the old ones. Blocking. With leader election the network has as long for what was sent as
// lies between the end of a leader's right to write and the first moment at which another may have
// it; then the kernel gives up, so that a network that comes back brings no writes of the past.
Result<ApiSide> Connect(const client::ClusterAccess& access,
                        const config::Configuration& configuration, client::RestMetrics& metrics,
                        bool coordinated);

}  // namespace ks::daemon
