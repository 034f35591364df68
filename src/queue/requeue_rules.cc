// SPDX-License-Identifier: Apache-2.0
#include "queue/requeue_rules.h"

#include <algorithm>
#include <utility>

#include "api/storage.h"
#include "base/canary.h"
#include "base/check.h"
#include "base/logging.h"
#include "queue/parked_pods.h"

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

// Whether devices are free that were not.
bool FreesDevices(const api::ResourceClaim* before, const api::ResourceClaim* after) {
  return before != nullptr && before->allocation != nullptr &&
         (after == nullptr || after->allocation == nullptr);
}

// The claim that the event is about, as ParkedPods names it; empty: it may concern any pod.
std::optional<std::string> ClaimOf(const EventWithObjects& event) {
  const auto* before = std::get_if<api::ResourceClaimPtr>(&event.old_object);
  const auto* after = std::get_if<api::ResourceClaimPtr>(&event.new_object);
  if (before != nullptr || after != nullptr) {
    if (FreesDevices(before ? before->get() : nullptr, after ? after->get() : nullptr)) return {};
    return ResourceClaimId((after ? *after : *before)->meta.Key());
  }
  for (const EventObject* object : {&event.new_object, &event.old_object}) {
    const auto* claim = std::get_if<api::PersistentVolumeClaimPtr>(object);
    if (claim != nullptr) return (*claim)->meta.Key();
  }
  return std::nullopt;
}

// The labels that are not what they were, as LabelChange has them, if the event is about nothing
// else that hints on labels look at.
std::optional<std::vector<api::LabelMap::Entry>> ChangedLabels(const EventWithObjects& event) {
  if (event.event.resource != framework::EventResource::kNode ||
      event.event.actions != framework::kActionUpdateNodeLabel) {
    return std::nullopt;
  }
  const auto* before = std::get_if<api::NodePtr>(&event.old_object);
  const auto* after = std::get_if<api::NodePtr>(&event.new_object);
  if (before == nullptr || after == nullptr || (*before)->taints != (*after)->taints) return {};
  const api::LabelMap& old_labels = (*before)->meta.labels;
  const api::LabelMap& new_labels = (*after)->meta.labels;
  std::vector<api::LabelMap::Entry> changed;
  for (const auto& [key, value] : new_labels) {
    const Symbol* old_value = old_labels.Find(key);
    if (old_value == nullptr || *old_value != value) changed.emplace_back(key, value);
  }
  for (const auto& [key, value] : old_labels) {
    if (!new_labels.Contains(key)) changed.emplace_back(key, Symbol());
  }
  return changed;
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
  Symbol name{};                                             // of the plugin
  const framework::QueueingHintFn* function = nullptr;       // empty: always Queue
  const framework::NodeLabelReadsFn* node_labels = nullptr;  // empty: it may read any
  framework::HintScope scope = framework::HintScope::kPod;
};

struct RequeueRules::Matched {
  uint64_t plugins = 0;
  std::vector<std::vector<Hint>> by_profile;  // indexed as profiles_
};

struct RequeueRules::Profile {
  Symbol scheduler_name;
  ProfileHooks::Registrations registrations;
};

RequeueRules::RequeueRules(const ProfileHooksByName& profiles, const Clock& clock,
                           HintObserver observer, const framework::PodGroupStates* groups)
    : clock_(&clock), groups_(groups), observer_(std::move(observer)) {
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

const RequeueRules::Profile* RequeueRules::FindProfile(const Symbol& scheduler_name) const {
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
        hints.push_back(
            {.bit = BitOf(plugin),
             .plugin = &plugin,
             .name = Symbol(plugin),
             .function = &registration.hint,
             .node_labels = &registration.node_labels,
             .scope = registration.hint ? registration.scope : framework::HintScope::kSpec});
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
  if (event.IsWildcard()) return kAllPlugins;
  const uint64_t plugins = MatchedBy(event).plugins;
  return KS_CANARY(WrongPluginMask) ? plugins >> 1 : plugins;
}

uint64_t RequeueRules::PluginsOf(const framework::QueuedEntity& entity) const {
  if (!entity.HasRejectingPlugins()) return kAllPlugins;
  uint64_t plugins = 0;
  for (const std::string& plugin : entity.unschedulable_plugins) plugins |= BitOf(plugin);
  for (const std::string& plugin : entity.pending_plugins) plugins |= BitOf(plugin);
  return plugins;
}

bool RequeueRules::OpensGate(std::string_view gating_plugin, const ClusterEvent& event) const {
  if (event.IsWildcard()) return true;
  const auto it = events_of_.find(gating_plugin);
  return it != events_of_.end() && std::any_of(it->second.begin(), it->second.end(),
                                               [&event](const ClusterEvent& registered) {
                                                 return registered.Matches(event);
                                               });
}

Answer RequeueRules::DecideWhy(const QueuedPod& pod, const ClusterEvent& event,
                               const EventObject& old_object, const EventObject& new_object) {
  if (!pod.HasRejectingPlugins()) {
    KS_LOG(6, "Worth requeuing because no failed plugins",
           {{"pod", pod.pod()->meta.Key()}, {"event", event.Label()}});
    return {.strategy = Strategy::kAfterBackoff};
  }
  if (event.IsWildcard()) return {.strategy = DecideWildcard(pod, event, new_object)};
  const Profile* profile = FindProfile(pod.pod()->spec->scheduler_name);
  if (profile == nullptr) {
    log::Error("", "No queueing hints are known for the scheduler name of the pod",
               {{"pod", pod.pod()->meta.Key()},
                {"schedulerName", pod.pod()->spec->scheduler_name.view()}});
    return {.strategy = Strategy::kAfterBackoff};
  }
  const api::Pod& object = *pod.pod();
  const Inquiry inquiry = Inquire({.unschedulable_plugins = pod.unschedulable_plugins,
                                   .pending_plugins = pod.pending_plugins,
                                   .gating_plugin = pod.gating_plugin,
                                   .scheduler_name = object.spec->scheduler_name},
                                  {event, old_object, new_object});
  Answer by_spec = inquiry.AskSpec(object);
  if (inquiry.SettledBySpec(by_spec)) return by_spec;
  Answer by_labels = inquiry.AskLabels(object, by_spec);
  return inquiry.SettledByLabels(by_labels) ? by_labels : inquiry.AskPod(object, by_labels);
}

RequeueRules::Inquiry RequeueRules::Inquire(const Rejection& rejection,
                                            const EventWithObjects& event) {
  const Profile* profile = FindProfile(rejection.scheduler_name);
  KS_CHECK(profile != nullptr, "no hints are known for the scheduler name");
  const size_t place = static_cast<size_t>(profile - profiles_.data());
  Inquiry inquiry(*this, event, !rejection.pending_plugins.empty());
  bool of_claims = true;  // and nothing else
  bool of_trees = true;
  bool of_labels = true;
  LabelReaders readers;
  for (const Hint& hint : MatchedBy(event.event).by_profile[place]) {
    // Bits may be shared, so the sets decide.
    const bool pending = rejection.pending_plugins.contains(*hint.plugin);
    if (!pending && !rejection.unschedulable_plugins.contains(*hint.plugin)) continue;
    of_claims &= hint.scope == framework::HintScope::kClaims;
    of_trees &= hint.scope == framework::HintScope::kGroup;
    of_labels &= static_cast<bool>(*hint.node_labels);
    readers.push_back(hint.node_labels);
    Inquiry::Questions& questions = inquiry.QuestionsOf(hint.scope);
    questions.push_back({.hint = &hint, .pending = pending});
  }
  if (of_labels) {
    if (auto labels = ChangedLabels(event)) inquiry.label_change_ = {std::move(readers), *labels};
  }
  if (of_claims) inquiry.claim_ = ClaimOf(event);
  if (of_trees && !of_claims) {
    inquiry.claim_ = TreeOf(event);
    inquiry.of_tree_ = true;
  }
  return inquiry;
}

// The key of the entity that the event is about, if it waits, which nothing has when no entity can;
// absent: the event is about no such object.
std::optional<std::string> RequeueRules::TreeOf(const EventWithObjects& event) const {
  std::optional<framework::PodGroupKey> group;
  for (const EventObject* object : {&event.new_object, &event.old_object}) {
    if (const auto* pod = std::get_if<api::PodPtr>(object)) {
      const std::optional<std::string>& name = (*pod)->spec->scheduling_group;
      group = {.ns = (*pod)->meta.ns, .name = name.value_or("")};
    } else if (const auto* leaf = std::get_if<api::PodGroupPtr>(object)) {
      group = {.ns = (*leaf)->meta.ns, .name = (*leaf)->meta.name};
    } else if (const auto* above = std::get_if<api::CompositePodGroupPtr>(object)) {
      group = {.ns = (*above)->meta.ns, .name = (*above)->meta.name, .composite = true};
    }
    if (group) break;
  }
  if (!group) return std::nullopt;
  const auto root =
      groups_ == nullptr || group->name.empty() ? std::nullopt : groups_->RootOf(*group);
  return "podgroup/" + (root ? root->Name() : std::string());
}

RequeueRules::Inquiry::Questions& RequeueRules::Inquiry::QuestionsOf(framework::HintScope scope) {
  switch (scope) {
    case framework::HintScope::kSpec:
      return of_spec_;
    case framework::HintScope::kLabels:
      return of_labels_;
    case framework::HintScope::kClaims:
    case framework::HintScope::kGroup:
    case framework::HintScope::kPod:
      break;
  }
  return of_pod_;
}

Answer RequeueRules::Inquiry::Ask(const Questions& questions, const api::Pod& pod,
                                  Answer so_far) const {
  for (const Question& question : questions) {
    if (IsBest(so_far.strategy)) break;
    if (!rules_.SaysQueue(*question.hint, pod, event_)) continue;
    const Strategy says = question.pending ? Strategy::kImmediately : Strategy::kAfterBackoff;
    if (says > so_far.strategy) so_far = {.strategy = says, .plugin = question.hint->name};
  }
  return so_far;
}

bool RequeueRules::SaysQueue(const Hint& hint, const api::Pod& pod, const EventWithObjects& event) {
  ++hint_runs_;
  const TimePoint start = observer_ ? clock_->Now() : TimePoint();
  Result<framework::QueueingHint> answer = framework::QueueingHint::kQueue;
  if (*hint.function) answer = (*hint.function)(pod, event.old_object, event.new_object);
  std::string_view text = "Error";
  if (answer.ok()) text = *answer == framework::QueueingHint::kQueue ? "Queue" : "QueueSkip";
  if (observer_) observer_(*hint.plugin, event.event, text, clock_->Now() - start);
  if (answer.ok()) return *answer == framework::QueueingHint::kQueue;
  log::Error(answer.error().message, "QueueingHintFn returns error",
             {{"event", event.event.Label()},
              {"plugin", *hint.plugin},
              {"pod", pod.meta.Key()},
              {"oldObj", ObjectText(event.old_object)},
              {"newObj", ObjectText(event.new_object)}});
  return true;
}

}  // namespace ks::queue
