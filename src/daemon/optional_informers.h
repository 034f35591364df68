// SPDX-License-Identifier: Apache-2.0
#pragma once
// The watches of the kinds beside pods and nodes, each started only when some plugin needs its
// kind.
//
// Upstream: docs/spec/plugins-crosspod.md sections 2.2 and 4.3, docs/spec/plugins-volume.md 2.2,
// docs/spec/plugins-dra.md 2.2, docs/spec/pod-groups.md section 1, docs/spec/api.md section 6.

#include <cstdint>
#include <functional>
#include <memory>
#include <tuple>
#include <variant>

#include "api/kinds.h"
#include "cache/device_stores.h"
#include "cache/group_stores.h"
#include "cache/owner_stores.h"
#include "cache/storage_stores.h"
#include "client/watch/informer_metrics.h"
#include "client/watch/reflector.h"
#include "framework/owner_listers.h"

namespace ks::daemon {

// Threads: one at a time; the sink is called on client threads. Lifetime: the client, the
// metrics and what the sink uses outlive it.
class OptionalInformers {
 public:
  // `series`: of the deltas' kind.
  using Deltas = std::variant<cache::OwnerDeltas, cache::StorageDeltas, cache::DeviceDeltas,
                              cache::GroupDeltas>;
  using Sink = std::function<void(Deltas, client::InformerSeries& series)>;

  // `keep_texts`: as in client::ReflectorOptions.
  OptionalInformers(client::RestClient& client, client::InformerMetrics& metrics, uint64_t seed,
                    Sink sink, api::KeepTexts keep_texts = api::KeepTexts::kNo);
  // Stops.
  ~OptionalInformers();
  OptionalInformers(const OptionalInformers&) = delete;
  OptionalInformers& operator=(const OptionalInformers&) = delete;

  // Starts the watches of these kinds that do not run yet. A kind that is not needed any more stays
  // watched: another reload may want it back. Requires: not stopped.
  void Ensure(framework::OptionalKinds kinds);
  // The watch of the kind; null: none runs.
  template <class T>
  client::Reflector<T>* Find() const {
    return std::get<std::unique_ptr<client::Reflector<T>>>(watches_).get();
  }
  // Ends the streams and waits until the sink is not called any more. Idempotent.
  void Stop();

 private:
  // The watch of one kind; null while it is not watched.
  template <class T>
  using Watch = std::unique_ptr<client::Reflector<T>>;

  template <class... T>
  using Watches = std::tuple<Watch<T>...>;

  template <class T>
  void Start();

  client::RestClient& client_;
  client::InformerMetrics& metrics_;
  uint64_t next_seed_;
  const Sink sink_;
  const api::KeepTexts keep_texts_;
  api::OptionalKindTypes::Into<Watches> watches_;
};

}  // namespace ks::daemon
