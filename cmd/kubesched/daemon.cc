// SPDX-License-Identifier: Apache-2.0
#include "daemon.h"

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <random>
#include <thread>
#include <utility>

#include "base/logging.h"
#include "client/connection.h"
#include "client/kubeconfig.h"
#include "client/reflector.h"
#include "client/writer.h"
#include "plugins/registry.h"
#include "scheduler/scheduler.h"
#include "server/certificate.h"
#include "server/health.h"
#include "server/https_server.h"

namespace ks::daemon {
namespace {

// Bindings under way at the end get this long, half of a pod's default grace period.
constexpr Duration kStopGrace = std::chrono::seconds(15);

std::string HostName() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

uint64_t RandomSeed() {
  std::random_device device;
  return (static_cast<uint64_t>(device()) << 32) | device();
}

// The HTTPS server with the health endpoints; null when the port is 0.
Result<std::unique_ptr<server::HttpsServer>> StartServer(const DaemonOptions& options,
                                                         const server::SchedulerHealth& health) {
  const Options& flags = options.flags;
  if (flags.secure_port == 0) return std::unique_ptr<server::HttpsServer>();
  server::HttpsOptions https;
  https.bind_address = flags.bind_address;
  https.port = static_cast<uint16_t>(flags.secure_port);
  const bool given = !flags.tls_cert_file.empty() || !flags.tls_private_key_file.empty();
  const auto now = std::chrono::floor<std::chrono::seconds>(RealClock().WallNow());
  auto certificate =
      given ? server::LoadServingCertificate(flags.tls_cert_file, flags.tls_private_key_file)
            : server::MakeSelfSignedCertificate(flags.bind_address, now.time_since_epoch().count());
  if (!certificate.ok()) return certificate.error();
  https.certificate = std::move(certificate).value();
  auto listening = server::HttpsServer::Listen(std::move(https));
  if (!listening.ok()) return listening.error();
  server::InstallSchedulerHealth(**listening, health);
  (*listening)->Serve();
  return listening;
}

// Everything that talks to the API server. Members end in reverse order: streams, writes, clients,
// connection.
struct ApiSide {
  std::unique_ptr<client::Connection> connection;
  std::unique_ptr<client::RestClient> scheduling;
  std::unique_ptr<client::RestClient> events;
  std::unique_ptr<client::Writer> writer;
};

Result<ApiSide> Connect(const DaemonOptions& options, uint64_t seed) {
  const config::ClientConnection& settings = options.configuration.client_connection;
  auto access = client::LoadClientConfig(settings.kubeconfig, options.flags.master);
  if (!access.ok()) return access.error();
  auto connection = client::Connection::Make(*access);
  if (!connection.ok()) return connection.error();
  ApiSide side;
  side.connection = std::move(connection).value();

  client::RestOptions rest;
  rest.qps = static_cast<float>(settings.qps);
  rest.burst = settings.burst;
  rest.user_agent = client::UserAgent("kubesched", "scheduler");
  side.scheduling = side.connection->NewRestClient(rest);
  side.events = side.connection->NewRestClient(rest);

  client::WriterOptions writer;
  writer.host_name = HostName();
  writer.seed = seed;
  writer.legacy_events = !client::DetectEventsApi(*side.scheduling);
  side.writer = std::make_unique<client::Writer>(*side.scheduling, *side.events, writer);
  return side;
}

void LogTotals(const scheduler::SchedulerStats& stats, const client::WriterStats& writes) {
  log::Info(0, "Stopped",
            {{"attempts", stats.attempts},
             {"bound", stats.bound},
             {"unschedulable", stats.unschedulable},
             {"errors", stats.errors},
             {"bindingFailures", stats.binding_failures},
             {"eventsDropped", writes.events_dropped}});
}

}  // namespace

sigset_t BlockTerminationSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

Result<void> RunDaemon(const DaemonOptions& options, const sigset_t& signals) {
  const uint64_t seed = RandomSeed();
  log::Info(0, "Starting kubesched", {{"version", KS_VERSION}, {"seed", seed}});
  server::SchedulerHealth health;
  auto https = StartServer(options, health);
  if (!https.ok()) return https.error();
  auto api = Connect(options, seed);
  if (!api.ok()) return api.error();

  const framework::Registry registry = plugins::InTreeRegistry();
  auto made =
      scheduler::Scheduler::Create({.configuration = options.configuration,
                                    .registry = &registry,
                                    .api = api->writer.get(),
                                    .clock = &RealClock(),
                                    .seed = seed,
                                    .on_synced = [&health] { health.handlers_synced = true; }});
  if (!made.ok()) return made.error();
  scheduler::Scheduler& scheduler = **made;

  client::Reflector<api::Node> nodes(
      *api->scheduling,
      {.path = "/api/v1/nodes",
       .field_selector = "",
       .type_name = "*v1.Node",
       .resource = "nodes",
       .seed = seed + 1},
      [&scheduler](scheduler::NodeDeltas deltas) { scheduler.Post(std::move(deltas)); });
  client::Reflector<api::Pod> pods(
      *api->scheduling,
      {.path = "/api/v1/pods",
       .field_selector = "status.phase!=Succeeded,status.phase!=Failed",
       .type_name = "*v1.Pod",
       .resource = "pods",
       .seed = seed + 2},
      [&scheduler](scheduler::PodDeltas deltas) { scheduler.Post(std::move(deltas)); });
  nodes.Start();
  pods.Start();
  std::thread loop([&scheduler] { scheduler.Run(kStopGrace); });

  int signal = 0;
  sigwait(&signals, &signal);
  log::Info(0, "Stopping: no new attempts; bindings in flight finish", {{"signal", signal}});
  health.shutting_down = true;
  scheduler.Stop();
  loop.join();
  api->writer->Drain(std::chrono::seconds(5));
  pods.Stop();
  nodes.Stop();
  if (*https != nullptr) (*https)->Stop();
  LogTotals(scheduler.stats(), api->writer->Stats());
  return {};
}

}  // namespace ks::daemon
