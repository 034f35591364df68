// SPDX-License-Identifier: Apache-2.0
#pragma once
// THE contract: what a scheduling plugin can do. A plugin derives from Plugin and from the
// interfaces of the points it takes part in; the runtime finds them once at start and keeps one
// flat list per point.
//
// Unless said otherwise: methods run on the scheduling thread inside one attempt; a status without
// plugin name is stamped by the runtime; nothing blocks; references are valid for the call only.
//
// Upstream: docs/spec/framework.md sections 2 and 3 (codes each point may return and what the
// runtime does with them).

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/pod.h"
#include "base/clock.h"
#include "base/result.h"
#include "framework/api_writer.h"
#include "framework/cycle_state.h"
#include "framework/diagnosis.h"
#include "framework/events.h"
#include "framework/queued_pod.h"
#include "framework/sign_plugin.h"
#include "framework/snapshot.h"
#include "framework/status.h"
#include "framework/storage_state.h"

namespace ks::framework {

class Plugin {
 public:
  virtual ~Plugin() = default;
  // The name in the configuration; static text.
  virtual std::string_view Name() const = 0;
};

// What PreEnqueue's answer for a pod can change with while the pod itself does not.
enum class GateScope : uint8_t {
  kAny,
  kPodGroup,  // is the same for all members of a tree of pod groups that it is asked about
  kPod,       // nothing
};

// Gates a pod before it may enter the active or backoff queue. Any non-success gates.
class PreEnqueuePlugin {
 public:
  virtual ~PreEnqueuePlugin() = default;
  virtual Status PreEnqueue(const api::Pod& pod) = 0;
  // Of members whose answers cannot change one by one, the queue asks one for all.
  virtual GateScope ScopeOf(const api::Pod& /*pod*/) const { return GateScope::kAny; }
};

// Orders the active queue. Exactly one, the same in all profiles.
class QueueSortPlugin {
 public:
  virtual ~QueueSortPlugin() = default;
  // `a` is scheduled before `b`. A strict weak order.
  virtual bool Less(const QueuedEntity& a, const QueuedEntity& b) const = 0;
};

struct PreFilterResult {
  Status status;                               // Success, Skip, U, UU or Error
  std::optional<std::set<std::string>> nodes;  // absent: all nodes
};

class PreFilterPlugin {
 public:
  virtual ~PreFilterPlugin() = default;
  // Computes what Filter needs and stores it in `state`. Skip turns off this plugin's Filter and
  // hooks for the cycle.
  virtual PreFilterResult PreFilter(CycleState& state, const api::Pod& pod,
                                    const Snapshot& snapshot) = 0;
};

// Hooks of PreFilter plugins that keep counts: called when the framework simulates a pod joining or
// leaving a node. They change `state` only, may be called several times and on clones.
class PreFilterExtensions {
 public:
  virtual ~PreFilterExtensions() = default;
  virtual Status AddPod(CycleState& state, const api::Pod& pod, const PodInfo& pod_to_add,
                        const NodeInfo& node) const = 0;
  virtual Status RemovePod(CycleState& state, const api::Pod& pod, const PodInfo& pod_to_remove,
                           const NodeInfo& node) const = 0;
};

class FilterPlugin {
 public:
  virtual ~FilterPlugin() = default;
  // Success, U, UU, Pending or Error. Threads: workers call it at the same time for different
  // nodes. Formats nothing: rejections are shared constants wherever possible.
  virtual Status Filter(const CycleState& state, const api::Pod& pod,
                        const NodeInfo& node) const = 0;
};

// An instruction about the pod's nomination. Absent means Noop.
struct NominatingInfo {
  std::string node_name;  // empty clears
};

struct PostFilterResult {
  // Success, U, UU, Pending or Error; Wait: extenders are asked (CycleState::preemption_inquiry),
  // and all PostFilter plugins of the attempt are run again when they have answered.
  Status status;
  std::optional<NominatingInfo> nomination;
  std::string message = {};  // of Success
};

class PostFilterPlugin {
 public:
  virtual ~PostFilterPlugin() = default;
  // Called when no node is left. `statuses` is indexed by node, size = snapshot nodes.
  virtual PostFilterResult PostFilter(CycleState& state, const api::PodPtr& pod,
                                      const NodeStatuses& statuses) = 0;
  // A pod left the node `freed`, and what it left is too little for `pod`, which lacks room and
  // nothing else. True: an attempt would find no more than that, because PostFilter would do
  // nothing until another event, or PreEnqueue would hold the pod. Between attempts.
  virtual bool IsIdle(const api::Pod& /*pod*/, std::string_view /*freed*/) { return false; }
};

class PreScorePlugin {
 public:
  virtual ~PreScorePlugin() = default;
  // Success, Skip (turns off this plugin's Score for the cycle) or Error.
  virtual Status PreScore(CycleState& state, const api::Pod& pod,
                          std::span<const NodeInfo* const> nodes) = 0;
  // False: for this pod it does not look at `nodes`, so that it may be called without them, once
  // more. Asked after PreFilter.
  virtual bool ReadsNodes(const api::Pod& /*pod*/) const { return true; }
};

inline constexpr int64_t kMaxNodeScore = 100;
inline constexpr int64_t kMinNodeScore = 0;

class ScorePlugin {
 public:
  virtual ~ScorePlugin() = default;
  // Sets *score; [0, 100] unless the plugin normalizes. Threads: as Filter.
  virtual Status Score(const CycleState& state, const api::Pod& pod, const NodeInfo& node,
                       int64_t* score) const = 0;
  // Whether every node gets 0 in this attempt, normalized, too, so that nobody needs to ask.
  virtual bool ScoresNothing(const CycleState& state) const {
    (void)state;
    return false;
  }
};

class ScoreNormalizer {
 public:
  virtual ~ScoreNormalizer() = default;
  // Changes the plugin's raw scores in place to [0, 100]. `scores[i]` belongs to `nodes[i]`.
  virtual Status NormalizeScore(const CycleState& state, const api::Pod& pod,
                                std::span<const NodeInfo* const> nodes,
                                std::span<int64_t> scores) const = 0;
  // True: what a score becomes follows from itself and the highest one, which is at least 0.
  virtual bool ScalesToHighest() const { return false; }
};

// A Score plugin whose way of scoring another plugin offers, too, under another name. Two of one
// method in one profile would count it twice, so that such a profile is refused.
class ScoreMethod {
 public:
  virtual ~ScoreMethod() = default;
  // Static text.
  virtual std::string_view MethodName() const = 0;
};

// Marks a plugin whose Filter verdict and raw score of a node follow from the pod's spec, the node
// as its NodeInfo shows it, and the number of nodes, and from nothing else: the runtime remembers
// them until the node changes. The same holds for whether its PreFilter and PreScore say Skip; the
// latter does not look at its nodes.
class NodeLocalPlugin {
 public:
  virtual ~NodeLocalPlugin() = default;
  // What else it reads, as a number that changes when that changed; 0: nothing.
  virtual uint64_t OutsideVersion() const { return 0; }
};

class ReservePlugin {
 public:
  virtual ~ReservePlugin() = default;
  virtual Status Reserve(CycleState& state, const api::PodPtr& pod,
                         const std::string& node_name) = 0;
  // Idempotent; also called when Reserve was not reached.
  virtual void Unreserve(CycleState& state, const api::PodPtr& pod,
                         const std::string& node_name) = 0;
};

struct PermitResult {
  Status status;       // Success, Wait, rejected or Error
  Duration timeout{};  // Wait only; cut to 15 minutes
};

class PermitPlugin {
 public:
  virtual ~PermitPlugin() = default;
  virtual PermitResult Permit(CycleState& state, const api::PodPtr& pod,
                              const std::string& node_name) = 0;
};

// What a PreBind plugin wants next. The scheduling thread drives the sequence, so that no wait
// holds a thread: make `calls` (all at once; they run off the thread), then wait until `condition`
// gives a verdict, then ask Next again.
struct PreBindStep {
  using Call = std::function<void(ApiWriter& api, ApiWriter::Done done)>;

  bool finished = false;  // `status` is the plugin's result; the rest is ignored
  Status status;
  std::vector<Call> calls;
  // Asked on the scheduling thread after the calls and then after each change of the cluster state:
  // absent means not yet.
  std::function<std::optional<Status>()> condition;
  // The storage objects whose changes concern the condition; asked whenever that has said "not
  // yet". Where it is set, the condition may be left alone until one of them changes or the
  // deadline comes: with thousands of pods in PreBind, most changes concern none of them.
  std::function<std::vector<ObjectChange>()> concerned_by;
  std::optional<TimePoint>
      deadline;  // of the condition; passing it ends the wait with a rejection of `timeout_status`
  Status timeout_status;
  // Instead of calls and condition: a function that simply blocks. It runs on a thread of its own,
  // bounded and named in metrics.
  std::function<Status()> blocking;
};

class PreBindSequence {
 public:
  virtual ~PreBindSequence() = default;
  // Called first with success, then with the outcome of the step before (the first failed call, or
  // the condition's verdict).
  virtual PreBindStep Next(const Status& previous) = 0;
  // The pod was given up while a step ran. No Next follows.
  virtual void Cancel(std::string_view cause) { (void)cause; }
};

struct PreBindPreFlightResult {
  Status status;  // Success: will work; Skip: nothing to do; Error
  bool allow_parallel = false;
};

class PreBindPlugin {
 public:
  virtual ~PreBindPlugin() = default;
  virtual PreBindPreFlightResult PreBindPreFlight(CycleState& state, const api::PodPtr& pod,
                                                  const std::string& node_name) = 0;
  // Never null.
  virtual std::unique_ptr<PreBindSequence> PreBind(CycleState& state, const api::PodPtr& pod,
                                                   const std::string& node_name) = 0;
};

class BindPlugin {
 public:
  // Called exactly once if Bind returned Success; from any thread, never from inside Bind.
  using Done = std::function<void(Status)>;

  virtual ~BindPlugin() = default;
  // Success: the binding was started and `done` will tell. Skip: not mine. Anything else: failed at
  // once.
  virtual Status Bind(CycleState& state, const api::PodPtr& pod, const std::string& node_name,
                      Done done) = 0;
};

class PostBindPlugin {
 public:
  virtual ~PostBindPlugin() = default;
  virtual void PostBind(CycleState& state, const api::PodPtr& pod,
                        const std::string& node_name) = 0;
};

// Which events may make a pod schedulable that this plugin rejected. A plugin without it gets
// DefaultEventRegistrations(); an empty list means that no event brings its pods back.
class EnqueueExtensions {
 public:
  virtual ~EnqueueExtensions() = default;
  // Asked once, after construction.
  virtual std::vector<EventRegistration> EventsToRegister() const = 0;
};

// A plugin that holds something to give back: called once, when its profile is retired or the
// scheduler ends. Nothing of the plugin is called afterwards.
class Closer {
 public:
  virtual ~Closer() = default;
  virtual Result<void> Close() = 0;
};

}  // namespace ks::framework
