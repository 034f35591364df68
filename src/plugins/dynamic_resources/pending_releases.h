// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reservations that are being taken back: until the API server has answered, nobody knows whether
// a claim that looks reserved for a pod is. Where the answer is an error, nobody does until the
// reservation is written again.

#include <set>
#include <string>
#include <utility>

namespace ks::plugins {

// Threads: the scheduling thread.
class PendingReleases {
 public:
  using Key = std::pair<std::string, std::string>;  // uids of the claim and of the pod

  void Begin(const Key& key) { keys_.insert(key); }
  void End(const Key& key, bool failed) {
    const auto found = keys_.find(key);
    if (found != keys_.end()) keys_.erase(found);
    if (failed) unsure_.insert(key);
  }
  bool Contains(const Key& key) const { return keys_.contains(key); }

  // A release of it failed, and may have been done.
  bool IsUnsure(const Key& key) const { return unsure_.contains(key); }
  // The reservation was written.
  void Settle(const Key& key) { unsure_.erase(key); }

 private:
  std::multiset<Key> keys_;
  std::set<Key> unsure_;
};

}  // namespace ks::plugins
