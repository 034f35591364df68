// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_resources/fit.h"

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/thread_annotations.h"
#include "framework/find_pod.h"
#include "framework/group_plugins.h"
#include "framework/pod_requests.h"
#include "golang/go_arithmetic.h"
#include "plugins/kit/deferred_pods.h"
#include "plugins/kit/device_resources.h"
#include "plugins/kit/fits_empty.h"
#include "plugins/kit/hinting.h"
#include "plugins/kit/resource_score/args.h"
#include "plugins/kit/resource_score/strategies.h"
#include "plugins/kit/signature.h"
#include "plugins/kit/spec_cache.h"

namespace ks::plugins {
namespace {

using framework::Code;
using framework::CycleState;
using framework::EventResource;
using framework::NodeInfo;
using framework::Resource;
using framework::Status;

constexpr framework::RequestOptions kScoringOptions{
    .use_status = false, .pod_level = false, .default_cpu = true, .default_memory = true};

Status Rejection(bool unresolvable, std::vector<std::string> reasons) {
  return {unresolvable ? Code::kUnschedulableAndUnresolvable : Code::kUnschedulable,
          std::move(reasons), std::string(kNodeResourcesFitName)};
}

// Insufficiencies as bits, in the order of their reasons.
enum Insufficient : uint32_t {
  kPods = 1U << 0,
  kCpu = 1U << 1,
  kMemory = 1U << 2,
  kEphemeralStorage = 1U << 3,
  kUnresolvable = 1U << 4,
};
constexpr std::array<std::string_view, 4> kReasons = {
    "Too many pods", "Insufficient cpu", "Insufficient memory", "Insufficient ephemeral-storage"};

std::vector<std::string> ReasonsOf(uint32_t bits) {
  std::vector<std::string> reasons;
  for (size_t i = 0; i < kReasons.size(); ++i) {
    if ((bits & (1U << i)) != 0) reasons.emplace_back(kReasons[i]);
  }
  return reasons;
}

// Every rejection without scalars, made once: rejecting a node only copies one.
class RejectionTable {
 public:
  RejectionTable() {
    for (uint32_t bits = 1; bits < table_.size(); ++bits) {
      table_[bits] = Rejection((bits & kUnresolvable) != 0, ReasonsOf(bits));
    }
  }
  const Status& operator[](uint32_t bits) const { return table_[bits]; }

 private:
  std::array<Status, 2 * kUnresolvable> table_;
};

// What the free room of a node is compared with: the request, less what the node already counts for
// this very pod. The plain amount in all but the resizes of deferred pods.
int64_t Rest(int64_t wanted, int64_t counted) {
  return std::max<int64_t>(0, golang::WrappingSub(wanted, counted));
}

// One scalar to check, with the two rejections for the usual case that nothing else is missing.
struct ScalarNeed {
  ScalarNeed(const Symbol& resource, int64_t wanted, bool by_devices)
      : name(resource),
        amount(wanted),
        served_by_devices(by_devices),
        reason("Insufficient " + resource.str()),
        insufficient(Rejection(false, {reason})),
        unresolvable(Rejection(true, {reason})) {}

  Symbol name;
  int64_t amount;
  bool served_by_devices;  // wherever the node itself has none
  std::string reason;
  Status insufficient;
  Status unresolvable;
};

using Needs = std::vector<const ScalarNeed*>;

// The rejection that was made last: most nodes lack the same, and a pod may ask for thousands of
// resources. Threads: any.
class LastRejection {
 public:
  Status Get(Needs lacking, uint32_t missing, bool unresolvable) {
    const MutexLock lock(mutex_);
    if (status_.ok() || lacking != lacking_ || missing != missing_ ||
        unresolvable != unresolvable_) {
      std::vector<std::string> reasons = ReasonsOf(missing);
      for (const ScalarNeed* need : lacking) reasons.push_back(need->reason);
      status_ = Rejection(unresolvable, std::move(reasons));
      lacking_ = std::move(lacking);
      missing_ = missing;
      unresolvable_ = unresolvable;
    }
    return status_;
  }

 private:
  Mutex mutex_;
  Needs lacking_ KS_GUARDED_BY(mutex_);
  uint32_t missing_ KS_GUARDED_BY(mutex_) = 0;
  bool unresolvable_ KS_GUARDED_BY(mutex_) = false;
  Status status_ KS_GUARDED_BY(mutex_);
};

struct FitRequest final : framework::StateData {
  int64_t milli_cpu = 0;
  int64_t memory = 0;
  int64_t ephemeral_storage = 0;
  std::vector<ScalarNeed> scalars;  // positive and not ignored
  mutable LastRejection last;
};

// The insufficiencies of one node but for its scalars. Starts with the number of pods.
struct Shortage {
  explicit Shortage(const NodeInfo& node) : all(node.allocatable()), used(node.requested()) {
    if (static_cast<int64_t>(node.pods().size()) + 1 > all.allowed_pod_number) bits = kPods;
  }
  void Check(int64_t wanted, int64_t rest, int64_t Resource::*resource, uint32_t bit) {
    if (wanted <= 0 || rest <= golang::WrappingSub(all.*resource, used.*resource)) return;
    bits |= wanted > all.*resource ? bit | kUnresolvable : bit;
  }

  const Resource& all;
  const Resource& used;
  uint32_t bits = 0;
};

class NodeResourcesFit final : public framework::Plugin,
                               public framework::PreFilterPlugin,
                               public framework::FilterPlugin,
                               public framework::PreScorePlugin,
                               public framework::ScorePlugin,
                               public framework::ScoreMethod,
                               public framework::PlacementScorePlugin,
                               public framework::EnqueueExtensions,
                               public framework::SignPlugin,
                               public framework::OptionalKindReader,
                               public framework::NodeLocalPlugin {
 public:
  NodeResourcesFit(const FitArgs& args, framework::Handle& handle)
      : handle_(handle),
        deferred_pods_(handle),
        ignored_resources_(args.ignored_resources.begin(), args.ignored_resources.end()),
        ignored_groups_(args.ignored_groups.begin(), args.ignored_groups.end()),
        scorer_(args),
        devices_(handle, scorer_.resources()),
        pre_filter_slot_(handle.NewStateSlot()),
        pre_score_slot_(handle.NewStateSlot()) {}

  std::string_view Name() const override { return kNodeResourcesFitName; }
  std::string_view MethodName() const override { return StrategyName(scorer_.strategy()); }
  uint64_t OutsideVersion() const override {
    return handle_.device_classes().generation() + devices_.Version();
  }

  framework::PreFilterResult PreFilter(CycleState& state, const api::Pod& pod,
                                       const framework::Snapshot&) override {
    const uint64_t device_classes = handle_.device_classes().generation();
    if (std::exchange(seen_device_classes_, device_classes) != device_classes) requests_ = {};
    pre_filter_slot_.Write(state, requests_.GetOrMake(pod.spec, [&] { return MakeRequest(pod); }));
    return {};
  }

  Status Filter(const CycleState& state, const api::Pod& pod, const NodeInfo& node) const override {
    const FitRequest* request = pre_filter_slot_.Read(state);
    if (request == nullptr) return not_found_;
    const Resource* counted = deferred_pods_.on() ? CountedForResize(pod, node) : nullptr;
    if (counted != nullptr) return FilterResize(*request, *counted, node);
    Shortage shortage(node);
    shortage.Check(request->milli_cpu, request->milli_cpu, &Resource::milli_cpu, kCpu);
    shortage.Check(request->memory, request->memory, &Resource::memory, kMemory);
    shortage.Check(request->ephemeral_storage, request->ephemeral_storage,
                   &Resource::ephemeral_storage, kEphemeralStorage);
    return Verdict(*request, node, shortage.bits, nullptr);
  }

  Status PreScore(CycleState& state, const api::Pod& pod,
                  std::span<const NodeInfo* const>) override {
    devices_.CatchUp();
    pre_score_slot_.Write(state, amounts_.GetOrMake(pod.spec, [&] {
      return std::make_shared<PodAmounts>(AmountsOf(pod));
    }));
    return {};
  }

  Status Score(const CycleState& state, const api::Pod& pod, const NodeInfo& node,
               int64_t* score) const override {
    const PodAmounts* amounts = pre_score_slot_.Read(state);
    *score = amounts != nullptr ? scorer_.Score(amounts->amounts, node, &devices_)
                                : scorer_.Score(AmountsOf(pod).amounts, node, &devices_);
    return {};
  }

  Status ScorePlacement(const framework::PodGroupKey&, const framework::Placement& placement,
                        std::span<const framework::GroupAssignment> assignments,
                        int64_t* score) override {
    std::vector<int64_t> wanted(scorer_.resources().size());
    for (const framework::GroupAssignment& assignment : assignments) {
      const PodAmounts amounts = AmountsOf(*assignment.pod);
      for (size_t i = 0; i < wanted.size(); ++i) {
        wanted[i] = golang::WrappingAdd(wanted[i], amounts.amounts[i]);
      }
    }
    *score = scorer_.ScorePlacement(wanted, placement.nodes);
    return {};
  }

  std::vector<framework::EventRegistration> EventsToRegister() const override {
    const auto deleted = [this](const api::Pod& pod, const api::Pod* gone, const api::Pod*) {
      return QueueIf(gone != nullptr && IsPlaced(*gone) && HelpsOn(pod, PlaceOf(*gone)));
    };
    const auto node = [this](const api::Pod& pod, const api::Node* before, const api::Node* after) {
      return QueueIf(after == nullptr || (HelpsOn(pod, after->meta.name) &&
                                          NodeMayHelp(RequestOf(pod), before, *after)));
    };
    const auto scaled = [this](const api::Pod& pod, const api::Pod* before, const api::Pod* after) {
      return QueueIf(before == nullptr || after == nullptr ||
                     (!after->node_name.empty() && HelpsOn(pod, after->node_name.view()) &&
                      Released(RequestOf(pod), *before, *after)));
    };
    // The node of a deferred pod is not in its spec.
    const auto scope =
        deferred_pods_.on() ? framework::HintScope::kPod : framework::HintScope::kSpec;
    std::vector<framework::EventRegistration> events = {
        {{EventResource::kAssignedPod, framework::kActionDelete, {}},
         HintOn<api::Pod>(deleted),
         scope},
        {{EventResource::kNode,
          framework::kActionAdd | framework::kActionUpdateNodeAllocatable,
          {}},
         HintOn<api::Node>(node),
         scope},
        {{EventResource::kDeviceClass, framework::kActionAdd | framework::kActionUpdate, {}}, {}},
        {{EventResource::kAssignedPod, framework::kActionUpdatePodScaleDown, {}},
         HintOn<api::Pod>(scaled),
         scope},
        {{EventResource::kTargetPod, framework::kActionUpdatePodScaleDown, {}}, {}},
    };
    if (deferred_pods_.on()) AddResizeEvents(&events);
    return events;
  }

  // Classes say what Filter leaves to devices.
  framework::OptionalKinds NeededKinds() const override {
    framework::OptionalKinds kinds = devices_.NeededKinds();
    kinds.Add(framework::OptionalKind::kDeviceClass);
    return kinds;
  }

  Status Sign(const api::Pod& pod, std::vector<framework::SignFragment>* fragments) const override {
    return SignRequests(handle_, pod, fragments);
  }

 private:
  // Growing pods help nobody but a pod that grows itself and may preempt for it.
  void AddResizeEvents(std::vector<framework::EventRegistration>* events) const {
    const auto own = [this](const api::Pod& pod, const api::Pod*, const api::Pod*) {
      return QueueIf(deferred_pods_.Exempt(pod));
    };
    const auto beside = [this](const api::Pod& pod, const api::Pod* before, const api::Pod* after) {
      const api::Pod& changed = after == nullptr ? *before : *after;
      return QueueIf(deferred_pods_.Exempt(pod) && changed.node_name == pod.node_name);
    };
    events->push_back({{EventResource::kAssignedPod, framework::kActionUpdatePodScaleUp, {}},
                       HintOn<api::Pod>(beside)});
    events->push_back({{EventResource::kTargetPod, framework::kActionUpdatePodScaleUp, {}},
                       HintOn<api::Pod>(own)});
  }
  // Whether room on the node helps the pod: a deferred pod has use for its own node's only.
  bool HelpsOn(const api::Pod& pod, std::string_view node) const {
    return !deferred_pods_.Exempt(pod) || node == pod.node_name;
  }
  static const std::string& PlaceOf(const api::Pod& pod) {
    return (pod.node_name.empty() ? pod.status.nominated_node_name : pod.node_name).str();
  }

  const Resource& RequestOf(const api::Pod& pod) const {
    return *hint_requests_.GetOrMake(pod.spec, [this, &pod] {
      auto request = std::make_shared<Resource>(framework::PodRequest(pod));
      const auto scalars = request->scalars;
      for (const auto& [name, amount] : scalars) {
        if (IsIgnored(name)) request->scalars.Erase(name);
      }
      return request;
    });
  }

  // Whether the pod would fit on the node if nothing ran there, and the node offers more of what
  // the pod asks for than it did. Upstream counts ignored resources here, which no node may offer:
  // then no node wakes the pod.
  bool NodeMayHelp(const Resource& request, const api::Node* before, const api::Node& after) const {
    const Resource now = Resource::FromList(after.allocatable);
    if (!FitsEmpty(handle_, request, now)) return false;
    if (before == nullptr) return true;
    const Resource was = Resource::FromList(before->allocatable);
    const auto grew = [&](int64_t Resource::*resource) {
      return request.*resource > 0 && now.*resource > was.*resource;
    };
    if (now.allowed_pod_number > was.allowed_pod_number || grew(&Resource::milli_cpu) ||
        grew(&Resource::memory) || grew(&Resource::ephemeral_storage)) {
      return true;
    }
    for (const auto& [name, amount] : request.scalars) {
      if (amount <= 0) continue;
      const int64_t offered = now.Amount(name);
      if (offered > was.Amount(name)) return true;
      if (offered <= 0 && ServedByDevices(handle_, name)) return true;
    }
    return false;
  }

  // Whether the changed pod asks for less of something that the request has.
  static bool Released(const Resource& request, const api::Pod& before, const api::Pod& after) {
    constexpr framework::RequestOptions kWithStatus{.use_status = true};
    const Resource was = Resource::FromList(framework::AggregateRequests(before, kWithStatus));
    const Resource now = Resource::FromList(framework::AggregateRequests(after, kWithStatus));
    for (const auto resource :
         {&Resource::milli_cpu, &Resource::memory, &Resource::ephemeral_storage}) {
      if (request.*resource != 0 && now.*resource < was.*resource) return true;
    }
    for (const auto& [name, amount] : request.scalars) {
      if (amount != 0 && now.Amount(name) < was.Amount(name)) return true;
    }
    return false;
  }

  std::shared_ptr<FitRequest> MakeRequest(const api::Pod& pod) const {
    const Resource request = framework::PodRequest(pod);
    auto result = std::make_shared<FitRequest>();
    result->milli_cpu = request.milli_cpu;
    result->memory = request.memory;
    result->ephemeral_storage = request.ephemeral_storage;
    for (const auto& [name, amount] : request.scalars) {
      if (amount <= 0 || IsIgnored(name)) continue;
      result->scalars.emplace_back(name, amount, ServedByDevices(handle_, name));
    }
    return result;
  }

  // Only extended resources can be ignored (trap 10).
  bool IsIgnored(const Symbol& name) const {
    if (ignored_resources_.empty() && ignored_groups_.empty()) return false;
    if (!framework::IsExtendedResource(name)) return false;
    const std::string_view text = name.view();
    return ignored_resources_.contains(text) ||
           ignored_groups_.contains(text.substr(0, text.find('/')));
  }

  PodAmounts AmountsOf(const api::Pod& pod) const {
    return {scorer_.resources(), framework::AggregateRequests(pod, kScoringOptions)};
  }

  // What the node counts for the pod already, when that is the node the pod waits on for its
  // resize.
  static const Resource* Counted(const api::Pod& pod, const NodeInfo& node) {
    if (pod.node_name != node.name()) return nullptr;
    const framework::PodInfoPtr* const info = framework::FindPodByUid(node.pods(), pod.meta.uid);
    return info == nullptr ? nullptr : &(*info)->request().requested;
  }
  const Resource* CountedForResize(const api::Pod& pod, const NodeInfo& node) const {
    return deferred_pods_.Exempt(pod) ? Counted(pod, node) : nullptr;
  }

  Status FilterResize(const FitRequest& request, const Resource& counted,
                      const NodeInfo& node) const {
    Shortage shortage(node);
    shortage.Check(request.milli_cpu, Rest(request.milli_cpu, counted.milli_cpu),
                   &Resource::milli_cpu, kCpu);
    shortage.Check(request.memory, Rest(request.memory, counted.memory), &Resource::memory,
                   kMemory);
    shortage.Check(request.ephemeral_storage,
                   Rest(request.ephemeral_storage, counted.ephemeral_storage),
                   &Resource::ephemeral_storage, kEphemeralStorage);
    return Verdict(request, node, shortage.bits, &counted);
  }

  Status Verdict(const FitRequest& request, const NodeInfo& node, uint32_t missing,
                 const Resource* counted) const {
    if (!request.scalars.empty()) return FilterScalars(request, node, missing, counted);
    return missing == 0 ? Status() : rejections_[missing];
  }

  // `counted` may be null.
  Status FilterScalars(const FitRequest& request, const NodeInfo& node, uint32_t missing,
                       const Resource* counted) const {
    const ScalarNeed* only = nullptr;
    bool unresolvable = false;
    Needs lacking;  // empty while there is one at most
    for (const ScalarNeed& need : request.scalars) {
      const int64_t* present = node.allocatable().scalars.Find(need.name);
      const int64_t* in_use = node.requested().scalars.Find(need.name);
      const int64_t of = present == nullptr ? 0 : *present;
      const int64_t taken = in_use == nullptr ? 0 : *in_use;
      if (need.served_by_devices && of <= 0) continue;
      const int64_t rest =
          counted == nullptr ? need.amount : Rest(need.amount, counted->Amount(need.name));
      // Unlike cpu and memory, what asks for no more is not looked at on a node that holds too
      // much.
      if (rest == 0 || rest <= golang::WrappingSub(of, taken)) continue;
      unresolvable = unresolvable || rest > of;
      if (only == nullptr) {
        only = &need;
        continue;
      }
      if (lacking.empty()) lacking.push_back(only);
      lacking.push_back(&need);
    }
    if (only == nullptr) return missing == 0 ? Status() : rejections_[missing];
    if (lacking.empty() && missing == 0) {
      return unresolvable ? only->unresolvable : only->insufficient;
    }
    if (lacking.empty()) lacking.push_back(only);
    unresolvable = unresolvable || (missing & kUnresolvable) != 0;
    return request.last.Get(std::move(lacking), missing & ~kUnresolvable, unresolvable);
  }

  const framework::Handle& handle_;
  const DeferredPods deferred_pods_;
  const std::set<std::string, std::less<>> ignored_resources_;
  const std::set<std::string, std::less<>> ignored_groups_;
  const FitScorer scorer_;
  DeviceTally devices_;
  const framework::StateSlot<FitRequest> pre_filter_slot_;
  const framework::StateSlot<PodAmounts> pre_score_slot_;
  const RejectionTable rejections_;
  const Status not_found_ =
      Status::Error("error reading \"PreFilterNodeResourcesFit\" from cycleState: not found");
  uint64_t seen_device_classes_ = 0;
  SpecCache<FitRequest> requests_;  // under the device classes seen last
  SpecCache<PodAmounts> amounts_;
  mutable SpecCache<Resource> hint_requests_;  // without the ignored resources
};

}  // namespace

Result<std::unique_ptr<framework::Plugin>> NewNodeResourcesFit(const config::PluginArgs& args,
                                                               framework::Handle& handle) {
  const Result<FitArgs> fit_args = FitArgsOf(args);
  if (!fit_args.ok()) return fit_args.error();
  return std::unique_ptr<framework::Plugin>(std::make_unique<NodeResourcesFit>(*fit_args, handle));
}

}  // namespace ks::plugins
