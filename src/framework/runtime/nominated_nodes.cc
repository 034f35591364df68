// SPDX-License-Identifier: Apache-2.0
#include "framework/runtime/nominated_nodes.h"

#include <string>
#include <string_view>

namespace ks::framework {

void NominatedSlots::Refresh(const Nominator& nominator, const Snapshot& snapshot) {
  const NominationLog& log = nominator.changes();
  if (!position_ || !log.Holds(*position_) || list_version_ != snapshot.changes().list_version() ||
      states_.size() != snapshot.slots()) {
    BeginAnew(nominator, snapshot);
    return;
  }
  for (; *position_ < log.end(); ++*position_) {
    const std::string& name = log.At(*position_);
    const NodeInfo* node = snapshot.Find(name);
    if (node == nullptr) continue;
    const bool none = nominator.NominatedPodsForNode(name).empty();
    states_[node->slot()] = none ? 0 : ++last_state_;
  }
}

void NominatedSlots::BeginAnew(const Nominator& nominator, const Snapshot& snapshot) {
  position_ = nominator.changes().end();
  list_version_ = snapshot.changes().list_version();
  states_.assign(snapshot.slots(), 0);
  nominator.ForEachNominatedNode([&](std::string_view name) {
    if (const NodeInfo* node = snapshot.Find(name)) states_[node->slot()] = ++last_state_;
  });
}

}  // namespace ks::framework
