// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reservations that are being taken back: until the API server has answered, nobody knows whether
// a claim that looks reserved for a pod is. Where the answer is an error, nobody does until the
// reservation is written again.

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace ks::plugins {

// Threads: the scheduling thread.
class PendingReleases {
 public:
  using Key = std::pair<std::string, std::string>;  // uids of the claim and of the pod or group
  // Whether both are still there. Called later, while this object lives.
  using StillThere = std::function<bool()>;

  void Begin(const Key& key) { keys_.insert(key); }
  void End(const Key& key) {
    const auto found = keys_.find(key);
    if (found != keys_.end()) keys_.erase(found);
  }
  // The answer was an error.
  void EndUnsure(const Key& key, StillThere still_there) {
    End(key);
    ForgetThoseGone();
    unsure_.insert_or_assign(key, std::move(still_there));
  }
  bool Contains(const Key& key) const { return keys_.contains(key); }

  // A release of it failed, and may have been done. Of what is gone nobody asks.
  bool IsUnsure(const Key& key) const { return unsure_.contains(key); }
  // The reservation was written.
  void Settle(const Key& key) { unsure_.erase(key); }

 private:
  // When there are twice as many as were left last time.
  void ForgetThoseGone() {
    if (unsure_.size() < 2 * left_) return;
    std::erase_if(unsure_, [](const auto& known) { return !known.second(); });
    left_ = unsure_.size();
  }

  std::multiset<Key> keys_;
  std::map<Key, StillThere> unsure_;
  size_t left_ = 0;
};

}  // namespace ks::plugins
