// SPDX-License-Identifier: Apache-2.0
#include "daemon/api_side.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "client/write/writer.h"

namespace ks::daemon {
namespace {

// Upstream's client takes 0 for its own defaults, which are lower than the scheduler's.
client::RestOptions RestOptionsOf(const config::ClientConnection& settings,
                                  std::string_view component, client::HostMetrics& metrics) {
  constexpr float kUnsetQps = 5;
  constexpr int kUnsetBurst = 10;
  client::RestOptions rest;
  rest.qps = settings.qps == 0 ? kUnsetQps : settings.qps;
  rest.burst = settings.burst == 0 ? kUnsetBurst : settings.burst;
  rest.user_agent = client::UserAgent("kubesched", component);
  rest.metrics = &metrics;
  if (config::AcceptsProtobuf(settings)) {
    rest.accept = client::kProtobufOrJson;
  }
  rest.send_protobuf = settings.content_type == config::kProtobufType;
  return rest;
}

}  // namespace

std::string HostName() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

Result<ApiSide> Connect(const client::ClusterAccess& access,
                        const config::Configuration& configuration, client::RestMetrics& metrics,
                        bool coordinated) {
  const config::ClientConnection& settings = configuration.client_connection;
  const config::LeaderElection& election = configuration.leader_election;
  Duration unacknowledged_most{};
  if (election.leader_elect) {
    unacknowledged_most = std::max<Duration>(std::chrono::seconds(1),
                                             election.lease_duration - election.renew_deadline);
  }
  auto connection =
      client::Connection::Make(access, RealClock(), unacknowledged_most, &metrics.connections());
  if (!connection.ok()) return connection.error();
  ApiSide side;
  side.connection = std::move(connection).value();
  client::HostMetrics& host = metrics.For(side.connection->server());
  const auto client = [&](const char* component) {
    return side.connection->NewRestClient(RestOptionsOf(settings, component, host));
  };
  side.scheduling = client("scheduler");
  side.events = client("scheduler");
  side.election = client("leader-election");
  if (coordinated) side.candidacy = client("scheduler");
  side.permissions = side.connection->NewRestClient(
      {.qps = -1, .user_agent = client::UserAgent("kubesched", "scheduler"), .metrics = &host});
  side.legacy_events = !client::DetectEventsApi(*side.scheduling);
  return side;
}

}  // namespace ks::daemon
