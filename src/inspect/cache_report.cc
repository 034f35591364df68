// SPDX-License-Identifier: Apache-2.0
#include "inspect/cache_report.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "config/print/print_json.h"
#include "inspect/node_label.h"

namespace ks::inspect {
namespace {

using config::JsonBuilder;
using framework::Resource;
using framework::ResourceNames;

std::string NodeLabel(std::string_view node) { return "node " + std::string(node); }

// Cached pods by uid, with their nodes.
struct CachedPod {
  const api::Pod* pod = nullptr;
  std::string_view node;
};
using CachedPods = std::map<std::string_view, CachedPod>;

CachedPods PodsOf(const CacheDump& dump) {
  CachedPods pods;
  for (const CachedNode& node : dump.nodes) {
    for (const framework::PodInfoPtr& pod : node.pods) {
      pods[pod->pod().meta.uid] = {.pod = &pod->pod(), .node = node.name};
    }
  }
  return pods;
}

class Comparison {
 public:
  Comparison(const CacheDump& dump, const ClusterAccount& other)
      : dump_(dump), other_(other), cached_(PodsOf(dump)) {
    for (const api::PodPtr& pod : dump.pending) pending_.insert(pod->meta.uid);
  }

  std::vector<CacheDifference> Run() {
    CompareNodes();
    for (const api::PodPtr& pod : other_.pods) {
      seen_.insert(pod->meta.uid);
      ComparePod(*pod);
    }
    for (const auto& [uid, cached] : cached_) {
      if (seen_.contains(uid)) continue;
      Count(cached.node, framework::AccountPod(*cached.pod).requested);
      Add("redundantPod", cached.pod->meta.Key(), std::string(uid), NodeLabel(cached.node), "");
    }
    CompareSums();
    std::sort(differences_.begin(), differences_.end(), [](const auto& a, const auto& b) {
      return std::tie(a.kind, a.object, a.uid) < std::tie(b.kind, b.object, b.uid);
    });
    return std::move(differences_);
  }

 private:
  void Add(std::string_view kind, std::string object, std::string uid, std::string cached,
           std::string other) {
    differences_.push_back({.kind = kind,
                            .object = std::move(object),
                            .uid = std::move(uid),
                            .cached = std::move(cached),
                            .other = std::move(other)});
  }

  void CompareNodes() {
    std::set<std::string_view> cached;
    for (const CachedNode& node : dump_.nodes) {
      if (node.node != nullptr) cached.insert(node.name);
    }
    for (const api::NodePtr& node : other_.nodes) {
      if (cached.erase(node->meta.name) == 0) Add("missedNode", node->meta.name, "", "", "");
    }
    for (const std::string_view name : cached) Add("redundantNode", std::string(name), "", "", "");
  }

  void ComparePod(const api::Pod& pod) {
    const auto cached = cached_.find(pod.meta.uid);
    if (cached == cached_.end()) {
      if (!pod.node_name.empty()) {
        Add("missedPod", pod.meta.Key(), pod.meta.uid, "", NodeLabel(pod.node_name.str()));
      } else if (!pending_.contains(pod.meta.uid) && !pod.meta.deletion_timestamp &&
                 dump_.scheduler_names.contains(pod.spec->scheduler_name.str())) {
        Add("missedPod", pod.meta.Key(), pod.meta.uid, "", "pending");
      }
      return;
    }
    Count(cached->second.node, framework::AccountPod(pod).requested);
    const bool on_its_way = pod.node_name.empty() && dump_.assumed.contains(pod.meta.uid);
    const std::string_view node = on_its_way ? cached->second.node : pod.node_name.view();
    if (node == cached->second.node) return;
    Add("podOnOtherNode", pod.meta.Key(), pod.meta.uid, NodeLabel(cached->second.node),
        node.empty() ? "pending" : NodeLabel(node));
  }

  // Sums over the pods that the cache has, as the other account shows them: a pod that is missed or
  // redundant is one difference and not two.
  void Count(std::string_view node, const Resource& requested) {
    expected_[std::string(node)].Add(requested);
  }

  void CompareSums() {
    for (const CachedNode& node : dump_.nodes) {
      if (node.node == nullptr) continue;
      const Resource& expected = expected_[node.name];
      std::set<std::string> names = {"cpu", "memory", "ephemeral-storage"};
      for (const Resource* sum : {&expected, &node.requested}) {
        for (const auto& [name, amount] : sum->scalars) names.insert(name.str());
      }
      for (const std::string& name : names) {
        const int64_t cached = node.requested.Amount(Symbol(name));
        const int64_t counted = expected.Amount(Symbol(name));
        if (cached == counted) continue;
        const std::string unit = name == "cpu" ? "m" : "";
        Add("requested", node.name + " " + name, "", std::to_string(cached) + unit,
            std::to_string(counted) + unit);
      }
    }
  }

  const CacheDump& dump_;
  const ClusterAccount& other_;
  const CachedPods cached_;
  std::set<std::string_view> pending_;        // uids
  std::set<std::string_view> seen_;           // uids
  std::map<std::string, Resource> expected_;  // by node
  std::vector<CacheDifference> differences_;
};

void AddResource(JsonBuilder& json, std::string_view key, const Resource& resource,
                 int64_t pod_count) {
  json.Key(key).BeginObject();
  json.Key("cpuMilli").Number(resource.milli_cpu);
  json.Key("memory").Number(resource.memory);
  json.Key("ephemeralStorage").Number(resource.ephemeral_storage);
  json.Key("pods").Number(pod_count);
  for (const auto& [name, amount] : resource.scalars) json.Key(name.view()).Number(amount);
  json.EndObject();
}

void AddNode(JsonBuilder& json, const CacheDump& dump, const CachedNode& node,
             const CacheJsonOptions& options) {
  json.BeginObject();
  json.Key("name").Text(node.name);
  if (node.node == nullptr) json.Key("deleted").Bool(true);
  if (node.node != nullptr && node.node->unschedulable) json.Key("unschedulable").Bool(true);
  AddResource(json, "allocatable", node.allocatable, node.allocatable.allowed_pod_number);
  AddResource(json, "requested", node.requested, static_cast<int64_t>(node.pod_count));
  if (!node.nominated.empty()) {
    json.Key("nominated").BeginArray();
    for (const api::PodPtr& pod : node.nominated) json.Text(pod->meta.Key());
    json.EndArray();
  }
  if (!options.label.empty() && node.node != nullptr) {
    if (const auto value = LabelOf(*node.node, options.label)) json.Key("label").Text(*value);
  }
  if (options.list_pods) {
    json.Key("pods").BeginArray();
    for (const framework::PodInfoPtr& info : node.pods) {
      const api::Pod& pod = info->pod();
      json.BeginObject();
      json.Key("pod").Text(pod.meta.Key());
      json.Key("uid").Text(pod.meta.uid);
      json.Key("priority").Number(pod.Priority());
      json.Key("cpuMilli").Number(info->request().requested.milli_cpu);
      json.Key("memory").Number(info->request().requested.memory);
      if (dump.assumed.contains(pod.meta.uid)) json.Key("assumed").Bool(true);
      if (pod.meta.deletion_timestamp) json.Key("terminating").Bool(true);
      json.EndObject();
    }
    json.EndArray();
  }
  json.EndObject();
}

void AddText(JsonBuilder& json, std::string_view key, std::string_view text) {
  if (!text.empty()) json.Key(key).Text(text);
}

void AddComparison(JsonBuilder& json, const CacheComparison& comparison) {
  json.Key("comparison").BeginObject();
  json.Key("rounds").Number(comparison.rounds);
  json.Key("nodes").Number(comparison.nodes);
  json.Key("pods").Number(comparison.pods);
  json.Key("same").Bool(comparison.differences.empty());
  json.Key("differences").BeginArray();
  for (const CacheDifference& difference : comparison.differences) {
    json.BeginObject();
    json.Key("kind").Text(difference.kind);
    json.Key("object").Text(difference.object);
    AddText(json, "uid", difference.uid);
    AddText(json, "cache", difference.cached);
    AddText(json, "apiServer", difference.other);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
}

std::string ResourceLine(const Resource& resource) {
  std::string line = "cpu " + std::to_string(resource.milli_cpu) + "m, memory " +
                     std::to_string(resource.memory) + ", ephemeral-storage " +
                     std::to_string(resource.ephemeral_storage);
  for (const auto& [name, amount] : resource.scalars) {
    line += ", " + name.str() + " " + std::to_string(amount);
  }
  return line;
}

}  // namespace

CacheDump CollectCache(const scheduler::Scheduler& scheduler, const CacheQuestion& question) {
  const cache::Cache& cache = scheduler.context().cluster.cache;
  const cache::Cache::Counts counts = cache.counts();
  CacheDump dump{.time = scheduler.options().clock->Now(),
                 .synced = scheduler.Synced(),
                 .pods = counts.pods,
                 .assumed_pods = counts.assumed_pods};
  const queue::PodNominator& nominator = scheduler.context().queue.nominator();
  cache.ForEachEntry([&](const std::string& name, const framework::NodeInfo& info) {
    if (!question.node.empty() && name != question.node) return;
    CachedNode& cached = dump.nodes.emplace_back();
    cached.name = name;
    cached.node = info.node_ptr();
    if (cached.node != nullptr) cached.allocatable = info.allocatable();
    cached.requested = info.requested();
    cached.pod_count = info.pods().size();
    for (const framework::PodInfoPtr& pod : nominator.NominatedPodsForNode(name)) {
      cached.nominated.push_back(pod->ptr());
    }
    if (!question.pods) return;
    cached.pods.assign(info.pods().begin(), info.pods().end());
    if (counts.assumed_pods == 0) return;
    for (const framework::PodInfoPtr& pod : cached.pods) {
      if (cache.IsAssumedPod(pod->pod())) dump.assumed.insert(pod->pod().meta.uid);
    }
  });
  if (question.pending) {
    dump.pending = scheduler.context().queue.stores().Pods();
    const std::vector<api::PodPtr> in_flight = scheduler.context().queue.in_flight().Pods();
    dump.pending.insert(dump.pending.end(), in_flight.begin(), in_flight.end());
  }
  for (const auto& [name, framework] : scheduler.context().profiles) {
    dump.scheduler_names.insert(name);
  }
  return dump;
}

ClusterAccount InformerAccount(const scheduler::Scheduler& scheduler) {
  return {.nodes = scheduler.context().cluster.nodes.List(),
          .pods = scheduler.context().cluster.pods.List()};
}

std::vector<CacheDifference> Compare(const CacheDump& dump, const ClusterAccount& other) {
  return Comparison(dump, other).Run();
}

std::vector<CacheDifference> Lasting(const std::vector<CacheDifference>& before,
                                     const std::vector<CacheDifference>& after) {
  std::vector<CacheDifference> lasting;
  for (const CacheDifference& difference : after) {
    const bool was_there = std::any_of(before.begin(), before.end(), [&](const auto& earlier) {
      return earlier.SameAs(difference);
    });
    if (was_there) lasting.push_back(difference);
  }
  return lasting;
}

std::string CacheJson(const CacheDump& dump, const CacheJsonOptions& options,
                      const AnsweringReplica& replica) {
  JsonBuilder json;
  json.BeginObject();
  json.Key("time").Text(FormatMicroTime(dump.time));
  json.Key("standby").Bool(replica.standby);
  AddText(json, "identity", replica.identity);
  json.Key("synced").Bool(dump.synced);
  json.Key("counts").BeginObject();
  json.Key("nodes").Number(dump.nodes.size());
  json.Key("pods").Number(dump.pods);
  json.Key("assumedPods").Number(dump.assumed_pods);
  json.EndObject();
  if (options.comparison != nullptr) AddComparison(json, *options.comparison);
  if (options.list_nodes) {
    json.Key("nodes").BeginArray();
    for (const CachedNode& node : dump.nodes) AddNode(json, dump, node, options);
    json.EndArray();
  }
  json.EndObject();
  return json.Take();
}

std::string PodLine(const api::Pod& pod) {
  return "name: " + pod.meta.name + ", namespace: " + pod.meta.ns.str() + ", uid: " + pod.meta.uid +
         ", phase: " + pod.status.phase.str() +
         ", nominated node: " + pod.status.nominated_node_name.str() + "\n";
}

std::string NodeLines(const CacheDump& dump) {
  std::string text;
  for (const CachedNode& node : dump.nodes) {
    text += "Node name: " + node.name + "\n";
    text += std::string("Deleted: ") + (node.node == nullptr ? "true" : "false") + "\n";
    text += "Requested Resources: " + ResourceLine(node.requested) + "\n";
    text += "Allocatable Resources: " + ResourceLine(node.allocatable) + "\n";
    text += "Scheduled Pods(number: " + std::to_string(node.pods.size()) + "):\n";
    for (const framework::PodInfoPtr& pod : node.pods) text += PodLine(pod->pod());
    if (node.nominated.empty()) continue;
    text += "Nominated Pods(number: " + std::to_string(node.nominated.size()) + "):\n";
    for (const api::PodPtr& pod : node.nominated) text += PodLine(*pod);
  }
  return text;
}

}  // namespace ks::inspect
