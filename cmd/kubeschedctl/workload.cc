// SPDX-License-Identifier: Apache-2.0
#include "workload.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/symbol.h"

namespace ks::ctl {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostViolations = 20;

Json Metadata(const Workload& workload, const std::string& name) {
  return {{"name", name}, {"labels", {{kOwnerLabel, workload.label}}}};
}

// What is taken or offered, in thousandths of a CPU, bytes and pods.
struct Amount {
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
  int64_t pods = 0;
};

Amount AmountOf(const api::ResourceList& resources) {
  Amount amount;
  if (const api::Quantity* cpu = resources.Find(Symbol("cpu"))) {
    amount.cpu_milli = cpu->MilliValue();
  }
  if (const api::Quantity* memory = resources.Find(Symbol("memory"))) {
    amount.memory_bytes = memory->Value();
  }
  if (const api::Quantity* pods = resources.Find(Symbol("pods"))) {
    amount.pods = pods->Value();
  }
  return amount;
}

// Sums up on its own instead of using the scheduler's arithmetic, which is what is being checked.
std::map<std::string, Amount> TakenByNode(const std::vector<api::PodPtr>& pods) {
  std::map<std::string, Amount> taken;
  for (const api::PodPtr& pod : pods) {
    Amount& sum = taken[pod->node_name];
    ++sum.pods;
    for (const api::Container& container : pod->spec->containers) {
      const Amount amount = AmountOf(container.requests);
      sum.cpu_milli += amount.cpu_milli;
      sum.memory_bytes += amount.memory_bytes;
    }
  }
  return taken;
}

void CompareAmount(const std::string& node, const char* resource, int64_t taken, int64_t offered,
                   std::vector<std::string>& violations) {
  if (taken > offered && violations.size() < kMostViolations) {
    violations.push_back(
        fmt::format("node {}: {} {} requested, {} allocatable", node, resource, taken, offered));
  }
}

constexpr const char* kZone = "topology.kubernetes.io/zone";
constexpr const char* kHostname = "kubernetes.io/hostname";

Json Selects(const std::string& app) { return {{"matchLabels", {{"app", app}}}}; }

Json Constraint(const std::string& app, const char* when) {
  return Json::array({{{"maxSkew", 5},
                       {"topologyKey", kZone},
                       {"whenUnsatisfiable", when},
                       {"labelSelector", Selects(app)}}});
}

Json Term(const std::string& app, const char* key) {
  return {{"topologyKey", key}, {"labelSelector", Selects(app)}};
}

void AddKind(PodKind kind, const std::string& app, Json& spec) {
  constexpr const char* kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  constexpr const char* kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";
  switch (kind) {
    case PodKind::kPlain:
    case PodKind::kMixed:
      return;
    case PodKind::kHardSpread:
      spec["topologySpreadConstraints"] = Constraint(app, "DoNotSchedule");
      return;
    case PodKind::kSoftSpread:
      spec["topologySpreadConstraints"] = Constraint(app, "ScheduleAnyway");
      return;
    case PodKind::kRequiredAffinity:
      spec["affinity"]["podAffinity"][kRequired] = Json::array({Term(app, kZone)});
      return;
    case PodKind::kRequiredAntiAffinity:
      spec["affinity"]["podAntiAffinity"][kRequired] = Json::array({Term(app, kHostname)});
      return;
    case PodKind::kPreferredAffinity:
      spec["affinity"]["podAffinity"][kPreferred] =
          Json::array({{{"weight", 1}, {"podAffinityTerm", Term(app, kHostname)}}});
      return;
    case PodKind::kNodeAffinity: {
      const Json zones = {
          {"key", kZone}, {"operator", "In"}, {"values", Json::array({"zone-0", "zone-1"})}};
      spec["affinity"]["nodeAffinity"][kRequired]["nodeSelectorTerms"] =
          Json::array({{{"matchExpressions", Json::array({zones})}}});
    }
  }
}

// Of a mixed workload: pod i has the kind of i modulo the kinds, and every kind has two apps.
Json Pod(const Workload& workload, const std::string& name, const std::string& label,
         size_t index) {
  constexpr size_t kKinds = static_cast<size_t>(PodKind::kMixed);
  const bool mixed = workload.kind == PodKind::kMixed;
  const PodKind kind = mixed ? static_cast<PodKind>(index % kKinds) : workload.kind;
  const size_t number = mixed ? index / kKinds % 2 : 0;
  const std::string app = fmt::format("app-{}-{}", static_cast<int>(kind), number);
  const PodTemplate& size = workload.pod_sizes[index % workload.pod_sizes.size()];
  const Json container = {{"name", "main"},
                          {"image", "registry.k8s.io/pause:3.10"},
                          {"resources",
                           {{"requests",
                             {{"cpu", fmt::format("{}m", size.cpu_milli)},
                              {"memory", fmt::format("{}Mi", size.memory_mi)}}}}}};
  Json pod = {{"apiVersion", "v1"},
              {"kind", "Pod"},
              {"metadata", {{"name", name}, {"labels", {{kOwnerLabel, label}}}}},
              {"spec",
               {{"schedulerName", workload.scheduler_name},
                {"terminationGracePeriodSeconds", 0},
                {"containers", Json::array({container})}}}};
  if (kind != PodKind::kPlain) pod["metadata"]["labels"]["app"] = app;
  AddKind(kind, app, pod["spec"]);
  return pod;
}

std::string BoundLabel(const Workload& workload) { return workload.label + "-bound"; }

}  // namespace

std::map<std::string, PodKind> PodKinds() {
  return {{"plain", PodKind::kPlain},
          {"hard-spread", PodKind::kHardSpread},
          {"soft-spread", PodKind::kSoftSpread},
          {"required-affinity", PodKind::kRequiredAffinity},
          {"required-anti-affinity", PodKind::kRequiredAntiAffinity},
          {"preferred-affinity", PodKind::kPreferredAffinity},
          {"node-affinity", PodKind::kNodeAffinity},
          {"mixed", PodKind::kMixed}};
}

std::string Selector(const Workload& workload) {
  return std::string(kOwnerLabel) + "=" + workload.label;
}

std::string NodeName(size_t index) { return fmt::format("node-{:05}", index); }

std::string PodName(size_t index) { return fmt::format("pod-{:05}", index); }

std::string PodPath(const std::string& ns) {
  return "/api/v1/namespaces/" + client::EscapeUrl(ns) + "/pods";
}

std::string NodeBody(const Workload& workload, size_t index) {
  const std::string name = NodeName(index);
  Json metadata = Metadata(workload, name);
  metadata["labels"]["kubernetes.io/hostname"] = name;
  metadata["labels"]["topology.kubernetes.io/region"] = "region-0";
  if (workload.zones > 0) {
    metadata["labels"]["topology.kubernetes.io/zone"] =
        fmt::format("zone-{}", index % workload.zones);
  }
  const Json resources = {{"cpu", std::to_string(workload.node.cpu)},
                          {"memory", fmt::format("{}Gi", workload.node.memory_gi)},
                          {"pods", std::to_string(workload.node.pods)}};
  const Json ready = {{"type", "Ready"}, {"status", "True"}, {"reason", "KubeletReady"}};
  const Json node = {{"apiVersion", "v1"},
                     {"kind", "Node"},
                     {"metadata", std::move(metadata)},
                     {"status",
                      {{"capacity", resources},
                       {"allocatable", resources},
                       {"conditions", Json::array({ready})}}}};
  return node.dump();
}

std::string PodBody(const Workload& workload, size_t index) {
  return Pod(workload, PodName(index), workload.label, index).dump();
}

std::string BoundPodBody(const Workload& workload, size_t index) {
  Json pod = Pod(workload, fmt::format("bound-{:05}", index), BoundLabel(workload), index);
  pod["spec"]["nodeName"] = NodeName(index % workload.nodes);
  return pod.dump();
}

Result<void> CreateNodes(Cluster& cluster, const Workload& workload,
                         const std::function<void(size_t)>& done) {
  return cluster.SendAll(
      workload.nodes, workload.in_flight,
      [&workload](size_t i) {
        return client::RestRequest{.method = "POST",
                                   .target = "/api/v1/nodes",
                                   .body = NodeBody(workload, i),
                                   .resource = "nodes",
                                   .name = NodeName(i)};
      },
      done);
}

Result<void> CreatePods(Cluster& cluster, const Workload& workload,
                        const std::function<void(size_t)>& done) {
  const std::string path = PodPath(workload.ns);
  return cluster.SendAll(
      workload.pods, workload.in_flight,
      [&workload, &path](size_t i) {
        return client::RestRequest{.method = "POST",
                                   .target = path,
                                   .body = PodBody(workload, i),
                                   .resource = "pods",
                                   .name = PodName(i)};
      },
      done);
}

Result<void> CreateBoundPods(Cluster& cluster, const Workload& workload) {
  const std::string path = PodPath(workload.ns);
  return cluster.SendAll(workload.bound, workload.in_flight, [&workload, &path](size_t i) {
    return client::RestRequest{.method = "POST",
                               .target = path,
                               .body = BoundPodBody(workload, i),
                               .resource = "pods",
                               .name = fmt::format("bound-{:05}", i)};
  });
}

Result<void> RemoveWorkload(Cluster& cluster, const Workload& workload) {
  const std::string selector = Selector(workload);
  if (Result<void> pods = cluster.DeleteAll(PodPath(workload.ns), selector); !pods.ok()) {
    return pods;
  }
  const std::string bound = std::string(kOwnerLabel) + "=" + BoundLabel(workload);
  if (Result<void> pods = cluster.DeleteAll(PodPath(workload.ns), bound); !pods.ok()) {
    return pods;
  }
  return cluster.DeleteAll("/api/v1/nodes", selector);
}

Result<std::vector<std::string>> VerifyPlacement(Cluster& cluster, const Workload& workload) {
  const auto pods = cluster.ListPods(workload.ns, Selector(workload));
  if (!pods.ok()) {
    return pods.error();
  }
  const auto nodes = cluster.ListNodes(Selector(workload));
  if (!nodes.ok()) {
    return nodes.error();
  }
  std::vector<std::string> violations;
  if (pods->size() != workload.pods) {
    violations.push_back(fmt::format("{} pods exist, {} expected", pods->size(), workload.pods));
  }
  std::map<std::string, Amount> taken = TakenByNode(*pods);
  for (const api::NodePtr& node : *nodes) {
    const Amount offered = AmountOf(node->allocatable);
    const Amount& sum = taken[node->meta.name];
    CompareAmount(node->meta.name, "cpu (m)", sum.cpu_milli, offered.cpu_milli, violations);
    CompareAmount(node->meta.name, "memory (bytes)", sum.memory_bytes, offered.memory_bytes,
                  violations);
    CompareAmount(node->meta.name, "pods", sum.pods, offered.pods, violations);
    taken.erase(node->meta.name);
  }
  for (const auto& [node, sum] : taken) {
    violations.push_back(
        node.empty()
            ? fmt::format("{} pods are not bound", sum.pods)
            : fmt::format("{} pods are bound to {}, which is not one of ours", sum.pods, node));
  }
  return violations;
}

}  // namespace ks::ctl
