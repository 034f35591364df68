// SPDX-License-Identifier: Apache-2.0
#include "plugins/placeholders/running_anti_affinity.h"

#include <algorithm>
#include <utility>

namespace ks::plugins {
namespace {

// More templates than a cluster has at a time; beyond it, start anew.
constexpr size_t kMaxCompiled = 4096;

}  // namespace

// A list with one malformed term counts as empty, as upstream reads the lists of running pods.
const std::vector<RunningAntiAffinity::Term>& RunningAntiAffinity::TermsOf(
    const std::shared_ptr<const api::PodSpec>& spec) {
  const auto it = compiled_.find(spec.get());
  if (it != compiled_.end()) return it->second.terms;
  if (compiled_.size() >= kMaxCompiled) compiled_.clear();
  Terms& entry = compiled_[spec.get()];
  entry.spec = spec;
  for (const api::PodAffinityTerm& term : spec->pod_anti_affinity->required) {
    Result<api::LabelSelector> labels = api::LabelSelector::Compile(term.label_selector);
    if (!labels.ok()) {
      entry.terms.clear();
      break;
    }
    entry.terms.push_back({std::move(labels).value(), term.namespaces,
                           term.namespaces.empty() && !term.namespace_selector,
                           term.namespace_selector.has_value()});
  }
  return entry.terms;
}

bool RunningAntiAffinity::Matches(const api::Pod& running, const api::Pod& pod) {
  for (const Term& term : TermsOf(running.spec)) {
    const bool in_namespace = term.any_namespace ||
                              (term.own_namespace && running.meta.ns == pod.meta.ns) ||
                              std::find(term.namespaces.begin(), term.namespaces.end(),
                                        pod.meta.ns) != term.namespaces.end();
    if (in_namespace && term.labels.Matches(pod.meta.labels)) return true;
  }
  return false;
}

bool RunningAntiAffinity::MayConcern(const api::Pod& pod, const framework::Snapshot& snapshot) {
  const api::PodSpec* last_spec = nullptr;
  Symbol last_namespace;
  for (const framework::NodeInfo* node : snapshot.nodes_with_required_anti_affinity()) {
    for (const framework::PodInfoPtr& info : node->pods_with_required_anti_affinity()) {
      const api::Pod& running = info->pod();
      // Replicas follow one another often; they all answer alike.
      if (running.spec.get() == last_spec && running.meta.ns == last_namespace) continue;
      last_spec = running.spec.get();
      last_namespace = running.meta.ns;
      if (Matches(running, pod)) return true;
    }
  }
  return false;
}

}  // namespace ks::plugins
