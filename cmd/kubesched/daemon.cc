// SPDX-License-Identifier: Apache-2.0
#include "kubesched/daemon.h"

#include <random>
#include <utility>

#include "base/logging.h"
#include "client/extender_client.h"
#include "daemon/config_watcher.h"
#include "daemon/permission_check.h"
#include "daemon/signals.h"
#include "daemon/startup.h"
#include "daemon/state_dump.h"
#include "framework/pod_requests.h"
#include "kubesched/access/serving.h"
#include "kubesched/endpoints/endpoints.h"
#include "kubesched/endpoints/metrics_identity.h"
#include "kubesched/flags/effective_configuration.h"
#include "plugins/registry.h"

namespace ks::daemon {
namespace {

// Bindings under way at the end get this long: half of a pod's default grace period, or less if
// another replica waits for the lease.
constexpr Duration kStopGrace = std::chrono::seconds(15);
constexpr Duration kStopGraceOfLeader = std::chrono::seconds(2);

uint64_t RandomSeed() {
  std::random_device device;
  return (static_cast<uint64_t>(device()) << 32) | device();
}

// Null without a file, or when the system refuses: SIGHUP is left then.
std::unique_ptr<ConfigWatcher> WatchConfiguration(const std::string& file,
                                                  std::vector<std::string> libraries,
                                                  Reloader& reloader) {
  if (file.empty()) return nullptr;
  std::vector<std::string> files = std::move(libraries);
  files.push_back(file);
  auto watcher = ConfigWatcher::Start(std::move(files),
                                      [&reloader] { (void)reloader.Reload("file changed"); });
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
             {"eventsDropped", writes.events_dropped},
             {"fenced", writes.fenced}});
}

}  // namespace

Daemon::Daemon(DaemonOptions options)
    : options_(std::move(options)), registry_(plugins::InTreeRegistry()) {}

std::variant<std::unique_ptr<Daemon>, config::Faults> Daemon::Prepare(
    DaemonOptions options, const config::Reading& reading) {
  using Until = daemon::StartupQuestion::Until;
  framework::SetRequestGates(options.gates);
  std::unique_ptr<Daemon> daemon(new Daemon(std::move(options)));
  const Options& flags = daemon->options_.flags;
  auto libraries = modules::PluginLibraries::Load(flags.plugins.libraries,
                                                  &daemon->metrics_.registry, &daemon->registry_);
  if (!libraries.ok()) return config::Faults{.text = libraries.error().message, .findings = {}};
  daemon->libraries_ = std::move(libraries).value();
  daemon::StartupVerdict verdict = daemon::JudgeStartup(
      reading, {.gates = daemon->options_.gates,
                .until = flags.write_config_to.empty() ? Until::kRunning : Until::kWritten,
                .registry = &daemon->registry_,
                .master = flags.master,
                .between = [&daemon] { return daemon->PrepareServing(); }});
  if (!verdict.faults.text.empty()) return std::move(verdict.faults);
  for (const std::string& line : WarningLines(verdict.warnings, flags.config_file)) {
    log::Plain('W', line);
  }
  daemon->access_ = std::move(verdict.access);
  daemon->loaded_ = reading.configuration;
  daemon->options_.configuration = Reduced(std::move(verdict.configuration), daemon->registry_);
  return daemon;
}

Result<void> Daemon::PrepareServing() {
  auto serving =
      Serving::Prepare(options_.flags, options_.certificate, metrics_.registry, metrics_.rest);
  if (!serving.ok()) return serving.error();
  serving_ = std::move(serving).value();
  auto selection = SelectionOf(options_.flags.metrics);
  if (!selection.ok()) return selection.error();
  metrics_.registry.Select(std::move(selection).value());
  ShowIdentity(metrics_.registry, options_.flags.gates);
  return {};
}

// ---- reload ----

std::unique_ptr<Reloader> Daemon::MakeReloader() {
  return std::make_unique<Reloader>(ReloaderOptions{
      .file = options_.flags.config_file,
      .read = [this] { return ReadEffectiveConfiguration(options_.flags, options_.gates); },
      .gates = options_.gates,
      .registry = &registry_,
      .libraries = libraries_.get(),
      .metrics = &metrics_.reload,
      .loaded = loaded_,
      .running = options_.configuration,
      .apply = [this](const config::Configuration& wanted) { return Apply(wanted); }});
}

// Runs between two attempts, on the scheduling thread; the caller waits for it. The terms that
// follow begin with it.
Result<void> Daemon::Apply(const config::Configuration& wanted) {
  MutexLock lock(mutex_);
  if (term_ == nullptr) return Error{"kubesched is starting or stopping: nothing to reload"};
  if (!term_->opened()) {  // a standby without caches: this term is to begin with it, too
    if (Result<void> reloaded = term_->Reload(wanted); !reloaded.ok()) return reloaded;
    in_force_ = wanted;
    return {};
  }
  const auto answer = current_.Ask([&](scheduler::Scheduler& scheduler) -> Result<Feeds::Needs> {
    const Result<void> reloaded = scheduler.Reload(wanted);
    if (!reloaded.ok()) return reloaded.error();
    return Feeds::Needs{.kinds = scheduler.NeededKinds(),
                        .objects = scheduler.in_force().NeededWholeObjects()};
  });
  if (!answer) return Error{"kubesched is starting or stopping: nothing to reload"};
  const auto& needed = *answer;
  if (!needed.ok()) return needed.error();
  term_->feeds().Ensure(*needed);
  in_force_ = wanted;
  return {};
}

// ---- the life of a daemon ----

Result<int> Daemon::Run(const sigset_t& signals) {
  const config::Configuration& configuration = options_.configuration;
  const uint64_t seed = RandomSeed();
  log::Info(0, "Starting Kubernetes Scheduler",
            {{"version", "v" KS_VERSION}, {"program", "kubesched"}, {"seed", seed}});
  libraries_->Log();
  WatchSignals(signals, events_);
  reloader_ = MakeReloader();
  if (Elects()) {
    metrics_.leader = std::make_unique<client::LeaderMetrics>(metrics_.registry);
  }
  if (options_.gates.Enabled(config::Gate::kSchedulerAsyncAPICalls)) {
    metrics_.calls = std::make_unique<client::AsyncCallMetrics>(metrics_.registry);
  }
  if (options_.gates.Enabled(config::Gate::kGenericWorkload)) {
    metrics_.scheduler.MeasureGroups(
        metrics_.registry, options_.gates.Enabled(config::Gate::kTopologyAwareWorkloadScheduling));
  }
  if (Result<void> opened = OpenDecisionLog(); !opened.ok()) return opened.error();
  if (Result<void> started = StartTraces(); !started.ok()) return started.error();
  Serve();
  auto api = Connect(access_, configuration, metrics_.rest, IsCoordinated());
  if (!api.ok()) return api.error();
  return RunEventLoop(api.value(), seed);
}

void Daemon::Serve() {
  if (serving_ == nullptr) return;
  InstallEndpoints(serving_->https(), {.health = health_,
                                       .reloader = *reloader_,
                                       .metrics = metrics_.registry,
                                       .scheduler = current_,
                                       .flags = options_.flags,
                                       .gates = options_.gates,
                                       .configuration = options_.configuration,
                                       .timers = serving_->timers(),
                                       .slis = metrics_.slis,
                                       .leader_election = LeaderElectionCheck(),
                                       .informer_sync = InformerSyncCheck(),
                                       .access = access_,
                                       .identity = [this] { return Identity(); }});
  serving_->Start();
}

std::function<std::string()> Daemon::LeaderElectionCheck() const {
  if (!Elects()) return {};
  return [this] {
    const Leadership* leadership = leadership_;
    return leadership == nullptr ? std::string() : leadership->Failure();
  };
}

std::function<std::string()> Daemon::InformerSyncCheck() const {
  if (!IsCoordinated()) return {};
  return [this] {
    const Leadership* leadership = leadership_;
    return leadership == nullptr ? Leadership::kNoCandidate : leadership->CandidacyFailure();
  };
}

// Empty: without leader election, or not yet.
std::string Daemon::Identity() const {
  const Leadership* leadership = leadership_;
  return leadership == nullptr ? std::string() : leadership->identity();
}

Result<void> Daemon::OpenDecisionLog() {
  const Options& flags = options_.flags;
  if (flags.outputs.decision_log.empty()) return {};
  auto opened = DecisionLog::Open(
      {.file = flags.outputs.decision_log,
       .rotate_bytes = static_cast<size_t>(flags.outputs.decision_log_megabytes) << 20},
      metrics_.registry);
  if (!opened.ok()) return opened.error();
  outputs_.decision_log = std::move(opened).value();
  return {};
}

Result<void> Daemon::StartTraces() {
  if (!options_.tracing || options_.tracing->sampling_rate_per_million == 0) return {};
  auto started = TraceExport::Start(*options_.tracing, metrics_.registry, RandomSeed());
  if (!started.ok()) return started.error();
  outputs_.traces = std::move(started).value();
  return {};
}

Result<int> Daemon::RunEventLoop(ApiSide& api, uint64_t seed) {
  api_ = &api;
  seed_ = seed;
  std::unique_ptr<Leadership> leadership;
  if (Elects()) {
    leadership = std::make_unique<Leadership>(
        Leadership::Parts{.client = *api.election,
                          .metrics = *metrics_.leader,
                          .events = events_,
                          .current = current_,
                          .candidacy = api.candidacy.get(),
                          .emulated_version = config::ReportGates(options_.flags.gates).emulated},
        options_.configuration, seed);
    leadership_ = leadership.get();
  }
  {
    MutexLock lock(mutex_);
    in_force_ = options_.configuration;
  }
  std::optional<Result<int>> end;
  if (Result<void> begun = BeginTerm(); !begun.ok()) end = begun.error();
  if (!end) CheckPermissions();
  std::unique_ptr<ConfigWatcher> watcher;
  if (!end) {
    watcher = WatchConfiguration(options_.flags.config_file, libraries_->files(), *reloader_);
  }
  while (!end) end = HandleEvent(events_.Next());
  watcher.reset();
  EndTerm(Duration::zero());
  if (outputs_.traces != nullptr) outputs_.traces->Flush();
  if (serving_ != nullptr) serving_->Stop();
  leadership_ = nullptr;
  if (end->ok() && end->value() == 0) log::Info(0, "Requested to terminate, exiting");
  if (end->ok() && end->value() != 0) log::Error("", "Leaderelection lost");
  return *std::move(end);
}

// Absent: the daemon goes on.
std::optional<Result<int>> Daemon::HandleEvent(const LifeEvent& event) {
  switch (event.kind) {
    case LifeEvent::Kind::kReload:
      (void)reloader_->Reload("SIGHUP");
      return std::nullopt;
    case LifeEvent::Kind::kDump:
      DumpState(current_);
      return std::nullopt;
    case LifeEvent::Kind::kTerminate:
      return Terminate(event.text);
    case LifeEvent::Kind::kLost:
      return HandleLostLease(event);
    case LifeEvent::Kind::kCalledBack:
      return HandleLeaseCalledBack(event);
    default:
      FollowTerm(event);
      return std::nullopt;
  }
}

TermParts Daemon::PartsOfTerms() {
  const Options& flags = options_.flags;
  return {.scheduling = *api_->scheduling,
          .event_recording = *api_->events,
          .legacy_events = api_->legacy_events,
          .make_runner =
              [transport = &api_->connection->transport()] {
                return std::make_unique<ThreadRunner>(*transport);
              },
          .extender_transport =
              [timers = &api_->connection->timers()](
                  const std::shared_ptr<const client::WriteFence>& fence) {
                return [timers, fence](const std::vector<config::Extender>& extenders) {
                  return client::NewExtenderClient(extenders, *timers, fence);
                };
              },
          .events = events_,
          .current = current_,
          .health = health_,
          .registry = registry_,
          .gates = options_.gates,
          .settings = {.host_name = HostName(),
                       .memory = {.remember_verdicts = flags.plugins.remember_verdicts},
                       .pod_max_in_unschedulable = flags.pod_max_in_unschedulable,
                       .decisions_kept = static_cast<size_t>(flags.decisions_kept),
                       .record = flags.outputs.record,
                       .gate_flags = flags.gates,
                       .traces = outputs_.traces == nullptr ? tracing::TraceOptions()
                                                            : outputs_.traces->options()},
          .metrics = &metrics_.framework,
          .batch_metrics = &metrics_.batch,
          .scheduler_metrics = &metrics_.scheduler,
          .informer_metrics = metrics_.informer,
          .writer_metrics = metrics_.writer,
          .call_metrics = metrics_.calls.get(),
          .decision_log = outputs_.decision_log.get()};
}

Result<void> Daemon::BeginTerm() {
  MutexLock lock(mutex_);
  ++terms_;
  auto term = SchedulerTerm::Make(
      PartsOfTerms(),
      {.number = terms_,
       .configuration = in_force_,
       .fence = Elects() ? std::make_shared<client::WriteFence>(RealClock()) : nullptr,
       .seed = seed_ + 1000 * (terms_ - 1)});
  if (!term.ok()) return term.error();
  term_ = std::move(term).value();
  TakeOverOptions options{.delay_cache = in_force_.delay_cache_until_active};
  if (Elects()) {
    options.acquire_lease = [leadership = leadership_.load(), term = term_.get()] {
      leadership->AcquireLease(term->number(), term->fence());
    };
  }
  take_over_ = std::make_unique<TakeOver>(*term_, std::move(options));
  take_over_->Begin();
  return {};
}

void Daemon::CheckPermissions() {
  const std::string& own = options_.configuration.client_connection.kubeconfig;
  const bool delegates = serving_ != nullptr && options_.flags.authentication.kubeconfig == own &&
                         options_.flags.authorization.kubeconfig == own;
  MutexLock lock(mutex_);
  const framework::OptionalKinds kinds = term_->needed_kinds();
  // Budgets are read by whoever preempts, and by nobody else.
  AskPermissions(
      *api_->permissions,
      NeededPermissions({.kinds = kinds,
                         .preempts = kinds.Contains(framework::OptionalKind::kPodDisruptionBudget),
                         .legacy_events = api_->legacy_events,
                         .leader_election = options_.configuration.leader_election,
                         .coordinated = IsCoordinated(),
                         .delegates = delegates}),
      LogPermissions);
}

void Daemon::EndTerm(Duration grace) {
  MutexLock lock(mutex_);
  if (term_ == nullptr) return;
  term_->End(grace);
  LogTotals(term_->stats(), term_->writes());
  take_over_.reset();
  term_.reset();
}

void Daemon::FollowTerm(const LifeEvent& event) {
  MutexLock lock(mutex_);
  if (take_over_ != nullptr) take_over_->Follow(event);
}

// Nothing is written any more: the fence is closed. What was decided or waited for goes with the
// scheduler; the next one begins with what the API server says.
std::optional<Result<int>> Daemon::HandleLostLease(const LifeEvent& /*event*/) {
  if (options_.flags.exit_on_lost_lease) return Result<int>(1);
  log::Error("", "Leaderelection lost", {{"next", "standing by; --exit-on-lost-lease exits"}});
  EndTerm(Duration::zero());
  return StandByAgain();
}

// What left before the fence was closed is waited for: the next leader need not wait for the
// lease's end, so this one sees to it that it writes last.
std::optional<Result<int>> Daemon::HandleLeaseCalledBack(const LifeEvent& event) {
  const bool exits = options_.flags.exit_on_lost_lease;
  log::Info(0, "Giving the lease back",
            {{"reason", event.text}, {"next", exits ? "exiting" : "standing by"}});
  EndTerm(kStopGraceOfLeader);
  leadership_.load()->ReleaseLeaseToPreferred();
  if (exits) return Result<int>(1);
  return StandByAgain();
}

std::optional<Result<int>> Daemon::StandByAgain() {
  if (Result<void> begun = BeginTerm(); !begun.ok()) return begun.error();
  return std::nullopt;
}

Result<int> Daemon::Terminate(const std::string& signal) {
  log::Info(0, "Stopping: no new attempts; bindings in flight finish", {{"signal", signal}});
  health_.shutting_down = true;
  EndTerm(Elects() ? kStopGraceOfLeader : kStopGrace);
  if (!Elects()) return Error{"finished without leader elect"};
  leadership_.load()->ReleaseLease();
  return 0;
}

}  // namespace ks::daemon
