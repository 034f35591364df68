// SPDX-License-Identifier: Apache-2.0
#pragma once
// A process's part in leader election: the production elector over the simulated network, and what
// the daemon does between a won lease and its first decision (cmd/kubesched/daemon.cc, term.cc).

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "client/election/leader_elector.h"
#include "client/http/write_fence.h"
#include "client/rest/rest_client.h"

namespace ks::sim {

// What a candidacy needs from the process around it. Callbacks run as the process.
struct CandidacyHost {
  std::string name;  // the identity
  uint64_t seed = 0;
  client::RestClient* election = nullptr;
  client::RestClient* scheduling = nullptr;
  std::function<void()> won;
  // Tells when the pods are as new as this version, and lists them again (client::Reflector).
  std::function<void(std::string version, std::function<void()> reached)> when_pods_reached;
  std::function<void(const std::string& version)> list_pods_again;
  // The former leader's bindings are known: it may decide.
  std::function<void()> caught_up;
  std::function<void()> may_write_again;
  // The term is over. Must not end the process from inside the call.
  std::function<void(const std::string& why)> lost;
};

// Threads: one. Lifetime: the clients outlive it; destruction ends it without a release, and
// nothing is called any more. Requires: not destroyed in a callback.
class Candidacy : public std::enable_shared_from_this<Candidacy> {
 public:
  explicit Candidacy(CandidacyHost host);

  // Once: after that the elector tries for the lease.
  void Stand() { elector_.Stand(fence_); }
  // Open while this process may write.
  const std::shared_ptr<client::WriteFence>& fence() const { return fence_; }

 private:
  client::LeaderCallbacks Callbacks();
  void AskVersion();
  void AskAgain();
  void CatchUp(const std::string& version);

  const CandidacyHost host_;
  const std::shared_ptr<client::WriteFence> fence_;
  bool caught_up_ = false;
  client::LeaderElector elector_;
};

}  // namespace ks::sim
