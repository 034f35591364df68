// SPDX-License-Identifier: Apache-2.0
#pragma once
// The streams that feed a scheduler: pods, nodes, and the kinds that its plugins read. They follow
// what a reload needs, and say when what they told of pods or claims is as new as somebody wants
// it.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "client/watch/reflector.h"
#include "daemon/life_events.h"
#include "daemon/optional_informers.h"
#include "scheduler/scheduler.h"

namespace ks::daemon {

// Hears what the API server tells before the scheduler does. Threads: client threads, one at a time
// a kind.
class DeltaObserver {
 public:
  virtual ~DeltaObserver() = default;
  virtual void OnDeltas(const scheduler::PodDeltas& deltas) = 0;
  virtual void OnDeltas(const scheduler::NodeDeltas& deltas) = 0;
  virtual void OnDeltas(const scheduler::OwnerDeltas& deltas) = 0;
  virtual void OnDeltas(const scheduler::StorageDeltas& deltas) = 0;
  virtual void OnDeltas(const scheduler::DeviceDeltas& deltas) = 0;
  virtual void OnDeltas(const scheduler::GroupDeltas& deltas) = 0;
};

// Started when made, ended when destroyed. Threads: one at a time; not a client thread.
// Lifetime: client, scheduler, metrics and observer outlive it.
class Feeds {
 public:
  // What a configuration needs.
  struct Needs {
    framework::OptionalKinds kinds;
    scheduler::WholeObjects objects;
  };

  Feeds(client::RestClient& client, scheduler::Scheduler& scheduler,
        client::InformerMetrics& metrics, uint64_t seed, DeltaObserver* observer = nullptr);

  // Starts what is needed beyond the present, and lists again if extenders need other objects whole
  // than before.
  void Ensure(const Needs& needs);
  // Ends the streams; the scheduler gets nothing any more.
  void Stop();

  bool Watches(Inherited what) const;
  // client::Reflector's; a stream that Ensure replaces hands the wish on. Requires: watched.
  void WhenReached(Inherited what, std::string resource_version, std::function<void()> reached);
  // Not older than what was wished for last.
  void ListAgain(Inherited what);

 private:
  using Wish = std::pair<std::string, std::function<void()>>;

  void Open();
  void Close();
  // Calls it with the reflector.
  template <class Action>
  void WithStream(Inherited what, Action action);
  // Null: the kind is not watched.
  template <class T>
  client::Reflector<T>* StreamOf() const;
  // The stream of pods or nodes; it is not started yet. `options`: what is special about it.
  template <class T>
  std::unique_ptr<client::Reflector<T>> MakeReflector(client::ReflectorOptions options);
  // To the observer, if any, and then to the scheduler.
  template <class Deltas>
  void Deliver(Deltas deltas, client::InformerSeries& series);

  client::RestClient& client_;
  scheduler::Scheduler& scheduler_;
  client::InformerMetrics& metrics_;
  const uint64_t seed_;
  DeltaObserver* const observer_;
  scheduler::WholeObjects objects_;
  std::map<Inherited, Wish> wishes_;  // the last of each
  std::unique_ptr<client::Reflector<api::Node>> nodes_;
  std::unique_ptr<client::Reflector<api::Pod>> pods_;
  OptionalInformers optional_;
};

}  // namespace ks::daemon
