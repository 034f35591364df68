// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/cluster/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "kubeschedctl/cluster/capacity_check.h"
#include "kubeschedctl/cluster/pod_manifest.h"

namespace ks::ctl {
namespace {

using Json = nlohmann::json;

Json Metadata(const Workload& workload, const std::string& name) {
  return {{"name", name}, {"labels", {{kOwnerLabel, workload.label}}}};
}

// In a mixed workload pod i has the kind of i modulo the kinds, and every kind has two apps.
Json Pod(const Workload& workload, const std::string& name, const std::string& label,
         size_t index) {
  constexpr size_t kKinds = static_cast<size_t>(PodKind::kMixed);
  const bool mixed = workload.kind == PodKind::kMixed;
  const PodKind kind = mixed ? static_cast<PodKind>(index % kKinds) : workload.kind;
  const size_t number = mixed ? index / kKinds % 2 : 0;
  const std::string app = fmt::format("app-{}-{}", static_cast<int>(kind), number);
  const PodTemplate& size = workload.pod_sizes[index % workload.pod_sizes.size()];
  Json pod = PodManifest(name, label, size);
  pod["spec"]["schedulerName"] = workload.scheduler_name;
  pod["spec"]["terminationGracePeriodSeconds"] = 0;
  if (kind != PodKind::kPlain) pod["metadata"]["labels"]["app"] = app;
  AddPodKind(kind, app, pod["spec"]);
  return pod;
}

std::string BoundLabel(const Workload& workload) { return workload.label + "-bound"; }

}  // namespace

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
  const auto unbound = std::count_if(pods->begin(), pods->end(),
                                     [](const api::PodPtr& pod) { return pod->node_name.empty(); });
  if (unbound > 0) violations.push_back(fmt::format("{} pods are not bound", unbound));
  const std::vector<std::string> over = OverCapacity(*nodes, *pods);
  violations.insert(violations.end(), over.begin(), over.end());
  return violations;
}

}  // namespace ks::ctl
