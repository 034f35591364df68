// SPDX-License-Identifier: Apache-2.0
#pragma once
// DecisionRing: the last decisions of a scheduler, for operators: which pod, what came out, which
// nodes were best and why, or why none was. Not for counting (framework_metrics.h) and not for
// keeping (the decision log).
//
// Upstream: none; it has no such thing. Rule: recording costs an attempt less than 3 %, so it keeps
// what the attempt has computed anyway and formats nothing.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/pod.h"
#include "base/clock.h"
#include "framework/queued_pod.h"
#include "scheduler/algorithm/scheduling_algorithm.h"
#include "scheduler/extenders/extender_filtering.h"

namespace ks::scheduler {

enum class DecisionResult : uint8_t {
  kUnderWay,       // extenders are being asked
  kScheduled,      // a node was chosen; Permit, PreBind or Bind are not over
  kBound,          // the API server took the binding
  kUnschedulable,  // plugins said no
  kError,          // anything else went wrong before a node was chosen
  kBindingFailed,  // a node was chosen, and then a step up to the binding failed
};
// "UnderWay", "Scheduled", "Bound", "Unschedulable", "Error", "BindingFailed".
std::string_view DecisionResultText(DecisionResult result);

// The attempt of a group of pods, which the decisions of its members share.
struct GroupAttempt {
  std::string group;    // of the root: framework::PodGroupKey::Text
  int64_t attempt = 0;  // of this group, from 1
  // UnderWay, Scheduled (its members that found nodes are on their way), Unschedulable or Error.
  DecisionResult result = DecisionResult::kUnderWay;
  std::string message;  // of a failure: the text of the PodGroup's condition
};

// One attempt of one pod. Lifetime: like a value.
struct Decision {
  struct Node {
    std::string name;
    int64_t total = 0;
    std::vector<int64_t> weighted;  // by position in `scorers`; empty: not at hand
  };

  uint64_t number = 0;  // from 1, without gaps
  api::PodPtr pod;      // of one of more than 64 KB only its names and its scheduler's
  std::shared_ptr<const GroupAttempt> group;  // null: the pod was tried alone
  framework::NameSet unschedulable_plugins;
  framework::NameSet pending_plugins;
  int64_t attempt = 0;  // of this pod, from 1
  DecisionResult result = DecisionResult::kUnderWay;
  TimePoint begin{};
  Duration decided{};  // from begin to the choice or the failure
  Duration ended{};    // from begin to the end of the binding; 0: none, or not over
  size_t all_nodes = 0;
  size_t evaluated_nodes = 0;
  size_t feasible_nodes = 0;
  std::string node;                          // that was chosen
  std::string nominated;                     // by the failed attempt; empty: none
  std::string message;                       // of a failure: the text of the event
  std::vector<ExtenderFiltering> extenders;  // that filtered, in their order
  size_t best_count = 0;                     // entries of `best` that count
  std::vector<Node> best;                    // highest total first; empty when nothing was scored
  std::shared_ptr<const std::vector<std::string>> scorers;  // null: no scores by plugin
};

// Threads: the scheduling thread. Lifetime: the clock outlives it.
class DecisionRing {
 public:
  using Observer = std::function<void(const Decision& decision)>;

  static constexpr size_t kBestNodes = SearchSpace::kBestRanked;
  static constexpr Duration kByPluginPeriod = std::chrono::milliseconds(100);

  struct Options {
    size_t capacity = 0;  // 0: nothing is recorded, and every call returns at once
    Duration by_plugin_period = kByPluginPeriod;
    // Each may be empty. Told once of each decision: when it is complete, or its place is needed;
    // when it is made, before Permit and binding.
    Observer on_complete{};
    Observer on_decided{};
  };
  DecisionRing(Options options, const Clock& clock);

  size_t capacity() const { return slots_.size(); }
  // Number of the newest; 0: none yet.
  uint64_t newest() const { return next_ - 1; }

  // Returns the number that the other calls want; 0 when nothing is recorded. A number whose place
  // was taken by a newer decision is passed over by them. `group`: that the pod is tried with.
  uint64_t Begin(const framework::QueuedPod& queued,
                 std::shared_ptr<const GroupAttempt> group = nullptr);
  // Whether the attempt is to keep its scores by plugin (NodeScores::keep_details), which costs it
  // several times its usual time: for the first one of each tenth of a second that scores.
  bool WantsScoresByPlugin(uint64_t number);
  // What the nodes of a plain attempt scored; nothing when it chose without scoring.
  void Scored(uint64_t number, const SearchSpace& search);
  // What extenders answered when they were last asked to filter.
  void Filtered(uint64_t number, const std::vector<ExtenderFiltering>& extenders);
  void Chosen(uint64_t number, const ScheduleResult& result, size_t all_nodes);
  void Bound(uint64_t number);
  struct Failure {
    bool rejected = false;  // by plugins
    std::string_view message{};
    std::string_view nominated{};
    size_t all_nodes = 0;
    size_t evaluated_nodes = 0;
    framework::NameSet unschedulable_plugins{};
    framework::NameSet pending_plugins{};
  };
  void Failed(uint64_t number, const Failure& failure);

  // Newest first, as many as there are; those for which `wanted` (may be empty: all) is true. The
  // members of one attempt of a group count as one.
  std::vector<Decision> Newest(size_t limit,
                               const std::function<bool(const Decision&)>& wanted = {}) const;

 private:
  Decision* At(uint64_t number);
  static void Ranked(const std::vector<SearchSpace::Ranked>& best, Decision* decision);
  void Decided(const Decision& decision) {
    if (options_.on_decided) options_.on_decided(decision);
  }
  void Complete(const Decision& decision) {
    if (options_.on_complete) options_.on_complete(decision);
  }

  const Clock& clock_;
  const Options options_;
  std::vector<Decision> slots_;  // number n is in slots_[(n - 1) % capacity]
  uint64_t next_ = 1;
  std::optional<TimePoint> last_by_plugin_;
  // What the last decision with scores by plugin had: nearly always the next one's, too.
  std::shared_ptr<const std::vector<std::string>> scorers_;
};

}  // namespace ks::scheduler
