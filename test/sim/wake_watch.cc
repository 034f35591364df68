// SPDX-License-Identifier: Apache-2.0
#include "sim/wake_watch.h"

#include <algorithm>
#include <vector>

#include "sim/oracle.h"

namespace ks::sim {
namespace {

using Terms = std::vector<api::PodAffinityTerm>;

const Terms& Required(const std::optional<api::PodAffinity>& affinity) {
  static const Terms none;
  return affinity.has_value() ? affinity->required : none;
}

// Simulated selectors are matchLabels. An unknown namespace has no labels.
bool Selects(const api::PodAffinityTerm& term, const api::NamespacePtr& selected) {
  const auto& labels = term.namespace_selector->match_labels;
  return std::all_of(labels.begin(), labels.end(), [&](const auto& label) {
    const Symbol* value =
        selected == nullptr ? nullptr : selected->meta.labels.Find(Symbol(label.first));
    return value != nullptr && value->view() == label.second;
  });
}

api::NamespacePtr In(const std::map<std::string, api::NamespacePtr>& namespaces,
                     const std::string& name) {
  const auto found = namespaces.find(name);
  return found == namespaces.end() ? nullptr : found->second;
}

}  // namespace

std::string WakeWatch::WhyToWake(const Parked& parked, const WakeView& view) const {
  if (parked.nominated != nullptr) {
    const auto node = view.nodes.find(parked.nominated->meta.name);
    if (node == view.nodes.end()) return "its nominated node is gone";
    const std::string why = WhyLost(*parked.pod, *node->second);
    if (!why.empty()) return "its nominated node " + why;
  }
  if (!parked.by_affinity) return {};
  for (const auto* affinity :
       {&parked.pod->spec->pod_affinity, &parked.pod->spec->pod_anti_affinity}) {
    for (const api::PodAffinityTerm& term : Required(*affinity)) {
      if (!term.namespace_selector.has_value()) continue;
      for (const auto& [name, after] : view.namespaces) {
        if (Selects(term, In(namespaces_, name)) == Selects(term, after)) continue;
        return "it selects namespaces by labels, and those of " + name + " changed";
      }
    }
  }
  return {};
}

std::string WakeWatch::AfterStep(const WakeView& view) {
  std::string wrong;
  std::map<std::string, Parked> now;
  view.queue.stores().ForEach([&](const queue::Record& record) {
    if (record.store != queue::Store::kUnschedulable || record.gated) return;
    const api::PodPtr& pod = record.pod->pod();
    const auto before = parked_.find(pod->meta.uid);
    const bool slept = before != parked_.end() && before->second.attempts == record.pod->attempts &&
                       before->second.pod == pod;
    if (slept && wrong.empty()) {
      const std::string why = WhyToWake(before->second, view);
      if (!why.empty()) wrong = "pod " + pod->meta.name + " is parked although " + why;
    }
    Parked& parked = now[pod->meta.uid];
    parked = {.pod = pod,
              .attempts = record.pod->attempts,
              .nominated = nullptr,
              .by_affinity = record.pod->unschedulable_plugins.contains("InterPodAffinity")};
    const auto node = view.nodes.find(std::string(view.queue.nominator().NodeOf(pod->meta.uid)));
    const bool takes = node != view.nodes.end() && WhyLost(*pod, *node->second).empty();
    if (takes) parked.nominated = node->second;
  });
  parked_ = std::move(now);
  namespaces_ = view.namespaces;
  return wrong;
}

}  // namespace ks::sim
