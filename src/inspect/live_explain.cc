// SPDX-License-Identifier: Apache-2.0
#include "inspect/live_explain.h"

#include <map>
#include <memory>
#include <utility>

#include "config/print/print_json.h"
#include "framework/pod_requests.h"
#include "inspect/cut_requests.h"
#include "inspect/decision_json.h"
#include "inspect/explain_devices.h"
#include "inspect/explain_group.h"
#include "inspect/explain_json.h"
#include "inspect/explain_volumes.h"
#include "inspect/suggest.h"
#include "inspect/what_if.h"

namespace ks::inspect {
namespace {

using framework::NodeInfo;
using framework::ResourceNames;

constexpr std::string_view kInsufficient = "Insufficient ";
constexpr std::string_view kTooManyPods = "Too many pods";
constexpr const char* kStandbyNote =
    "this kubesched is a standby: it knows the cluster, but decides nothing";

// Where the cache has the pod, assumed or seen there; empty: nowhere.
std::string NodeOf(scheduler::Scheduler& scheduler, const api::Pod& pod) {
  const auto known = scheduler.context().cluster.cache.GetPod(pod);
  return known.ok() ? known.value()->node_name.str() : std::string();
}

api::PodPtr AsPending(const api::Pod& pod) {
  auto pending = std::make_shared<api::Pod>(pod);
  pending->node_name = {};
  pending->status.nominated_node_name = {};
  return pending;
}

// The plugins' names belong to profiles that end with the question.
void KeepNames(Explanation* explanation) {
  std::map<const void*, std::string_view> kept;
  for (NodeVerdict& node : explanation->nodes) {
    for (PluginScore& score : node.scores) {
      const auto [name, is_new] = kept.try_emplace(score.plugin.data());
      if (is_new) name->second = Symbol::Forever(score.plugin).view();
      score.plugin = name->second;
    }
  }
}

// What the node counts for the pod. A pod that is explained as if it were not there is not counted.
int64_t HeldBy(const api::Pod& pod, const NodeInfo& node, const Symbol& resource) {
  if (pod.node_name != node.name()) return 0;
  for (const framework::PodInfoPtr& info : node.pods()) {
    if (info->pod().meta.uid != pod.meta.uid) continue;
    return info->request().requested.Amount(resource);
  }
  return 0;
}

void AddShortages(const framework::Snapshot& snapshot, LiveExplanation* live) {
  const framework::Resource request = framework::PodRequest(*live->pod);
  std::map<std::pair<std::string_view, std::string_view>, size_t> places;
  for (const NodeVerdict& node : live->explanation.nodes) {
    for (const std::string& reason : node.reasons) {
      const NodeInfo* info = snapshot.Find(node.name);
      if (info == nullptr) continue;
      const auto shortage = ShortageOf(reason, *live->pod, request, *info);
      if (!shortage) continue;
      const auto [place, is_new] =
          places.try_emplace({reason, node.plugin}, live->shortages.size());
      if (is_new) {
        live->shortages.push_back({.reason = reason, .plugin = node.plugin, .most = *shortage});
      } else if (shortage->free > live->shortages[place->second].most.free) {
        live->shortages[place->second].most = *shortage;
      }
    }
  }
}

std::optional<Refusal> Fill(scheduler::Scheduler& scheduler, const ExplainQuestion& question,
                            LiveExplanation* live) {
  const NodeInfo* node =
      live->bound_to.empty() ? nullptr : scheduler.context().cluster.cache.Find(live->bound_to);
  std::optional<SnapshotWithoutPod> without;
  if (node != nullptr && !live->waits_for_resize) {
    without.emplace(scheduler.context().cluster.cache, *live->pod);
  }
  const framework::Snapshot& snapshot = without ? static_cast<const framework::Snapshot&>(*without)
                                                : scheduler.context().cluster.cache;
  if (!question.node.empty() && snapshot.Find(question.node) == nullptr) {
    return Refusal{404, "no node " + question.node + " is known to the scheduler"};
  }
  const auto what_if =
      WhatIf::Make(scheduler.options(), {.snapshot = snapshot,
                                         .owners = scheduler.context().cluster.owners,
                                         .storage = scheduler.context().cluster.storage,
                                         .devices = scheduler.context().cluster.devices,
                                         .groups = scheduler.context().cluster.group_states(),
                                         .nominator = scheduler.context().queue.nominator(),
                                         .pods = scheduler.context().cluster.pod_lister,
                                         .nodes = scheduler.context().cluster.node_lister});
  if (!what_if.ok()) return Refusal{500, what_if.error().message};
  const framework::Framework* framework = (*what_if)->ProfileFor(*live->pod);
  if (framework == nullptr) {
    return Refusal{404, "pod " + question.pod +
                            " belongs to another scheduler: no profile is named " +
                            live->pod->spec->scheduler_name.str()};
  }
  const bool as_it_is = live->bound_to.empty() || live->waits_for_resize;
  const api::PodPtr pod = as_it_is ? live->pod : AsPending(*live->pod);
  live->explanation = inspect::Explain(*framework, pod, question.preemption);
  KeepNames(&live->explanation);
  if (!question.node.empty()) {
    std::erase_if(live->explanation.nodes,
                  [&](const NodeVerdict& verdict) { return verdict.name != question.node; });
  }
  AddShortages(snapshot, live);
  live->explanation.notes = NotesOnCutRequests(*pod);
  ExplainVolumes(*pod, snapshot, scheduler.context().cluster.storage, question.node,
                 &live->explanation);
  ExplainDevices(*pod, snapshot, scheduler.context().cluster.devices, framework->handle().gates(),
                 question.node, &live->explanation);
  return std::nullopt;
}

void AddNotes(config::JsonBuilder& json, const LiveExplanation& live,
              const AnsweringReplica& replica) {
  json.Key("notes").BeginArray();
  if (replica.standby) {
    json.Text(kStandbyNote);
  }
  if (live.waits_for_resize) {
    json.Text("the pod runs on node " + live.bound_to + " and waits there for room for its resize");
  } else if (!live.bound_to.empty()) {
    json.Text("the pod is on node " + live.bound_to +
              " already: explained as if it were pending and not there");
  }
  if (live.terminating) json.Text("the pod is being deleted: no attempt is made for it");
  if (live.extenders_left_out) {
    json.Text("extenders are not asked: their verdicts and scores are missing");
  }
  if (live.queue && !live.queue->gated_by.empty() && live.explanation.result != Verdict::kGated) {
    json.Text(live.queue->gated_by.str() +
              " holds the pod in the queue: it waits for something that is under way");
  }
  json.EndArray();
}

void AddShortages(config::JsonBuilder& json, const LiveExplanation& live) {
  if (live.shortages.empty()) return;
  json.Key("shortages").BeginArray();
  for (const LiveExplanation::NodeShortage& shortage : live.shortages) {
    json.BeginObject();
    json.Key("reason").Text(shortage.reason);
    json.Key("plugin").Text(shortage.plugin);
    json.Key("resource").Text(shortage.most.resource.view());
    json.Key("needed").Number(shortage.most.needed);
    json.Key("mostFree").Number(shortage.most.free);
    json.Key("node").Text(shortage.most.node);
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace

std::optional<Shortage> ShortageOf(std::string_view reason, const api::Pod& pod,
                                   const framework::Resource& request, const NodeInfo& node) {
  if (reason == kTooManyPods) {
    return Shortage{
        .resource = ResourceNames::Get().pods,
        .needed = 1,
        .free = node.allocatable().allowed_pod_number - static_cast<int64_t>(node.pods().size()),
        .node = node.name()};
  }
  if (!reason.starts_with(kInsufficient)) return std::nullopt;
  const Symbol resource(reason.substr(kInsufficient.size()));
  return Shortage{.resource = resource,
                  .needed = request.Amount(resource),
                  .free = node.allocatable().Amount(resource) - node.requested().Amount(resource) +
                          HeldBy(pod, node, resource),
                  .node = node.name()};
}

std::variant<LiveExplanation, Refusal> ExplainLive(scheduler::Scheduler& scheduler,
                                                   const ExplainQuestion& question) {
  if (!scheduler.Synced()) {
    return Refusal{503, "the scheduler has not read the cluster yet; ask again in a moment"};
  }
  LiveExplanation live{.time = scheduler.options().clock->Now(),
                       .pod = scheduler.context().cluster.pods.Get(question.pod)};
  if (live.pod == nullptr) {
    return Refusal{404, "no pod " + question.pod +
                            " is known to the scheduler; name it as NAMESPACE/POD (pods that are "
                            "Succeeded or Failed are not watched)"};
  }
  if (Result<void> refreshed = scheduler.context().cluster.cache.RefreshSnapshot();
      !refreshed.ok()) {
    return Refusal{500, refreshed.error().message};
  }
  live.bound_to = NodeOf(scheduler, *live.pod);
  if (live.bound_to.empty()) live.bound_to = live.pod->node_name.str();
  if (!live.bound_to.empty() && live.pod->node_name.empty()) {
    live.pod = scheduler.context().cluster.cache.GetPod(*live.pod).value();
  }
  live.waits_for_resize = scheduler.context().WaitsForResize(*live.pod);
  live.terminating = live.pod->meta.deletion_timestamp.has_value();
  live.extenders_left_out = scheduler.steps().extender_attempts.Takes(*live.pod);
  if (auto refusal = Fill(scheduler, question, &live)) return std::move(*refusal);
  live.queue = FindInQueue(scheduler, *live.pod);
  const bool grouped = scheduler.context().queue.groups() != nullptr;
  const bool member = grouped && queue::GroupQueue::IsMember(*live.pod);
  const bool suggest = question.suggest && live.explanation.result == Verdict::kUnschedulable;
  if (live.bound_to.empty() && (member || suggest)) {
    auto copy = CopyCluster(scheduler);
    if (auto* refusal = std::get_if<Refusal>(&copy)) return std::move(*refusal);
    live.copy = std::make_shared<const ClusterCopy>(std::get<ClusterCopy>(std::move(copy)));
  }
  std::vector<scheduler::Decision> last =
      scheduler.context().decisions.Newest(1, [&](const scheduler::Decision& decision) {
        return decision.pod->meta.uid == live.pod->meta.uid;
      });
  if (!last.empty()) live.last_decision = std::move(last.front());
  return live;
}

std::string LiveExplanationJson(const LiveExplanation& live, const AnsweringReplica& replica) {
  config::JsonBuilder json;
  json.BeginObject();
  json.Key("time").Text(FormatMicroTime(live.time));
  json.Key("standby").Bool(replica.standby);
  if (!replica.identity.empty()) json.Key("identity").Text(replica.identity);
  if (!live.bound_to.empty()) json.Key("boundTo").Text(live.bound_to);
  if (!live.explanation.nominated_node.empty()) {
    json.Key("nominatedNode").Text(live.explanation.nominated_node);
  }
  AddNotes(json, live, replica);
  if (live.queue) json.Key("queue").Json(QueueEntryJson(*live.queue));
  if (live.last_decision) json.Key("lastDecision").Json(DecisionJson(*live.last_decision));
  AddShortages(json, live);
  json.EndObject();
  return ExplanationJson(live.explanation, json.Take());
}

void SuggestFor(LiveExplanation* live, const ExplainQuestion& question) {
  if (!question.suggest || live->copy == nullptr) return;
  auto found = Suggest(*live->copy, live->pod, live->explanation);
  if (found.ok()) live->explanation.suggestions = std::move(found).value();
}

void ExplainGroupOf(LiveExplanation* live, ExplainPreemption preemption) {
  if (live->copy == nullptr) return;
  GroupExplainer groups(*live->copy, preemption);
  ExplainGroupOf(*live->pod, groups, &live->explanation);
}

std::variant<std::string, Refusal> LiveGroupJson(const ClusterCopy& copy,
                                                 const framework::PodGroupKey& group,
                                                 const AnsweringReplica& replica,
                                                 ExplainPreemption preemption) {
  GroupExplainer groups(copy, preemption);
  const auto explained = groups.Explain(group);
  if (const auto* refusal = std::get_if<Refusal>(&explained)) return *refusal;
  config::JsonBuilder json;
  json.BeginObject();
  json.Key("time").Text(FormatMicroTime(copy.time));
  json.Key("standby").Bool(replica.standby);
  if (!replica.identity.empty()) json.Key("identity").Text(replica.identity);
  json.Key("notes").BeginArray();
  if (replica.standby) json.Text(kStandbyNote);
  json.EndArray();
  json.EndObject();
  return GroupExplanationJson(*std::get<const GroupExplanation*>(explained), json.Take());
}

}  // namespace ks::inspect
