// SPDX-License-Identifier: Apache-2.0
#include "inspect/queue_report.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "config/print/print_json.h"
#include "inspect/answering_replica.h"
#include "inspect/json_fields.h"

namespace ks::inspect {
namespace {

using config::JsonBuilder;

constexpr std::array<std::string_view, 9> kPartTexts = {"active",  "backoff",    "inFlight",
                                                        "waiting", "binding",    "unschedulable",
                                                        "gated",   "incomplete", "pending"};

QueuePart PartOf(const queue::Record& record) {
  switch (record.store) {
    case queue::Store::kBackoff:
    case queue::Store::kErrorBackoff:
      return QueuePart::kBackoff;
    case queue::Store::kUnschedulable:
      return record.gated ? QueuePart::kGated : QueuePart::kUnschedulable;
    case queue::Store::kIncomplete:
      return QueuePart::kIncomplete;
    case queue::Store::kPending:
      return QueuePart::kPending;
    case queue::Store::kActive:
    case queue::Store::kNone:
      break;
  }
  return QueuePart::kActive;
}

void SetCounters(const framework::QueuedPod& queued, QueueEntry* entry) {
  entry->attempts = queued.attempts;
  entry->unschedulable_attempts = queued.unschedulable_count;
  entry->errors_in_a_row = queued.consecutive_errors_count;
  entry->since = queued.timestamp;
}

// The queue remembers the end when it asks for it first; it must not do so for a question.
TimePoint BackoffEndOf(const queue::SchedulingQueue& queue, const queue::Record& home) {
  const auto of_copy = [&queue](auto copy) { return queue.BackoffEnd(copy); };
  if (home.kind != queue::RecordKind::kGroup) return of_copy(*home.pod);
  return of_copy(*static_cast<const queue::GroupRecord&>(home).group);
}

// The groups of entries, each made once.
class EntryGroups {
 public:
  using Ptr = std::shared_ptr<const QueuedGroup>;

  explicit EntryGroups(const scheduler::Scheduler& scheduler)
      : states_(scheduler.context().queue.groups() == nullptr
                    ? nullptr
                    : &scheduler.context().cluster.group_states()) {}

  // Null: no member of a group.
  Ptr Of(const queue::Record& record) {
    const queue::Record& home = queue::EntityOf(record);
    if (home.kind != queue::RecordKind::kGroup) return Of(*record.pod->pod());
    Ptr& known = stored_[&home];
    if (known != nullptr) return known;
    const framework::QueuedPodGroup& entity = *static_cast<const queue::GroupRecord&>(home).group;
    known = std::make_shared<QueuedGroup>(
        QueuedGroup{.root = entity.root(),
                    .priority = entity.Priority(),
                    .attempts = entity.attempts,
                    .unschedulable_attempts = entity.unschedulable_count,
                    .errors_in_a_row = entity.consecutive_errors_count});
    return known;
  }
  Ptr Of(const api::Pod& pod) {
    const std::optional<framework::PodGroupKey> leaf = framework::GroupOf(pod);
    if (states_ == nullptr || !leaf) return nullptr;
    const framework::PodGroupKey root = states_->RootOf(*leaf).value_or(*leaf);
    Ptr& known = elsewhere_[root.Text()];
    if (known == nullptr) {
      known = std::make_shared<QueuedGroup>(
          QueuedGroup{.root = root, .priority = states_->PriorityOf(root)});
    }
    return known;
  }

 private:
  const framework::PodGroupStates* states_;  // null: there are no groups
  std::map<const queue::Record*, Ptr> stored_;
  std::map<std::string, Ptr, std::less<>> elsewhere_;  // by root
};

QueueEntry EntryOf(const scheduler::Scheduler& scheduler, const queue::Record& record) {
  const framework::QueuedPod& queued = *record.pod;
  const queue::Record& home = queue::EntityOf(record);
  const framework::QueuedEntity& entity = home.entity();
  QueueEntry entry{.pod = queued.pod(), .part = PartOf(record)};
  SetCounters(queued, &entry);
  entry.since = entity.timestamp;
  entry.rejected_by = queued.unschedulable_plugins;
  entry.pending_for = queued.pending_plugins;
  entry.gated_by = entity.gating_plugin;
  entry.last_event = home.moved_by;
  entry.woken_by = home.woken_by;
  entry.woken_by_hint = home.woken_plugin;
  const bool failed = entity.unschedulable_count > 0 || entity.consecutive_errors_count > 0;
  if (failed && entry.part != QueuePart::kActive) {
    entry.backoff_end = BackoffEndOf(scheduler.context().queue, home);
  }
  return entry;
}

void SetNomination(const scheduler::Scheduler& scheduler, QueueEntry* entry) {
  entry->node = entry->pod->node_name.str();
  if (!entry->node.empty()) return;
  const queue::PodNominator& nominator = scheduler.context().queue.nominator();
  if (nominator.HasNominatedPods()) entry->node = nominator.NodeOf(entry->pod->meta.uid);
}

QueueEntry EntryOf(scheduler::Scheduler& scheduler, const scheduler::Attempt& attempt) {
  QueueEntry entry{.pod = attempt.assumed, .part = QueuePart::kBinding};
  SetCounters(*attempt.queued, &entry);
  entry.node = attempt.node();
  if (const framework::WaitingPod* waiting =
          scheduler.context().waiting_pods.GetWaitingPod(attempt.assumed->meta.uid)) {
    entry.part = QueuePart::kWaiting;
    const std::vector<std::string> plugins = waiting->PendingPlugins();
    entry.pending_for = framework::NameSet::Names(plugins.begin(), plugins.end());
  }
  return entry;
}

// What entries of pods and of groups have.
void AddStanding(JsonBuilder& json, const QueueEntry& entry) {
  if (entry.since != TimePoint()) json.Key("since").Text(FormatMicroTime(entry.since));
  if (entry.backoff_end) json.Key("backoffEnd").Text(FormatMicroTime(*entry.backoff_end));
}

void AddCounters(JsonBuilder& json, int64_t attempts, int64_t unschedulable, int64_t errors) {
  json.Key("attempts").Number(attempts);
  if (unschedulable != 0) json.Key("unschedulableAttempts").Number(unschedulable);
  if (errors != 0) json.Key("errorsInARow").Number(errors);
}

void AddEvents(JsonBuilder& json, const QueueEntry& entry) {
  AddText(json, "gatedBy", entry.gated_by.view());
  AddText(json, "lastEvent", entry.last_event.view());
  AddText(json, "wokenBy", entry.woken_by.view());
  AddText(json, "wokenByHintOf", entry.woken_by_hint.view());
}

// `alone`: not below its group's entry.
void AddEntry(JsonBuilder& json, const QueueEntry& entry, bool alone = true) {
  json.BeginObject();
  json.Key("pod").Text(entry.pod->meta.Key());
  json.Key("uid").Text(entry.pod->meta.uid);
  json.Key("queue").Text(QueuePartText(entry.part));
  if (entry.position != 0) json.Key("position").Number(entry.position);
  json.Key("priority").Number(entry.pod->Priority());
  json.Key("profile").Text(entry.pod->spec->scheduler_name.view());
  if (alone && entry.group != nullptr) json.Key("podGroup").Text(entry.group->root.Text());
  AddCounters(json, entry.attempts, entry.unschedulable_attempts, entry.errors_in_a_row);
  AddStanding(json, entry);
  AddNames(json, "rejectedBy", entry.rejected_by);
  AddNames(json, "pendingFor", entry.pending_for);
  AddEvents(json, entry);
  AddText(json, "node", entry.node);
  json.EndObject();
}

// Requires: members of one group in one part.
void AddGroup(JsonBuilder& json, std::span<const QueueEntry* const> members) {
  const QueueEntry& first = *members.front();
  const QueuedGroup& group = *first.group;
  json.BeginObject();
  json.Key("podGroup").Text(group.root.Text());
  json.Key("queue").Text(QueuePartText(first.part));
  if (first.position != 0) json.Key("position").Number(first.position);
  json.Key("priority").Number(group.priority);
  json.Key("profile").Text(first.pod->spec->scheduler_name.view());
  AddCounters(json, group.attempts, group.unschedulable_attempts, group.errors_in_a_row);
  AddStanding(json, first);
  AddEvents(json, first);
  json.Key("members").BeginArray();
  for (const QueueEntry* member : members) AddEntry(json, *member, false);
  json.EndArray();
  json.EndObject();
}

// Whether both are shown as one.
bool Together(const QueueEntry& a, const QueueEntry& b) {
  return a.group != nullptr && b.group != nullptr && a.part == b.part &&
         a.group->root == b.group->root;
}

bool Matches(const QueueEntry& entry, const QueueFilter& filter) {
  if (filter.part && entry.part != *filter.part) return false;
  if (!filter.ns.empty() && entry.pod->meta.ns.view() != filter.ns) return false;
  if (!filter.pod.empty() && entry.pod->meta.Key() != filter.pod) return false;
  return filter.plugin.empty() || entry.rejected_by.contains(filter.plugin) ||
         entry.pending_for.contains(filter.plugin) || entry.gated_by.view() == filter.plugin;
}

void AddCounts(JsonBuilder& json, const QueueReport& report) {
  json.Key("counts").BeginObject();
  json.Key("active").Number(report.counts.active);
  json.Key("backoff").Number(report.counts.backoff);
  json.Key("inFlight").Number(report.in_flight);
  json.Key("waiting").Number(report.waiting);
  json.Key("binding").Number(report.binding);
  json.Key("unschedulable").Number(report.counts.unschedulable);
  json.Key("gated").Number(report.counts.gated);
  if (report.counts.has_groups) {
    json.Key("incomplete").Number(report.counts.incomplete);
    json.Key("pending").Number(report.counts.pending);
  }
  json.EndObject();
}

// The plugin that rejects most pods first. A pod of several plugins counts for each.
void AddRejections(JsonBuilder& json, const QueueReport& report) {
  std::map<std::string, size_t> pods;
  for (const QueueEntry& entry : report.entries) {
    for (const std::string& plugin : entry.rejected_by) ++pods[plugin];
  }
  std::vector<std::pair<std::string, size_t>> sorted(pods.begin(), pods.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  json.Key("rejectedBy").BeginArray();
  for (const auto& [plugin, count] : sorted) {
    json.BeginObject().Key("plugin").Text(plugin).Key("pods").Number(count).EndObject();
  }
  json.EndArray();
}

}  // namespace

std::string_view QueuePartText(QueuePart part) { return kPartTexts[static_cast<size_t>(part)]; }

std::optional<QueuePart> ParseQueuePart(std::string_view text) {
  const auto* const found = std::find(kPartTexts.begin(), kPartTexts.end(), text);
  if (found == kPartTexts.end()) return std::nullopt;
  return static_cast<QueuePart>(found - kPartTexts.begin());
}

QueueReport CollectQueue(scheduler::Scheduler& scheduler) {
  const queue::SchedulingQueue& queue = scheduler.context().queue;
  EntryGroups groups(scheduler);
  QueueReport report{.time = scheduler.options().clock->Now(), .synced = scheduler.Synced()};
  report.counts = queue.pending();
  report.entries.reserve(queue.stores().size() + queue.in_flight().pod_count() +
                         scheduler.steps().bindings.active());
  queue.stores().ForEach([&](const queue::Record& record) {
    report.entries.push_back(EntryOf(scheduler, record));
    report.entries.back().group = groups.Of(record);
    SetNomination(scheduler, &report.entries.back());
  });
  scheduler.steps().bindings.ForEach([&](const scheduler::Attempt& attempt) {
    report.entries.push_back(EntryOf(scheduler, attempt));
    report.entries.back().group = groups.Of(*attempt.pod);
    ++(report.entries.back().part == QueuePart::kWaiting ? report.waiting : report.binding);
  });
  for (const api::PodPtr& pod : queue.in_flight().Pods()) {
    if (scheduler.steps().bindings.IsActive(pod->meta.uid)) continue;
    report.entries.push_back({.pod = pod, .group = groups.Of(*pod), .part = QueuePart::kInFlight});
    SetNomination(scheduler, &report.entries.back());
    ++report.in_flight;
  }
  return report;
}

std::optional<QueueEntry> FindInQueue(scheduler::Scheduler& scheduler, const api::Pod& pod) {
  std::optional<QueueEntry> found;
  const queue::Record* record = scheduler.context().queue.stores().Find(pod.meta.Key());
  if (record != nullptr) {
    found = EntryOf(scheduler, *record);
    found->group = EntryGroups(scheduler).Of(*record);
    SetNomination(scheduler, &*found);
    return found;
  }
  scheduler.steps().bindings.ForEach([&](const scheduler::Attempt& attempt) {
    if (attempt.assumed->meta.uid == pod.meta.uid) found = EntryOf(scheduler, attempt);
  });
  if (found) found->group = EntryGroups(scheduler).Of(pod);
  if (found || !scheduler.context().queue.IsInFlight(pod.meta.uid)) return found;
  return QueueEntry{.pod = std::make_shared<api::Pod>(pod),
                    .group = EntryGroups(scheduler).Of(pod),
                    .part = QueuePart::kInFlight};
}

void SortQueue(QueueReport* report) {
  // Members of a group stand side by side.
  const auto name = [](const QueueEntry& entry) {
    const bool grouped = entry.group != nullptr;
    const std::string& unit = grouped ? entry.group->root.name : entry.pod->meta.name;
    return std::make_tuple(entry.pod->meta.ns.view(), std::string_view(unit), grouped,
                           grouped && entry.group->root.composite,
                           std::string_view(entry.pod->meta.name));
  };
  const auto priority = [](const QueueEntry& entry) {
    return entry.group == nullptr ? entry.pod->Priority() : entry.group->priority;
  };
  std::sort(report->entries.begin(), report->entries.end(),
            [&](const QueueEntry& a, const QueueEntry& b) {
              if (a.part != b.part) return a.part < b.part;
              if (a.part == QueuePart::kActive) {
                if (priority(a) != priority(b)) return priority(a) > priority(b);
                if (a.since != b.since) return a.since < b.since;
              }
              if (a.part == QueuePart::kBackoff && a.backoff_end != b.backoff_end) {
                return a.backoff_end < b.backoff_end;
              }
              return name(a) < name(b);
            });
  size_t position = 0;
  for (size_t i = 0; i < report->entries.size(); ++i) {
    QueueEntry& entry = report->entries[i];
    if (entry.part != QueuePart::kActive && entry.part != QueuePart::kBackoff) break;
    if (i > 0 && entry.part != report->entries[i - 1].part) position = 0;
    const bool with_last = i > 0 && Together(report->entries[i - 1], entry);
    entry.position = with_last ? position : ++position;
  }
}

std::string QueueEntryJson(const QueueEntry& entry) {
  JsonBuilder json;
  AddEntry(json, entry);
  return json.Take();
}

std::string QueueJson(const QueueReport& report, const QueueFilter& filter,
                      const AnsweringReplica& replica) {
  JsonBuilder json;
  json.BeginObject();
  json.Key("time").Text(FormatMicroTime(report.time));
  json.Key("standby").Bool(replica.standby);
  if (!replica.identity.empty()) json.Key("identity").Text(replica.identity);
  json.Key("synced").Bool(report.synced);
  AddCounts(json, report);
  AddRejections(json, report);
  std::vector<const QueueEntry*> shown;
  size_t matching = 0;
  for (const QueueEntry& entry : report.entries) {
    if (!Matches(entry, filter)) continue;
    if (++matching <= filter.limit) shown.push_back(&entry);
  }
  json.Key("matching").Number(matching);
  json.Key("pods").BeginArray();
  for (size_t i = 0; i < shown.size();) {
    size_t end = i + 1;
    while (end < shown.size() && Together(*shown[i], *shown[end])) ++end;
    if (shown[i]->group == nullptr) {
      AddEntry(json, *shown[i]);
    } else {
      AddGroup(json, std::span(shown).subspan(i, end - i));
    }
    i = end;
  }
  json.EndArray();
  json.EndObject();
  return json.Take();
}

}  // namespace ks::inspect
