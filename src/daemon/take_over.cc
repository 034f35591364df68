// SPDX-License-Identifier: Apache-2.0
#include "daemon/take_over.h"

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
      return VersionKnown(event.text);
    case LifeEvent::Kind::kVersionUnknown:
      log::Error(event.text, "Cannot ask how far the pods are; asking again");
      return term_.AskVersionLater();
    case LifeEvent::Kind::kCatchUpSlow:
      if (!leads_) term_.CatchUpByList();
      return;
    case LifeEvent::Kind::kCaughtUp:
      return CaughtUp();
    default:
      return;
  }
}

void TakeOver::Synced() {
  synced_ = true;
  if (!options_.acquire_lease) return;
  if (!won_) return options_.acquire_lease();
  log::Info(0, "Sync completed");
  term_.AskVersion();
}

void TakeOver::Won() {
  won_ = true;
  if (synced_) return term_.AskVersion();
  if (term_.opened()) return;
  log::Info(0, "Starting informers and waiting for sync...");
  term_.Open();
}

void TakeOver::VersionKnown(const std::string& version) {
  if (KS_CANARY(LeadsBeforeCaughtUp)) return CaughtUp();
  term_.CatchUp(KS_CANARY(CatchesUpToWrongVersion) ? "1" : version);
}

void TakeOver::CaughtUp() {
  leads_ = true;
  log::Info(0, "Leading: the bindings of the former leader are known");
  term_.Lead();
}

}  // namespace ks::daemon
