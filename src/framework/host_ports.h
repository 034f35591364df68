// SPDX-License-Identifier: Apache-2.0
#pragma once
// The ports of its node that a pod takes for itself, and those that are taken on a node.
// Upstream: docs/spec/plugins-node.md 2.9, docs/spec/cache.md 4.3.

#include <cstdint>
#include <string>
#include <vector>

#include "api/pod.h"
#include "base/symbol.h"

namespace ks::framework {

// One (ip, protocol, port); empty ip and protocol already replaced by 0.0.0.0 and TCP.
struct HostPort {
  std::string ip;
  Symbol protocol;
  int32_t port = 0;  // positive

  friend bool operator==(const HostPort&, const HostPort&) = default;
};

// Adding twice and removing once leaves none. Costs grow with the length of what is added or asked
// for and the logarithm of what is there, but for the move of elements: a pod may have thousands.
// Threads: none but the caller's.
class HostPortSet {
 public:
  HostPortSet() = default;
  // Of any order; duplicates count once.
  explicit HostPortSet(std::vector<HostPort> ports);

  void Add(const HostPortSet& ports);
  void Remove(const HostPortSet& ports);
  // Whether one of `wanted` is taken: same port and protocol, and the same address or any address
  // on one side.
  bool ConflictsWith(const HostPortSet& wanted) const;
  bool empty() const { return ports_.empty(); }
  size_t size() const { return ports_.size(); }

 private:
  std::vector<HostPort> ports_;  // by port, protocol, any address first, address; each once
};

// Of sidecars and containers.
HostPortSet PodHostPorts(const api::Pod& pod);

}  // namespace ks::framework
