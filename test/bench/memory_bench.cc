// SPDX-License-Identifier: Apache-2.0
// Memory: what a running pod and a node of a real cluster take in the scheduler, once they are
// decoded and in its cache. Counters in bytes; times mean nothing here.

#include <benchmark/benchmark.h>

#include <malloc.h>

#include <string>
#include <vector>

#include <fmt/format.h>

#include "api/decode/decoder.h"
#include "cache/cache.h"

namespace ks {
namespace {

constexpr int kPods = 50'000;
constexpr int kNodes = 1'000;
constexpr int kTemplates = 20;
constexpr int kImages = 30;  // on a node

std::string Condition(std::string_view type) {
  return fmt::format(R"({{"type":"{}","status":"True","observedGeneration":1,"lastProbeTime":null,)"
                     R"("lastTransitionTime":"2026-01-02T03:04:06Z"}})",
                     type);
}

// As a kubelet of v1.37 reports it.
std::string RunningPod(int i) {
  const int app = i % kTemplates;
  std::string text = fmt::format(
      R"({{"metadata":{{"name":"web-{0}-7d9c5b8f4-{1:05d}","namespace":"team-{2}",)"
      R"("uid":"1f0e7c3a-5d1b-4c8e-9a55-{1:012x}","resourceVersion":"{3}","generation":1,)"
      R"("creationTimestamp":"2026-01-02T03:04:05Z","labels":{{"app":"web-{0}",)"
      R"("pod-template-hash":"7d9c5b8f4","tier":"frontend"}},"ownerReferences":[)"
      R"({{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-{0}-7d9c5b8f4",)"
      R"("uid":"7e0c51d2-0a0b-4a34-8f3e-{0:012x}","controller":true}}]}},)"
      R"("spec":{{"volumes":[{{"name":"kube-api-access-{1:05d}","projected":{{"sources":[]}}}}],)"
      R"("containers":[{{"name":"web","image":"registry.example.com/shop/web:{0}.4.2",)"
      R"("resources":{{"limits":{{"memory":"512Mi"}},"requests":{{"cpu":"250m",)"
      R"("memory":"256Mi"}}}}}}],"nodeName":"node-{4}.example.com","priority":0,)"
      R"("schedulerName":"default-scheduler","tolerations":[)"
      R"({{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute"}}]}},)",
      app, i, app % 7, 1'000'000 + i, i % kNodes);
  text += R"("status":{"phase":"Running","startTime":"2026-01-02T03:04:05Z","conditions":[)";
  text += Condition("PodReadyToStartContainers") + "," + Condition("Initialized") + ",";
  text += Condition("Ready") + "," + Condition("ContainersReady") + "," + Condition("PodScheduled");
  text += R"(],"containerStatuses":[{"name":"web","ready":true,"allocatedResources":{"cpu":"250m",)"
          R"("memory":"256Mi"},"resources":{"limits":{"memory":"512Mi"},"requests":{"cpu":"250m",)"
          R"("memory":"256Mi"}}}],"qosClass":"Burstable"}})";
  return text;
}

std::string ReadyNode(int i) {
  std::string images;
  for (int image = 0; image < kImages; ++image) {
    images +=
        fmt::format(R"({}{{"names":["registry.example.com/shop/image-{}:1.0"],"sizeBytes":{}}})",
                    image == 0 ? "" : ",", (i + image) % 100, 1'000'000 * (image + 1));
  }
  constexpr std::string_view kResources =
      R"({"cpu":"32","memory":"128Gi","ephemeral-storage":"500Gi","hugepages-2Mi":"0","pods":"110"})";
  return fmt::format(
      R"({{"metadata":{{"name":"node-{0}.example.com","uid":"2f0e7c3a-5d1b-4c8e-9a55-{0:012x}",)"
      R"("resourceVersion":"{1}","labels":{{"kubernetes.io/hostname":"node-{0}.example.com",)"
      R"("kubernetes.io/os":"linux","kubernetes.io/arch":"amd64",)"
      R"("topology.kubernetes.io/zone":"zone-{2}","topology.kubernetes.io/region":"region",)"
      R"("node.kubernetes.io/instance-type":"m32"}}}},"spec":{{"podCIDR":"10.0.0.0/24"}},)"
      R"("status":{{"capacity":{3},"allocatable":{3},"conditions":[{4},{5},{6},{7}],)"
      R"("images":[{8}]}}}})",
      i, 2'000'000 + i, i % 3, kResources, Condition("MemoryPressure"), Condition("DiskPressure"),
      Condition("PIDPressure"), Condition("Ready"), images);
}

double Used() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks) + static_cast<double>(info.hblkhd);
}

template <class T>
std::vector<std::shared_ptr<const T>> Decoded(int count, std::string (*json)(int),
                                              benchmark::State& state) {
  api::Decoder decoder;
  std::vector<std::shared_ptr<const T>> objects(static_cast<size_t>(count));
  const double before = Used();
  for (int i = 0; i < count; ++i) {
    std::string text = json(i);
    text.reserve(text.size() + api::kJsonPadding);
    auto object = decoder.Object<T>(text);
    if (!object.ok()) state.SkipWithError(object.error().message.c_str());
    if (object.ok()) objects[static_cast<size_t>(i)] = *object;
  }
  state.counters["object"] = (Used() - before) / count;
  return objects;
}

void BM_MemoryOfRunningPod(benchmark::State& state) {
  for (auto _ : state) {
    const auto pods = Decoded<api::Pod>(kPods, RunningPod, state);
    const double before = Used();
    cache::Cache cache;
    for (const api::PodPtr& pod : pods) benchmark::DoNotOptimize(cache.AddPod(pod).ok());
    benchmark::DoNotOptimize(cache.RefreshSnapshot().ok());
    state.counters["cache"] = (Used() - before) / kPods;
  }
}
BENCHMARK(BM_MemoryOfRunningPod)->Iterations(1)->Unit(benchmark::kMillisecond);

void BM_MemoryOfNode(benchmark::State& state) {
  for (auto _ : state) {
    const auto nodes = Decoded<api::Node>(kNodes, ReadyNode, state);
    const double before = Used();
    cache::Cache cache;
    for (const api::NodePtr& node : nodes) cache.AddNode(node);
    benchmark::DoNotOptimize(cache.RefreshSnapshot().ok());
    state.counters["cache"] = (Used() - before) / kNodes;
  }
}
BENCHMARK(BM_MemoryOfNode)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ks
