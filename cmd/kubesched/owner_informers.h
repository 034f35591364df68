// SPDX-License-Identifier: Apache-2.0
#pragma once
// The watches of Services, ReplicationControllers, ReplicaSets, StatefulSets, Namespaces and
// PodDisruptionBudgets, each started only when some plugin needs its kind.
//
// Upstream: docs/spec/plugins-crosspod.md sections 2.2 and 4.3, docs/spec/api.md section 6.

#include <cstdint>
#include <functional>
#include <memory>

#include "cache/owner_stores.h"
#include "client/reflector.h"
#include "framework/owner_listers.h"

namespace ks::daemon {

// Threads: one at a time; the sink is called on client threads. Lifetime: the client and what the
// sink uses outlive it.
class OwnerInformers {
 public:
  using Sink = std::function<void(cache::OwnerDeltas)>;

  OwnerInformers(client::RestClient& client, uint64_t seed, Sink sink);
  // Stops.
  ~OwnerInformers();
  OwnerInformers(const OwnerInformers&) = delete;
  OwnerInformers& operator=(const OwnerInformers&) = delete;

  // Starts the watches of these kinds that do not run yet. A kind that is not needed any more stays
  // watched: another reload may want it back. Requires: not stopped.
  void Ensure(framework::OwnerKinds kinds);
  // Ends the streams and waits until the sink is not called any more. Idempotent.
  void Stop();

 private:
  template <class T>
  void Start(std::unique_ptr<client::Reflector<T>>& reflector, const char* path,
             const char* type_name, const char* resource);

  client::RestClient& client_;
  uint64_t next_seed_;
  const Sink sink_;
  std::unique_ptr<client::Reflector<api::Service>> services_;
  std::unique_ptr<client::Reflector<api::ReplicationController>> replication_controllers_;
  std::unique_ptr<client::Reflector<api::ReplicaSet>> replica_sets_;
  std::unique_ptr<client::Reflector<api::StatefulSet>> stateful_sets_;
  std::unique_ptr<client::Reflector<api::Namespace>> namespaces_;
  std::unique_ptr<client::Reflector<api::PodDisruptionBudget>> budgets_;
};

}  // namespace ks::daemon
