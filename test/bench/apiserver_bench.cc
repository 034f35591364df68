// SPDX-License-Identifier: Apache-2.0
// What requests cost inside of the in-memory API server, without sockets: the front's TLS and HTTP
// come on top.
#include <benchmark/benchmark.h>

#include <string>

#include "apiserver/service/service.h"
#include "testing/fake_clock.h"

namespace ks::apiserver {
namespace {

constexpr const char* kPods = "/api/v1/namespaces/default/pods";

// About 1 KB, as a Deployment's pods are.
std::string PodText(int64_t number) {
  const std::string n = std::to_string(number);
  return R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"pod-)" + n +
         R"(","labels":{"app":"web","tier":"front","pod-template-hash":"5d8f7c6b9"},)"
         R"("annotations":{"example.com/team":"storefront","example.com/contact":"team-a"},)"
         R"("ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-5d8f7c6b9",)"
         R"("uid":"5e1b7c0e-7b0f-4b57-9f3b-0d4f6a2f1c11","controller":true}]},)"
         R"("spec":{"containers":[{"name":"main","image":"registry.example.com/web:1.2.3",)"
         R"("ports":[{"containerPort":8080,"protocol":"TCP"}],)"
         R"("env":[{"name":"MODE","value":"production"},{"name":"LEVEL","value":"info"}],)"
         R"("resources":{"requests":{"cpu":"100m","memory":"128Mi"},)"
         R"("limits":{"cpu":"500m","memory":"256Mi"}}}],)"
         R"("topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"topology.kubernetes.io/zone",)"
         R"("whenUnsatisfiable":"ScheduleAnyway","labelSelector":{"matchLabels":{"app":"web"}}}],)"
         R"("schedulerName":"default-scheduler"}})";
}

struct Server {
  ks::testing::FakeClock clock;
  Service service{clock};

  ApiResponse Ask(const char* method, std::string target, std::string body = "") {
    ApiRequest request;
    request.method = method;
    request.target = std::move(target);
    request.accept = "application/json";
    request.content_type = body.empty() ? "" : "application/json";
    request.body = std::move(body);
    request.user = {"bench", {"system:masters"}};
    return service.Handle(request);
  }
  void MakePods(int64_t count) {
    for (int64_t i = 0; i < count; ++i) Ask("POST", kPods, PodText(i));
  }
};

void Expect(benchmark::State& state, const ApiResponse& response, int status) {
  if (response.status != status) state.SkipWithError(response.body.c_str());
}

void BM_CreatePod(benchmark::State& state) {
  Server server;
  int64_t number = 0;
  for (auto _ : state) {
    state.PauseTiming();
    std::string body = PodText(number++);
    state.ResumeTiming();
    Expect(state, server.Ask("POST", kPods, std::move(body)), 201);
  }
}
BENCHMARK(BM_CreatePod);

void BM_BindPod(benchmark::State& state) {
  Server server;
  int64_t number = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const std::string name = "pod-" + std::to_string(number);
    server.Ask("POST", kPods, PodText(number++));
    std::string body = R"({"kind":"Binding","apiVersion":"v1","metadata":{"name":")" + name +
                       R"(","namespace":"default"},"target":{"kind":"Node","name":"node-17"}})";
    state.ResumeTiming();
    Expect(state, server.Ask("POST", kPods + ('/' + name) + "/binding", std::move(body)), 201);
  }
}
BENCHMARK(BM_BindPod);

// The status patch of a pod that fits nowhere.
void BM_PatchStatus(benchmark::State& state) {
  Server server;
  server.MakePods(1);
  int64_t number = 0;
  for (auto _ : state) {
    ApiRequest request;
    request.method = "PATCH";
    request.user = {"bench", {"system:masters"}};
    request.target = kPods + std::string("/pod-0/status");
    request.content_type = "application/strategic-merge-patch+json";
    request.body =
        R"({"status":{"conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable",)"
        R"("message":"0/5000 nodes are available: )" +
        std::to_string(number++) + R"( Insufficient cpu."}]}})";
    Expect(state, server.service.Handle(request), 200);
  }
}
BENCHMARK(BM_PatchStatus);

void BM_ListPods(benchmark::State& state) {
  Server server;
  server.MakePods(state.range(0));
  for (auto _ : state) {
    const ApiResponse response = server.Ask("GET", kPods);
    Expect(state, response, 200);
    state.SetBytesProcessed(state.bytes_processed() + static_cast<int64_t>(response.body.size()));
  }
}
BENCHMARK(BM_ListPods)->Arg(1000)->Arg(50000)->Unit(benchmark::kMicrosecond);

// One page of 500 of a list that began 1,000 changes ago.
void BM_ListPage(benchmark::State& state) {
  Server server;
  server.MakePods(10000);
  const std::string first = server.Ask("GET", kPods + std::string("?limit=5000")).body;
  const size_t begin = first.find("\"continue\":\"") + 12;
  const std::string token = first.substr(begin, first.find('"', begin) - begin);
  for (int i = 0; i < 1000; ++i) server.Ask("POST", kPods, PodText(100000 + i));
  for (auto _ : state) {
    Expect(state, server.Ask("GET", kPods + ("?limit=500&continue=" + token)), 200);
  }
}
BENCHMARK(BM_ListPage)->Unit(benchmark::kMicrosecond);

// A pod's creation with so many watches of all pods, each of which is read.
void BM_CreateWatched(benchmark::State& state) {
  Server server;
  std::vector<std::unique_ptr<WatchStream>> watches;
  for (int64_t i = 0; i < state.range(0); ++i) {
    watches.push_back(server.Ask("GET", "/api/v1/pods?watch=1").watch);
  }
  std::string out;
  int64_t number = 0;
  for (auto _ : state) {
    Expect(state, server.Ask("POST", kPods, PodText(number++)), 201);
    for (const std::unique_ptr<WatchStream>& watch : watches) {
      out.clear();
      watch->Read(1 << 20, &out);
      benchmark::DoNotOptimize(out);
    }
  }
}
BENCHMARK(BM_CreateWatched)->Arg(1)->Arg(100);

}  // namespace
}  // namespace ks::apiserver
