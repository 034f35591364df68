// SPDX-License-Identifier: Apache-2.0
#include "scheduler/node_refusal.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/kit/compiled_node_affinity.h"
#include "plugins/kit/tolerations.h"
#include "plugins/node_affinity/node_affinity.h"
#include "plugins/node_unschedulable/node_unschedulable.h"
#include "plugins/taint_toleration/taint_toleration.h"

namespace ks::scheduler {

bool RefusesForGood(const framework::Framework& profile, const api::Pod& pod,
                    const api::Node& node) {
  const std::vector<std::string> filters = profile.ListPlugins("Filter");
  const auto asks = [&filters](std::string_view plugin) {
    return std::find(filters.begin(), filters.end(), plugin) != filters.end();
  };
  const plugins::LtAndGt lt_and_gt = plugins::LtAndGtOf(profile.gates());
  const auto repels = [&](const api::Taint& taint) {
    const bool hard = taint.effect.view() == "NoSchedule" || taint.effect.view() == "NoExecute";
    return hard && !plugins::Tolerated(pod.spec->tolerations, taint, lt_and_gt);
  };
  static const api::Taint cordon{Symbol("node.kubernetes.io/unschedulable"), Symbol(),
                                 Symbol("NoSchedule")};
  if (asks(plugins::kTaintTolerationName) &&
      std::any_of(node.taints.begin(), node.taints.end(), repels)) {
    return true;
  }
  if (asks(plugins::kNodeUnschedulableName) && node.unschedulable && repels(cordon)) return true;
  return asks(plugins::kNodeAffinityName) &&
         !plugins::CompiledNodeAffinity(*pod.spec).MatchesRequired(node);
}

}  // namespace ks::scheduler
