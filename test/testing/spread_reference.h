// SPDX-License-Identifier: Apache-2.0
#pragma once
// PodTopologySpread as docs/spec/plugins-crosspod.md section 4 says it, step by step over all nodes
// and pods: what the plugin, which counts ahead and remembers, is compared with.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "api/pod.h"
#include "framework/snapshot.h"

namespace ks::testing {

// Threads: one. Lifetime: not beyond the next change of the snapshot.
class SpreadReference {
 public:
  // `derived`: the labels that the pod's Services and owners select by; those of no other kind.
  // The profile has System defaulting. Requires: all selectors are right.
  SpreadReference(const api::Pod& pod, const framework::Snapshot& snapshot,
                  const api::LabelMap& derived);

  bool SkipsFilter() const { return hard_.empty(); }
  bool SkipsScore() const { return soft_.empty(); }
  // 'S', 'L' (label missing) or 'K' (skew) by node.
  std::string Letters() const;
  // A pod joins (+1) or leaves (-1) a node. Requires: always the same node.
  void Change(const api::Pod& other, const api::Node& node, int sign);

  struct Scores {
    std::vector<int64_t> raw;
    std::vector<int64_t> final;
    friend bool operator==(const Scores&, const Scores&) = default;
  };
  Scores ScoresOf(std::span<const framework::NodeInfo* const> feasible) const;

 private:
  struct Constraint {
    Symbol key;
    int64_t max_skew = 0;
    int64_t min_domains = 1;
    bool honor_affinity = true;
    bool honor_taints = false;
    bool empty_selector = false;
    bool null_selector = false;
    std::vector<api::Requirement> requirements;
    api::LabelMap labels;
    std::map<std::string, int64_t> table;

    bool Matches(const api::LabelMap& pod_labels) const;
  };
  using Constraints = std::vector<Constraint>;

  Constraint Own(const api::TopologySpreadConstraint& given) const;
  bool Passes(const Constraint& constraint, const api::Node& node) const;
  int64_t CountOn(const Constraint& constraint, const framework::NodeInfo& node) const;
  static bool HasAllKeys(const Constraints& constraints, const api::Node& node);
  void FillHardTables();
  // count of a domain that some feasible node is in; by constraint.
  using Known = std::vector<std::map<std::string, int64_t>>;
  Known KnownDomains(std::span<const framework::NodeInfo* const> feasible, size_t* ignored) const;
  int64_t Raw(const framework::NodeInfo& node, const Known& known,
              const std::vector<double>& weights) const;

  const api::Pod& pod_;
  const framework::Snapshot& snapshot_;
  bool require_all_ = true;
  Constraints hard_;
  Constraints soft_;
};

}  // namespace ks::testing
