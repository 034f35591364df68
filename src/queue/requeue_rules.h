// SPDX-License-Identifier: Apache-2.0
#pragma once
// RequeueRules: whether a cluster event is worth another attempt of a rejected pod.
//
// Upstream: docs/spec/queue.md section 8.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/clock.h"
#include "base/string_map.h"
#include "framework/events.h"
#include "framework/queued_pod.h"
#include "queue/profile_hooks.h"

namespace ks::queue {

// The numbers are what logs print.
enum class Strategy : uint8_t { kSkip = 0, kAfterBackoff = 1, kImmediately = 2 };

// One run of a hint: plugin, label of the event, "Queue", "QueueSkip" or "Error", its time.
using HintObserver = std::function<void(std::string_view plugin, std::string_view event,
                                        std::string_view hint, Duration took)>;

// Threads: one at a time.
class RequeueRules {
 public:
  // Bit sets over plugins; a plugin that nobody registered shares the last bit with others.
  static constexpr uint64_t kAllPlugins = ~uint64_t{0};

  // By scheduler name. `clock` is asked only when there is an observer.
  RequeueRules(const std::map<std::string, ProfileHooks>& profiles, const Clock& clock,
               HintObserver observer);
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
  bool OpensGate(const std::string& gating_plugin, const framework::ClusterEvent& event) const;

  // The decision for one pod and one event; the first rule that applies.
  Strategy Decide(const framework::QueuedPod& pod, const framework::ClusterEvent& event,
                  const framework::EventObject& old_object,
                  const framework::EventObject& new_object);

 private:
  struct Hint;
  struct Matched;
  struct Profile;
  struct Objects;

  const Matched& MatchedBy(const framework::ClusterEvent& event);
  uint64_t BitOf(std::string_view plugin) const;
  const Profile* FindProfile(Symbol scheduler_name) const;
  Strategy RunHints(const std::vector<Hint>& hints, const framework::QueuedPod& pod,
                    const framework::ClusterEvent& event, const Objects& objects) const;
  bool SaysQueue(const Hint& hint, const framework::QueuedPod& pod,
                 const framework::ClusterEvent& event, const Objects& objects) const;

  const Clock* clock_;
  HintObserver observer_;
  StringMap<uint64_t> bits_;       // plugin -> its bit
  std::vector<Profile> profiles_;  // few
  std::map<std::string, std::vector<framework::ClusterEvent>, std::less<>> events_of_;  // by plugin
  absl::flat_hash_map<uint64_t, std::unique_ptr<Matched>> matched_;  // by resource and actions
};

}  // namespace ks::queue
