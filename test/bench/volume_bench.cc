// SPDX-License-Identifier: Apache-2.0
// A decision for a pod with one claim that is bound with it, in process, on one thread: PreFilter
// to Reserve with the default plugins on 5,000 nodes, where the class has volumes already. The time
// is the thread's CPU time.
//
// BM_DecideWithClaim/<volumes>/<volumes in the class>. "local": each for one node, two a node.
// "zone": each for a zone. "selector": as "zone", and the claim names one in a hundred by labels.
#include <benchmark/benchmark.h>

#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "cache/cache.h"
#include "cache/owner_stores.h"
#include "cache/storage_stores.h"
#include "config/read/defaults.h"
#include "framework/runtime/offline_parts.h"
#include "framework/runtime/profiles.h"
#include "plugins/registry.h"
#include "scheduler/algorithm/scheduling_algorithm.h"
#include "testing/builders.h"
#include "testing/deltas.h"

namespace ks::scheduler {
namespace {

using ks::testing::MakeNode;
using ks::testing::MakePod;

constexpr int kNodes = 5000;
constexpr int kBatch = 200;  // decisions between two clean-ups
constexpr const char* kZone = "topology.kubernetes.io/zone";
constexpr const char* kHostname = "kubernetes.io/hostname";

api::Quantity Gi(int count) { return api::Quantity::Parse(std::to_string(count) + "Gi").value(); }

double ThreadSeconds() {
  timespec now{};
  KS_CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0, "the thread's clock");
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

class VolumeBed {
 public:
  VolumeBed(const std::string& kind, int volumes) {
    for (int i = 0; i < kNodes; ++i) {
      const std::string name = "node-" + std::to_string(i);
      cache_.AddNode(MakeNode()
                         .Name(name)
                         .Zone("zone-" + std::to_string(i % 3))
                         .Label(kHostname, name)
                         .Allocatable({{"cpu", "16"}, {"memory", "64Gi"}, {"pods", "110"}})
                         .Obj());
    }
    auto storage_class = std::make_shared<api::StorageClass>();
    storage_class->meta.name = "wait";
    storage_class->provisioner = "kubernetes.io/no-provisioner";
    storage_class->volume_binding_mode = Symbol("WaitForFirstConsumer");
    Put<api::StorageClass>({storage_class});
    std::vector<api::PersistentVolumePtr> all;
    for (int i = 0; i < volumes; ++i) all.push_back(MakeVolume(i, kind == "local"));
    Put<api::PersistentVolume>(all);
    MakePods(kind == "selector");
    auto profiles = framework::BuildProfiles(registry_, config::DefaultConfiguration(),
                                             {.parts = parts_.parts(), .remember_verdicts = true});
    KS_CHECK(profiles.ok(), "profiles");
    profiles_ = std::move(profiles).value();
  }

  // Seconds of CPU for one batch of decisions.
  double Run() {
    const framework::Framework& framework = *profiles_.begin()->second;
    std::vector<std::unique_ptr<Attempt>> attempts;
    const double begin = ThreadSeconds();
    for (int i = 0; i < kBatch; ++i) {
      const api::PodPtr& pod = pods_[static_cast<size_t>(i)];
      attempts.push_back(std::make_unique<Attempt>(framework, pod, spaces_));
      Attempt& attempt = *attempts.back();
      KS_CHECK(cache_.RefreshSnapshot().ok(), "refresh");
      algorithm_.SchedulePod(attempt);
      KS_CHECK(attempt.result.node != nullptr, "a node for each pod");
      auto copy = std::make_shared<api::Pod>(*pod);
      copy->node_name = Symbol(attempt.result.node->name());
      attempt.assumed = copy;
      attempt.search.reset();
      KS_CHECK(cache_.AssumePod(copy).ok(), "assume");
      KS_CHECK(
          framework.RunReservePluginsReserve(attempt.state, attempt.assumed, attempt.node()).ok(),
          "reserve");
    }
    const double seconds = ThreadSeconds() - begin;
    for (const std::unique_ptr<Attempt>& attempt : attempts) {
      framework.RunReservePluginsUnreserve(attempt->state, attempt->assumed, attempt->node());
      KS_CHECK(cache_.ForgetPod(*attempt->assumed).ok(), "forget");
    }
    return seconds;
  }

 private:
  template <class T>
  void Put(const std::vector<std::shared_ptr<const T>>& objects) {
    std::vector<api::Delta<T>> deltas;
    for (const auto& object : objects) {
      deltas.push_back(testing::Upsert(object));
    }
    storage_.Apply(deltas, [](framework::EventResource, uint32_t, const framework::EventObject&,
                              const framework::EventObject&) {});
  }

  static api::PersistentVolumePtr MakeVolume(int i, bool local) {
    auto volume = std::make_shared<api::PersistentVolume>();
    volume->meta.name = "pv-" + std::to_string(i);
    volume->meta.uid = "uid-" + volume->meta.name;
    volume->meta.resource_version = "7";
    volume->meta.labels.Set(Symbol("tier"), Symbol("t" + std::to_string(i % 100)));
    volume->storage_class_name = Symbol("wait");
    volume->capacity = Gi(10 + i % 7);
    volume->access_modes = {Symbol("ReadWriteOnce")};
    volume->phase = Symbol("Available");
    const api::SelectorRequirement where =
        local ? api::SelectorRequirement{kHostname, "In", {"node-" + std::to_string(i % kNodes)}}
              : api::SelectorRequirement{kZone, "In", {"zone-" + std::to_string(i % 3)}};
    volume->node_affinity_spec =
        api::NodeSelectorSpec{{{.match_expressions = {where}, .match_fields = {}}}};
    volume->node_affinity = api::NodeSelector::Compile(*volume->node_affinity_spec);
    return volume;
  }

  void MakePods(bool with_selector) {
    std::vector<api::PersistentVolumeClaimPtr> claims;
    for (int i = 0; i < kBatch; ++i) {
      auto claim = std::make_shared<api::PersistentVolumeClaim>();
      claim->meta.name = "claim-" + std::to_string(i);
      claim->meta.ns = Symbol("default");
      claim->meta.uid = "uid-" + claim->meta.name;
      claim->meta.resource_version = "5";
      claim->storage_class_name = Symbol("wait");
      claim->access_modes = {Symbol("ReadWriteOnce")};
      claim->requested = Gi(10);
      claim->phase = Symbol("Pending");
      if (with_selector) {
        claim->selector = api::LabelSelector::Compile(
                              api::LabelSelectorSpec{{{"tier", "t" + std::to_string(i % 100)}}, {}})
                              .value();
      }
      auto pod = MakePod()
                     .Name("pod-" + std::to_string(i))
                     .Namespace("default")
                     .Req({{"cpu", "10m"}, {"memory", "16Mi"}});
      api::Volume volume;
      volume.name = "data";
      volume.source = api::Volume::Source::kPersistentVolumeClaim;
      volume.id = claim->meta.name;
      pod.spec().volumes.push_back(volume);
      pods_.push_back(pod.Obj());
      claims.push_back(std::move(claim));
    }
    Put<api::PersistentVolumeClaim>(claims);
  }

  Random random_{1};
  const framework::OfflineParts parts_{{.snapshot = &cache_,
                                        .owner_listers = &owners_,
                                        .storage = &storage_,
                                        .clock = &RealClock(),
                                        .random = &random_}};
  cache::Cache cache_;
  cache::OwnerStores owners_;
  cache::StorageStores storage_;
  framework::Registry registry_ = plugins::InTreeRegistry();
  framework::Profiles profiles_;
  Parallelizer parallelizer_{1};
  SchedulingAlgorithm algorithm_{cache_, parallelizer_, 0};
  SearchSpaces spaces_;
  std::vector<api::PodPtr> pods_;
};

void BM_DecideWithClaim(benchmark::State& state, const std::string& kind) {
  VolumeBed bed(kind, static_cast<int>(state.range(0)));
  for (auto _ : state) state.SetIterationTime(bed.Run());
  state.SetItemsProcessed(state.iterations() * kBatch);
}

void Sizes(benchmark::internal::Benchmark* benchmark) {
  for (const int volumes : {1000, 10000, 30000}) benchmark->Arg(volumes);
  benchmark->UseManualTime()->Unit(benchmark::kMillisecond);
}
BENCHMARK_CAPTURE(BM_DecideWithClaim, local, std::string("local"))->Apply(Sizes);
BENCHMARK_CAPTURE(BM_DecideWithClaim, zone, std::string("zone"))->Apply(Sizes);
BENCHMARK_CAPTURE(BM_DecideWithClaim, selector, std::string("selector"))->Apply(Sizes);

}  // namespace
}  // namespace ks::scheduler
