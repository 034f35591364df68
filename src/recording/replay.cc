// SPDX-License-Identifier: Apache-2.0
#include "recording/replay.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <unordered_map>
#include <utility>

#include "api/kinds.h"
#include "cache/optional_deltas.h"
#include "framework/pod_requests.h"
#include "inspect/decision_json.h"

namespace ks::recording {

using framework::ExtenderReply;
using framework::ExtenderRequest;
using framework::ExtenderTransport;

class ReplayedScheduler::ReplayClock final : public Clock {
 public:
  void Set(TimePoint now, TimePoint wall) {
    now_ = now;
    wall_ = wall;
  }
  TimePoint Now() const override { return now_; }
  TimePoint WallNow() const override { return wall_; }

 private:
  TimePoint now_{};
  TimePoint wall_{};
};

// Keeps calls until the recording answers them.
class ReplayedScheduler::ReplayApi final : public framework::ApiWriter {
 public:
  void Bind(api::PodPtr /*pod*/, std::string /*node_name*/, Done done) override {
    Keep(std::move(done));
  }
  void PatchPodStatus(api::PodPtr /*pod*/, api::PodStatusChange /*change*/, Done done) override {
    Keep(std::move(done));
  }
  void PatchPodGroupStatus(api::PodGroupPtr /*group*/, api::Condition /*condition*/,
                           Done done) override {
    Keep(std::move(done));
  }
  void EvictPod(api::PodPtr /*pod*/, api::Condition /*condition*/, TimePoint /*decided*/,
                EvictionDone done) override {
    open_[++calls_] = [done = std::move(done)](const scheduler::CallResult& result) {
      done(result.eviction.value_or(framework::EvictionOutcome::kFailed), result.error);
    };
  }
  void WriteVolume(api::PersistentVolumePtr /*version*/, WriteDone done) override {
    Keep(std::move(done));
  }
  void WriteClaim(api::PersistentVolumeClaimPtr /*version*/, WriteDone done) override {
    Keep(std::move(done));
  }
  void SendClaimRequest(api::ClaimRequest /*request*/, ClaimDone done) override {
    open_[++calls_] = [done = std::move(done)](const scheduler::CallResult& result) {
      done(result.error, result.claim);
    };
  }
  void RecordEvent(framework::PodEvent /*event*/) override {}

  void Answer(const scheduler::CallResult& result) {
    const auto found = open_.find(result.call);
    if (found == open_.end()) return;
    const auto answer = std::move(found->second);
    open_.erase(found);
    answer(result);
  }

 private:
  void Keep(Done done) {
    open_[++calls_] = [done = std::move(done)](const scheduler::CallResult& result) {
      done(result.error);
    };
  }

  void Keep(WriteDone done) {
    open_[++calls_] = [done = std::move(done)](const scheduler::CallResult& result) {
      done(result.error, result.resource_version);
    };
  }

  uint64_t calls_ = 0;
  std::unordered_map<uint64_t, std::function<void(const scheduler::CallResult&)>> open_;
};

// The same for extenders. What a round is to ask and wait for has its answers in the round already.
class ReplayedScheduler::ReplayTransport final : public ExtenderTransport {
 public:
  void Call(ExtenderRequest /*request*/, Done done) override {
    open_[++requests_] = std::move(done);
  }

  void Answer(const scheduler::ExtenderAnswer& answer) {
    const auto found = open_.find(answer.request);
    if (found == open_.end()) {
      early_[answer.request] = answer.reply;
      return;
    }
    const Done done = std::move(found->second);
    open_.erase(found);
    done(answer.reply);
  }

  std::optional<std::vector<ExtenderReply>> CallAndWait(std::vector<ExtenderRequest> requests,
                                                        const std::stop_token& /*stop*/) override {
    std::vector<ExtenderReply> replies;
    for (size_t i = 0; i < requests.size(); ++i) {
      const auto found = early_.find(++requests_);
      if (found != early_.end()) replies.push_back(found->second);
    }
    if (replies.size() < requests.size()) return std::nullopt;
    return replies;
  }

  void EndRound() { early_.clear(); }

 private:
  uint64_t requests_ = 0;
  std::unordered_map<uint64_t, Done> open_;
  std::unordered_map<uint64_t, ExtenderReply> early_;  // of the present round
};

ReplayedScheduler::ReplayedScheduler()
    : clock_(std::make_unique<ReplayClock>()),
      api_(std::make_unique<ReplayApi>()),
      transport_(std::make_shared<ReplayTransport>()) {}

ReplayedScheduler::~ReplayedScheduler() = default;

Result<std::unique_ptr<ReplayedScheduler>> ReplayedScheduler::Make(
    const RecordingHeader& header, const ReplaySide& side, const framework::Registry& registry,
    const config::FeatureGates& gates) {
  std::unique_ptr<ReplayedScheduler> replayed(new ReplayedScheduler());
  Result<void> built = replayed->Build(header, side, registry, gates);
  if (!built.ok()) return built.error();
  return replayed;
}

Result<void> ReplayedScheduler::Build(const RecordingHeader& header, const ReplaySide& side,
                                      const framework::Registry& registry,
                                      const config::FeatureGates& gates) {
  follows_reloads_ = !side.configuration.has_value();
  scheduler::SchedulerOptions options{.registry = &registry,
                                      .api = api_.get(),
                                      .clock = clock_.get(),
                                      .seed = header.seed,
                                      .gates = &gates,
                                      .memory = {.remember_verdicts = header.remember_verdicts,
                                                 .scores_by_plugin_period = Duration::zero()},
                                      .max_outstanding_bindings = header.max_outstanding_bindings,
                                      .unschedulable_max = header.unschedulable_max,
                                      .standby = header.standby};
  if (side.configuration) {
    options.configuration = *side.configuration;
  } else {
    auto recorded = ReadRecordedConfiguration(header.configuration, gates);
    if (!recorded.ok()) return recorded.error();
    options.configuration = std::move(recorded).value();
  }
  options.extender_transport =
      [transport = transport_](
          const std::vector<config::Extender>&) -> Result<std::shared_ptr<ExtenderTransport>> {
    return std::shared_ptr<ExtenderTransport>(transport);
  };
  options.may_attempt = [this] { return may_attempt_; };
  options.on_step = [this](const scheduler::StepRecord& record) {
    for (const scheduler::Decision& decision : record.decisions) {
      outcomes_.push_back({Outcome::Kind::kDecision, inspect::DecisionJson(decision)});
    }
    for (const scheduler::EvictionOrder& order : record.evictions) {
      outcomes_.push_back({Outcome::Kind::kEviction, EvictionJson(order)});
    }
  };
  auto made = scheduler::Scheduler::Create(std::move(options));
  if (!made.ok()) return made.error();
  scheduler_ = std::move(made).value();
  for (const framework::OptionalKind kind : framework::kAllOptionalKinds) {
    if (scheduler_->NeededKinds().Contains(kind) && !header.kinds.Contains(kind)) {
      missing_.Add(kind);
    }
  }
  PostMissing();
  return {};
}

// Nothing is scheduled before the first full state of each kind.
void ReplayedScheduler::PostMissing() {
  api::OptionalKindTypes::ForEach([this]<class T>(const T*) {
    if (!missing_.Contains(framework::kOptionalKindOf<T>)) return;
    scheduler_->Post(cache::OptionalDeltasOf<T>(std::vector<api::Delta<T>>(1)));
  });
}

void ReplayedScheduler::Post(const scheduler::StepInput& input) {
  if (const auto* pods = std::get_if<scheduler::PodDeltas>(&input)) return scheduler_->Post(*pods);
  if (const auto* nodes = std::get_if<scheduler::NodeDeltas>(&input)) {
    return scheduler_->Post(*nodes);
  }
  if (const auto* owners = std::get_if<scheduler::OwnerDeltas>(&input)) {
    return scheduler_->Post(*owners);
  }
  if (const auto* storage = std::get_if<scheduler::StorageDeltas>(&input)) {
    return scheduler_->Post(*storage);
  }
  if (const auto* devices = std::get_if<scheduler::DeviceDeltas>(&input)) {
    return scheduler_->Post(*devices);
  }
  if (const auto* groups = std::get_if<scheduler::GroupDeltas>(&input)) {
    return scheduler_->Post(*groups);
  }
  if (const auto* result = std::get_if<scheduler::CallResult>(&input)) return api_->Answer(*result);
  if (const auto* answer = std::get_if<scheduler::ExtenderAnswer>(&input)) {
    return transport_->Answer(*answer);
  }
  if (std::holds_alternative<scheduler::LeadOrder>(input)) {
    scheduler_->Post(scheduler::Task([this] { scheduler_->Lead(); }));
    return;
  }
  if (!follows_reloads_) return;
  scheduler_->Post(scheduler::Task([this, reload = std::get<scheduler::Reconfigured>(input)] {
    // It was accepted when it was recorded; what this version refuses leaves the former one.
    (void)scheduler_->Reload(*reload.configuration);
  }));
}

std::vector<Outcome> ReplayedScheduler::Run(const scheduler::StepRecord& round) {
  if (round.idle_before) {
    may_attempt_ = true;
    scheduler_->Step();
  }
  may_attempt_ = round.may_attempt;
  clock_->Set(round.now, round.wall);
  for (const scheduler::StepInput& input : round.inputs) Post(input);
  scheduler_->Step();
  transport_->EndRound();
  return std::exchange(outcomes_, {});
}

namespace {

// Another pod, or another fate of it.
constexpr const char* kComparedOfDecision[] = {"pod",  "uid",           "profile", "result",
                                               "node", "nominatedNode", "message"};

bool SameMembers(const nlohmann::json& left, const nlohmann::json& right,
                 std::span<const char* const> keys) {
  return std::ranges::all_of(keys, [&](const char* key) {
    const auto of_left = left.find(key);
    const auto of_right = right.find(key);
    if (of_left == left.end() || of_right == right.end()) {
      return of_left == left.end() && of_right == right.end();
    }
    return *of_left == *of_right;
  });
}

// The sides of a comparison, round by round.
class Comparison {
 public:
  explicit Comparison(ReplayReport& report) : report_(report) {}

  // False: they differ, and the report says where.
  bool Compare(size_t line, const std::vector<Outcome>& left, const std::vector<Outcome>& right) {
    for (size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
      const Outcome* of_left = i < left.size() ? &left[i] : nullptr;
      const Outcome* of_right = i < right.size() ? &right[i] : nullptr;
      const bool same =
          of_left != nullptr && of_right != nullptr && SameOutcome(*of_left, *of_right);
      if (!same) {
        ReplayDifference& difference = report_.difference.emplace();
        difference.decision = report_.decisions + 1;
        difference.line = line;
        if (of_left != nullptr) difference.left = *of_left;
        if (of_right != nullptr) difference.right = *of_right;
        return false;
      }
      if (of_left->kind == Outcome::Kind::kDecision) ++report_.decisions;
    }
    return true;
  }

 private:
  ReplayReport& report_;
};

void NoteMissing(const ReplayedScheduler& replayed, std::vector<std::string>* notes) {
  for (const framework::OptionalKind kind : framework::kAllOptionalKinds) {
    if (!replayed.missing_kinds().Contains(kind)) continue;
    notes->push_back("the recording has no objects of kind " + std::string(OptionalKindText(kind)) +
                     ", which a replayed configuration reads: they look empty to it");
  }
}

}  // namespace

bool SameOutcome(const Outcome& left, const Outcome& right) {
  if (left.kind != right.kind) return false;
  if (left.kind == Outcome::Kind::kEviction) return left.json == right.json;
  return SameMembers(nlohmann::json::parse(left.json, nullptr, false),
                     nlohmann::json::parse(right.json, nullptr, false), kComparedOfDecision);
}

Result<ReplayReport> Replay(RecordingReader& reader, const ReplayQuestion& question,
                            const framework::Registry& registry) {
  ReplayReport report{.header = reader.header()};
  auto gates = config::FeatureGates::Make(report.header.gates, nullptr);
  if (!gates.ok()) return gates.error();
  framework::SetRequestGates(*gates);
  auto first = ReplayedScheduler::Make(report.header, question.config, registry, *gates);
  if (!first.ok()) return first.error();
  NoteMissing(**first, &report.notes);
  std::unique_ptr<ReplayedScheduler> second;
  if (question.against) {
    auto made = ReplayedScheduler::Make(report.header, *question.against, registry, *gates);
    if (!made.ok()) return made.error();
    second = std::move(made).value();
    NoteMissing(*second, &report.notes);
  }
  Comparison comparison(report);
  for (;;) {
    auto read = reader.Next();
    if (!read.ok()) return read.error();
    if (!read->has_value()) break;
    const RecordedRound& round = **read;
    const std::vector<Outcome> of_first = (*first)->Run(round.in);
    const bool same = second == nullptr
                          ? comparison.Compare(round.line, round.out, of_first)
                          : comparison.Compare(round.line, of_first, second->Run(round.in));
    if (!same) return report;
  }
  report.ended = reader.ended();
  return report;
}

}  // namespace ks::recording
