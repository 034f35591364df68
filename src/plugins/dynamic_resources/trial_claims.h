// SPDX-License-Identifier: Apache-2.0
#pragma once
// Claims that members of a pod group were given devices for while the group is tried: those that
// follow them share the devices. Everybody else has to wait until the claims are written: a trial
// ends with Unreserve, or in earnest with the pre-flight of PreBind, before another pod is looked
// at.
//
// Upstream: docs/spec/plugins-dra.md section 12.

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace ks::plugins {

// Threads: the scheduling thread.
class TrialClaims {
 public:
  void Add(const std::string& claim_uid, const std::string& pod_uid) {
    users_[claim_uid].insert(pod_uid);
  }
  // No-op for others.
  void Remove(const std::string& claim_uid, const std::string& pod_uid) {
    const auto found = users_.find(claim_uid);
    if (found == users_.end()) return;
    found->second.erase(pod_uid);
    if (found->second.empty()) users_.erase(found);
  }
  bool Contains(std::string_view claim_uid) const { return users_.contains(claim_uid); }

 private:
  std::map<std::string, std::set<std::string>, std::less<>> users_;  // by the claim's uid
};

}  // namespace ks::plugins
