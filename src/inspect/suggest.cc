// SPDX-License-Identifier: Apache-2.0
#include "inspect/suggest.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "framework/pod_requests.h"
#include "inspect/cluster_changes.h"
#include "inspect/cluster_trial.h"
#include "inspect/live_explain.h"

namespace ks::inspect {
namespace {

using framework::NodeInfo;
using framework::ResourceNames;

// Of one kind of change; each costs an explanation.
constexpr size_t kMostTries = 6;
constexpr std::string_view kCordonTaint = "node.kubernetes.io/unschedulable";

api::Quantity QuantityOf(const Symbol& resource, int64_t amount) {
  if (resource == ResourceNames::Get().cpu) return api::Quantity::FromMilli(amount);
  const bool bytes = resource == ResourceNames::Get().memory ||
                     resource == ResourceNames::Get().ephemeral_storage ||
                     framework::IsHugePageResource(resource.view());
  return api::Quantity::FromUnits(
      amount, bytes ? api::Quantity::Format::kBinarySI : api::Quantity::Format::kDecimalSI);
}

std::string AmountText(const Symbol& resource, int64_t amount) {
  return QuantityOf(resource, amount).ToString();
}

std::string TaintText(const api::Taint& taint) {
  std::string text = taint.key.str();
  if (!taint.value.view().empty()) text += "=" + taint.value.str();
  return text + ":" + taint.effect.str();
}

// What a node lacks for the pod, all of it resources.
struct Lack {
  double share = 0;  // the largest part of a request that has to go
  std::vector<Shortage> shortages;
  std::string key;  // the resources' names
};

class Search {
 public:
  Search(ClusterTrial& trial, const ClusterCopy& cluster, const api::PodPtr& pod,
         const Explanation& explanation)
      : trial_(trial), cluster_(cluster), pod_(pod), explanation_(explanation) {
    for (const api::NodePtr& node : cluster.nodes) nodes_[node->meta.name] = node;
  }

  std::vector<Suggestion> Run() {
    TryRequests();
    TryTolerations();
    TrySelector();
    TryUncordoning();
    TryFurtherNode();
    return std::move(found_);
  }

 private:
  // The node that the changed pod would get, or one of them; empty: none.
  std::string NodeFor(const api::PodPtr& pod) const {
    const Explanation answer = trial_.Explain(pod);
    if (answer.result != Verdict::kSchedulable || answer.best_nodes.empty()) return "";
    return answer.best_nodes.front();
  }

  api::PodPtr With(const std::function<void(api::PodSpec&)>& change) const {
    auto spec = std::make_shared<api::PodSpec>(*pod_->spec);
    change(*spec);
    auto pod = std::make_shared<api::Pod>(*pod_);
    pod->spec = std::move(spec);
    return pod;
  }

  // Keeps the suggestion if the changed pod fits.
  bool Keep(Suggestion suggestion, const api::PodPtr& pod) {
    suggestion.node = NodeFor(pod);
    if (suggestion.node.empty()) return false;
    suggestion.text += "; it would go to " + suggestion.node;
    found_.push_back(std::move(suggestion));
    return true;
  }

  // Names of nodes that the plugin rejected.
  std::vector<api::NodePtr> RejectedBy(std::string_view plugin) const {
    std::vector<api::NodePtr> nodes;
    for (const NodeVerdict& verdict : explanation_.nodes) {
      const auto node = nodes_.find(verdict.name);
      if (verdict.plugin == plugin && node != nodes_.end()) nodes.push_back(node->second);
    }
    return nodes;
  }

  // ---- requests ----

  // Empty: other things than resources are missing, or nothing is free.
  Lack LackOf(const NodeVerdict& verdict, const framework::Resource& request) const {
    Lack lack;
    const NodeInfo* node = trial_.snapshot().Find(verdict.name);
    if (node == nullptr) return {};
    for (const std::string& reason : verdict.reasons) {
      const auto shortage = ShortageOf(reason, *pod_, request, *node);
      const bool can_ask_less = shortage && shortage->resource != ResourceNames::Get().pods &&
                                shortage->free > 0 && shortage->needed > shortage->free;
      if (!can_ask_less) return {};
      lack.share = std::max(lack.share, static_cast<double>(shortage->needed - shortage->free) /
                                            static_cast<double>(shortage->needed));
      lack.key += shortage->resource.str() + " ";
      lack.shortages.push_back(*shortage);
    }
    return lack;
  }

  // The least change for each set of resources that some node lacks.
  void TryRequests() {
    const framework::Resource request = framework::PodRequest(*pod_);
    std::vector<Lack> lacks;
    for (const NodeVerdict& verdict : explanation_.nodes) {
      if (verdict.feasible || verdict.reasons.empty()) continue;
      Lack lack = LackOf(verdict, request);
      if (!lack.shortages.empty()) lacks.push_back(std::move(lack));
    }
    std::stable_sort(lacks.begin(), lacks.end(),
                     [](const Lack& a, const Lack& b) { return a.share < b.share; });
    std::set<std::string> settled;
    size_t tries = 0;
    for (const Lack& lack : lacks) {
      if (settled.contains(lack.key)) continue;
      if (tries++ == kMostTries) return;
      if (TryLess(lack)) settled.insert(lack.key);
    }
  }

  bool TryLess(const Lack& lack) {
    bool possible = true;
    const api::PodPtr pod = With([&](api::PodSpec& spec) {
      for (const Shortage& shortage : lack.shortages) {
        possible = AskLess(shortage, spec) && possible;
      }
    });
    if (!possible) return false;
    Suggestion suggestion{.kind = "requests"};
    for (const Shortage& shortage : lack.shortages) {
      const std::string to = AmountText(shortage.resource, shortage.free);
      const std::string from = AmountText(shortage.resource, shortage.needed);
      suggestion.text += (suggestion.text.empty() ? "ask for " : " and ") + to + " " +
                         shortage.resource.str() + " instead of " + from;
      suggestion.changes.push_back({.resource = shortage.resource.str(), .from = from, .to = to});
    }
    return Keep(std::move(suggestion), pod);
  }

  // Takes what is missing from the container that asks for most. False: it has not that much.
  static bool AskLess(const Shortage& shortage, api::PodSpec& spec) {
    api::ResourceList* most = nullptr;
    for (api::Container& container : spec.containers) {
      const api::Quantity* asked = container.requests.Find(shortage.resource);
      if (asked == nullptr) continue;
      if (most == nullptr || *most->Find(shortage.resource) < *asked) most = &container.requests;
    }
    if (spec.resource_requests && spec.resource_requests->Contains(shortage.resource)) {
      most = &*spec.resource_requests;
    }
    if (most == nullptr) return false;
    api::Quantity& asked = (*most)[shortage.resource];
    const api::Quantity less = QuantityOf(shortage.resource, shortage.needed - shortage.free);
    if (asked <= less) return false;
    asked -= less;
    return true;
  }

  // ---- tolerations, selectors ----

  void TryTolerations() {
    std::map<std::string, std::pair<api::Taint, size_t>> taints;  // by text, with their nodes
    for (const api::NodePtr& node : RejectedBy("TaintToleration")) {
      for (const api::Taint& taint : node->taints) {
        if (taint.effect.view() == "PreferNoSchedule") continue;
        const auto [place, is_new] =
            taints.try_emplace(TaintText(taint), std::make_pair(taint, size_t{0}));
        ++place->second.second;
      }
    }
    std::vector<std::pair<api::Taint, size_t>> by_nodes;
    for (const auto& [text, taint] : taints) by_nodes.push_back(taint);
    std::stable_sort(by_nodes.begin(), by_nodes.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    if (by_nodes.size() > kMostTries) by_nodes.resize(kMostTries);
    for (const auto& [taint, nodes] : by_nodes) {
      const api::Toleration toleration{
          .key = taint.key, .op = "Equal", .value = taint.value, .effect = taint.effect};
      Keep({.kind = "toleration",
            .text = "tolerate the taint " + TaintText(taint) + ", which " + std::to_string(nodes) +
                    (nodes == 1 ? " node has" : " nodes have")},
           With([&](api::PodSpec& spec) { spec.tolerations.push_back(toleration); }));
    }
  }

  void TrySelector() {
    if (RejectedBy("NodeAffinity").empty()) return;
    size_t tries = 0;
    for (const auto& [key, value] : pod_->spec->node_selector) {
      if (tries++ == kMostTries) break;
      const Symbol dropped = key;
      Keep({.kind = "nodeSelector",
            .text = "leave out the node selector " + key.str() + "=" + value.str()},
           With([&](api::PodSpec& spec) { spec.node_selector.Erase(dropped); }));
    }
    if (pod_->spec->node_affinity && pod_->spec->node_affinity->required) {
      Keep({.kind = "nodeAffinity", .text = "leave out the required node affinity"},
           With([](api::PodSpec& spec) { spec.node_affinity->required.reset(); }));
    }
  }

  // ---- nodes ----

  // Keeps the suggestion if the pod fits while the node is there, or is so.
  bool KeepWithNode(Suggestion suggestion, const api::NodePtr& node) {
    const auto former = nodes_.find(node->meta.name);
    trial_.SetNode(node);
    const bool fits = !NodeFor(pod_).empty();
    if (former == nodes_.end()) {
      trial_.RemoveNode(*node);
    } else {
      trial_.SetNode(former->second);
    }
    if (fits) found_.push_back(std::move(suggestion));
    return fits;
  }

  void TryUncordoning() {
    size_t tries = 0;
    for (const api::NodePtr& node : RejectedBy("NodeUnschedulable")) {
      if (tries++ == kMostTries) return;
      auto open = std::make_shared<api::Node>(*node);
      open->unschedulable = false;
      std::erase_if(open->taints,
                    [](const api::Taint& taint) { return taint.key.view() == kCordonTaint; });
      const std::string& name = node->meta.name;
      const Suggestion suggestion{.kind = "uncordon", .text = "uncordon " + name, .node = name};
      if (KeepWithNode(suggestion, open)) return;
    }
  }

  // One more node of the kind of one that is there: empty, with a name of its own.
  void TryFurtherNode() {
    std::set<std::string> kinds;
    for (const api::NodePtr& node : cluster_.nodes) {
      if (node->unschedulable || !kinds.insert(KindOf(*node)).second) continue;
      if (kinds.size() > kMostTries) return;
      std::string name = node->meta.name;
      do {
        name += "-more";
      } while (nodes_.contains(name));
      const api::NodePtr further = FurtherNode(*node, std::move(name));
      const auto amount = [&](const Symbol& resource) {
        const api::Quantity* quantity = node->allocatable.Find(resource);
        return (quantity == nullptr ? "0" : quantity->ToString()) + " " + resource.str();
      };
      const Suggestion suggestion{.kind = "node",
                                  .text = "one more node like " + node->meta.name + " (" +
                                          amount(ResourceNames::Get().cpu) + ", " +
                                          amount(ResourceNames::Get().memory) + ")",
                                  .node = node->meta.name};
      if (KeepWithNode(suggestion, further)) return;
    }
  }

  static std::string KindOf(const api::Node& node) {
    std::string kind;
    for (const auto& [resource, quantity] : node.allocatable) {
      kind += resource.str() + "=" + quantity.ToString() + " ";
    }
    for (const api::Taint& taint : node.taints) kind += TaintText(taint) + " ";
    return kind;
  }

  ClusterTrial& trial_;
  const ClusterCopy& cluster_;
  const api::PodPtr& pod_;
  const Explanation& explanation_;
  std::map<std::string, api::NodePtr, std::less<>> nodes_;
  std::vector<Suggestion> found_;
};

}  // namespace

Result<std::vector<Suggestion>> Suggest(const ClusterCopy& cluster, const api::PodPtr& pod,
                                        const Explanation& explanation) {
  if (explanation.result != Verdict::kUnschedulable) return std::vector<Suggestion>();
  auto trial = ClusterTrial::Make(cluster);
  if (!trial.ok()) return trial.error();
  // The snapshot is made by the first question.
  (void)(*trial)->Explain(pod);
  return Search(**trial, cluster, pod, explanation).Run();
}

}  // namespace ks::inspect
