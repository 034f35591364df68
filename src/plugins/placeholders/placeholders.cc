// SPDX-License-Identifier: Apache-2.0
#include "plugins/placeholders/placeholders.h"

#include <algorithm>

#include "plugins/placeholders/neutral.h"
#include "plugins/placeholders/reasons.h"
#include "plugins/placeholders/running_anti_affinity.h"

namespace ks::plugins {
namespace {

using framework::Code;
using framework::EventObject;
using framework::EventResource;
using framework::QueueingHint;
using framework::Status;
using Source = api::Volume::Source;

bool HasVolume(const api::PodSpec& spec, bool (*wanted)(Source)) {
  return std::any_of(spec.volumes.begin(), spec.volumes.end(),
                     [wanted](const api::Volume& volume) { return wanted(volume.source); });
}

bool IsClaim(Source source) {
  return source == Source::kPersistentVolumeClaim || source == Source::kEphemeral;
}

bool IsInlineDisk(Source source) {
  switch (source) {
    case Source::kGcePersistentDisk:
    case Source::kAwsElasticBlockStore:
    case Source::kIscsi:
    case Source::kRbd:
    case Source::kCsi:
    case Source::kAzureDisk:
    case Source::kCinder:
    case Source::kVsphere:
    case Source::kPortworx:
      return true;
    default:
      return false;
  }
}

bool HasTerms(const std::optional<api::PodAffinity>& affinity) {
  return affinity && (!affinity->required.empty() || !affinity->preferred.empty());
}

using Reasons = std::vector<std::string>;

// Reasons why a pod needs a plugin; none: it does not.
using Needs = Reasons (*)(const api::PodSpec& spec);

Reasons If(bool applies, std::string_view reason) {
  return applies ? Reasons{std::string(reason)} : Reasons{};
}

Reasons Nothing(const api::PodSpec&) { return {}; }
Reasons Claims(const api::PodSpec& spec) {
  return If(HasVolume(spec, IsClaim), kNoPersistentVolumeClaims);
}
Reasons ClaimsAndDisks(const api::PodSpec& spec) {
  Reasons reasons = Claims(spec);
  if (HasVolume(spec, IsInlineDisk)) reasons.emplace_back(kNoInlineDisks);
  return reasons;
}
Reasons ResourceClaims(const api::PodSpec& spec) {
  return If(!spec.resource_claims.empty(), kNoResourceClaims);
}
Reasons PodAffinity(const api::PodSpec& spec) {
  Reasons reasons = If(HasTerms(spec.pod_affinity), kNoPodAffinity);
  if (HasTerms(spec.pod_anti_affinity)) reasons.emplace_back(kNoPodAntiAffinity);
  return reasons;
}
Reasons TopologySpread(const api::PodSpec& spec) {
  return If(!spec.topology_spread_constraints.empty(), kNoTopologySpread);
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

class InterPodAffinityPlaceholder final
    : public FilterPlaceholder<framework::PreScorePlugin, framework::ScorePlugin> {
 public:
  InterPodAffinityPlaceholder() : FilterPlaceholder(kInterPodAffinityName, PodAffinity) {}

  framework::PreFilterResult PreFilter(framework::CycleState&, const api::Pod& pod,
                                       const framework::Snapshot& snapshot) override {
    Reasons reasons = NeedsOf(pod);
    if (running_anti_affinity_.MayConcern(pod, snapshot)) {
      reasons.emplace_back(kNoForeignAntiAffinity);
    }
    if (reasons.empty()) return {Status(Code::kSkip, {}), {}};
    return {Rejection(reasons), {}};
  }

  std::vector<framework::EventRegistration> EventsToRegister() const override {
    // A pod that leaves can only help where the anti-affinity of running pods was all that was
    // wrong.
    const auto after_deletion = [](const api::Pod& pod, const EventObject&,
                                   const EventObject&) -> Result<QueueingHint> {
      return PodAffinity(*pod.spec).empty() ? QueueingHint::kQueue : QueueingHint::kSkip;
    };
    return {
        {{EventResource::kTargetPod, framework::kActionUpdate, {}}, {}},
        {{EventResource::kAssignedPod, framework::kActionDelete, {}}, after_deletion},
    };
  }

 private:
  RunningAntiAffinity running_anti_affinity_;
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
MadePlugin Make(Arguments... arguments) {
  return std::unique_ptr<framework::Plugin>(std::make_unique<Made>(arguments...));
}

}  // namespace

MadePlugin NewDynamicResources(const config::PluginArgs&, framework::Handle&) {
  return Make<FilterPlaceholder<framework::PreEnqueuePlugin, framework::PostFilterPlugin,
                                framework::ScorePlugin, framework::ReservePlugin,
                                framework::PreBindPlugin, framework::PodGroupPostFilterPlugin>>(
      kDynamicResourcesName, ResourceClaims);
}

MadePlugin NewGangScheduling(const config::PluginArgs&, framework::Handle&) {
  return Make<GangSchedulingPlaceholder>();
}

MadePlugin NewInterPodAffinity(const config::PluginArgs&, framework::Handle&) {
  return Make<InterPodAffinityPlaceholder>();
}

MadePlugin NewNodeVolumeLimits(const config::PluginArgs&, framework::Handle&) {
  return Make<FilterPlaceholder<>>(kNodeVolumeLimitsName, ClaimsAndDisks);
}

MadePlugin NewPodGroupPodsCount(const config::PluginArgs&, framework::Handle&) {
  return Make<GroupPlaceholder<framework::PlacementScorePlugin>>(kPodGroupPodsCountName, Nothing);
}

MadePlugin NewPodTopologySpread(const config::PluginArgs&, framework::Handle&) {
  return Make<FilterPlaceholder<framework::PreScorePlugin, framework::ScorePlugin>>(
      kPodTopologySpreadName, TopologySpread);
}

MadePlugin NewTopologyPlacementGenerator(const config::PluginArgs&, framework::Handle&) {
  return Make<GroupPlaceholder<framework::PlacementGeneratePlugin>>(kTopologyPlacementGeneratorName,
                                                                    Nothing);
}

MadePlugin NewVolumeBinding(const config::PluginArgs&, framework::Handle&) {
  return Make<FilterPlaceholder<framework::PreScorePlugin, framework::ScorePlugin,
                                framework::ReservePlugin, framework::PreBindPlugin>>(
      kVolumeBindingName, Claims);
}

MadePlugin NewVolumeRestrictions(const config::PluginArgs&, framework::Handle&) {
  return Make<FilterPlaceholder<>>(kVolumeRestrictionsName, ClaimsAndDisks);
}

MadePlugin NewVolumeZone(const config::PluginArgs&, framework::Handle&) {
  return Make<FilterPlaceholder<>>(kVolumeZoneName, Claims);
}

}  // namespace ks::plugins
