// SPDX-License-Identifier: Apache-2.0
#pragma once
// NodeTree: node names grouped by zone, and the zone-interleaved order in which scheduling walks
// over them.
//
// Upstream: docs/spec/cache.md section 7.

#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "api/node.h"
#include "base/result.h"
#include "base/symbol.h"

namespace ks::cache {

// Region and zone of a node as one key: empty without both labels, else region, ':', a NUL byte,
// ':', zone.
std::string ZoneKey(const api::Node& node);

// Invariant: a name is in one zone at most; no zone is empty.
// Threads: the scheduling thread.
class NodeTree {
 public:
  // A new zone is appended to the zones, the name to its zone. False when the name is there
  // already; a name known under another zone moves.
  bool Add(std::string_view name, const std::string& zone_key);
  // A zone that becomes empty is forgotten. Error: the name is not in that zone.
  Result<void> Remove(std::string_view name, const std::string& zone_key);

  // Removes the name from whatever zone it is in.
  void Forget(std::string_view name);

  // Round by round, one name of every zone that has one left.
  std::vector<std::string_view> List() const;
  size_t size() const { return zone_of_.size(); }

 private:
  struct Zone {
    Symbol key;
    std::vector<Symbol> names;
  };
  using ZoneOfName = absl::flat_hash_map<Symbol, Symbol>;

  void Forget(ZoneOfName::iterator known);

  std::vector<Zone> zones_;
  ZoneOfName zone_of_;
};

}  // namespace ks::cache
