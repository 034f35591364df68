// SPDX-License-Identifier: Apache-2.0
#pragma once
// What choosing a node works with. It grows with the cluster, and few attempts choose at a time:
// they borrow a space and give it back, so that a decision allocates nothing of the kind.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "framework/diagnosis.h"
#include "framework/runtime/runtime.h"

namespace ks::scheduler {

// slots[i] belongs to nodes[i].
struct FeasibleNodes {
  std::vector<const framework::NodeInfo*> nodes;
  std::vector<uint32_t> slots;

  size_t size() const { return nodes.size(); }
  void Clear() {
    nodes.clear();
    slots.clear();
  }
  void Add(const framework::NodeInfo* node, uint32_t slot) {
    nodes.push_back(node);
    slots.push_back(slot);
  }
};

// Nodes are those of the snapshot until its next refresh.
struct SearchSpace {
  std::optional<std::set<std::string>> node_names;  // that PreFilter left; absent: all
  framework::Diagnosis diagnosis;                   // the rejected nodes, and by whom
  FeasibleNodes feasible;                           // in the order of the search
  // Nodes on which a filter failed, in the order of the search: NodeSearch::FilterAllNodes only.
  std::vector<std::pair<const framework::NodeInfo*, framework::Status>> failed;
  // By position in `feasible`; totals are empty when a node was chosen without scoring. Who wants
  // scores by plugin sets keep_details before; else the details are those of another attempt.
  framework::NodeScores scores;
  // The node was chosen out of a ranking: there are no feasible nodes and no totals above.
  bool is_ranked = false;
  // The best of the ranking for operators, if the attempt is recorded.
  static constexpr size_t kBestRanked = 3;
  struct Ranked {
    const framework::NodeInfo* node;
    int64_t total;
  };
  std::vector<Ranked> best_ranked;

  void Clear() {
    node_names.reset();
    feasible.Clear();
    failed.clear();
    scores.totals.clear();
    scores.keep_details = false;
    is_ranked = false;
    best_ranked.clear();
  }
};

// The spaces that nobody uses now. Threads: one. Lifetime: outlives what it lends.
class SearchSpaces {
 public:
  struct Return {
    SearchSpaces* to = nullptr;
    void operator()(SearchSpace* space) const { to->free_.emplace_back(space); }
  };
  using Loan = std::unique_ptr<SearchSpace, Return>;

  // Clear, except for the diagnosis, which PreFilter resets.
  Loan Lend() {
    if (free_.empty()) free_.push_back(std::make_unique<SearchSpace>());
    Loan loan(free_.back().release(), Return{this});
    free_.pop_back();
    loan->Clear();
    return loan;
  }

 private:
  std::vector<std::unique_ptr<SearchSpace>> free_;
};

}  // namespace ks::scheduler
