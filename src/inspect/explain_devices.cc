// SPDX-License-Identifier: Apache-2.0
#include "inspect/explain_devices.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "inspect/explain_claims.h"
#include "inspect/explain_requests.h"
#include "plugins/dynamic_resources/binding_conditions.h"
#include "plugins/dynamic_resources/dynamic_resources.h"
#include "plugins/dynamic_resources/pod_claims.h"
#include "plugins/dynamic_resources/pools.h"

namespace ks::inspect {
namespace {

using framework::NodeInfo;

constexpr std::string_view kNoSolution = "cannot allocate all claims";
constexpr std::string_view kInvalidPools = "invalid resource pools were encountered";
constexpr std::string_view kNotAvailable = "resourceclaim not available on the node";
constexpr std::string_view kBeingAllocated = " is in the process of being allocated";
constexpr std::string_view kClaimOfReason = "resource claim ";
constexpr std::string_view kOptionalNodeOperations = "DRAOptionalNodeOperations";

// Claims that were allocated before.
class AllocatedExplainer {
 public:
  AllocatedExplainer(const api::Pod& pod, const cache::DeviceStores& devices) {
    auto resolved = plugins::ResolveClaims(devices, pod, plugins::ClaimOwners::kPodsAndGroups);
    if (resolved.ok()) claims_ = std::move(resolved).value();
    if (auto claim = devices.FindExtendedResourceClaim(pod)) claims_.push_back(std::move(claim));
    std::erase_if(claims_, [](const auto& claim) { return claim->allocation == nullptr; });
  }

  // Requires: some of them is not available on the node.
  DeviceStory Why(const NodeInfo& node) const {
    DeviceStory story;
    for (const api::ResourceClaimPtr& claim : claims_) {
      if (std::string text = NotThere(*claim, *node.node()); !text.empty()) {
        story.texts.push_back("claim " + claim->meta.Key() + text);
      }
    }
    // All of them are where the node is: their devices do not become ready.
    for (const api::ResourceClaimPtr& claim : claims_) {
      if (!story.texts.empty()) break;
      if (std::string text = NotReady(*claim); !text.empty()) {
        story.texts.push_back("claim " + claim->meta.Key() + text);
      }
    }
    for (const std::string& text : story.texts) story.key += text + '\n';
    return story;
  }

 private:
  static std::string NotThere(const api::ResourceClaim& claim, const api::Node& node) {
    const api::ClaimAllocation& allocation = *claim.allocation;
    if (allocation.node_selector != nullptr &&
        !allocation.node_selector->compiled.Matches(node.meta.labels, node.meta.name)) {
      return " is allocated for nodes with " + SelectorText(allocation.node_selector->spec);
    }
    const bool declared = plugins::DeclaresOptionalOperations(node);
    const bool skips = std::any_of(
        allocation.results.begin(), allocation.results.end(),
        [](const api::DeviceResult& result) { return !result.skip_node_operations.empty(); });
    if (declared || !skips) return "";
    return " has devices that need a node which declares " + std::string(kOptionalNodeOperations);
  }

  static std::string NotReady(const api::ResourceClaim& claim) {
    const plugins::DeviceReadiness ready = plugins::ReadinessOf(claim);
    if (ready.state == plugins::DeviceReadiness::State::kReady) return "";
    if (ready.state == plugins::DeviceReadiness::State::kFailed) return ": " + ready.failure;
    std::vector<std::string> devices;
    for (const api::DeviceResult& result : claim.allocation->results) {
      if (!result.binding_conditions.empty()) devices.push_back(result.device.str());
    }
    return ": its devices did not become ready in time (" + SomeNames(devices) + ")";
  }

  plugins::ClaimList claims_;
};

// The pod on some node that uses the claim; empty: none is known.
std::string PodWith(const std::string& claim, const framework::Snapshot& snapshot,
                    const cache::DeviceStores& devices) {
  for (const NodeInfo* node : snapshot.nodes()) {
    for (const framework::PodInfoPtr& info : node->pods()) {
      if (info->pod().spec->resource_claims.empty()) continue;
      const auto claims =
          plugins::ResolveClaims(devices, info->pod(), plugins::ClaimOwners::kPodsAndGroups);
      if (!claims.ok()) continue;
      const bool uses = std::any_of(claims->begin(), claims->end(),
                                    [&](const auto& one) { return one->meta.Key() == claim; });
      if (uses) return "pod " + info->pod().meta.Key() + ", which goes to node " + node->name();
    }
  }
  return "";
}

// Nodes of which the same is to be told.
struct Nodes {
  DeviceStory story;
  std::vector<std::string> names;
};

class DeviceExplainer {
 public:
  DeviceExplainer(const api::Pod& pod, const framework::Snapshot& snapshot,
                  const cache::DeviceStores& devices, const config::FeatureGates& gates)
      : pod_(pod), snapshot_(snapshot), devices_(devices), gates_(gates) {}

  DeviceStory Why(std::string_view reason, const NodeInfo& node) {
    if (reason == kNoSolution || reason == kInvalidPools) return Requests().Why(node);
    if (reason == kNotAvailable) return AllocatedExplainer(pod_, devices_).Why(node);
    if (reason.starts_with(kClaimOfReason) && reason.ends_with(kBeingAllocated)) {
      reason.remove_prefix(kClaimOfReason.size());
      reason.remove_suffix(kBeingAllocated.size());
      return BeingAllocated(std::string(reason));
    }
    return {};
  }

  void AddShares(const NodeInfo& node, NodeVerdict& verdict) {
    const bool any = std::any_of(
        verdict.allocations.begin(), verdict.allocations.end(), [](const auto& outcome) {
          const std::vector<api::DeviceResult>& results = outcome.allocation.results;
          return std::any_of(results.begin(), results.end(),
                             [](const auto& result) { return !result.share_id.empty(); });
        });
    if (any) verdict.shares = Requests().Shares(node, verdict.allocations);
  }

 private:
  RequestExplainer& Requests() {
    if (!requests_) requests_.emplace(pod_, devices_, gates_);
    return *requests_;
  }

  // The same for all nodes.
  DeviceStory BeingAllocated(const std::string& claim) {
    if (!allocating_) allocating_ = PodWith(claim, snapshot_, devices_);
    if (allocating_->empty()) return {};
    return {.key = *allocating_, .texts = {"for " + *allocating_}};
  }

  const api::Pod& pod_;
  const framework::Snapshot& snapshot_;
  const cache::DeviceStores& devices_;
  const config::FeatureGates& gates_;
  std::optional<RequestExplainer> requests_;  // made when first asked
  std::optional<std::string> allocating_;
};

}  // namespace

void ExplainDevices(const api::Pod& pod, const framework::Snapshot& snapshot,
                    const cache::DeviceStores& devices, const config::FeatureGates& gates,
                    std::string_view only_node, Explanation* explanation) {
  DeviceExplainer explainer(pod, snapshot, devices, gates);
  std::map<std::string, std::map<std::string, Nodes>> rows;  // by reason and the story's key
  for (NodeVerdict& verdict : explanation->nodes) {
    if (!only_node.empty() && verdict.name != only_node) continue;
    const NodeInfo* node = snapshot.Find(verdict.name);
    if (node == nullptr) continue;
    if (verdict.feasible) explainer.AddShares(*node, verdict);
    if (verdict.plugin != plugins::kDynamicResourcesName) continue;
    for (const std::string& reason : verdict.reasons) {
      DeviceStory story = explainer.Why(reason, *node);
      if (story.texts.empty()) continue;
      Nodes& alike = rows[reason][story.key];
      if (alike.names.empty()) alike.story = std::move(story);
      alike.names.push_back(verdict.name);
    }
  }
  for (auto& [reason, by_key] : rows) {
    std::vector<Nodes*> stories;
    for (auto& [key, nodes] : by_key) stories.push_back(&nodes);
    std::sort(stories.begin(), stories.end(), [](const Nodes* a, const Nodes* b) {
      if (a->names.size() != b->names.size()) return a->names.size() > b->names.size();
      return a->names.front() < b->names.front();
    });
    for (const Nodes* nodes : stories) {
      for (const std::string& text : nodes->story.texts) {
        explanation->details.push_back({.plugin = std::string(plugins::kDynamicResourcesName),
                                        .reason = reason,
                                        .node = nodes->names.front(),
                                        .text = text,
                                        .nodes = nodes->names});
      }
    }
  }
}

}  // namespace ks::inspect
