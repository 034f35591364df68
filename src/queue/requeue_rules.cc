// SPDX-License-Identifier: Apache-2.0
#include "queue/requeue_rules.h"

#include <algorithm>
#include <utility>

#include "base/logging.h"

namespace ks::queue {
namespace {

using framework::ClusterEvent;
using framework::EventObject;
using framework::QueuedPod;

constexpr size_t kSharedBit = 63;

bool HasObject(const EventObject& object) {
  return !std::holds_alternative<std::monostate>(object);
}

// "namespace/name" for logs.
std::string ObjectText(const EventObject& object) {
  if (const auto* pod = std::get_if<api::PodPtr>(&object)) return (*pod)->meta.Key();
  if (const auto* node = std::get_if<api::NodePtr>(&object)) return (*node)->meta.Key();
  return {};
}

Strategy DecideWildcard(const QueuedPod& pod, const ClusterEvent& event,
                        const EventObject& new_object) {
  const auto* other = std::get_if<api::PodPtr>(&new_object);
  const bool same_pod = other != nullptr && (*other)->meta.uid == pod.pod()->meta.uid;
  if (!HasObject(new_object) || same_pod) {
    KS_LOG(6, "Worth requeuing because the event is wildcard",
           {{"pod", pod.pod()->meta.Key()}, {"event", event.Label()}});
    return Strategy::kAfterBackoff;
  }
  KS_LOG(6, "Not worth requeuing because the event is wildcard, but for another pod",
         {{"pod", pod.pod()->meta.Key()}, {"event", event.Label()}});
  return Strategy::kSkip;
}

}  // namespace

struct RequeueRules::Hint {
  uint64_t bit = 0;
  const std::string* plugin = nullptr;
  const framework::QueueingHintFn* function = nullptr;  // empty: always Queue
};

struct RequeueRules::Matched {
  uint64_t plugins = 0;
  std::vector<std::vector<Hint>> by_profile;  // indexed as profiles_
};

struct RequeueRules::Profile {
  Symbol scheduler_name;
  ProfileHooks::Registrations registrations;
};

struct RequeueRules::Objects {
  const EventObject& old_object;
  const EventObject& new_object;
};

RequeueRules::RequeueRules(const std::map<std::string, ProfileHooks>& profiles, const Clock& clock,
                           HintObserver observer)
    : clock_(&clock), observer_(std::move(observer)) {
  for (const auto& [name, hooks] : profiles) {
    profiles_.push_back({.scheduler_name = Symbol(name), .registrations = hooks.registrations});
    for (const auto& [plugin, registrations] : hooks.registrations) {
      bits_.try_emplace(plugin, uint64_t{1} << std::min(bits_.size(), kSharedBit));
      for (const framework::EventRegistration& registration : registrations) {
        events_of_[plugin].push_back(registration.event);
      }
    }
  }
}

RequeueRules::~RequeueRules() = default;
RequeueRules::RequeueRules(RequeueRules&&) noexcept = default;
RequeueRules& RequeueRules::operator=(RequeueRules&&) noexcept = default;

uint64_t RequeueRules::BitOf(std::string_view plugin) const {
  const auto it = bits_.find(plugin);
  return it == bits_.end() ? uint64_t{1} << kSharedBit : it->second;
}

const RequeueRules::Profile* RequeueRules::FindProfile(Symbol scheduler_name) const {
  for (const Profile& profile : profiles_) {
    if (profile.scheduler_name == scheduler_name) return &profile;
  }
  return nullptr;
}

// Registrations never change, so the answer for each kind of event is worked out once.
const RequeueRules::Matched& RequeueRules::MatchedBy(const ClusterEvent& event) {
  const uint64_t key = uint64_t{static_cast<uint8_t>(event.resource)} << 32 | event.actions;
  std::unique_ptr<Matched>& slot = matched_[key];
  if (slot != nullptr) return *slot;
  slot = std::make_unique<Matched>();
  for (const Profile& profile : profiles_) {
    std::vector<Hint>& hints = slot->by_profile.emplace_back();
    for (const auto& [plugin, registrations] : profile.registrations) {
      for (const framework::EventRegistration& registration : registrations) {
        if (!registration.event.Matches(event)) continue;
        hints.push_back({.bit = BitOf(plugin), .plugin = &plugin, .function = &registration.hint});
        slot->plugins |= BitOf(plugin);
      }
    }
  }
  return *slot;
}

bool RequeueRules::IsInteresting(const ClusterEvent& event) {
  if (event.IsWildcard() || MatchedBy(event).plugins != 0) return true;
  KS_LOG(6, "receive an event that isn't interested by any enabled plugins",
         {{"event", event.Label()}});
  return false;
}

uint64_t RequeueRules::PluginsFor(const ClusterEvent& event) {
  return event.IsWildcard() ? kAllPlugins : MatchedBy(event).plugins;
}

uint64_t RequeueRules::PluginsOf(const framework::QueuedEntity& entity) const {
  if (!entity.HasRejectingPlugins()) return kAllPlugins;
  uint64_t plugins = 0;
  for (const std::string& plugin : entity.unschedulable_plugins) plugins |= BitOf(plugin);
  for (const std::string& plugin : entity.pending_plugins) plugins |= BitOf(plugin);
  return plugins;
}

bool RequeueRules::OpensGate(const std::string& gating_plugin, const ClusterEvent& event) const {
  if (event.IsWildcard()) return true;
  const auto it = events_of_.find(gating_plugin);
  return it != events_of_.end() && std::any_of(it->second.begin(), it->second.end(),
                                               [&event](const ClusterEvent& registered) {
                                                 return registered.Matches(event);
                                               });
}

Strategy RequeueRules::Decide(const QueuedPod& pod, const ClusterEvent& event,
                              const EventObject& old_object, const EventObject& new_object) {
  if (!pod.HasRejectingPlugins()) {
    KS_LOG(6, "Worth requeuing because no failed plugins",
           {{"pod", pod.pod()->meta.Key()}, {"event", event.Label()}});
    return Strategy::kAfterBackoff;
  }
  if (event.IsWildcard()) return DecideWildcard(pod, event, new_object);
  const Profile* profile = FindProfile(pod.pod()->spec->scheduler_name);
  if (profile == nullptr) {
    log::Error("", "No queueing hints are known for the scheduler name of the pod",
               {{"pod", pod.pod()->meta.Key()},
                {"schedulerName", pod.pod()->spec->scheduler_name.view()}});
    return Strategy::kAfterBackoff;
  }
  const size_t place = static_cast<size_t>(profile - profiles_.data());
  return RunHints(MatchedBy(event).by_profile[place], pod, event,
                  {.old_object = old_object, .new_object = new_object});
}

Strategy RequeueRules::RunHints(const std::vector<Hint>& hints, const QueuedPod& pod,
                                const ClusterEvent& event, const Objects& objects) const {
  const uint64_t rejecting = PluginsOf(pod);
  Strategy strategy = Strategy::kSkip;
  for (const Hint& hint : hints) {
    if ((hint.bit & rejecting) == 0) continue;
    const bool pending = pod.pending_plugins.contains(*hint.plugin);
    // Bits may be shared, so the sets decide.
    if (!pending && !pod.unschedulable_plugins.contains(*hint.plugin)) continue;
    if (!SaysQueue(hint, pod, event, objects)) continue;
    if (pending) return Strategy::kImmediately;
    strategy = Strategy::kAfterBackoff;
    if (pod.pending_plugins.empty()) return strategy;
  }
  return strategy;
}

bool RequeueRules::SaysQueue(const Hint& hint, const QueuedPod& pod, const ClusterEvent& event,
                             const Objects& objects) const {
  const TimePoint start = observer_ ? clock_->Now() : TimePoint();
  Result<framework::QueueingHint> answer = framework::QueueingHint::kQueue;
  if (*hint.function) {
    answer = (*hint.function)(*pod.pod(), objects.old_object, objects.new_object);
  }
  std::string_view text = "Error";
  if (answer.ok()) text = *answer == framework::QueueingHint::kQueue ? "Queue" : "QueueSkip";
  if (observer_) observer_(*hint.plugin, event.Label(), text, clock_->Now() - start);
  if (answer.ok()) return *answer == framework::QueueingHint::kQueue;
  log::Error(answer.error().message, "QueueingHintFn returns error",
             {{"event", event.Label()},
              {"plugin", *hint.plugin},
              {"pod", pod.pod()->meta.Key()},
              {"oldObj", ObjectText(objects.old_object)},
              {"newObj", ObjectText(objects.new_object)}});
  return true;
}

}  // namespace ks::queue
