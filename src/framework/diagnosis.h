// SPDX-License-Identifier: Apache-2.0
#pragma once
// Why an attempt failed: per-node statuses, the plugins to blame, and the text users see.
//
// Upstream: docs/spec/framework.md section 15, docs/spec/cycle.md section 11.

#include <cstddef>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "framework/snapshot.h"
#include "framework/status.h"

namespace ks::framework {

// Explicit statuses by node index (size = snapshot nodes) plus one status for all other nodes.
// Threads: one at a time; workers may Set different nodes through their own blocks (the caller
// merges).
class NodeStatuses {
 public:
  // Forgets everything; `size` = number of nodes in the snapshot.
  void Reset(size_t size);
  // Requires: index < size(), !status.ok().
  void Set(uint32_t index, Status status);
  // The explicit status, or the absent one.
  const Status& Get(uint32_t index) const;
  bool IsExplicit(uint32_t index) const { return !statuses_[index].ok(); }
  size_t size() const { return statuses_.size(); }
  size_t explicit_count() const { return explicit_.size(); }

  const Status& absent() const { return absent_; }
  void set_absent(Status status) { absent_ = std::move(status); }

  // Indices whose effective status has `code`: if the absent status has it, over all nodes, in
  // order; otherwise explicit ones only, in order.
  std::vector<uint32_t> NodesForCode(Code code) const;

 private:
  std::vector<Status> statuses_;    // success = no explicit status
  std::vector<uint32_t> explicit_;  // indices of explicit statuses, in the order of Set
  Status absent_{Code::kUnschedulableAndUnresolvable, {}};
};

// The reasons for which nodes are not available, counted. Nodes that share a status body are
// counted first, texts afterwards: thousands of nodes have few bodies. Threads: one at a time.
class ReasonCounts {
 public:
  void Add(const Status& status, size_t nodes);
  // Added so far.
  size_t nodes() const { return nodes_; }
  // "0/<all nodes> nodes are available: <count> <reason>, …." sorted as text; without reasons it
  // ends with the colon.
  std::string Text(size_t all_nodes) const;

 private:
  using Entry = std::pair<Status, size_t>;
  std::vector<std::string> Lines() const;

  size_t nodes_ = 0;
  std::unordered_map<const void*, Entry> bodies_;  // by Status::id, which the entry keeps alive
  Entry* last_ = nullptr;
};

// The status of nodes outside the node set that PreFilter's `plugins` left.
Status NotInNodeSet(const std::set<std::string>& plugins);

// Threads: one at a time.
struct Diagnosis {
  NodeStatuses nodes;
  size_t num_all_nodes = 0;  // N of the text; 1 for rejections at Reserve and Permit
  std::set<std::string> unschedulable_plugins;
  std::set<std::string> pending_plugins;
  std::string pre_filter_message;
  std::string post_filter_message;

  // Stores the status of a node and records its plugin (rejected codes; Pending also among the
  // pending ones).
  void AddNodeStatus(uint32_t index, const Status& status);
  // "0/N nodes are available: …"
  std::string Text() const;
};

}  // namespace ks::framework
