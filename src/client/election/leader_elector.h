// SPDX-License-Identifier: Apache-2.0
#pragma once
// Leader election over a Lease, in client-go's words: acquires it, renews it until it is lost,
// releases it at the end. One try at a time; no thread of its own, everything happens in answers
// and timers. The states are drawn in leader_elector_core.h.
//
// In coordinated election the API server chooses among the LeaseCandidates (candidacy.h) and writes
// the holder. A candidate waits until it is named, a leader reads the lease before each renewal and
// gives it back as soon as the server prefers somebody else; neither ever makes or takes the lease.
//
// What is safe here: a candidate takes the lease of another only after it has seen it unchanged for
// the whole lease duration by its own monotonic clock, and a leader's WriteFence is open for the
// renew deadline only, counted from before the renewal was sent. The clocks of others never matter.
// In coordinated election they do: the server compares renewTime with its own clock, so the local
// clock must not be behind it by more than what the lease lasts longer than the renew deadline.
//
// Differences from upstream, on purpose (operations.md, "→"): a leader that reads another holder's
// name is no leader any more, at once; a release looks at the holder just read; a leader whose
// deadline has passed writes nothing at all, not even a release or an event.
//
// Upstream: docs/spec/operations.md section 6, docs/spec/api.md section 11.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/random.h"
#include "base/result.h"
#include "client/election/leader_metrics.h"
#include "client/http/write_fence.h"
#include "client/rest/rest_client.h"

namespace ks::client {

struct LeaderElectorOptions {
  std::string lease_namespace = "kube-system";
  std::string lease_name = "kube-scheduler";
  std::string identity{};  // see NewIdentity
  Duration lease_duration = std::chrono::seconds(15);
  Duration renew_deadline = std::chrono::seconds(10);
  Duration retry_period = std::chrono::seconds(2);
  std::string event_component = "default-scheduler";
  bool coordinated = false;  // the API server names the holder
  uint64_t seed = 0;         // jitter
};

// Error: `couldn't create leader elector: …` with the field of the configuration. A lease duration
// below a second passes, as upstream: the API server refuses such a lease for ever.
Result<void> CheckLeaderElector(const LeaderElectorOptions& options);

// `<host>_<random UUID v4>`.
std::string NewIdentity(const std::string& host, Random& random);

// Called on the timers' thread, one at a time, in order; must not block. All may be empty.
struct LeaderCallbacks {
  std::function<void()> started_leading{};
  // The fence was shut because a renewal came late, and is open again.
  std::function<void()> may_write_again{};
  // The term is over; `why` for the log. The fence is closed already.
  std::function<void(const std::string& why)> stopped_leading{};
  // In its place, in coordinated election, when the lease is wanted for another: the term is over,
  // the fence closed, but the lease is still ours and waits for ReleaseToPreferred.
  std::function<void(const std::string& why)> called_back{};
};

// Threads: any. Lifetime: the client, the metrics and what the callbacks use outlive it.
// Destruction ends everything without a release, and waits for a callback that runs. Requires: not
// destroyed in a callback.
class LeaderElector {
 public:
  // `metrics` may be null. The client is used for nothing else. Requires: options that
  // CheckLeaderElector accepts.
  LeaderElector(RestClient& client, LeaderElectorOptions options, LeaderMetrics* metrics,
                LeaderCallbacks callbacks);
  ~LeaderElector();
  LeaderElector(const LeaderElector&) = delete;
  LeaderElector& operator=(const LeaderElector&) = delete;

  // Tries to acquire the lease, until it does, and renews it, for one term, whose fence this is.
  // May be called again after stopped_leading. Requires: neither acquiring nor leading nor released
  // nor called back.
  void Acquire(std::shared_ptr<WriteFence> fence);

  // After called_back, once what was sent before the fence was closed has been answered or given
  // up: records the event that a leader stopped, and gives the lease back, so that whoever is to
  // have it need not wait for its end. `done` comes as for Release; then Acquire may be called
  // again.
  void ReleaseToPreferred(std::function<void()> done);

  // Ends the acquiring or the term: closes the fence, records the event that a leader stopped, and
  // gives the lease back if it is held. `done` comes like a callback, after renew_deadline at the
  // latest; nothing is sent any more then. Once. Requires: no ReleaseToPreferred under way.
  void Release(std::function<void()> done);

  bool IsLeader() const;
  // The health check: why leading is in doubt; empty: it is not. A leader is in doubt when its last
  // renewal is older than the lease duration and `tolerance`. Does not block.
  std::string Failure(Duration tolerance) const;

  const std::string& identity() const;

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace ks::client
