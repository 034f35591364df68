// SPDX-License-Identifier: Apache-2.0
#pragma once
// From a standby to a leader that knows what the former one did: the steps of one term, each begun
// by the event that ends the one before. The daemon and the simulation run the same.
//
//   filling ──kSynced──► standing ──kWon──► asking ──kVersionKnown──► catching up ──kCaughtUp──►
//   leading
//      ▲                                     │  ▲                          │  ▲
//      └─(delayed: opened only when won)     └──┘ kVersionUnknown          └──┘ kCatchUpSlow: list
//
// Asking and catching up go on for pods and, where they are read, for claims and PodGroups at once;
// it leads when it is as far with each: a binding takes room, an allocation takes devices, and a
// group's condition says that it was scheduled once.
//
// Without leader election a term leads from the beginning, and nothing of this happens.
//
// Upstream: docs/spec/operations.md sections 6.1 and 12.1; docs/decisions/0035 and 0047.

#include <functional>
#include <set>
#include <string>
#include <utility>

#include "daemon/life_events.h"
#include "daemon/scheduler_term.h"

namespace ks::daemon {

struct TakeOverOptions {
  // Begins to acquire the lease for the term. Empty: there is no election.
  std::function<void()> acquire_lease{};
  // The caches are filled only once the lease is won (delayCacheUntilActive).
  bool delay_cache = false;
};

// Threads: one, the term's. Lifetime: the term outlives it.
class TakeOver {
 public:
  TakeOver(SchedulerTerm& term, TakeOverOptions options)
      : term_(term), options_(std::move(options)) {}

  // Once, and first.
  void Begin();
  // Events of other terms, and those that are none of its steps, are passed over.
  void Follow(const LifeEvent& event);

  bool leads() const { return leads_; }

 private:
  void Synced();
  void Won();
  void AskVersions();
  void VersionKnown(Inherited what, const std::string& version);
  void CaughtUp(Inherited what);

  SchedulerTerm& term_;
  const TakeOverOptions options_;
  bool synced_ = false;  // the term's caches
  bool won_ = false;     // the term's lease
  std::set<Inherited> behind_;
  bool leads_ = false;
};

}  // namespace ks::daemon
