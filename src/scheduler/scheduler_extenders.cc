// SPDX-License-Identifier: Apache-2.0
// The scheduler's side of extenders: which are in force, and pods that they manage.

#include <utility>

#include "base/logging.h"
#include "scheduler/scheduler.h"

namespace ks::scheduler {

Result<std::shared_ptr<ExtenderSet>> Scheduler::MakeExtenders(
    const config::Configuration& configuration) {
  if (configuration.extenders.empty() || !options_.extender_transport) {
    return std::shared_ptr<ExtenderSet>();
  }
  auto transport = options_.extender_transport(configuration.extenders);
  if (!transport.ok()) return transport.error();
  return std::make_shared<ExtenderSet>(configuration.extenders, std::move(transport).value());
}

Scheduler::WholeObjects Scheduler::NeededWholeObjects() const {
  if (extenders_ == nullptr) return {};
  WholeObjects needed{.pods = extenders_->PodsNeeded(), .nodes = extenders_->NodesNeeded()};
  // They may be asked about pods that run, too.
  if (context_->queues_resizes && needed.pods == api::KeepRaw::kPendingPods) {
    needed.pods = api::KeepRaw::kAll;
  }
  return needed;
}

void Scheduler::UseExtenders(std::shared_ptr<ExtenderSet> extenders) {
  const WholeObjects before = NeededWholeObjects();
  if (extenders_ != nullptr && extenders_ != extenders) retired_extenders_.push_back(extenders_);
  const bool at_start = extenders_ == extenders;
  extenders_ = std::move(extenders);
  extender_attempts_->Use(extenders_.get());
  algorithm_.set_extenders_choose(extenders_ != nullptr && extenders_->Chooses());
  if (at_start) return;
  const WholeObjects now = NeededWholeObjects();
  // Whoever feeds the scheduler lists both kinds again when either needs more or less.
  if (now.pods > before.pods) whole_pods_missing_ = true;
  if (now.nodes > before.nodes) whole_nodes_missing_ = true;
  extender_attempts_->set_objects_missing(whole_pods_missing_ || whole_nodes_missing_);
}

}  // namespace ks::scheduler
