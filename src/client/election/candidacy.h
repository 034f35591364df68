// SPDX-License-Identifier: Apache-2.0
#pragma once
// The LeaseCandidate by which this process is a candidate in coordinated leader election: makes it,
// makes it anew when somebody deletes it, and shows that its owner lives by a new renewTime,
// whenever the API server asks for one (pingTime) and every five minutes. Who leads is another
// matter: leader_elector.h.
//
//   Start --> POST --made, or there already--> watched --pinged, or five minutes--> PUT --> watched
//   watched, PUT --the object was deleted--> POST
//   POST, PUT --failed--> the same after a growing pause, or when the watch has news
//
// Differences from upstream, on purpose: the watch begins once the object is there, so that an API
// server without this API shows by one clear log line and not by a watch that fails; and the answer
// to a ping is never older than the ping, however far behind the local clock is. And the object is
// deleted in the end: a server that heard of it a moment ago would choose it once more.
//
// Upstream: docs/spec/operations.md section 6.5.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "client/rest/rest_client.h"

namespace ks::client {

struct CandidacyOptions {
  std::string lease_namespace = "kube-system";
  std::string lease_name = "kube-scheduler";
  std::string identity{};           // as the elector's: the object's name
  std::string binary_version{};     // "1.37.1"
  std::string emulation_version{};  // "1.37.0"
  uint64_t seed = 0;                // jitter
};

// Threads: any. Lifetime: the client outlives it.
class Candidacy {
 public:
  Candidacy(RestClient& client, CandidacyOptions options);
  // Stops. The object stays, as after a crash.
  ~Candidacy();
  Candidacy(const Candidacy&) = delete;
  Candidacy& operator=(const Candidacy&) = delete;

  // Idempotent. Requires: before Stop.
  void Start();
  // Nothing is sent any more when it returns. Idempotent. Requires: not called on a client thread.
  void Stop();

  // Stops and deletes the object. `done` runs once, on a client thread, a second later at the
  // latest. Requires: as Stop. Once.
  void Withdraw(std::function<void()> done);

  // The object was made, and its watch has shown the first state.
  bool Synced() const;

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace ks::client
