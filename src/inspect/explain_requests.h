// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which requests of a pod's claims cannot be met on a node, and why not by which of its devices.
// Internal to explain_devices.
//
// Upstream: none; docs/spec/plugins-dra.md section 6 for the rules.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/pod.h"
#include "cache/device_stores.h"
#include "config/gates/feature_gates.h"
#include "framework/node_info.h"
#include "inspect/device_judge.h"
#include "inspect/explain.h"
#include "plugins/dynamic_resources/device_memory.h"
#include "plugins/dynamic_resources/extended_requests.h"
#include "plugins/dynamic_resources/plan.h"

namespace ks::inspect {

// What there is to say of a node. Nodes with equal keys have the same numbers of devices that do
// not do for the same reasons.
struct DeviceStory {
  std::string key;
  std::vector<std::string> texts;
};

// Each request is judged as if it were the pod's only one. Threads: the scheduling thread.
// Lifetime: what the constructor takes outlives it and does not change meanwhile.
class RequestExplainer {
 public:
  RequestExplainer(const api::Pod& pod, const cache::DeviceStores& devices,
                   const config::FeatureGates& gates);

  // Requires: the claims that are not allocated cannot all be on the node.
  DeviceStory Why(const framework::NodeInfo& node);
  // Of the devices that the claims would get on the node, those that others may use as well.
  std::vector<DeviceShare> Shares(const framework::NodeInfo& node,
                                  const std::vector<framework::ClaimOutcome>& outcomes) const;

 private:
  // What is asked for on nodes where devices serve the same extended resources.
  struct Asked {
    std::vector<plugins::ServedResource> served;
    std::vector<api::ResourceClaimPtr> claims;
    plugins::ExtendedRequests extended;
    std::unique_ptr<const plugins::AllocationPlan> plan;
  };

  const Asked& AskedOn(const framework::NodeInfo& node);
  std::unique_ptr<const Asked> Make(std::vector<plugins::ServedResource> served);
  std::unique_ptr<const plugins::AllocationPlan> Plan(
      const std::vector<api::ResourceClaimPtr>& claims);
  void Judge(const Asked& asked, const plugins::NodePools& pools, DeviceStory& story);
  std::string Named(const Asked& asked, const plugins::ClaimPlan& claim,
                    const plugins::AlternativePlan& alternative) const;
  std::vector<std::string> PoolTexts(const plugins::NodePools& pools) const;
  std::string WhyNotTogether(const Asked& asked, const plugins::NodePools& pools);
  std::string BrokenConstraints(const Asked& asked, const plugins::NodePools& pools);
  std::string ValuesText(const Asked& asked, size_t claim, size_t constraint,
                         const plugins::NodePools& pools);
  bool Solvable(const std::vector<api::ResourceClaimPtr>& claims, const plugins::NodePools& pools);

  const api::Pod& pod_;
  const cache::DeviceStores& devices_;
  const DeviceUsers users_;
  plugins::DeviceMemory memory_;
  std::vector<api::ResourceClaimPtr> claims_;     // those that are not allocated
  std::shared_ptr<api::ResourceClaim> extended_;  // null: none, or it is allocated
  std::vector<std::unique_ptr<const Asked>> asked_;
};

}  // namespace ks::inspect
