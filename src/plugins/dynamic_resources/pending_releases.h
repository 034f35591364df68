// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reservations that are being taken back: until the API server has answered, nobody knows whether
// a claim that looks reserved for a pod is.

#include <set>
#include <string>
#include <utility>

namespace ks::plugins {

// Threads: the scheduling thread.
class PendingReleases {
 public:
  using Key = std::pair<std::string, std::string>;  // uids of the claim and of the pod

  void Begin(const Key& key) { keys_.insert(key); }
  void End(const Key& key) {
    const auto found = keys_.find(key);
    if (found != keys_.end()) keys_.erase(found);
  }
  bool Contains(const Key& key) const { return keys_.contains(key); }

 private:
  std::multiset<Key> keys_;
};

}  // namespace ks::plugins
