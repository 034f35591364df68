// SPDX-License-Identifier: Apache-2.0
// A round of the scheduling thread while many pods wait in PreBind for volumes that nobody makes:
// what they cost when something happens that concerns none of them, and when time passes.
//
// BM_RoundBesideWaitingPods/<pods>: a change of another pod. BM_SecondOfWaitingPods/<pods>: one
// second of virtual time, in which each of them looks at its claim once.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "plugins/registry.h"
#include "scheduler/scheduler.h"
#include "testing/builders.h"
#include "testing/deltas.h"
#include "testing/fake_api_writer.h"
#include "testing/fake_clock.h"
#include "testing/no_objects.h"

namespace ks::scheduler {
namespace {

using ks::testing::MakeNode;
using ks::testing::MakePod;

class WaitingBed {
 public:
  explicit WaitingBed(int pods) {
    auto made =
        Scheduler::Create({.registry = &registry_, .api = &api_, .clock = &clock, .seed = 1});
    scheduler = std::move(made.value());
    testing::PostNoStorageOrDevices(*scheduler);
    testing::PostNoOwners(*scheduler);
    auto storage_class = std::make_shared<api::StorageClass>();
    storage_class->meta.name = "wait";
    storage_class->provisioner = "example.com/disk";
    storage_class->volume_binding_mode = Symbol("WaitForFirstConsumer");
    Put<api::StorageClass>(storage_class);
    api::Delta<api::Node> nodes;
    for (int i = 0; i < 100; ++i) {
      nodes.items.push_back(MakeNode()
                                .Name("node-" + std::to_string(i))
                                .Allocatable({{"cpu", "160"}, {"pods", "1100"}})
                                .Obj());
    }
    scheduler->Post(NodeDeltas{std::move(nodes)});
    scheduler->Post(PodDeltas{api::Delta<api::Pod>{}});
    Run();
    for (int i = 0; i < pods; ++i) AddWaitingPod(i);
  }

  void Run() {
    while (scheduler->Step()) {
    }
  }
  void Post(const api::PodPtr& pod) { scheduler->Post(PodDeltas{testing::Upsert(pod)}); }

  ks::testing::FakeClock clock;
  std::unique_ptr<Scheduler> scheduler;

 private:
  template <class T>
  void Put(std::shared_ptr<const T> object) {
    scheduler->Post(StorageDeltas(std::vector<api::Delta<T>>{testing::Upsert(std::move(object))}));
  }

  void AddWaitingPod(int i) {
    auto claim = std::make_shared<api::PersistentVolumeClaim>();
    claim->meta.name = "claim-" + std::to_string(i);
    claim->meta.ns = Symbol("default");
    claim->meta.uid = "uid-" + claim->meta.name;
    claim->meta.resource_version = "5";
    claim->storage_class_name = Symbol("wait");
    claim->requested = api::Quantity::Parse("1Gi").value();
    auto pod = MakePod().Name("pod-" + std::to_string(i)).Namespace("default");
    api::Volume volume;
    volume.name = "data";
    volume.source = api::Volume::Source::kPersistentVolumeClaim;
    volume.id = claim->meta.name;
    pod.spec().volumes.push_back(volume);
    clock.Advance(std::chrono::microseconds(50));  // the deadlines differ
    Put<api::PersistentVolumeClaim>(claim);
    Post(pod.Obj());
    Run();
    const size_t writes = api_.writes.size();
    KS_CHECK(writes == static_cast<size_t>(i) + 1, "each pod writes its claim");
    auto written = std::make_shared<api::PersistentVolumeClaim>(*api_.writes.back().claim);
    written->meta.resource_version = "6";
    KS_CHECK(api_.AnswerWrite(std::nullopt, "6"), "the write is answered");
    Put<api::PersistentVolumeClaim>(written);
    Run();
  }

  framework::Registry registry_ = plugins::InTreeRegistry();
  ks::testing::FakeApiWriter api_;
};

void BM_RoundBesideWaitingPods(benchmark::State& state) {
  WaitingBed bed(static_cast<int>(state.range(0)));
  const api::PodPtr other = MakePod().Name("other").Node("node-0").Obj();
  for (auto _ : state) {
    bed.Post(other);
    bed.Run();
  }
}
BENCHMARK(BM_RoundBesideWaitingPods)->Arg(0)->Arg(1000)->Arg(10000)->Unit(benchmark::kMicrosecond);

void BM_SecondOfWaitingPods(benchmark::State& state) {
  WaitingBed bed(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    const TimePoint end = bed.clock.Now() + std::chrono::seconds(1);
    for (auto next = bed.scheduler->NextTimer(); next && *next <= end;
         next = bed.scheduler->NextTimer()) {
      if (*next > bed.clock.Now()) bed.clock.Advance(*next - bed.clock.Now());
      bed.Run();
    }
    bed.clock.Advance(end - bed.clock.Now());
  }
}
BENCHMARK(BM_SecondOfWaitingPods)
    ->Arg(1000)
    ->Arg(10000)
    ->Iterations(100)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ks::scheduler
