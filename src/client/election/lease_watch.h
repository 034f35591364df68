// SPDX-License-Identifier: Apache-2.0
#pragma once
// A watch on one Lease, for who waits for it: a lease that is given back is heard of at once, and a
// renewal when it happens, so that its age is known exactly. A shortcut beside reading the lease
// again and again, nothing more: where the watch is refused, breaks or falls silent, nothing is
// heard, and the reads go on.
//
// A holder that renews more rarely than the transport bears silence (TransportOptions::
// stream_idle_timeout) loses its watchers in between: the next Follow opens the watch again.

#include <functional>
#include <memory>

#include "client/election/lease_lock.h"
#include "client/election/lease_object.h"
#include "client/rest/rest_client.h"

namespace ks::client {

// Threads: one at a time. Lifetime: the client outlives it.
class LeaseWatch {
 public:
  // Told of the lease as it now is; one that was deleted does not exist(). On client threads, one
  // call at a time, never from inside Follow or Close.
  using Seen = std::function<void(LeaseObject)>;

  explicit LeaseWatch(RestClient& client) : client_(client) {}
  LeaseWatch(const LeaseWatch&) = delete;
  LeaseWatch& operator=(const LeaseWatch&) = delete;

  // Opens the watch, for what happens after `lease`, unless it is open, or was refused since the
  // last Close. Requires: lease.exists().
  void Follow(const LeaseLock& lock, const LeaseObject& lease, Seen seen);
  // Nothing more is told, but by a call that runs. The exchange is the caller's to cancel; null:
  // there is none.
  std::shared_ptr<Exchange> Close();

 private:
  class Stream;

  RestClient& client_;
  std::shared_ptr<Stream> stream_;  // the last one; null: none since Close
  std::shared_ptr<Exchange> exchange_;
};

}  // namespace ks::client
