// SPDX-License-Identifier: Apache-2.0
#pragma once
// The profiles and extenders of the configuration in force, and those that another configuration
// replaced while pods that they decided are still on their way.
//
// Upstream: docs/spec/framework.md section 5.8; the exchange is ours (decision 0018).

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/decode/decoder.h"
#include "base/result.h"
#include "config/types.h"
#include "framework/extender_transport.h"
#include "framework/optional_kinds.h"
#include "framework/registry.h"
#include "framework/runtime/profiles.h"
#include "queue/scheduling_queue.h"
#include "scheduler/extenders/extender_set.h"

namespace ks::scheduler {

// The kinds whose whole objects extenders must be sent or plugins read: whoever feeds the scheduler
// must keep them.
struct WholeObjects {
  api::KeepRaw pods = api::KeepRaw::kNone;
  api::KeepRaw nodes = api::KeepRaw::kNone;
  bool operator==(const WholeObjects&) const = default;
};

// Threads: the scheduling thread. Lifetime: what it is made of outlives it.
class ProfilesInForce {
 public:
  struct Parts {
    const framework::Registry& registry;
    framework::HandleParts handle;
    framework::FrameworkMetrics* metrics = nullptr;  // null: nothing is measured
    const framework::PointWatch* watch = nullptr;    // null: nobody listens
    bool remember_verdicts = true;
    // Empty: extenders of a configuration are not asked.
    framework::ExtenderTransportFactory extender_transport{};
  };
  // Nothing is in force.
  explicit ProfilesInForce(Parts parts) : parts_(std::move(parts)) {}

  // What a configuration puts into force.
  struct Made {
    framework::Profiles profiles;
    std::shared_ptr<ExtenderSet> extenders;  // null: none
  };
  // Error: a profile cannot be built (`initializing profiles: …`), or else an extender.
  Result<Made> Make(const config::Configuration& configuration) const;
  // Puts it into force; what was before is retired.
  void Put(Made made);
  // Frees the retired profiles of which none `is_used`, and their extenders.
  void DropRetired(const std::function<bool(const framework::Framework&)>& is_used);

  const framework::Profiles& profiles() const { return current_.profiles; }
  const std::shared_ptr<ExtenderSet>& extenders() const { return current_.extenders; }
  // Empty: nothing was replaced last.
  const framework::Profiles& former_profiles() const;

  // The optional kinds that some plugin of some profile reads.
  const framework::OptionalKinds& needed_kinds() const { return needed_kinds_; }
  // The kinds whose whole objects extenders must be sent: whoever feeds the scheduler must keep
  // them (api::KeepRaw). If a Reload asks for more, pods that extenders manage wait for the next
  // full state of both kinds. Threads: the scheduling thread.
  WholeObjects NeededWholeObjects() const;
  // What the queue is told of the profiles, by scheduler name; until another is put into force.
  queue::ProfileHooksByName QueueHooks() const;
  // With the backoff times of `configuration`.
  queue::SchedulingQueue::Settings QueueSettings(const config::Configuration& configuration) const;

 private:
  const Parts parts_;
  // The plugins of retired profiles ask retired extenders, so those go last.
  std::vector<std::shared_ptr<ExtenderSet>> retired_extenders_;
  std::vector<framework::Profiles> retired_;
  Made current_;
  framework::OptionalKinds needed_kinds_;
};

}  // namespace ks::scheduler
