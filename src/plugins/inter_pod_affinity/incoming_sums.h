// SPDX-License-Identifier: Apache-2.0
#pragma once
// IncomingSums: what all terms of existing pods say to pods of some namespace and labels, summed up
// by key and followed change by change. Where thousands of terms match every pod, asking each of
// them in each attempt is what an attempt costs; pods of one template ask the same.
//
// Upstream: docs/spec/plugins-crosspod.md sections 3.2 (table E) and 3.5 (existing pods' part of
// table W); it asks each term.

#include <cstdint>
#include <deque>
#include <memory>

#include <absl/container/flat_hash_map.h>

#include "api/pod.h"
#include "plugins/inter_pod_affinity/tally.h"
#include "plugins/inter_pod_affinity/terms.h"
#include "plugins/kit/cross_pod/topology.h"

namespace ks::plugins {

// Equal terms of existing pods, or several that are asked together because they match.
struct TermSums {
  TopologyPtr topology;  // of the terms' key
  Tally repels;    // required anti-affinity; by slot where places are single nodes, else by domain
  Tally attracts;  // weights for scoring, anti-affinity negative; by domain
};

// Threads: as ExistingTerms.
class IncomingSums {
 public:
  // Of pods like this one. `namespace_labels` are those of its namespace.
  IncomingSums(const api::Pod& pod, const api::LabelMap& namespace_labels);

  bool IsFor(const api::Pod& pod, const api::LabelMap& namespace_labels) const {
    return pod.meta.ns == pod_.meta.ns && pod.meta.labels == pod_.meta.labels &&
           namespace_labels == namespace_labels_;
  }
  bool IsMatchedBy(const AffinityTerm& term) const { return term.Matches(pod_, namespace_labels_); }

  // All that terms of one key say.
  TermSums& Of(const TopologyPtr& topology);
  const std::deque<TermSums>& by_key() const { return by_key_; }

 private:
  api::Pod pod_;  // its namespace and labels only
  api::LabelMap namespace_labels_;
  std::deque<TermSums> by_key_;  // places stay
  absl::flat_hash_map<const Topology*, TermSums*> places_;
};

}  // namespace ks::plugins
