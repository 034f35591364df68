// SPDX-License-Identifier: Apache-2.0
#include "sim/oracle.h"

#include <algorithm>
#include <optional>

#include "framework/find_pod.h"
#include "framework/node_info.h"
#include "sim/loaded_plugin.h"

namespace ks::sim {
namespace {

using framework::NodeInfo;

// The value of a label, found by text.
std::optional<std::string> ValueOf(const api::LabelMap& labels, std::string_view key) {
  for (const auto& [name, value] : labels) {
    if (name.view() == key) return value.str();
  }
  return std::nullopt;
}

bool Tolerates(const api::Pod& pod, std::string_view key, std::string_view value,
               std::string_view effect) {
  const auto& tolerations = pod.spec->tolerations;
  return std::any_of(tolerations.begin(), tolerations.end(), [&](const api::Toleration& t) {
    const bool key_fits = t.key.view() == key || (t.key.empty() && t.op == "Exists");
    const bool value_fits = t.op == "Exists" || t.value.view() == value;
    return key_fits && value_fits && (t.effect.empty() || t.effect.view() == effect);
  });
}

std::string WhyTainted(const api::Pod& pod, const api::Node& node) {
  if (node.unschedulable && !Tolerates(pod, "node.kubernetes.io/unschedulable", "", "NoSchedule")) {
    return "is cordoned";
  }
  for (const api::Taint& taint : node.taints) {
    if (taint.effect.view() == "PreferNoSchedule") continue;
    if (!Tolerates(pod, taint.key.view(), taint.value.view(), taint.effect.view())) {
      return "has the taint " + taint.key.str();
    }
  }
  return {};
}

// What the pod asks for, and only that: a node may hold too much of something else. `more`: pods
// that are to come.
std::string WhyFull(const api::Pod& pod, const NodeInfo& node,
                    const std::vector<framework::PodInfoPtr>& more = {}) {
  const auto infos = node.pods();
  const framework::PodInfoPtr* const mine = framework::FindPodByUid(infos, pod.meta.uid);
  if (mine == nullptr) return "is not charged with the pod";
  int64_t cpu = 0;
  int64_t memory = 0;
  const auto add = [&](const framework::PodInfoPtr& info) {
    cpu += info->request().requested.milli_cpu;
    memory += info->request().requested.memory;
  };
  std::for_each(infos.begin(), infos.end(), add);
  std::for_each(more.begin(), more.end(), add);
  const auto& asked = (*mine)->request().requested;
  if (asked.milli_cpu > 0 && cpu > node.allocatable().milli_cpu) return "lacks cpu";
  if (asked.memory > 0 && memory > node.allocatable().memory) return "lacks memory";
  if (static_cast<int64_t>(infos.size() + more.size()) > node.allocatable().allowed_pod_number) {
    return "has too many pods";
  }
  return {};
}

// Simulated terms use matchLabels; those that select namespaces by labels are not checked here, as
// the labels that the scheduler knows are not known.
bool Matches(const api::PodAffinityTerm& term, const api::Pod& owner, const api::Pod& other) {
  if (term.namespace_selector.has_value()) return false;
  if (owner.meta.ns != other.meta.ns || !term.label_selector.has_value()) return false;
  const auto& labels = term.label_selector->match_labels;
  return std::all_of(labels.begin(), labels.end(), [&](const auto& label) {
    return ValueOf(other.meta.labels, label.first) == label.second;
  });
}

bool Repels(const api::Pod& owner, const api::Node& owners_node, const api::Pod& other,
            const api::Node& others_node) {
  if (!owner.spec->pod_anti_affinity.has_value()) return false;
  const auto& terms = owner.spec->pod_anti_affinity->required;
  return std::any_of(terms.begin(), terms.end(), [&](const api::PodAffinityTerm& term) {
    if (!Matches(term, owner, other)) return false;
    const auto domain = ValueOf(owners_node.meta.labels, term.topology_key.view());
    return domain.has_value() &&
           domain == ValueOf(others_node.meta.labels, term.topology_key.view());
  });
}

std::string WhyRepelled(const api::Pod& pod, const api::Node& node,
                        const framework::Snapshot& snapshot) {
  for (const NodeInfo* other : snapshot.nodes()) {
    for (const auto& info : other->pods()) {
      if (info->pod().meta.uid == pod.meta.uid) continue;
      if (Repels(pod, node, info->pod(), *other->node()) ||
          Repels(info->pod(), *other->node(), pod, node)) {
        return "is repelled by " + info->pod().meta.name + " on " + other->name();
      }
    }
  }
  return {};
}

}  // namespace

std::string WhyLost(const api::Pod& pod, const api::Node& node) {
  for (const auto& [key, value] : pod.spec->node_selector) {
    if (ValueOf(node.meta.labels, key.view()) != value.str()) {
      return "does not have the label " + key.str();
    }
  }
  return WhyTainted(pod, node);
}

std::string WhyRefused(const api::Pod& pod, const api::Node& node) {
  const auto disk = ValueOf(pod.meta.labels, kLoadedLabel);
  if (disk.has_value() && disk != ValueOf(node.meta.labels, "disk")) return "has another disk";
  return WhyLost(pod, node);
}

std::string WhyUnfit(const api::Pod& pod, const NodeInfo& node) {
  if (node.node() == nullptr) return "is gone";
  if (std::string why = WhyRefused(pod, *node.node()); !why.empty()) return why;
  return WhyFull(pod, node);
}

std::string WhyInfeasible(const api::Pod& pod, const NodeInfo& node,
                          const framework::Snapshot& snapshot) {
  if (std::string why = WhyUnfit(pod, node); !why.empty()) return why;
  return WhyRepelled(pod, *node.node(), snapshot);
}

std::string WhyNoRoom(const api::Pod& pod, const NodeInfo& node,
                      const std::vector<framework::PodInfoPtr>& nominated) {
  std::vector<framework::PodInfoPtr> respected;
  for (const framework::PodInfoPtr& info : nominated) {
    const bool counts = info->pod().Priority() >= pod.Priority();
    if (counts && info->pod().meta.uid != pod.meta.uid) respected.push_back(info);
  }
  std::string why = WhyFull(pod, node, respected);
  if (why.empty()) return why;
  why += " for those who are nominated there:";
  for (const framework::PodInfoPtr& info : respected) why += ' ' + info->pod().meta.name;
  return why;
}

}  // namespace ks::sim
