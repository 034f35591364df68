// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/dynamic_resources.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/uuid.h"
#include "framework/device_explainer.h"
#include "framework/group_plugins.h"
#include "framework/preemption_explainer.h"
#include "plugins/dynamic_resources/binding_conditions.h"
#include "plugins/dynamic_resources/claim_binding.h"
#include "plugins/dynamic_resources/claim_hints.h"
#include "plugins/dynamic_resources/claim_release.h"
#include "plugins/dynamic_resources/claims_attempt.h"
#include "plugins/dynamic_resources/group_claims.h"
#include "plugins/dynamic_resources/group_post_filter.h"
#include "plugins/dynamic_resources/pod_claims.h"
#include "plugins/dynamic_resources/trial_claims.h"
#include "plugins/dynamic_resources/verdicts_ahead.h"
#include "plugins/kit/deferred_pods.h"
#include "plugins/kit/group_trees.h"
#include "plugins/kit/normalize_score.h"
#include "plugins/kit/spec_cache.h"

namespace ks::plugins {
namespace {

using framework::Code;
using framework::CycleState;
using framework::DeviceState;
using framework::NodeInfo;
using framework::OptionalKind;
using framework::Status;

constexpr Duration kDefaultBindingTimeout = std::chrono::seconds(600);

Status Rejected(std::string reason) {
  return Status(Code::kUnschedulableAndUnresolvable, {std::move(reason)});
}

// A request of a claim that names no class, or one that is not there; empty: all is well.
Status CheckClass(const DeviceState& devices, const std::string& name, const Symbol& device_class) {
  if (device_class.empty()) {
    return Status::Error("request " + name + ": unsupported request type");
  }
  if (devices.FindDeviceClass(device_class.view()) != nullptr) return {};
  return Rejected("request " + name + ": device class " + device_class.str() + " does not exist");
}

Status CheckRequest(const DeviceState& devices, const api::ResourceClaim& claim,
                    const api::DeviceRequest& request) {
  if (request.exactly) return CheckClass(devices, request.name, request.exactly->device_class_name);
  if (request.first_available.empty()) {
    return Rejected("resource claim " + claim.meta.Key() + ", request " + request.name +
                    ": unknown request type");
  }
  for (const api::ExactDeviceRequest& sub : request.first_available) {
    Status status = CheckClass(devices, request.name + '/' + sub.name, sub.device_class_name);
    if (!status.ok()) return status;
  }
  return {};
}

class DynamicResources final : public framework::Plugin,
                               public framework::PreEnqueuePlugin,
                               public framework::PreFilterPlugin,
                               public framework::FilterPlugin,
                               public framework::PostFilterPlugin,
                               public framework::PodGroupPostFilterPlugin,
                               public framework::ScorePlugin,
                               public framework::ScoreNormalizer,
                               public framework::ReservePlugin,
                               public framework::PreBindPlugin,
                               public framework::SignPlugin,
                               public framework::EnqueueExtensions,
                               public framework::OptionalKindReader,
                               public framework::PreemptionExplainer,
                               public framework::DeviceExplainer {
 public:
  DynamicResources(const config::DynamicResourcesArgs& args, framework::Handle& handle)
      : handle_(handle),
        deferred_(handle),
        binding_timeout_(args.binding_timeout.value_or(kDefaultBindingTimeout)),
        memory_(handle.devices(), FeaturesOf(handle.gates())),
        tools_{.handle = handle,
               .memory = memory_,
               .filter_timeout = args.filter_timeout.value_or(Duration::zero())},
        groups_(handle.gates().Enabled(config::Gate::kGenericWorkload)),
        owners_(handle.gates().Enabled(config::Gate::kDRAWorkloadResourceClaims)
                    ? ClaimOwners::kPodsAndGroups
                    : ClaimOwners::kPods),
        slot_(handle.NewStateSlot()) {}

  std::string_view Name() const override { return kDynamicResourcesName; }

  Status PreEnqueue(const api::Pod& pod) override {
    if (pod.spec->resource_claims.empty()) return {};
    const Result<ClaimList> claims = ResolveClaims(devices(), pod, owners_);
    if (!claims.ok()) return Rejected(claims.error().message);
    return ahead_->Ready(pod, *claims) ? Status() : not_ready_;
  }
  framework::GateScope ScopeOf(const api::Pod& pod) const override {
    return pod.spec->resource_claims.empty() ? framework::GateScope::kPod
                                             : framework::GateScope::kAny;
  }

  framework::PreFilterResult PreFilter(CycleState& state, const api::Pod& pod,
                                       const framework::Snapshot& snapshot) override {
    slot_.Write(state, nothing_to_do_);
    if (deferred_.Exempt(pod)) return {skip_, {}};
    Result<std::vector<ClaimOfEntry>> resolved = ResolveEntries(devices(), pod, owners_);
    if (!resolved.ok()) return {Rejected(resolved.error().message), {}};
    ClaimsOfPod mine{.claims = {}, .extended = {}, .group = GroupOf(pod)};
    for (ClaimOfEntry& each : *resolved) {
      const bool of_group = mine.group != nullptr && IsEntryOfGroup(*mine.group, *each.entry);
      mine.claims.push_back({.claim = std::move(each.claim), .for_group = of_group});
    }
    mine.extended = AddExtendedClaim(pod, mine.claims);
    if (mine.claims.empty()) return {skip_, {}};
    Status status = CheckClaims(mine.claims);
    if (!status.ok()) return {std::move(status), {}};
    memory_.CatchUp();
    if (!ReadyFor(pod, mine.claims)) return {not_ready_, {}};
    slot_.Write(state, std::make_shared<ClaimsAttempt>(tools_, std::move(mine), snapshot.slots()));
    return {};
  }

  Status Filter(const CycleState& state, const api::Pod& pod, const NodeInfo& node) const override {
    const ClaimsAttempt* attempt = slot_.Read(state);
    return attempt == nullptr ? no_state_ : attempt->Filter(pod, node);
  }

  framework::PostFilterResult PostFilter(CycleState& state, const api::PodPtr& pod,
                                         const framework::NodeStatuses&) override {
    const ClaimsAttempt* attempt = slot_.Read(state);
    if (attempt == nullptr) return {no_state_, {}};
    const ClaimToFree what = FindClaimToFree(*pod, *attempt);
    if (what.claim != nullptr) Free(handle_, releases_, what);
    return {FreedStatus(what), {}};
  }

  // Without claims there is none to free.
  bool IsIdle(const api::Pod& pod, std::string_view) override {
    return pod.spec->resource_claims.empty() && !AsksForServedResource(pod);
  }

  // Not for trees, nor for groups that are to be placed within a domain: of these it says nothing.
  framework::GroupPostFilterResult PodGroupPostFilter(
      const framework::GroupPreemptor& preemptor) override {
    const framework::PodGroupKey& root = preemptor.root;
    const api::GroupSpec* spec = SpecOf(handle_.pod_groups(), root);
    if (root.composite || spec == nullptr || !spec->topology_keys.empty()) {
      return {.status = Status(Code::kUnschedulable, {})};
    }
    std::vector<TriedMember> tried;
    for (const framework::GroupAssignment& member : preemptor.members) {
      if (member.state == nullptr) {
        if (&member == &preemptor.members.front()) return {.status = no_state_};
        continue;
      }
      const ClaimsAttempt* attempt = slot_.Read(*member.state);
      if (attempt == nullptr) return {.status = no_state_};
      tried.push_back({.pod = *member.pod, .attempt = *attempt});
    }
    const bool has_claims = owners_ == ClaimOwners::kPodsAndGroups;
    return {.status =
                FreeForGroup(handle_, releases_, tried,
                             has_claims ? handle_.pod_groups().Find(root.ns, root.name) : nullptr)};
  }

  framework::PostFilterResult Explain(CycleState& state, const api::PodPtr& pod,
                                      const framework::NodeStatuses&,
                                      framework::PreemptionObserver&) override {
    const ClaimsAttempt* attempt = slot_.Read(state);
    if (attempt == nullptr) return {no_state_, {}};
    return {FreedStatus(FindClaimToFree(*pod, *attempt)), {}};
  }

  std::vector<framework::ClaimOutcome> ExplainClaims(const CycleState& state,
                                                     const NodeInfo& node) const override {
    const ClaimsAttempt* attempt = slot_.Read(state);
    return attempt == nullptr ? std::vector<framework::ClaimOutcome>() : attempt->Outcomes(node);
  }

  Status Score(const CycleState& state, const api::Pod&, const NodeInfo& node,
               int64_t* score) const override {
    const ClaimsAttempt* attempt = slot_.Read(state);
    if (attempt == nullptr) return no_state_;
    *score = attempt->Score(node);
    return {};
  }

  // Upstream scores every pod: 0 everywhere without claims.
  bool ScoresNothing(const CycleState& state) const override {
    return slot_.Read(state) == nothing_to_do_.get();
  }

  Status NormalizeScore(const CycleState&, const api::Pod&, std::span<const NodeInfo* const>,
                        std::span<int64_t> scores) const override {
    NormalizeToMaximum(scores, false);
    return {};
  }

  Status Reserve(CycleState& state, const api::PodPtr& pod, const std::string& node_name) override {
    ClaimsAttempt* attempt = slot_.Mutable(state);
    if (attempt == nullptr) return no_state_;
    Status reserved = ReserveOpen(*attempt, *pod, node_name);
    for (AttemptClaim& claim : attempt->claims()) {
      if (!reserved.ok()) break;
      if (claim.shared != nullptr) reserved = Decide(claim, claim.shared, *pod);
    }
    return reserved;
  }

  void Unreserve(CycleState& state, const api::PodPtr& pod, const std::string&) override {
    ClaimsAttempt* attempt = slot_.Mutable(state);
    if (attempt == nullptr) return;
    EndTrial(*pod, *attempt);
    ReleaseClaims(handle_, releases_, pod, *attempt);
  }

  framework::PreBindPreFlightResult PreBindPreFlight(CycleState& state, const api::PodPtr& pod,
                                                     const std::string&) override {
    const ClaimsAttempt* attempt = slot_.Read(state);
    if (attempt == nullptr) return {.status = no_state_};
    EndTrial(*pod, *attempt);
    return {.status = attempt->claims().empty() ? skip_ : Status(), .allow_parallel = true};
  }

  std::unique_ptr<framework::PreBindSequence> PreBind(CycleState& state, const api::PodPtr& pod,
                                                      const std::string& node_name) override {
    ClaimsAttempt* attempt = slot_.Mutable(state);
    ClaimsAttempt& claims = attempt == nullptr ? *nothing_to_do_ : *attempt;
    EndTrial(*pod, claims);
    return NewClaimBinding(handle_, {.attempt = claims,
                                     .releases = releases_,
                                     .turns = turns_,
                                     .pod = pod,
                                     .node_name = node_name,
                                     .has_siblings = IsMember(*pod),
                                     .conditions = memory_.features().binding_conditions,
                                     .binding_timeout = binding_timeout_});
  }

  Status Sign(const api::Pod& pod, std::vector<framework::SignFragment>*) const override {
    return pod.spec->resource_claims.empty() ? Status() : not_signable_;
  }

  std::vector<framework::EventRegistration> EventsToRegister() const override {
    return DynamicResourcesEvents(devices(), owners_);
  }

  framework::OptionalKinds NeededKinds() const override {
    framework::OptionalKinds kinds = {OptionalKind::kResourceClaim, OptionalKind::kResourceSlice,
                                      OptionalKind::kDeviceClass};
    if (handle_.gates().Enabled(config::Gate::kDRADeviceTaintRules)) {
      kinds.Add(OptionalKind::kDeviceTaintRule);
    }
    return kinds;
  }

 private:
  DeviceState& devices() const { return handle_.devices(); }

  // Of a pod group.
  bool IsMember(const api::Pod& pod) const {
    return groups_ && pod.spec->scheduling_group.has_value();
  }
  // The pod's group, whose claims it may use; null: none.
  api::PodGroupPtr GroupOf(const api::Pod& pod) const {
    if (owners_ == ClaimOwners::kPods || !pod.spec->scheduling_group) return nullptr;
    const auto* state = handle_.pod_groups().Find(pod.meta.ns, *pod.spec->scheduling_group);
    return state == nullptr ? nullptr : state->object;
  }
  void EndTrial(const api::Pod& pod, const ClaimsAttempt& attempt) {
    for (const AttemptClaim& claim : attempt.claims()) {
      trial_.Remove(claim.claim->meta.uid, pod.meta.uid);
    }
  }

  // Nearly always, for PreEnqueue has asked; but devices may have come since, or all of them, where
  // the pod was known before they were.
  bool ReadyFor(const api::Pod& pod, const std::vector<AttemptClaim>& claims) {
    ClaimList open;
    for (const AttemptClaim& each : claims) {
      if (!each.allocated() && !each.extended) open.push_back(each.claim);
    }
    return open.empty() || ahead_->Ready(pod, open);
  }

  static Status FreedStatus(const ClaimToFree& what) {
    std::vector<std::string> reasons;
    if (what.claim != nullptr) reasons.emplace_back(what.Reason());
    return Status(Code::kUnschedulable, std::move(reasons));
  }

  // Adds the claim of the pod's extended resources, if devices may serve one. Those resources.
  std::vector<Symbol> AddExtendedClaim(const api::Pod& pod, std::vector<AttemptClaim>& claims) {
    if (!AsksForServedResource(pod)) return {};
    AttemptClaim claim{.claim = devices().FindExtendedResourceClaim(pod), .extended = true};
    if (claim.claim == nullptr) {
      claim.claim = NewExtendedClaim(pod);
      claim.exists = false;
    }
    claims.push_back(std::move(claim));
    return ExtendedOf(pod);
  }

  const std::vector<Symbol>& ExtendedOf(const api::Pod& pod) {
    return *extended_resources_.GetOrMake(pod.spec, [&pod] {
      return std::make_shared<std::vector<Symbol>>(ExtendedResourcesOf(pod));
    });
  }
  // Whether it asks for an extended resource that devices may serve.
  bool AsksForServedResource(const api::Pod& pod) {
    if (!handle_.gates().Enabled(config::Gate::kDRAExtendedResource)) return false;
    const std::vector<Symbol>& resources = ExtendedOf(pod);
    const framework::DeviceClassLister& classes = handle_.device_classes();
    return std::any_of(resources.begin(), resources.end(), [&classes](const Symbol& resource) {
      return classes.ClassServing(resource) != nullptr;
    });
  }

  api::ResourceClaimPtr NewExtendedClaim(const api::Pod& pod) {
    auto claim = std::make_shared<api::ResourceClaim>();
    claim->meta.name = "<extended-resources>";
    claim->meta.ns = pod.meta.ns;
    claim->meta.uid = NewUuid(handle_.random());
    claim->meta.owner_references.Mutable().push_back({.api_version = "v1",
                                                      .kind = "Pod",
                                                      .name = pod.meta.name,
                                                      .uid = pod.meta.uid,
                                                      .controller = true});
    claim->for_extended_resources = true;
    return claim;
  }

  Status CheckClaims(std::vector<AttemptClaim>& claims) const {
    for (AttemptClaim& each : claims) {
      Status status = each.allocated() ? CheckAllocated(each) : CheckOpen(each);
      if (!status.ok()) return status;
    }
    return {};
  }

  Status CheckAllocated(AttemptClaim& each) const {
    const api::ClaimAllocation& allocation = *each.claim->allocation;
    if (allocation.node_selector != nullptr && allocation.node_selector->compiled.HasErrors()) {
      return Status::Error(allocation.node_selector->compiled.ErrorText());
    }
    if (!memory_.features().binding_conditions) return {};
    const DeviceReadiness ready = ReadinessOf(*each.claim);
    each.unusable = ready.state == DeviceReadiness::State::kFailed ||
                    (ready.state == DeviceReadiness::State::kPending &&
                     BindingTimedOut(*each.claim, binding_timeout_, handle_.clock().WallNow()));
    return {};
  }

  Status CheckOpen(AttemptClaim& each) const {
    const api::ResourceClaim& claim = *each.claim;
    if (api::ClaimAllocationPtr pending = devices().PendingAllocation(claim.meta.uid)) {
      if (trial_.Contains(claim.meta.uid)) {
        each.shared = std::move(pending);
        return {};
      }
      return Rejected("resource claim " + claim.meta.Key() +
                      " is in the process of being allocated");
    }
    if (each.extended) return {};
    for (const api::DeviceRequest& request : claim.requests) {
      Status status = CheckRequest(devices(), claim, request);
      if (!status.ok()) return status;
    }
    return {};
  }

  // Of the claims that have no devices yet.
  Status ReserveOpen(ClaimsAttempt& attempt, const api::Pod& pod, const std::string& node_name) {
    std::vector<AttemptClaim*> open;
    for (AttemptClaim& claim : attempt.claims()) {
      if (!claim.allocated()) open.push_back(&claim);
    }
    if (open.empty()) return {};
    if (attempt.GivenOn(node_name) == nullptr) {
      const NodeInfo* node = handle_.snapshot().Find(node_name);
      const NodeDevices* found = node == nullptr ? nullptr : attempt.DevicesOf(*node);
      if (found == nullptr) {
        const bool only_extended = open.size() == 1 && open.front()->extended;
        return only_extended ? Status() : Status::Error("claim allocation not found for node");
      }
      std::vector<api::ClaimAllocationPtr> given;
      for (api::ClaimAllocation& allocation :
           found->Allocations(node_name, [this] { return NewUuid(handle_.random()); })) {
        given.push_back(std::make_shared<const api::ClaimAllocation>(std::move(allocation)));
      }
      attempt.NodeChosen(node_name, found, std::move(given));
    }
    const std::vector<api::ClaimAllocationPtr>& given = *attempt.GivenOn(node_name);
    for (size_t i = 0; i < open.size(); ++i) {
      if (open[i]->extended && attempt.chosen_extended()->requests.empty()) continue;
      Status decided = Decide(*open[i], given[i], pod);
      if (!decided.ok()) return decided;
    }
    return {};
  }

  Status Decide(AttemptClaim& claim, const api::ClaimAllocationPtr& decided, const api::Pod& pod) {
    auto pending = std::make_shared<api::ResourceClaim>(*claim.claim);
    pending->allocation = decided;
    const Result<void> kept =
        devices().AddPendingAllocation(pending, claim.exists ? DeviceState::ClaimOrigin::kApi
                                                             : DeviceState::ClaimOrigin::kInMemory);
    if (!kept.ok()) {
      return Status::Error("internal error, couldn't signal allocation for claim " +
                           claim.claim->meta.name + ": " + kept.error().message);
    }
    claim.decided = decided;
    claim.decided_uid = claim.claim->meta.uid;
    if (IsMember(pod)) trial_.Add(claim.decided_uid, pod.meta.uid);
    return {};
  }

  framework::Handle& handle_;
  const DeferredPods deferred_;
  const Duration binding_timeout_;
  DeviceMemory memory_;
  const DeviceTools tools_;
  const bool groups_;
  const ClaimOwners owners_;
  const framework::StateSlot<ClaimsAttempt> slot_;
  const std::shared_ptr<PendingReleases> releases_ = std::make_shared<PendingReleases>();
  const std::shared_ptr<ClaimTurns> turns_ = std::make_shared<ClaimTurns>();
  const std::shared_ptr<VerdictsAhead> ahead_ =
      std::make_shared<VerdictsAhead>(VerdictsAhead::Parts{.devices = handle_.devices(),
                                                           .memory = memory_,
                                                           .tasks = handle_.tasks(),
                                                           .activator = handle_.activator(),
                                                           .pods = handle_.pods()});
  TrialClaims trial_;
  SpecCache<std::vector<Symbol>> extended_resources_;
  // The state of all pods without claims; never changed.
  const std::shared_ptr<ClaimsAttempt> nothing_to_do_ = std::make_shared<ClaimsAttempt>();
  const Status skip_{Code::kSkip, {}};
  const Status not_ready_ = Rejected("waiting until the device selectors are evaluated");
  const Status no_state_ = Status::Error("not found");
  const Status not_signable_{Code::kUnschedulable,
                             {"pods with dra resource claims are not signable"}};
};

}  // namespace

Result<std::unique_ptr<framework::Plugin>> NewDynamicResources(const config::PluginArgs& args,
                                                               framework::Handle& handle) {
  const auto* given = std::get_if<config::DynamicResourcesArgs>(&args);
  return std::unique_ptr<framework::Plugin>(std::make_unique<DynamicResources>(
      given == nullptr ? config::DynamicResourcesArgs() : *given, handle));
}

}  // namespace ks::plugins
