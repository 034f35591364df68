// SPDX-License-Identifier: Apache-2.0
#include "daemon.h"

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <functional>
#include <future>
#include <random>
#include <thread>
#include <utility>

#include "base/logging.h"
#include "base/random.h"
#include "cache/cache.h"
#include "client/connection.h"
#include "client/extender_client.h"
#include "client/reflector.h"
#include "client/writer.h"
#include "config/defaults.h"
#include "config_watcher.h"
#include "framework/pod_requests.h"
#include "framework/profiles.h"
#include "framework/waiting_pods.h"
#include "go_values.h"
#include "leader_election.h"
#include "plugins/registry.h"
#include "scheduler/scheduler.h"
#include "server/health.h"
#include "serving.h"

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

// Everything that talks to the API server. Members end in reverse order: streams, writes, clients,
// connection.
struct ApiSide {
  std::unique_ptr<client::Connection> connection;
  std::unique_ptr<client::RestClient> scheduling;
  std::unique_ptr<client::RestClient> events;
  std::unique_ptr<client::Writer> writer;
};

// Upstream's client takes 0 for its own defaults, which are lower than the scheduler's.
client::RestOptions RestOptionsOf(const config::ClientConnection& settings) {
  constexpr float kUnsetQps = 5;
  constexpr int kUnsetBurst = 10;
  client::RestOptions rest;
  rest.qps = settings.qps == 0 ? kUnsetQps : settings.qps;
  rest.burst = settings.burst == 0 ? kUnsetBurst : settings.burst;
  rest.user_agent = client::UserAgent("kubesched", "scheduler");
  return rest;
}

Result<void> CheckRateLimit(const config::ClientConnection& settings) {
  // Upstream's words when it prints such a configuration; it does run with one, without a limit.
  if (!std::isfinite(settings.qps)) {
    return Error{"json: unsupported value: " + flags::FormatFloat32(settings.qps)};
  }
  if (settings.qps > 0 && settings.burst <= 0) {
    return Error{
        "burst is required to be greater than 0 when RateLimiter is not set and QPS is set to "
        "greater than 0"};
  }
  return {};
}

// The kubeconfig or --master, else the cluster this process runs in; said as upstream says it.
Result<client::ClusterAccess> LoadAccess(const std::string& kubeconfig, const std::string& master) {
  if (kubeconfig.empty() && master.empty()) {
    log::Plain('W',
               "Neither --kubeconfig nor --master was specified.  Using the inClusterConfig.  This "
               "might not work.");
    const auto inside = client::LoadInCluster(client::InClusterFromEnvironment());
    if (!inside.ok()) {
      log::Plain('W', "error creating inClusterConfig, falling back to default config: " +
                          inside.error().message);
    }
  }
  return client::LoadClientConfig(kubeconfig, master);
}

Result<ApiSide> Connect(const client::ClusterAccess& access,
                        const config::ClientConnection& settings, uint64_t seed,
                        client::AsyncCallMetrics* calls) {
  auto connection = client::Connection::Make(access);
  if (!connection.ok()) return connection.error();
  ApiSide side;
  side.connection = std::move(connection).value();

  const client::RestOptions rest = RestOptionsOf(settings);
  side.scheduling = side.connection->NewRestClient(rest);
  side.events = side.connection->NewRestClient(rest);

  client::WriterOptions writer;
  writer.host_name = HostName();
  writer.seed = seed;
  writer.legacy_events = !client::DetectEventsApi(*side.scheduling);
  if (calls != nullptr) {
    writer.call_done = [calls](std::string_view call_type, bool ok, Duration took) {
      calls->CallDone(call_type, ok, took);
    };
  }
  side.writer = std::make_unique<client::Writer>(*side.scheduling, *side.events, writer);
  if (calls != nullptr) calls->Watch(side.writer->StatsSource());
  return side;
}

// The streams that feed a scheduler. Started when made, ended when destroyed.
// Threads: one at a time.
class Streams {
 public:
  Streams(ApiSide& api, scheduler::Scheduler& scheduler, uint64_t seed)
      : api_(api), scheduler_(scheduler), seed_(seed), objects_(scheduler.NeededWholeObjects()) {
    Open();
  }

  // Lists again if extenders need other objects whole than before.
  void Ensure(const scheduler::Scheduler::WholeObjects& objects) {
    if (objects == objects_) return;
    log::Info(1, "Listing pods and nodes again: extenders need them whole, or no longer");
    Stop();
    objects_ = objects;
    Open();
  }

  void Stop() {
    pods_->Stop();
    nodes_->Stop();
  }

 private:
  void Open() {
    scheduler::Scheduler& scheduler = scheduler_;
    nodes_ = std::make_unique<client::Reflector<api::Node>>(
        *api_.scheduling,
        client::ReflectorOptions{.path = "/api/v1/nodes",
                                 .field_selector = "",
                                 .type_name = "*v1.Node",
                                 .resource = "nodes",
                                 .seed = seed_ + 1,
                                 .keep_raw = objects_.nodes},
        [&scheduler](scheduler::NodeDeltas deltas) { scheduler.Post(std::move(deltas)); });
    pods_ = std::make_unique<client::Reflector<api::Pod>>(
        *api_.scheduling,
        client::ReflectorOptions{.path = "/api/v1/pods",
                                 .field_selector = "status.phase!=Succeeded,status.phase!=Failed",
                                 .type_name = "*v1.Pod",
                                 .resource = "pods",
                                 .seed = seed_ + 2,
                                 .keep_raw = objects_.pods},
        [&scheduler](scheduler::PodDeltas deltas) { scheduler.Post(std::move(deltas)); });
    nodes_->Start();
    pods_->Start();
  }

  ApiSide& api_;
  scheduler::Scheduler& scheduler_;
  const uint64_t seed_;
  scheduler::Scheduler::WholeObjects objects_;
  std::unique_ptr<client::Reflector<api::Node>> nodes_;
  std::unique_ptr<client::Reflector<api::Pod>> pods_;
};

}  // namespace

// What a reload has to change outside of the scheduler. Lives while Run runs.
class Feeds {
 public:
  Feeds(ApiSide& api, scheduler::Scheduler& scheduler, uint64_t seed)
      : streams_(api, scheduler, seed),
        owners_(*api.scheduling, seed + 10, [&scheduler](scheduler::OwnerDeltas deltas) {
          scheduler.Post(std::move(deltas));
        }) {
    owners_.Ensure(scheduler.NeededOwnerKinds());
  }

  struct Needs {
    framework::OwnerKinds owners;
    scheduler::Scheduler::WholeObjects objects;
  };
  void Ensure(const Needs& needs) {
    owners_.Ensure(needs.owners);
    streams_.Ensure(needs.objects);
  }
  void Stop() {
    owners_.Stop();
    streams_.Stop();
  }

 private:
  Streams streams_;
  OwnerInformers owners_;
};

namespace {

// Returns at the first signal that ends the process; from then on a second one ends it at once.
int AwaitSignal(const sigset_t& signals, const std::function<void()>& hang_up) {
  int signal = 0;
  for (sigwait(&signals, &signal); signal == SIGHUP; sigwait(&signals, &signal)) hang_up();
  std::thread([signals] {
    int second = SIGHUP;
    while (second == SIGHUP) sigwait(&signals, &second);
    _exit(1);
  }).detach();
  return signal;
}

// Null without a file, or when the system refuses: SIGHUP is left then.
std::unique_ptr<ConfigWatcher> WatchConfiguration(const std::string& file, Reloader& reloader) {
  if (file.empty()) return nullptr;
  auto watcher = ConfigWatcher::Start(file, [&reloader] { (void)reloader.Reload("file changed"); });
  if (watcher.ok()) return std::move(watcher).value();
  log::Error(watcher.error().message, "Changes of the configuration file go unnoticed",
             {{"file", file}});
  return nullptr;
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
  sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

Daemon::Daemon(DaemonOptions options)
    : options_(std::move(options)), registry_(plugins::InTreeRegistry()) {}

Result<std::unique_ptr<Daemon>> Daemon::Prepare(DaemonOptions options) {
  framework::SetRequestGates(options.gates);
  std::unique_ptr<Daemon> daemon(new Daemon(std::move(options)));
  config::Configuration& configuration = daemon->options_.configuration;
  auto access =
      LoadAccess(configuration.client_connection.kubeconfig, daemon->options_.flags.master);
  if (!access.ok()) return access.error();
  daemon->access_ = std::move(access).value();
  auto https = Listen(daemon->options_.flags, daemon->options_.certificate);
  if (!https.ok()) return https.error();
  daemon->https_ = std::move(https).value();
  if (Result<void> fine = CheckRateLimit(configuration.client_connection); !fine.ok()) {
    return fine.error();
  }
  if (Result<void> fine = CheckResourceLock(configuration.leader_election); !fine.ok()) {
    return fine.error();
  }
  daemon->loaded_ = configuration;
  if (Result<void> fine = config::ApplyExtenders(&configuration); !fine.ok()) return fine.error();
  if (Result<void> fine = daemon->CheckProfiles(); !fine.ok()) return fine.error();
  configuration = Reduced(std::move(configuration), daemon->registry_);
  return daemon;
}

// Builds the profiles once for what may be wrong with them; the scheduler builds its own.
Result<void> Daemon::CheckProfiles() {
  const cache::Cache cache;
  framework::WaitingPods waiting_pods(RealClock());
  Random random(0);
  const auto profiles = framework::BuildProfiles(registry_, options_.configuration,
                                                 {.snapshot = &cache,
                                                  .clock = &RealClock(),
                                                  .random = &random,
                                                  .waiting_pods = &waiting_pods});
  if (!profiles.ok()) return profiles.error();
  return {};
}

// Applying runs between two attempts, on the scheduling thread; the caller waits for it.
std::unique_ptr<Reloader> Daemon::MakeReloader() {
  const auto apply = [this](const config::Configuration& wanted) -> Result<void> {
    std::promise<Result<Feeds::Needs>> done;
    scheduler_->Post(scheduler::Task([&] {
      const Result<void> reloaded = scheduler_->Reload(wanted);
      if (!reloaded.ok()) {
        done.set_value(reloaded.error());
        return;
      }
      done.set_value(Feeds::Needs{.owners = scheduler_->NeededOwnerKinds(),
                                  .objects = scheduler_->NeededWholeObjects()});
    }));
    const auto needed = done.get_future().get();
    if (!needed.ok()) return needed.error();
    feeds_->Ensure(*needed);
    return {};
  };
  return std::make_unique<Reloader>(ReloaderOptions{.flags = &options_.flags,
                                                    .gates = options_.gates,
                                                    .registry = &registry_,
                                                    .metrics = &reload_metrics_,
                                                    .loaded = loaded_,
                                                    .running = options_.configuration,
                                                    .apply = apply});
}

void Daemon::InstallEndpoints(const server::SchedulerHealth& health) {
  server::InstallSchedulerHealth(*https_, health);
  https_->Handle("/configz", [this](const server::Request&) {
    return server::Response{.content_type = "application/json", .body = reloader_->Configz()};
  });
  https_->Handle("/metrics", [this](const server::Request&) {
    return server::Response{
        .content_type = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores",
        .body = metrics_.Text()};
  });
  https_->Serve();
}

Result<void> Daemon::Run(const sigset_t& signals) {
  const config::Configuration& configuration = options_.configuration;
  if (Result<void> fine =
          CheckLeaderElection(configuration.leader_election, options_.leader_election_asked);
      !fine.ok()) {
    return fine;
  }
  const uint64_t seed = RandomSeed();
  log::Info(0, "Starting kubesched", {{"version", KS_VERSION}, {"seed", seed}});
  server::SchedulerHealth health;
  reloader_ = MakeReloader();
  if (https_ != nullptr) InstallEndpoints(health);
  if (options_.gates.Enabled(config::Gate::kSchedulerAsyncAPICalls)) {
    call_metrics_ = std::make_unique<client::AsyncCallMetrics>(metrics_);
  }
  auto api = Connect(access_, configuration.client_connection, seed, call_metrics_.get());
  if (!api.ok()) return api.error();
  const auto extender_transport = [&api](const std::vector<config::Extender>& extenders) {
    return client::NewExtenderClient(extenders, api.value().connection->timers());
  };
  auto made =
      scheduler::Scheduler::Create({.configuration = configuration,
                                    .registry = &registry_,
                                    .api = api.value().writer.get(),
                                    .clock = &RealClock(),
                                    .seed = seed,
                                    .gates = &options_.gates,
                                    .metrics = &framework_metrics_,
                                    .batch_metrics = &batch_metrics_,
                                    .remember_verdicts = options_.flags.remember_verdicts,
                                    .unschedulable_max = options_.flags.pod_max_in_unschedulable,
                                    .extender_transport = extender_transport,
                                    .on_synced = [&health] { health.handlers_synced = true; }});
  if (!made.ok()) return made.error();
  scheduler::Scheduler& scheduler = **made;
  scheduler_ = &scheduler;
  Feeds feeds(api.value(), scheduler, seed);
  feeds_ = &feeds;
  std::thread loop([&scheduler] { scheduler.Run(kStopGrace); });
  std::unique_ptr<ConfigWatcher> watcher =
      WatchConfiguration(options_.flags.config_file, *reloader_);

  const int signal = AwaitSignal(signals, [this] { (void)reloader_->Reload("SIGHUP"); });
  watcher.reset();
  log::Info(0, "Stopping: no new attempts; bindings in flight finish", {{"signal", signal}});
  health.shutting_down = true;
  scheduler.Stop();
  loop.join();
  api.value().writer->Drain(std::chrono::seconds(5));
  feeds.Stop();
  if (https_ != nullptr) https_->Stop();
  LogTotals(scheduler.stats(), api.value().writer->Stats());
  if (!configuration.leader_election.leader_elect) return Error{"finished without leader elect"};
  log::Info(0, "Requested to terminate, exiting");
  return {};
}

}  // namespace ks::daemon
