// SPDX-License-Identifier: Apache-2.0
#include "daemon/take_over.h"

#include <utility>

#include "base/canary.h"
#include "base/logging.h"

namespace ks::daemon {

void TakeOver::Begin() {
  if (options_.acquire_lease && options_.delay_cache) {
    options_.acquire_lease();
  } else {
    term_.Open();
  }
}

void TakeOver::Follow(const LifeEvent& event) {
  if (event.term != term_.number()) return;
  switch (event.kind) {
    case LifeEvent::Kind::kSynced:
      return Synced();
    case LifeEvent::Kind::kWon:
      return Won();
    case LifeEvent::Kind::kVersionKnown:
      return VersionKnown(event.of, event.text);
    case LifeEvent::Kind::kVersionUnknown:
      log::Error(event.text, "Cannot ask how far the former leader came; asking again",
                 {{"kind", std::string(KindOf(event.of).plural)}});
      return term_.AskVersionLater(event.of);
    case LifeEvent::Kind::kAskAgain:
      return term_.AskVersion(event.of);
    case LifeEvent::Kind::kCatchUpSlow:
      if (behind_.contains(event.of)) term_.CatchUpByList(event.of);
      return;
    case LifeEvent::Kind::kCaughtUp:
      return CaughtUp(event.of);
    default:
      return;
  }
}

void TakeOver::Synced() {
  synced_ = true;
  if (!options_.acquire_lease) return;
  if (!won_) return options_.acquire_lease();
  log::Info(0, "Sync completed");
  AskVersions();
}

void TakeOver::Won() {
  won_ = true;
  if (synced_) return AskVersions();
  if (term_.opened()) return;
  log::Info(0, "Starting informers and waiting for sync...");
  term_.Open();
}

void TakeOver::AskVersions() {
  for (const Inherited what : term_.Inherits()) behind_.insert(what);
  for (const Inherited what : behind_) term_.AskVersion(what);
}

void TakeOver::VersionKnown(Inherited what, const std::string& version) {
  if (KS_CANARY(LeadsBeforeCaughtUp)) return CaughtUp(what);
  if (KS_CANARY(LeadsBeforeClaimsCaughtUp) && what == Inherited::kClaims) return CaughtUp(what);
  term_.CatchUp(what, KS_CANARY(CatchesUpToWrongVersion) ? "1" : version);
}

void TakeOver::CaughtUp(Inherited what) {
  behind_.erase(what);
  if (!behind_.empty() || std::exchange(leads_, true)) return;
  log::Info(0, "Leading: the bindings of the former leader are known");
  term_.Lead();
}

}  // namespace ks::daemon
