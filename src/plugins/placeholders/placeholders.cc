// SPDX-License-Identifier: Apache-2.0
#include "plugins/placeholders/placeholders.h"

#include <memory>
#include <utility>

#include "framework/post_filter_stand_in.h"
#include "plugins/kit/neutral.h"
#include "plugins/placeholders/reasons.h"

namespace ks::plugins {
namespace {

using framework::Code;
using framework::EventResource;
using framework::Status;

using Reasons = std::vector<std::string>;

// Reasons why a pod needs a plugin; none: it does not.
using Needs = Reasons (*)(const api::PodSpec& spec);

Reasons If(bool applies, std::string_view reason) {
  return applies ? Reasons{std::string(reason)} : Reasons{};
}

Reasons Nothing(const api::PodSpec&) { return {}; }
Reasons ResourceClaims(const api::PodSpec& spec) {
  return If(!spec.resource_claims.empty(), kNoResourceClaims);
}
Reasons PodGroup(const api::PodSpec& spec) {
  return If(spec.scheduling_group.has_value(), kNoPodGroups);
}

// The name, and the rejection of pods that need the plugin.
class Guard : public framework::Plugin, public framework::PlaceholderPlugin {
 public:
  Guard(std::string_view name, Needs needs) : name_(name), needs_(needs) {}
  std::string_view Name() const override { return name_; }

 protected:
  Status Rejection(const Reasons& reasons) const {
    return Status(Code::kUnschedulableAndUnresolvable, reasons, std::string(name_));
  }
  Reasons NeedsOf(const api::Pod& pod) const { return needs_(*pod.spec); }

 private:
  const std::string_view name_;
  const Needs needs_;
};

// A placeholder that stands at PreFilter, Filter and `Points`.
template <class... Points>
class FilterPlaceholder : public Guard,
                          public framework::PreFilterPlugin,
                          public framework::FilterPlugin,
                          public framework::EnqueueExtensions,
                          public Neutral<Points>... {
 public:
  using Guard::Guard;

  framework::PreFilterResult PreFilter(framework::CycleState&, const api::Pod& pod,
                                       const framework::Snapshot&) override {
    const Reasons reasons = NeedsOf(pod);
    if (reasons.empty()) return {Status(Code::kSkip, {}), {}};
    return {Rejection(reasons), {}};
  }

  // Only reached where the profile disables the plugin at PreFilter alone.
  Status Filter(const framework::CycleState&, const api::Pod& pod,
                const framework::NodeInfo&) const override {
    const Reasons reasons = NeedsOf(pod);
    return reasons.empty() ? Status() : Rejection(reasons);
  }

  std::vector<framework::EventRegistration> EventsToRegister() const override {
    return {{{EventResource::kTargetPod, framework::kActionUpdate, {}}, {}}};
  }
};

class ClaimSignature : public framework::SignPlugin {
 public:
  Status Sign(const api::Pod& pod, std::vector<framework::SignFragment>*) const override {
    return pod.spec->resource_claims.empty() ? Status() : not_signable_;
  }

 private:
  const Status not_signable_{Code::kUnschedulable,
                             {"pods with dra resource claims are not signable"}};
};

using DynamicResourcesPoints =
    FilterPlaceholder<framework::PreEnqueuePlugin, framework::PostFilterPlugin,
                      framework::ScorePlugin, framework::ReservePlugin, framework::PreBindPlugin,
                      framework::PodGroupPostFilterPlugin>;

// Its PostFilter has nothing to free, but needs what its PreFilter left: where another plugin ended
// PreFilter before, it fails, and preemption is not tried (docs/spec/cycle.md, trap T8).
class DynamicResourcesPlaceholder final : public DynamicResourcesPoints,
                                          public ClaimSignature,
                                          public framework::PostFilterStandIn {
 public:
  explicit DynamicResourcesPlaceholder(framework::Handle& handle)
      : DynamicResourcesPoints(kDynamicResourcesName, ResourceClaims),
        reached_(handle.NewStateSlot()) {}

  framework::PreFilterResult PreFilter(framework::CycleState& state, const api::Pod& pod,
                                       const framework::Snapshot& snapshot) override {
    static const auto reached = std::make_shared<framework::StateData>();
    reached_.Write(state, reached);
    return DynamicResourcesPoints::PreFilter(state, pod, snapshot);
  }

  framework::PostFilterResult PostFilter(framework::CycleState& state, const api::PodPtr&,
                                         const framework::NodeStatuses&) override {
    if (reached_.Read(state) == nullptr) return {Status::Error("not found"), {}};
    return {Status(Code::kUnschedulable, {}), {}};
  }

 private:
  framework::StateSlot<framework::StateData> reached_;
};

class GangSchedulingPlaceholder final : public Guard,
                                        public framework::PreEnqueuePlugin,
                                        public framework::EnqueueExtensions,
                                        public Neutral<framework::PermitPlugin> {
 public:
  GangSchedulingPlaceholder() : Guard(kGangSchedulingName, PodGroup) {}

  Status PreEnqueue(const api::Pod& pod) override {
    const Reasons reasons = NeedsOf(pod);
    return reasons.empty() ? Status() : Rejection(reasons);
  }

  std::vector<framework::EventRegistration> EventsToRegister() const override {
    return {{{EventResource::kTargetPod, framework::kActionUpdate, {}}, {}}};
  }
};

// A placeholder at points that only pod groups reach, which no configuration switches on here.
template <class Point>
class GroupPlaceholder final : public Guard, public Neutral<Point> {
 public:
  using Guard::Guard;
};

template <class Made, class... Arguments>
MadePlugin Make(Arguments&&... arguments) {
  return std::unique_ptr<framework::Plugin>(
      std::make_unique<Made>(std::forward<Arguments>(arguments)...));
}

}  // namespace

MadePlugin NewDynamicResources(const config::PluginArgs&, framework::Handle& handle) {
  return Make<DynamicResourcesPlaceholder>(handle);
}

MadePlugin NewGangScheduling(const config::PluginArgs&, framework::Handle&) {
  return Make<GangSchedulingPlaceholder>();
}

MadePlugin NewPodGroupPodsCount(const config::PluginArgs&, framework::Handle&) {
  return Make<GroupPlaceholder<framework::PlacementScorePlugin>>(kPodGroupPodsCountName, Nothing);
}

MadePlugin NewTopologyPlacementGenerator(const config::PluginArgs&, framework::Handle&) {
  return Make<GroupPlaceholder<framework::PlacementGeneratePlugin>>(kTopologyPlacementGeneratorName,
                                                                    Nothing);
}

}  // namespace ks::plugins
