// SPDX-License-Identifier: Apache-2.0
#include "plugins/volume_binding/volume_binding.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/metrics/volume_metrics.h"
#include "plugins/kit/deferred_pods.h"
#include "plugins/kit/volume/volume_signature.h"
#include "plugins/volume_binding/binding_state.h"
#include "plugins/volume_binding/hints.h"
#include "plugins/volume_binding/pre_bind.h"
#include "plugins/volume_binding/reasons.h"
#include "plugins/volume_binding/storage_score.h"

namespace ks::plugins {
namespace {

using framework::Code;
using framework::CycleState;
using framework::NodeInfo;
using framework::OptionalKind;
using framework::Status;

constexpr size_t kProblemSets = 16;  // of OfferProblems
constexpr int64_t kShapeScale = 10;  // configured scores are 0..10
// A century: longer than anything waits, short enough to be added to a time.
constexpr int64_t kMaxTimeoutSeconds = int64_t{100} * 365 * 24 * 3600;

Status Rejected(std::vector<std::string> reasons) {
  return Status(Code::kUnschedulableAndUnresolvable, std::move(reasons),
                std::string(kVolumeBindingName));
}

// A rejection for each set of OfferProblems.
std::array<Status, kProblemSets> Rejections() {
  constexpr std::array kReasons = {kReasonVolumeNodeConflict, kReasonNoVolumeToBind,
                                   kReasonNotEnoughSpace, kReasonVolumeMissing};
  std::array<Status, kProblemSets> rejections;
  for (size_t set = 1; set < kProblemSets; ++set) {
    std::vector<std::string> reasons;
    for (size_t bit = 0; bit < kReasons.size(); ++bit) {
      if ((set >> bit & 1U) != 0) reasons.emplace_back(kReasons[bit]);
    }
    rejections[set] = Rejected(std::move(reasons));
  }
  return rejections;
}

std::vector<config::UtilizationShapePoint> ScaledShape(const config::VolumeBindingArgs& args) {
  std::vector<config::UtilizationShapePoint> shape =
      args.shape.value_or(std::vector<config::UtilizationShapePoint>());
  if (shape.empty()) shape = {{0, 10}, {100, 0}};
  for (config::UtilizationShapePoint& point : shape) point.score *= kShapeScale;
  return shape;
}

// PreBind with nothing to do, or with something wrong.
class FinishedSequence final : public framework::PreBindSequence {
 public:
  explicit FinishedSequence(Status status) : status_(std::move(status)) {}
  framework::PreBindStep Next(const Status&) override {
    framework::PreBindStep step;
    step.finished = true;
    step.status = status_;
    return step;
  }

 private:
  const Status status_;
};

class VolumeBinding final : public framework::Plugin,
                            public framework::PreFilterPlugin,
                            public framework::FilterPlugin,
                            public framework::PreScorePlugin,
                            public framework::ScorePlugin,
                            public framework::ReservePlugin,
                            public framework::PreBindPlugin,
                            public framework::EnqueueExtensions,
                            public framework::OptionalKindReader,
                            public VolumeSignature {
 public:
  VolumeBinding(const config::VolumeBindingArgs& args, framework::Handle& handle)
      : handle_(handle),
        deferred_(handle),
        scores_(handle.gates().Enabled(config::Gate::kStorageCapacityScoring)),
        shape_(ScaledShape(args)),
        bind_timeout_(
            std::chrono::seconds(std::min(args.bind_timeout_seconds, kMaxTimeoutSeconds))),
        slot_(handle.NewStateSlot()) {}

  std::string_view Name() const override { return kVolumeBindingName; }

  framework::PreFilterResult PreFilter(CycleState& state, const api::Pod& pod,
                                       const framework::Snapshot& snapshot) override {
    // As upstream: a deferred pod leaves no state, and whatever asks for it later fails.
    if (deferred_.Exempt(pod)) return {skip_, {}};
    if (!HasClaims(pod)) {
      slot_.Write(state, nothing_to_do_);
      return {skip_, {}};
    }
    if (std::optional<std::string> problem = ClaimProblem(storage(), pod)) {
      return {Rejected({*std::move(problem)}), {}};
    }
    Result<PodClaims> claims = ClassifyClaims(storage(), pod);
    if (!claims.ok()) return {Status::Error(claims.error().message), {}};
    if (claims->unbound_immediate) return {unbound_immediate_, {}};
    slot_.Write(state, std::make_shared<BindingState>(storage(), volumes_, *std::move(claims),
                                                      snapshot.slots()));
    return {};
  }

  Status Filter(const CycleState& state, const api::Pod& pod, const NodeInfo& node) const override {
    if (deferred_.Exempt(pod)) return {};
    const BindingState* binding = slot_.Read(state);
    if (binding == nullptr) return no_state_;
    const Result<uint8_t> problems = binding->Judge(storage(), node);
    if (!problems.ok()) {
      if (auto* metrics = handle_.volume_metrics()) metrics->CountPredicateError();
      return Status::Error(problems.error().message);
    }
    return rejections_[*problems];
  }

  // Upstream scores every pod: 0 everywhere without claims.
  bool ReadsNodes(const api::Pod&) const override { return false; }
  Status PreScore(CycleState& state, const api::Pod&, std::span<const NodeInfo* const>) override {
    if (!scores_) return skip_;
    const BindingState* binding = slot_.Read(state);
    if (binding == nullptr) return no_state_;
    return binding->has_offers() ? Status() : skip_;
  }

  Status Score(const CycleState& state, const api::Pod&, const NodeInfo& node,
               int64_t* score) const override {
    const BindingState* binding = slot_.Read(state);
    if (binding == nullptr) return no_state_;
    const NodeOffer* offer = binding->OfferOf(node);
    *score = offer == nullptr ? 0 : StorageScore(*offer, shape_);
    return {};
  }

  Status Reserve(CycleState& state, const api::PodPtr& pod, const std::string& node_name) override {
    BindingState* binding = slot_.Mutable(state);
    if (binding == nullptr) return no_state_;
    if (binding == nothing_to_do_.get()) return {};
    const NodeInfo* node = handle_.snapshot().Find(node_name);
    const NodeOffer* offer = node == nullptr ? nullptr : binding->OfferOf(*node);
    if (offer == nullptr || AllClaimsBound(storage(), *pod)) {
      binding->all_bound = true;
      binding->NodeChosen();
      return {};
    }
    auto reserved = Reservation::Make(storage(), node_name, offer->bindings, offer->provisions);
    binding->NodeChosen();
    if (!reserved.ok()) {
      if (auto* metrics = handle_.volume_metrics()) metrics->CountAssumeError();
      return Status::Error(reserved.error().message);
    }
    binding->reservation = *std::move(reserved);
    return {};
  }

  void Unreserve(CycleState& state, const api::PodPtr&, const std::string&) override {
    BindingState* binding = slot_.Mutable(state);
    if (binding == nullptr || binding->reservation == nullptr) return;
    binding->reservation->Revert();
    binding->reservation.reset();
  }

  framework::PreBindPreFlightResult PreBindPreFlight(CycleState& state, const api::PodPtr&,
                                                     const std::string& node_name) override {
    const BindingState* binding = slot_.Read(state);
    if (binding == nullptr) return {.status = no_state_};
    if (binding == nothing_to_do_.get() || binding->all_bound) {
      return {.status = skip_, .allow_parallel = true};
    }
    if (binding->reservation == nullptr || binding->reservation->node_name() != node_name) {
      return {.status = Status::Error("no pod volume found for node \"" + node_name + '"')};
    }
    return {.status = {}, .allow_parallel = true};
  }

  std::unique_ptr<framework::PreBindSequence> PreBind(CycleState& state, const api::PodPtr& pod,
                                                      const std::string& node_name) override {
    // Without a pre-flight (a gate), nobody has left the plugin out.
    const Status flight = PreBindPreFlight(state, pod, node_name).status;
    if (!flight.ok()) {
      return std::make_unique<FinishedSequence>(flight.IsSkip() ? Status() : flight);
    }
    return NewBindingSequence(handle_, {.reservation = slot_.Mutable(state)->reservation,
                                        .pod = pod,
                                        .timeout = bind_timeout_,
                                        .metrics = handle_.volume_metrics()});
  }

  std::vector<framework::EventRegistration> EventsToRegister() const override {
    return VolumeBindingEvents();
  }

  framework::OptionalKinds NeededKinds() const override {
    return {OptionalKind::kPersistentVolume, OptionalKind::kPersistentVolumeClaim,
            OptionalKind::kStorageClass,     OptionalKind::kCsiNode,
            OptionalKind::kCsiDriver,        OptionalKind::kCsiStorageCapacity};
  }

 private:
  framework::StorageState& storage() const { return handle_.storage(); }

  framework::Handle& handle_;
  VolumeIndex volumes_;
  const DeferredPods deferred_;
  const bool scores_;
  const std::vector<config::UtilizationShapePoint> shape_;  // scores 0..100
  const Duration bind_timeout_;
  const framework::StateSlot<BindingState> slot_;
  // The state of all pods without claims; never changed.
  const std::shared_ptr<BindingState> nothing_to_do_ = std::make_shared<BindingState>();
  const Status skip_{Code::kSkip, {}};
  const Status no_state_ = Status::Error("not found");
  const Status unbound_immediate_ = Rejected({std::string(kReasonUnboundImmediate)});
  const std::array<Status, kProblemSets> rejections_ = Rejections();
};

}  // namespace

Result<std::unique_ptr<framework::Plugin>> NewVolumeBinding(const config::PluginArgs& args,
                                                            framework::Handle& handle) {
  const auto* given = std::get_if<config::VolumeBindingArgs>(&args);
  return std::unique_ptr<framework::Plugin>(std::make_unique<VolumeBinding>(
      given == nullptr ? config::VolumeBindingArgs() : *given, handle));
}

}  // namespace ks::plugins
