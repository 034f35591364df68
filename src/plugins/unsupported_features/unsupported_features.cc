// SPDX-License-Identifier: Apache-2.0
#include "plugins/unsupported_features/unsupported_features.h"

#include <algorithm>

#include "plugins/unsupported_features/reasons.h"
#include "plugins/unsupported_features/running_anti_affinity.h"

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

// docs/spec/plugins-node.md 4.11: what a pod must find among a node's declared features.
bool NeedsDeclaredFeatures(const api::PodSpec& spec) {
  if (spec.host_network && spec.host_users == false) return true;
  if (spec.ephemeral_bind_mount_options) return true;
  for (const auto* containers : {&spec.init_containers, &spec.containers}) {
    for (const api::Container& container : *containers) {
      if (container.restarts_all_containers || container.has_bind_mount_options) return true;
    }
  }
  return false;
}

std::vector<std::string> ReasonsInSpec(const api::PodSpec& spec) {
  std::vector<std::string> reasons;
  const auto add = [&reasons](bool applies, std::string_view reason) {
    if (applies) reasons.emplace_back(reason);
  };
  add(HasVolume(spec, IsClaim), kNoPersistentVolumeClaims);
  add(HasVolume(spec, IsInlineDisk), kNoInlineDisks);
  add(!spec.resource_claims.empty(), kNoResourceClaims);
  add(HasTerms(spec.pod_affinity), kNoPodAffinity);
  add(HasTerms(spec.pod_anti_affinity), kNoPodAntiAffinity);
  add(!spec.topology_spread_constraints.empty(), kNoTopologySpread);
  add(NeedsDeclaredFeatures(spec), kNoDeclaredFeatures);
  return reasons;
}

// A pod that leaves can only help where the anti-affinity of running pods was all that was wrong.
Result<QueueingHint> AfterPodDeletion(const api::Pod& pod, const EventObject&, const EventObject&) {
  return ReasonsInSpec(*pod.spec).empty() ? QueueingHint::kQueue : QueueingHint::kSkip;
}

class UnsupportedFeatures final : public framework::Plugin,
                                  public framework::PreFilterPlugin,
                                  public framework::EnqueueExtensions {
 public:
  std::string_view Name() const override { return kUnsupportedFeaturesName; }

  framework::PreFilterResult PreFilter(framework::CycleState&, const api::Pod& pod,
                                       const framework::Snapshot& snapshot) override {
    std::vector<std::string> reasons = ReasonsInSpec(*pod.spec);
    if (running_anti_affinity_.MayConcern(pod, snapshot)) {
      reasons.emplace_back(kNoForeignAntiAffinity);
    }
    if (reasons.empty()) return {};
    return {Status(Code::kUnschedulableAndUnresolvable, std::move(reasons),
                   std::string(kUnsupportedFeaturesName)),
            {}};
  }

  std::vector<framework::EventRegistration> EventsToRegister() const override {
    return {
        {{EventResource::kTargetPod, framework::kActionUpdate, {}}, {}},
        {{EventResource::kAssignedPod, framework::kActionDelete, {}}, AfterPodDeletion},
    };
  }

 private:
  RunningAntiAffinity running_anti_affinity_;
};

}  // namespace

Result<std::unique_ptr<framework::Plugin>> NewUnsupportedFeatures(const config::PluginArgs&,
                                                                  framework::Handle&) {
  return std::unique_ptr<framework::Plugin>(std::make_unique<UnsupportedFeatures>());
}

}  // namespace ks::plugins
