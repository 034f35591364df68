// SPDX-License-Identifier: Apache-2.0
#include "plugins/registry.h"

#include <array>
#include <cstddef>

#include "plugins/default_binder/default_binder.h"
#include "plugins/default_preemption/default_preemption.h"
#include "plugins/deferred_pod_scheduling/deferred_pod_scheduling.h"
#include "plugins/dynamic_resources/dynamic_resources.h"
#include "plugins/gang_scheduling/gang_scheduling.h"
#include "plugins/image_locality/image_locality.h"
#include "plugins/inter_pod_affinity/inter_pod_affinity.h"
#include "plugins/kit/legacy.h"
#include "plugins/kit/resource_score/args.h"
#include "plugins/legacy/node_label/node_label.h"
#include "plugins/legacy/node_prefer_avoid_pods/node_prefer_avoid_pods.h"
#include "plugins/legacy/resource_scorers/resource_scorers.h"
#include "plugins/legacy/selector_spread/selector_spread.h"
#include "plugins/legacy/service_affinity/service_affinity.h"
#include "plugins/node_affinity/node_affinity.h"
#include "plugins/node_declared_features/node_declared_features.h"
#include "plugins/node_name/node_name.h"
#include "plugins/node_ports/node_ports.h"
#include "plugins/node_resources/balanced_allocation.h"
#include "plugins/node_resources/fit.h"
#include "plugins/node_unschedulable/node_unschedulable.h"
#include "plugins/node_volume_limits/node_volume_limits.h"
#include "plugins/pod_group_pods_count/pod_group_pods_count.h"
#include "plugins/pod_topology_spread/pod_topology_spread.h"
#include "plugins/priority_sort/priority_sort.h"
#include "plugins/scheduling_gates/scheduling_gates.h"
#include "plugins/taint_toleration/taint_toleration.h"
#include "plugins/topology_placement_generator/topology_placement_generator.h"
#include "plugins/volume_binding/volume_binding.h"
#include "plugins/volume_restrictions/volume_restrictions.h"
#include "plugins/volume_zone/volume_zone.h"

namespace ks::plugins {
namespace {

using framework::PluginEntry;

// In PluginEntry::typed_args.
constexpr bool kTypedArgs = true;
constexpr bool kRawArgs = false;

constexpr std::array kPlugins = {
    PluginEntry{kDefaultBinderName, NewDefaultBinder},
    PluginEntry{kDefaultPreemptionName, NewDefaultPreemption, kTypedArgs},
    PluginEntry{kDeferredPodSchedulingName, NewDeferredPodScheduling},
    PluginEntry{kDynamicResourcesName, NewDynamicResources, kTypedArgs},
    PluginEntry{kGangSchedulingName, NewGangScheduling},
    PluginEntry{kImageLocalityName, NewImageLocality},
    PluginEntry{kInterPodAffinityName, NewInterPodAffinity, kTypedArgs},
    PluginEntry{kNodeAffinityName, NewNodeAffinity, kTypedArgs},
    PluginEntry{kNodeDeclaredFeaturesName, NewNodeDeclaredFeatures},
    PluginEntry{kNodeLabelName, NewNodeLabel, kRawArgs, NodeLabelArgsFaults},
    PluginEntry{kNodeNameName, NewNodeName},
    PluginEntry{kNodePortsName, NewNodePorts},
    PluginEntry{kNodePreferAvoidPodsName, NewNodePreferAvoidPods, kRawArgs, NoArgsFaults},
    PluginEntry{kNodeResourcesBalancedAllocationName, NewNodeResourcesBalancedAllocation,
                kTypedArgs},
    PluginEntry{kNodeResourcesFitName, NewNodeResourcesFit, kTypedArgs, FitArgsFaults},
    PluginEntry{kNodeResourcesLeastAllocatedName, NewNodeResourcesLeastAllocated, kRawArgs,
                ScorerArgsFaults},
    PluginEntry{kNodeResourcesMostAllocatedName, NewNodeResourcesMostAllocated, kRawArgs,
                ScorerArgsFaults},
    PluginEntry{kNodeUnschedulableName, NewNodeUnschedulable},
    PluginEntry{kNodeVolumeLimitsName, NewNodeVolumeLimits},
    PluginEntry{kPodGroupPodsCountName, NewPodGroupPodsCount},
    PluginEntry{kPodTopologySpreadName, NewPodTopologySpread, kTypedArgs},
    PluginEntry{kPrioritySortName, NewPrioritySort},
    PluginEntry{kRequestedToCapacityRatioName, NewRequestedToCapacityRatio, kRawArgs,
                RequestedToCapacityRatioArgsFaults},
    PluginEntry{kSchedulingGatesName, NewSchedulingGates},
    PluginEntry{kSelectorSpreadName, NewSelectorSpread, kRawArgs, NoArgsFaults},
    PluginEntry{kServiceAffinityName, NewServiceAffinity, kRawArgs, ServiceAffinityArgsFaults},
    PluginEntry{kTaintTolerationName, NewTaintToleration},
    PluginEntry{kTopologyPlacementGeneratorName, NewTopologyPlacementGenerator},
    PluginEntry{kVolumeBindingName, NewVolumeBinding, kTypedArgs},
    PluginEntry{kVolumeRestrictionsName, NewVolumeRestrictions},
    PluginEntry{kVolumeZoneName, NewVolumeZone},
};

constexpr bool IsStrictlySorted() {
  for (size_t i = 1; i < kPlugins.size(); ++i) {
    if (!(kPlugins[i - 1].name < kPlugins[i].name)) return false;
  }
  return true;
}
static_assert(IsStrictlySorted(), "keep kPlugins sorted by name, each name once");

}  // namespace

framework::Registry InTreeRegistry() { return framework::Registry(kPlugins); }

}  // namespace ks::plugins
