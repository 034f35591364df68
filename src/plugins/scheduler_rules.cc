// SPDX-License-Identifier: Apache-2.0
#include "plugins/scheduler_rules.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/default_preemption/default_preemption.h"
#include "plugins/deferred_pod_scheduling/deferred_pod_scheduling.h"
#include "plugins/kit/compiled_node_affinity.h"
#include "plugins/kit/resource_score/args.h"
#include "plugins/kit/tolerations.h"
#include "plugins/node_affinity/node_affinity.h"
#include "plugins/node_unschedulable/node_unschedulable.h"
#include "plugins/taint_toleration/taint_toleration.h"

namespace ks::plugins {

bool RefusesForGood(const framework::Framework& profile, const api::Pod& pod,
                    const api::Node& node) {
  const std::vector<std::string> filters = profile.plugins().ListPlugins("Filter");
  const auto asks = [&filters](std::string_view plugin) {
    return std::find(filters.begin(), filters.end(), plugin) != filters.end();
  };
  const LtAndGt lt_and_gt = LtAndGtOf(profile.handle().gates());
  const auto repels = [&](const api::Taint& taint) {
    const bool hard = taint.effect.view() == "NoSchedule" || taint.effect.view() == "NoExecute";
    return hard && !Tolerated(pod.spec->tolerations, taint, lt_and_gt);
  };
  static const api::Taint cordon{Symbol("node.kubernetes.io/unschedulable"), Symbol(),
                                 Symbol("NoSchedule")};
  if (asks(kTaintTolerationName) && std::any_of(node.taints.begin(), node.taints.end(), repels)) {
    return true;
  }
  if (asks(kNodeUnschedulableName) && node.unschedulable && repels(cordon)) return true;
  return asks(kNodeAffinityName) && !CompiledNodeAffinity(*pod.spec).MatchesRequired(node);
}

bool LacksRoomAlone(const framework::QueuedPod& pod) {
  using framework::NameSet;
  static const NameSet rejected{std::string(kNodeResourcesFitName)};
  static const NameSet held{std::string(kNodeResourcesFitName),
                            std::string(kDefaultPreemptionName)};
  if (!pod.pending_plugins.empty()) return false;
  return pod.unschedulable_plugins == rejected || pod.unschedulable_plugins == held;
}

const framework::Status& ResizeFitsVerdict() { return ResizeFits(); }

}  // namespace ks::plugins
