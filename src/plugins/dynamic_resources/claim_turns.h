// SPDX-License-Identifier: Apache-2.0
#pragma once
// Members of a pod group that share a claim write it one after the other: the first one allocates
// it, the others find that done. Upstream's meet conflicts and fail.

#include <memory>
#include <set>
#include <string>
#include <utility>

namespace ks::plugins {

// Threads: the scheduling thread.
class ClaimTurns {
 public:
  bool Taken(const std::string& claim_uid) const { return taken_.contains(claim_uid); }

 private:
  friend class ClaimTurn;
  std::set<std::string> taken_;  // uids of claims
};

// The turn of one member, until it goes.
class ClaimTurn {
 public:
  // Requires: nobody else's turn.
  ClaimTurn(std::shared_ptr<ClaimTurns> turns, std::string claim_uid)
      : turns_(std::move(turns)), claim_uid_(std::move(claim_uid)) {
    turns_->taken_.insert(claim_uid_);
  }
  ~ClaimTurn() { turns_->taken_.erase(claim_uid_); }
  ClaimTurn(const ClaimTurn&) = delete;
  ClaimTurn& operator=(const ClaimTurn&) = delete;

 private:
  const std::shared_ptr<ClaimTurns> turns_;
  const std::string claim_uid_;
};

}  // namespace ks::plugins
