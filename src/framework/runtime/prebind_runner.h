// SPDX-License-Identifier: Apache-2.0
#pragma once
// PreBindRunner: takes one pod through the PreBind plugins. Groups run one after the other, the
// members of a group at the same time, and no wait holds a thread: API calls report back,
// conditions are asked when the state of the cluster changed.
//
// Upstream: docs/spec/framework.md section 3.9, docs/spec/cycle.md section 15 (steps 5 and 6).

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "framework/metrics/point_observer.h"
#include "framework/plugin.h"
#include "framework/runtime/binding_points.h"

namespace ks::framework {

// Where the steps run. Lifetime: outlives the runners and every operation they started.
struct PreBindEnvironment {
  using Task = std::function<void()>;

  ApiWriter* api = nullptr;
  // Runs a task on the scheduling thread, later. Threads: any.
  std::function<void(Task)> post_to_scheduling_thread;
  // Runs a task that may block, on a bounded set of threads of its own.
  std::function<void(Task)> run_blocking;
};

// The pod a runner works for. `state` outlives the runner and must not be given back before `done`
// was called.
struct PreBindRequest {
  CycleState* state = nullptr;
  api::PodPtr pod;
  std::string node_name;
  CallSampler sampler = {};           // measures the plugins, from the first step to the last
  PointObserver* observer = nullptr;  // hears of the plugins, too, and outlives the runner; or null
  // What the runner waits for may be something else now, after a posted task. May be null.
  std::function<void()> wait_changed = nullptr;
};

// What pending conditions wait for.
struct PreBindWait {
  std::optional<TimePoint> deadline;  // the earliest
  bool for_any_change = false;        // of the cluster state
  std::vector<ObjectChange> objects;  // for a change of one of these
};

// After a failure or a cancellation nothing new is started, but the runner waits for API calls and
// blocking functions under way before it reports, so that Unreserve never overtakes them.
//
// Threads: the scheduling thread. Lifetime: may be destroyed at any time, also from inside `done`;
// results that arrive later are dropped.
class PreBindRunner {
 public:
  // Success, or the failure as the framework reports it (BindingPoints::PreBindFailure). Called
  // once, from Poll or from a posted task, never from inside Start or Cancel.
  using Done = std::function<void(Status)>;

  // `groups`: BindingPoints::PreBindGroups. The plugins outlive the runner.
  PreBindRunner(std::vector<std::vector<BindingPoints::PreBindMember>> groups,
                PreBindRequest request, const PreBindEnvironment& environment, Done done);
  ~PreBindRunner();
  PreBindRunner(const PreBindRunner&) = delete;
  PreBindRunner& operator=(const PreBindRunner&) = delete;

  // Call once. The result when nothing had to be waited for (`done` is then never called); absent
  // when `done` will tell.
  std::optional<Status> Start();
  // Asks the pending conditions; a condition without verdict whose deadline is not after `now` gets
  // the timeout status. Call when something of Wait has come.
  void Poll(TimePoint now);
  // As it stands after Start, Poll and Cancel, and after each call of PreBindRequest::wait_changed.
  PreBindWait Wait() const;
  // Gives the pod up. A plugin that waits obeys at once: `running PreBind plugin "<the first such
  // one>": <cause>`. Only blocking functions under way: a failure of theirs is the result, with the
  // cause in place of the text `context canceled`; if all succeed, the bare cause. False when the
  // result is known already (finished, failed or canceled before).
  bool Cancel(std::string_view cause);
  // Plugins of the current group that have not finished, in order. For dumps and explain.
  std::vector<std::string_view> Unfinished() const;
  bool finished() const;

 private:
  class Run;
  std::shared_ptr<Run> run_;
};

}  // namespace ks::framework
