// SPDX-License-Identifier: Apache-2.0
#pragma once
// InterPodAffinity as docs/spec/plugins-crosspod.md sections 2 and 3 are written: tables made by
// looking at every pod. To compare the plugin with; nothing of it is shared.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/owner_listers.h"
#include "framework/snapshot.h"

namespace ks::testing {

struct AffinityOptions {
  int32_t hard_weight = 1;
  bool ignore_preferred = false;
  bool fast_path = false;  // gate InterPodAffinityHostnameFastPath
};

// The verdicts on one incoming pod. Lifetime: the arguments outlive it. A copy is a clone of the
// state of a cycle.
class AffinityReference {
 public:
  AffinityReference(const framework::Snapshot& snapshot, const framework::OwnerListers& listers,
                    const AffinityOptions& options, const api::Pod& pod);

  // The text of PreFilter's rejection; empty: none.
  const std::string& parse_error() const { return error_; }
  bool PreFilterSkips() const;
  // "Success" or code and reason, as Describe of the plugin rig.
  std::string Filter(const framework::NodeInfo& node) const;
  // AddPod (+1), RemovePod (-1).
  void Simulate(const api::Pod& other, const framework::NodeInfo& node, int sign);
  // Raw scores of all nodes; absent: PreScore skips.
  std::optional<std::vector<int64_t>> Scores() const;
  static std::vector<int64_t> Normalize(std::vector<int64_t> raw);

 private:
  struct Parsed {
    api::LabelSelector labels;
    std::vector<std::string> names;
    api::LabelSelector namespaces;
    std::string key;
    int32_t weight = 0;
  };
  struct Lists {
    std::vector<Parsed> affinity, anti_affinity, preferred, preferred_anti;
  };
  using Table = std::map<std::pair<std::string, std::string>, int64_t>;

  template <class Term>
  static std::vector<Parsed> ParseList(const std::vector<Term>& list, const api::Pod& owner,
                                       const std::string& name, std::vector<std::string>* errors);
  static Lists Parse(const api::Pod& owner, std::vector<std::string>* errors);
  static bool Matches(const Parsed& term, const api::Pod& pod, const api::LabelMap& labels);
  bool OwnMatches(const Parsed& term, const api::Pod& pod) const;
  bool OwnMatchesAll(const api::Pod& pod) const;
  void Expand(std::vector<Parsed>* terms) const;
  bool OnNodeItself(const std::string& key) const;
  static void Count(Table* table, const std::string& key, const framework::NodeInfo& node,
                    int64_t amount, bool erase_zero);
  bool SatisfiesAffinity(const framework::NodeInfo& node) const;
  bool Repelled(const framework::NodeInfo& node) const;
  bool ExistingRepel(const framework::NodeInfo& node) const;

  const framework::Snapshot& snapshot_;
  const framework::OwnerListers& listers_;
  const AffinityOptions options_;
  const api::Pod& pod_;
  api::LabelMap namespace_labels_;
  Lists own_;
  std::string error_;
  bool all_hostname_ = false;  // fast path: affinity is looked for on the node itself
  bool hostname_carrier_ = false;
  Table existing_, affinity_, anti_affinity_;
  int64_t matching_ = 0;
};

}  // namespace ks::testing
