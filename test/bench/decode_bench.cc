// SPDX-License-Identifier: Apache-2.0
// Decoding: what a pod event and a list page of a real cluster cost. Texts are made here, about 4
// KB a pod, most of it managedFields and status that the scheduler skips.

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include <fmt/format.h>

#include "api/decode/decoder.h"
#include "api/quantity.h"

namespace ks::api {
namespace {

constexpr int kPods = 500;
constexpr int kTemplates = 20;

std::string Metadata(int i) {
  const int app = i % kTemplates;
  std::string text = fmt::format(
      R"("metadata":{{"name":"web-{0}-7d9c5b8f4-{1:05d}","generateName":"web-{0}-7d9c5b8f4-","namespace":"team-{2}",)"
      R"("uid":"1f0e7c3a-5d1b-4c8e-9a55-{1:012x}","resourceVersion":"{3}","generation":1,)"
      R"("creationTimestamp":"2026-01-02T03:04:05Z","labels":{{"app":"web-{0}","pod-template-hash":"7d9c5b8f4",)"
      R"("app.kubernetes.io/part-of":"shop","tier":"frontend"}},"annotations":{{"prometheus.io/scrape":"true",)"
      R"("prometheus.io/port":"8080","kubectl.kubernetes.io/restartedAt":"2026-01-01T00:00:00Z"}},)"
      R"("ownerReferences":[{{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-{0}-7d9c5b8f4",)"
      R"("uid":"7e0c51d2-0a0b-4a34-8f3e-{0:012x}","controller":true,"blockOwnerDeletion":true}}],"managedFields":[)",
      app, i, app % 7, 100000 + i);
  text +=
      R"({"manager":"kube-controller-manager","operation":"Update","apiVersion":"v1","time":"2026-01-02T03:04:05Z",)"
      R"("fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{".":{},"f:prometheus.io/port":{},)"
      R"("f:prometheus.io/scrape":{}},"f:generateName":{},"f:labels":{".":{},"f:app":{},"f:pod-template-hash":{}},)"
      R"("f:ownerReferences":{".":{},"k:{\"uid\":\"7e0c51d2-0a0b-4a34-8f3e-6a2f0a1b2c3d\"}":{}}},"f:spec":{"f:affinity":)"
      R"({".":{},"f:podAntiAffinity":{".":{},"f:preferredDuringSchedulingIgnoredDuringExecution":{}}},"f:containers":)"
      R"({"k:{\"name\":\"web\"}":{".":{},"f:image":{},"f:imagePullPolicy":{},"f:name":{},"f:ports":{".":{},)"
      R"("k:{\"containerPort\":8080,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{},"f:protocol":{}}},"f:resources":)"
      R"({".":{},"f:limits":{".":{},"f:memory":{}},"f:requests":{".":{},"f:cpu":{},"f:memory":{}}}}},"f:dnsPolicy":{},)"
      R"("f:restartPolicy":{},"f:schedulerName":{},"f:terminationGracePeriodSeconds":{},"f:tolerations":{}}}},)"
      R"({"manager":"kubelet","operation":"Update","apiVersion":"v1","time":"2026-01-02T03:04:15Z","subresource":"status",)"
      R"("fieldsType":"FieldsV1","fieldsV1":{"f:status":{"f:conditions":{"k:{\"type\":\"Ready\"}":{".":{},"f:status":{},)"
      R"("f:type":{}}},"f:containerStatuses":{},"f:phase":{},"f:startTime":{}}}}]})";
  return text;
}

std::string Spec(int i) {
  const int app = i % kTemplates;
  return fmt::format(
      R"("spec":{{"volumes":[{{"name":"data","persistentVolumeClaim":{{"claimName":"data-{0}"}}}},)"
      R"({{"name":"config","configMap":{{"name":"web-{0}","defaultMode":420}}}},{{"name":"kube-api-access-{1:05d}",)"
      R"("projected":{{"sources":[{{"serviceAccountToken":{{"expirationSeconds":3607,"path":"token"}}}}],"defaultMode":420}}}}],)"
      R"("containers":[{{"name":"web","image":"registry.example.com/shop/web:{0}.4.2","ports":[{{"containerPort":8080,)"
      R"("protocol":"TCP"}}],"env":[{{"name":"LOG_LEVEL","value":"info"}},{{"name":"REGION","value":"eu-central-1"}}],)"
      R"("resources":{{"limits":{{"memory":"512Mi"}},"requests":{{"cpu":"250m","memory":"256Mi"}}}},"volumeMounts":)"
      R"([{{"name":"data","mountPath":"/data"}},{{"name":"config","mountPath":"/etc/web"}}],"imagePullPolicy":"IfNotPresent"}}],)"
      R"("restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","serviceAccountName":"web",)"
      R"("nodeName":"node-{2}","securityContext":{{}},"affinity":{{"podAntiAffinity":)"
      R"({{"preferredDuringSchedulingIgnoredDuringExecution":[{{"weight":100,"podAffinityTerm":{{"labelSelector":)"
      R"({{"matchLabels":{{"app":"web-{0}"}}}},"topologyKey":"kubernetes.io/hostname"}}}}]}}}},)"
      R"("schedulerName":"default-scheduler","tolerations":[{{"key":"node.kubernetes.io/not-ready","operator":"Exists",)"
      R"("effect":"NoExecute","tolerationSeconds":300}},{{"key":"node.kubernetes.io/unreachable","operator":"Exists",)"
      R"("effect":"NoExecute","tolerationSeconds":300}}],"priority":0,"enableServiceLinks":true,)"
      R"("preemptionPolicy":"PreemptLowerPriority","topologySpreadConstraints":[{{"maxSkew":1,)"
      R"("topologyKey":"topology.kubernetes.io/zone","whenUnsatisfiable":"ScheduleAnyway","labelSelector":)"
      R"({{"matchLabels":{{"app":"web-{0}"}}}}}}]}})",
      app, i, i % 100);
}

std::string Status() {
  return R"("status":{"phase":"Running","conditions":[{"type":"Initialized","status":"True","lastProbeTime":null,)"
         R"("lastTransitionTime":"2026-01-02T03:04:06Z"},{"type":"Ready","status":"True","lastProbeTime":null,)"
         R"("lastTransitionTime":"2026-01-02T03:04:16Z"},{"type":"PodScheduled","status":"True","lastProbeTime":null,)"
         R"("lastTransitionTime":"2026-01-02T03:04:05Z"}],"hostIP":"10.0.0.7","podIP":"10.1.2.3","podIPs":)"
         R"([{"ip":"10.1.2.3"}],"startTime":"2026-01-02T03:04:05Z","containerStatuses":[{"name":"web","state":{"running":)"
         R"({"startedAt":"2026-01-02T03:04:10Z"}},"lastState":{},"ready":true,"restartCount":0,"image":)"
         R"("registry.example.com/shop/web:1.4.2","imageID":"registry.example.com/shop/web@sha256:0123456789abcdef",)"
         R"("containerID":"containerd://0123456789abcdef","started":true}],"qosClass":"Burstable"})";
}

std::string PodJson(int i) {
  return R"({"kind":"Pod","apiVersion":"v1",)" + Metadata(i) + "," + Spec(i) + "," + Status() + "}";
}

void SetRates(benchmark::State& state, int64_t bytes, int64_t pods) {
  state.SetBytesProcessed(bytes);
  state.SetItemsProcessed(pods);
}

// One event after the other, as a watch delivers them; the objects live as they would in the cache.
void BM_PodWatchEvent(benchmark::State& state) {
  std::vector<std::string> events;
  for (int i = 0; i < kPods; ++i) {
    events.push_back(R"({"type":"MODIFIED","object":)" + PodJson(i) + "}");
    events.back().reserve(events.back().size() + kJsonPadding);
  }
  Decoder decoder;
  std::vector<PodPtr> cache(kPods);
  int64_t bytes = 0;
  size_t next = 0;
  for (auto _ : state) {
    Result<WatchEvent<Pod>> event = decoder.Event<Pod>(events[next]);
    if (!event.ok()) state.SkipWithError(event.error().message.c_str());
    cache[next] = std::move(event->object);
    bytes += static_cast<int64_t>(events[next].size());
    next = (next + 1) % kPods;
  }
  SetRates(state, bytes, state.iterations());
  state.counters["json_bytes"] = static_cast<double>(events[0].size());
}
BENCHMARK(BM_PodWatchEvent);

void BM_PodListPage(benchmark::State& state) {
  std::string page =
      R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[)";
  for (int i = 0; i < kPods; ++i) page += (i == 0 ? "" : ",") + PodJson(i);
  page += "]}";
  page.reserve(page.size() + kJsonPadding);
  Decoder decoder;
  for (auto _ : state) {
    Result<ListPage<Pod>> decoded = decoder.List<Pod>(page);
    if (!decoded.ok()) state.SkipWithError(decoded.error().message.c_str());
    benchmark::DoNotOptimize(decoded->items.data());
  }
  SetRates(state, state.iterations() * static_cast<int64_t>(page.size()),
           state.iterations() * kPods);
}
BENCHMARK(BM_PodListPage)->Unit(benchmark::kMillisecond);

void BM_QuantityParse(benchmark::State& state) {
  const char* const texts[] = {"100m", "1Gi", "250M", "4"};
  size_t next = 0;
  for (auto _ : state) {
    const Result<Quantity> quantity = Quantity::Parse(texts[next++ % 4]);
    benchmark::DoNotOptimize(quantity->MilliValue());
  }
}
BENCHMARK(BM_QuantityParse);

}  // namespace
}  // namespace ks::api
