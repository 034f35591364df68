// SPDX-License-Identifier: Apache-2.0
#include "daemon/scheduler_term.h"

#include <algorithm>
#include <vector>

#include "api/decode/decoder.h"
#include "base/logging.h"

namespace ks::daemon {
namespace {

// How long a watch may be silent before its kind is listed again. In a busy cluster it is not for
// that long; in a quiet one the list is what a take-over waits for.
constexpr Duration kPatience = std::chrono::milliseconds(200);
constexpr Duration kAskAgain = std::chrono::seconds(1);

template <class T>
LifeEvent VersionIn(const std::string& list) {
  auto page = api::Decoder().List<T>(list);
  if (!page.ok()) {
    return {.kind = LifeEvent::Kind::kVersionUnknown, .text = page.error().message};
  }
  return {.kind = LifeEvent::Kind::kVersionKnown, .text = std::move(page->resource_version)};
}

// What an answer says of it.
LifeEvent VersionOf(Inherited what, const client::RestReply& reply) {
  if (!reply.ok()) {
    // Who does not serve a kind has none that a former leader could have written.
    const bool absent = what != Inherited::kPods && reply.error->IsNotFound();
    return {.kind = absent ? LifeEvent::Kind::kCaughtUp : LifeEvent::Kind::kVersionUnknown,
            .text = reply.error->message};
  }
  return WithType(what, [&]<class T>(const T*) { return VersionIn<T>(reply.body); });
}

}  // namespace

Result<std::unique_ptr<SchedulerTerm>> SchedulerTerm::Make(const TermParts& parts,
                                                           TermOptions options) {
  std::unique_ptr<SchedulerTerm> term(new SchedulerTerm(parts, std::move(options)));
  if (Result<void> built = term->Build(); !built.ok()) return built.error();
  return term;
}

SchedulerTerm::~SchedulerTerm() { End(Duration::zero()); }

void SchedulerTerm::Post(LifeEvent::Kind kind, std::string text) const {
  parts_.events.Post({.kind = kind, .term = options_.number, .text = std::move(text)});
}

void SchedulerTerm::MakeWriter() {
  client::WriterOptions writer;
  writer.host_name = parts_.settings.host_name;
  writer.seed = options_.seed;
  writer.legacy_events = parts_.legacy_events;
  writer.fence = options_.fence;
  writer.spans = parts_.settings.traces.sink;
  if (client::AsyncCallMetrics* calls = parts_.call_metrics) {
    writer.call_done = [calls](std::string_view call_type, bool ok, Duration took) {
      calls->CallDone(call_type, ok, took);
    };
  }
  writer_ = std::make_unique<client::Writer>(parts_.scheduling, parts_.event_recording, writer);
  parts_.writer_metrics.Watch(writer_->StatsSource());
  if (parts_.call_metrics != nullptr) parts_.call_metrics->Watch(writer_->StatsSource());
}

scheduler::SchedulerOptions SchedulerTerm::MakeSchedulerOptions() {
  const auto fence = options_.fence;
  scheduler::SchedulerOptions scheduler{
      .configuration = options_.configuration,
      .registry = &parts_.registry,
      .api = parts_.wrap_writer ? parts_.wrap_writer(*writer_) : writer_.get(),
      .clock = &clock(),
      .seed = options_.seed,
      .gates = &parts_.gates,
      .metrics = parts_.metrics,
      .batch_metrics = parts_.batch_metrics,
      .scheduler_metrics = parts_.scheduler_metrics,
      .traces = parts_.settings.traces,
      .memory = parts_.settings.memory,
      .unschedulable_max = parts_.settings.pod_max_in_unschedulable,
      .extender_transport = parts_.extender_transport(fence),
      .on_synced =
          [this] {
            parts_.health.handlers_synced = true;
            Post(LifeEvent::Kind::kSynced);
          },
      .standby = fence != nullptr};
  scheduler.decisions_kept = parts_.settings.decisions_kept;
  if (DecisionLog* log = parts_.decision_log) {
    scheduler.on_decision = [log](const ks::scheduler::Decision& decision) { log->Add(decision); };
  }
  if (!parts_.settings.record.empty()) {
    scheduler.on_step = [this](ks::scheduler::StepRecord record) {
      recorder_->Add(std::move(record));
    };
  }
  if (fence != nullptr) scheduler.may_attempt = [fence] { return fence->IsOpen(); };
  return scheduler;
}

Result<void> SchedulerTerm::Build() {
  MakeWriter();
  auto made = scheduler::Scheduler::Create(MakeSchedulerOptions());
  if (!made.ok()) return made.error();
  scheduler_ = std::move(made).value();
  return parts_.settings.record.empty() ? Result<void>() : Record();
}

Result<void> SchedulerTerm::Record() {
  const scheduler::SchedulerOptions& made = scheduler_->options();
  auto recorder =
      Recorder::Open({.folder = parts_.settings.record},
                     {.version = KS_VERSION,
                      .term = options_.number,
                      .began = clock().WallNow(),
                      .seed = made.seed,
                      .standby = made.standby,
                      .remember_verdicts = made.memory.remember_verdicts,
                      .unschedulable_max = made.unschedulable_max,
                      .max_outstanding_bindings = made.max_outstanding_bindings,
                      .gates = parts_.settings.gate_flags,
                      .kinds = scheduler_->NeededKinds(),
                      .configuration = recording::RecordedConfiguration(made.configuration)});
  if (!recorder.ok()) return recorder.error();
  recorder_ = std::move(recorder).value();
  return {};
}

void SchedulerTerm::Open() {
  feeds_ = std::make_unique<Feeds>(parts_.scheduling, *scheduler_, parts_.informer_metrics,
                                   options_.seed, parts_.observer);
  parts_.current.Set(*scheduler_);
  runner_->Start(*scheduler_);
}

std::vector<Inherited> SchedulerTerm::Inherits() const {
  std::vector<Inherited> kinds = {Inherited::kPods};
  for (const Inherited what : {Inherited::kClaims, Inherited::kGroups}) {
    if (feeds_->Watches(what)) kinds.push_back(what);
  }
  return kinds;
}

void SchedulerTerm::AskVersion(Inherited what) {
  const auto answer = [events = &parts_.events, number = options_.number,
                       what](const client::RestReply& reply) {
    LifeEvent event = VersionOf(what, reply);
    event.term = number;
    event.of = what;
    events->Post(std::move(event));
  };
  const api::KindInfo& kind = KindOf(what);
  // Without a version: what is true now, and not what some cache remembers.
  parts_.scheduling.Send(
      {.target = kind.Path() + "?limit=1", .verb = "list", .resource = std::string(kind.plural)},
      answer);
}

void SchedulerTerm::AskVersionLater(Inherited what) {
  parts_.scheduling.timers().Schedule(
      kAskAgain, [events = &parts_.events, number = options_.number, what] {
        events->Post({.kind = LifeEvent::Kind::kAskAgain, .term = number, .of = what});
      });
}

void SchedulerTerm::CatchUp(Inherited what, std::string version) {
  const auto later = [events = &parts_.events, number = options_.number,
                      what](LifeEvent::Kind kind) {
    return
        [events, number, what, kind] { events->Post({.kind = kind, .term = number, .of = what}); };
  };
  feeds_->WhenReached(what, std::move(version), later(LifeEvent::Kind::kCaughtUp));
  parts_.scheduling.timers().Schedule(kPatience, later(LifeEvent::Kind::kCatchUpSlow));
}

void SchedulerTerm::CatchUpByList(Inherited what) { feeds_->ListAgain(what); }

void SchedulerTerm::Lead() {
  scheduler_->Post(scheduler::Task([this] { scheduler_->Lead(); }));
}

void SchedulerTerm::End(Duration grace) {
  if (std::exchange(ended_, true)) return;
  const TimePoint deadline = clock().Now() + grace;
  if (opened()) {
    parts_.current.Clear();
    runner_->Stop(grace);
  }
  writer_->Drain(std::max(deadline - clock().Now(), Duration::zero()));
  if (feeds_ != nullptr) feeds_->Stop();
  parts_.health.handlers_synced = false;
}

}  // namespace ks::daemon
