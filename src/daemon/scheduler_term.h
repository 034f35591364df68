// SPDX-License-Identifier: Apache-2.0
#pragma once
// One life of a scheduler in the daemon: the scheduler, its runner, its streams and its writer. It
// begins as a standby, may lead, and ends; a lease that is lost ends it, and the next term begins
// with nothing of this one, so that no decision, no wait and no write can slip over.
//
// Upstream: docs/spec/operations.md sections 1.1 (12, 13), 6 and 12.1.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/http/write_fence.h"
#include "client/watch/informer_metrics.h"
#include "client/write/async_call_metrics.h"
#include "client/write/writer.h"
#include "client/write/writer_metrics.h"
#include "config/gates/feature_gates.h"
#include "config/types.h"
#include "daemon/current_scheduler.h"
#include "daemon/decision_log.h"
#include "daemon/feeds.h"
#include "daemon/life_events.h"
#include "daemon/recorder.h"
#include "daemon/scheduler_runner.h"
#include "framework/metrics/batch_metrics.h"
#include "framework/metrics/framework_metrics.h"
#include "framework/registry.h"
#include "scheduler/scheduler.h"
#include "server/health.h"

namespace ks::daemon {

// What the command line and the machine say of a scheduler.
struct TermSettings {
  std::string host_name{};  // for events
  ks::scheduler::MemoryOptions memory{};
  Duration pod_max_in_unschedulable = std::chrono::minutes(5);
  size_t decisions_kept = 1000;
  std::string record{};  // folder; empty: nothing is recorded
  config::GateFlags gate_flags{};
  tracing::TraceOptions traces{};  // the sink outlives the terms
};

// What all terms of a process share. Lifetime: outlives the terms.
struct TermParts {
  // A client for what the scheduler reads and decides, by whose clock and timers the term lives,
  // and one for events.
  client::RestClient& scheduling;
  client::RestClient& event_recording;
  bool legacy_events = false;
  // Who runs the scheduler. Made once a term.
  std::function<std::unique_ptr<SchedulerRunner>()> make_runner;
  // Makes what asks the extenders; it sends nothing that must not go twice while the fence (null:
  // none) is shut.
  std::function<framework::ExtenderTransportFactory(
      std::shared_ptr<const client::WriteFence> fence)>
      extender_transport;
  LifeEvents& events;
  CurrentScheduler& current;
  server::SchedulerHealth& health;
  const framework::Registry& registry;
  const config::FeatureGates& gates;
  TermSettings settings{};
  framework::FrameworkMetrics* metrics = nullptr;
  framework::BatchMetrics* batch_metrics = nullptr;
  scheduler::SchedulerMetrics* scheduler_metrics = nullptr;
  client::InformerMetrics& informer_metrics;
  client::WriterMetrics& writer_metrics;
  client::AsyncCallMetrics* call_metrics = nullptr;  // null: the gate is off
  DecisionLog* decision_log = nullptr;               // null: none is kept
  // For tests: hears what the streams tell, and stands between the scheduler and its writer.
  DeltaObserver* observer = nullptr;
  std::function<framework::ApiWriter*(framework::ApiWriter& writer)> wrap_writer{};
};

struct TermOptions {
  uint64_t number = 1;
  config::Configuration configuration;
  std::shared_ptr<client::WriteFence> fence;  // null: no leader election, it leads at once
  uint64_t seed = 0;
};

// Threads: one at a time, the same for Open to End. Posts events of its number.
class SchedulerTerm {
 public:
  // Nothing runs yet. Error: a profile or an extender cannot be built.
  static Result<std::unique_ptr<SchedulerTerm>> Make(const TermParts& parts, TermOptions options);
  // Ends, without any grace.
  ~SchedulerTerm();
  SchedulerTerm(const SchedulerTerm&) = delete;
  SchedulerTerm& operator=(const SchedulerTerm&) = delete;

  // Starts streams and scheduler; kSynced follows when the caches are filled.
  void Open();
  bool opened() const { return feeds_ != nullptr; }
  // scheduler::Scheduler::Reload, of a term that nothing runs of. Requires: not opened.
  Result<void> Reload(const config::Configuration& wanted) { return scheduler_->Reload(wanted); }

  // After the lease was won, so that the former leader's last writes are known before the first of
  // our own: what of theirs counts. Requires: opened; so with the next ones.
  std::vector<Inherited> Inherits() const;
  // Asks the API server how far it is: kVersionKnown or kVersionUnknown follows, or kCaughtUp if it
  // serves no such kind.
  void AskVersion(Inherited what);
  // Waits until the scheduler knows that version: kCaughtUp follows, and kCatchUpSlow before it if
  // that takes more than a moment.
  void CatchUp(Inherited what, std::string version);
  // Lists them again, for lack of a word from the watch.
  void CatchUpByList(Inherited what);
  // kAskAgain follows, a second from now.
  void AskVersionLater(Inherited what);

  // Ends the standby.
  void Lead();

  // Begins no attempt any more, waits up to `grace` for bindings under way and other writes, gives
  // up the rest, ends the streams. The scheduler can still be asked for its counts. Idempotent.
  void End(Duration grace);

  uint64_t number() const { return options_.number; }
  const std::shared_ptr<client::WriteFence>& fence() const { return options_.fence; }
  Feeds& feeds() { return *feeds_; }
  // As configured when the term was made.
  framework::OptionalKinds needed_kinds() const { return scheduler_->NeededKinds(); }
  scheduler::Scheduler& scheduler() { return *scheduler_; }
  const scheduler::SchedulerStats& stats() const { return scheduler_->context().stats; }
  client::WriterStats writes() const { return writer_->Stats(); }

 private:
  SchedulerTerm(const TermParts& parts, TermOptions options)
      : parts_(parts), options_(std::move(options)), runner_(parts_.make_runner()) {}
  Result<void> Build();
  void MakeWriter();
  ks::scheduler::SchedulerOptions MakeSchedulerOptions();
  Result<void> Record();
  const Clock& clock() const { return parts_.scheduling.clock(); }
  void Post(LifeEvent::Kind kind, std::string text = {}) const;

  const TermParts parts_;
  const TermOptions options_;
  std::unique_ptr<client::Writer> writer_;
  std::unique_ptr<Recorder> recorder_;  // null: no --record
  std::unique_ptr<scheduler::Scheduler> scheduler_;
  std::unique_ptr<Feeds> feeds_;  // null: not opened
  const std::unique_ptr<SchedulerRunner> runner_;
  bool ended_ = false;
};

}  // namespace ks::daemon
