// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_resources/fit.h"

#include <array>
#include <functional>
#include <set>

#include "framework/pod_requests.h"
#include "plugins/node_resources/args.h"
#include "plugins/node_resources/strategies.h"
#include "plugins/placeholders/neutral.h"
#include "plugins/signature.h"
#include "plugins/spec_cache.h"

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

// One scalar to check, with the two rejections for the usual case that nothing else is missing.
struct ScalarNeed {
  ScalarNeed(Symbol resource, int64_t wanted)
      : name(resource),
        amount(wanted),
        reason("Insufficient " + resource.str()),
        insufficient(Rejection(false, {reason})),
        unresolvable(Rejection(true, {reason})) {}

  Symbol name;
  int64_t amount;
  std::string reason;
  Status insufficient;
  Status unresolvable;
};

struct FitRequest final : framework::StateData {
  int64_t milli_cpu = 0;
  int64_t memory = 0;
  int64_t ephemeral_storage = 0;
  std::vector<ScalarNeed> scalars;  // positive and not ignored
};

class NodeResourcesFit final : public framework::Plugin,
                               public framework::PreFilterPlugin,
                               public framework::FilterPlugin,
                               public framework::PreScorePlugin,
                               public framework::ScorePlugin,
                               public framework::ScoreMethod,
                               public Neutral<framework::PlacementScorePlugin>,
                               public framework::EnqueueExtensions,
                               public framework::SignPlugin,
                               public framework::NodeLocalPlugin {
 public:
  NodeResourcesFit(const FitArgs& args, framework::Handle& handle)
      : ignored_resources_(args.ignored_resources.begin(), args.ignored_resources.end()),
        ignored_groups_(args.ignored_groups.begin(), args.ignored_groups.end()),
        scorer_(args),
        pre_filter_slot_(handle.NewStateSlot()),
        pre_score_slot_(handle.NewStateSlot()) {}

  std::string_view Name() const override { return kNodeResourcesFitName; }
  std::string_view MethodName() const override { return StrategyName(scorer_.strategy()); }

  framework::PreFilterResult PreFilter(CycleState& state, const api::Pod& pod,
                                       const framework::Snapshot&) override {
    pre_filter_slot_.Write(state, requests_.GetOrMake(pod.spec, [&] { return MakeRequest(pod); }));
    return {};
  }

  Status Filter(const CycleState& state, const api::Pod&, const NodeInfo& node) const override {
    const FitRequest* request = pre_filter_slot_.Read(state);
    if (request == nullptr) return not_found_;
    const Resource& all = node.allocatable();
    const Resource& used = node.requested();
    uint32_t missing = 0;
    const auto check = [&missing](int64_t wanted, int64_t of, int64_t taken, uint32_t bit) {
      if (wanted <= 0 || wanted <= of - taken) return;
      missing |= wanted > of ? bit | kUnresolvable : bit;
    };
    if (static_cast<int64_t>(node.pods().size()) + 1 > all.allowed_pod_number) missing |= kPods;
    check(request->milli_cpu, all.milli_cpu, used.milli_cpu, kCpu);
    check(request->memory, all.memory, used.memory, kMemory);
    check(request->ephemeral_storage, all.ephemeral_storage, used.ephemeral_storage,
          kEphemeralStorage);
    if (!request->scalars.empty()) return FilterScalars(*request, node, missing);
    return missing == 0 ? Status() : rejections_[missing];
  }

  Status PreScore(CycleState& state, const api::Pod& pod,
                  std::span<const NodeInfo* const>) override {
    pre_score_slot_.Write(state, amounts_.GetOrMake(pod.spec, [&] {
      return std::make_shared<PodAmounts>(AmountsOf(pod));
    }));
    return {};
  }

  Status Score(const CycleState& state, const api::Pod& pod, const NodeInfo& node,
               int64_t* score) const override {
    const PodAmounts* amounts = pre_score_slot_.Read(state);
    *score = amounts != nullptr ? scorer_.Score(amounts->amounts, node)
                                : scorer_.Score(AmountsOf(pod).amounts, node);
    return {};
  }

  std::vector<framework::EventRegistration> EventsToRegister() const override {
    return {
        {{EventResource::kAssignedPod, framework::kActionDelete, {}}, {}},
        {{EventResource::kNode,
          framework::kActionAdd | framework::kActionUpdateNodeAllocatable,
          {}},
         {}},
        {{EventResource::kDeviceClass, framework::kActionAdd | framework::kActionUpdate, {}}, {}},
        {{EventResource::kAssignedPod, framework::kActionUpdatePodScaleDown, {}}, {}},
        {{EventResource::kTargetPod, framework::kActionUpdatePodScaleDown, {}}, {}},
    };
  }

  Status Sign(const api::Pod& pod, std::vector<framework::SignFragment>* fragments) const override {
    fragments->push_back(RequestsFragment(pod));
    return {};
  }

 private:
  std::shared_ptr<FitRequest> MakeRequest(const api::Pod& pod) const {
    const Resource request = framework::PodRequest(pod);
    auto result = std::make_shared<FitRequest>();
    result->milli_cpu = request.milli_cpu;
    result->memory = request.memory;
    result->ephemeral_storage = request.ephemeral_storage;
    for (const auto& [name, amount] : request.scalars) {
      if (amount > 0 && !IsIgnored(name)) result->scalars.emplace_back(name, amount);
    }
    return result;
  }

  // Only extended resources can be ignored (trap 10).
  bool IsIgnored(Symbol name) const {
    if (ignored_resources_.empty() && ignored_groups_.empty()) return false;
    if (!framework::IsExtendedResource(name)) return false;
    const std::string_view text = name.view();
    return ignored_resources_.contains(text) ||
           ignored_groups_.contains(text.substr(0, text.find('/')));
  }

  PodAmounts AmountsOf(const api::Pod& pod) const {
    return {scorer_.resources(),
            Resource::FromList(framework::AggregateRequests(pod, kScoringOptions))};
  }

  Status FilterScalars(const FitRequest& request, const NodeInfo& node, uint32_t missing) const {
    const ScalarNeed* only = nullptr;
    size_t count = 0;
    bool unresolvable = false;
    std::vector<std::string> reasons;
    for (const ScalarNeed& need : request.scalars) {
      const int64_t* present = node.allocatable().scalars.Find(need.name);
      const int64_t* in_use = node.requested().scalars.Find(need.name);
      const int64_t of = present == nullptr ? 0 : *present;
      const int64_t taken = in_use == nullptr ? 0 : *in_use;
      if (need.amount <= of - taken) continue;
      unresolvable = unresolvable || need.amount > of;
      if (count++ == 0) {
        only = &need;
        continue;
      }
      if (count == 2) reasons.push_back(only->reason);
      reasons.push_back(need.reason);
    }
    if (count == 0) return missing == 0 ? Status() : rejections_[missing];
    if (count == 1 && missing == 0) return unresolvable ? only->unresolvable : only->insufficient;
    if (count == 1) reasons.push_back(only->reason);
    std::vector<std::string> all = ReasonsOf(missing);
    all.insert(all.end(), reasons.begin(), reasons.end());
    return Rejection(unresolvable || (missing & kUnresolvable) != 0, std::move(all));
  }

  const std::set<std::string, std::less<>> ignored_resources_;
  const std::set<std::string, std::less<>> ignored_groups_;
  const FitScorer scorer_;
  const framework::StateSlot<FitRequest> pre_filter_slot_;
  const framework::StateSlot<PodAmounts> pre_score_slot_;
  const RejectionTable rejections_;
  const Status not_found_ =
      Status::Error("error reading \"PreFilterNodeResourcesFit\" from cycleState: not found");
  SpecCache<FitRequest> requests_;
  SpecCache<PodAmounts> amounts_;
};

}  // namespace

Result<std::unique_ptr<framework::Plugin>> NewNodeResourcesFit(const config::PluginArgs& args,
                                                               framework::Handle& handle) {
  const Result<FitArgs> fit_args = FitArgsOf(args);
  if (!fit_args.ok()) return fit_args.error();
  return std::unique_ptr<framework::Plugin>(std::make_unique<NodeResourcesFit>(*fit_args, handle));
}

}  // namespace ks::plugins
