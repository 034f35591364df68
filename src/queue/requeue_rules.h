// SPDX-License-Identifier: Apache-2.0
#pragma once
// RequeueRules: whether a cluster event is worth another attempt of a rejected pod.
//
// Upstream: docs/spec/queue.md section 8.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "base/clock.h"
#include "base/string_map.h"
#include "base/symbol.h"
#include "framework/events.h"
#include "framework/pod_group_state.h"
#include "framework/queued_pod.h"
#include "queue/parked_pods.h"
#include "queue/profile_hooks.h"

namespace ks::queue {

// The numbers are what logs print.
enum class Strategy : uint8_t { kSkip = 0, kAfterBackoff = 1, kImmediately = 2 };

// One run of a hint: plugin, event, "Queue", "QueueSkip" or "Error", its time.
using HintObserver =
    std::function<void(std::string_view plugin, const framework::ClusterEvent& event,
                       std::string_view hint, Duration took)>;

// A decision, and the plugin whose hint brought it about (empty: none did).
struct Answer {
  Strategy strategy = Strategy::kSkip;
  Symbol plugin{};
};

// A cluster event with its objects.
struct EventWithObjects {
  const framework::ClusterEvent& event;
  const framework::EventObject& old_object;
  const framework::EventObject& new_object;
};

// Labels of a node changed, and every hint to ask says which it reads.
struct LabelChange {
  LabelReaders readers;
  std::vector<api::LabelMap::Entry> labels;  // as they are now; empty: or removed
};

// Threads: one at a time.
class RequeueRules {
 public:
  class Inquiry;

  // Bit sets over plugins; a plugin that nobody registered shares the last bit with others.
  static constexpr uint64_t kAllPlugins = ~uint64_t{0};

  // By scheduler name. `clock` is asked only when there is an observer. `groups`: null without
  // groups; outlives the rules.
  RequeueRules(const ProfileHooksByName& profiles, const Clock& clock, HintObserver observer,
               const framework::PodGroupStates* groups = nullptr);
  ~RequeueRules();
  RequeueRules(RequeueRules&&) noexcept;
  RequeueRules& operator=(RequeueRules&&) noexcept;

  // Whether the event is a wildcard or any profile registered a matching one.
  bool IsInteresting(const framework::ClusterEvent& event);
  // Plugins, of any profile, that registered a matching event; kAllPlugins for a wildcard. The
  // decision for a pod whose PluginsOf has none of them is Skip.
  uint64_t PluginsFor(const framework::ClusterEvent& event);
  // The rejecting plugins of an entity; kAllPlugins when it has none (every event moves it).
  uint64_t PluginsOf(const framework::QueuedEntity& entity) const;
  // Whether a pod held by the plugin at PreEnqueue is looked at for this event.
  bool OpensGate(std::string_view gating_plugin, const framework::ClusterEvent& event) const;

  // The decision for one pod and one event; the first rule that applies.
  Strategy Decide(const framework::QueuedPod& pod, const framework::ClusterEvent& event,
                  const framework::EventObject& old_object,
                  const framework::EventObject& new_object) {
    return DecideWhy(pod, event, old_object, new_object).strategy;
  }
  // The same, with the plugin.
  Answer DecideWhy(const framework::QueuedPod& pod, const framework::ClusterEvent& event,
                   const framework::EventObject& old_object,
                   const framework::EventObject& new_object);
  // Prepares the decision for pods with these rejecting plugins, of which there is at least one.
  // Requires: no wildcard event; a profile of the scheduler name (HasProfile).
  Inquiry Inquire(const Rejection& rejection, const EventWithObjects& event);
  bool HasProfile(const Symbol& scheduler_name) const {
    return FindProfile(scheduler_name) != nullptr;
  }

  // Hints that ran so far.
  int64_t hint_runs() const { return hint_runs_; }

 private:
  struct Hint;
  struct Matched;
  struct Profile;

  const Matched& MatchedBy(const framework::ClusterEvent& event);
  uint64_t BitOf(std::string_view plugin) const;
  const Profile* FindProfile(const Symbol& scheduler_name) const;
  bool SaysQueue(const Hint& hint, const api::Pod& pod, const EventWithObjects& event);
  std::optional<std::string> TreeOf(const EventWithObjects& event) const;

  const Clock* clock_;
  const framework::PodGroupStates* groups_;
  HintObserver observer_;
  StringMap<uint64_t> bits_;       // plugin -> its bit
  std::vector<Profile> profiles_;  // few
  std::map<std::string, std::vector<framework::ClusterEvent>, std::less<>> events_of_;  // by plugin
  absl::flat_hash_map<uint64_t, std::unique_ptr<Matched>> matched_;  // by resource and actions
  int64_t hint_runs_ = 0;
};

// The hints to ask about one event and the pods of one group, by what they look at. A pod is
// decided by AskSpec, then AskLabels with its answer, then AskPod with that one; each answer holds
// for all pods that agree in the spec, in the labels and the namespace too, and for that pod alone.
class RequeueRules::Inquiry {
 public:
  const framework::ClusterEvent& event() const { return event_.event; }

  Answer AskSpec(const api::Pod& pod) const { return Ask(of_spec_, pod, {}); }
  Answer AskLabels(const api::Pod& pod, const Answer& so_far) const {
    return Ask(of_labels_, pod, so_far);
  }
  Answer AskPod(const api::Pod& pod, const Answer& so_far) const {
    return Ask(of_pod_, pod, so_far);
  }

  // Whether later answers can change the decision: no hint is left that could.
  bool SettledBySpec(const Answer& so_far) const {
    return IsBest(so_far.strategy) || (of_labels_.empty() && of_pod_.empty());
  }
  bool SettledByLabels(const Answer& so_far) const {
    return IsBest(so_far.strategy) || of_pod_.empty();
  }
  // Not null: the decision is Skip for pods that do not use this claim, or are not of this tree of
  // groups (ParkedPods::UsersOf).
  const std::string* claim() const { return claim_ ? &*claim_ : nullptr; }
  // Not null: the decision is Skip for pods of which no reader reads one of the keys.
  const LabelChange* label_change() const { return label_change_ ? &*label_change_ : nullptr; }
  // The answer is the same for all pods of that tree.
  bool of_tree() const { return of_tree_; }

 private:
  friend class RequeueRules;

  struct Question {
    const Hint* hint;
    bool pending;
  };
  using Questions = absl::InlinedVector<Question, 4>;

  Inquiry(RequeueRules& rules, const EventWithObjects& event, bool any_pending)
      : rules_(rules), event_(event), any_pending_(any_pending) {}
  Questions& QuestionsOf(framework::HintScope scope);
  Answer Ask(const Questions& questions, const api::Pod& pod, Answer so_far) const;
  bool IsBest(Strategy strategy) const {
    return strategy == Strategy::kImmediately ||
           (strategy == Strategy::kAfterBackoff && !any_pending_);
  }

  RequeueRules& rules_;
  EventWithObjects event_;
  bool any_pending_;
  Questions of_spec_;
  Questions of_labels_;
  Questions of_pod_;
  std::optional<std::string> claim_;
  std::optional<LabelChange> label_change_;
  bool of_tree_ = false;
};

}  // namespace ks::queue
