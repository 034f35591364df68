// SPDX-License-Identifier: Apache-2.0
#include "inspect/offline_cluster.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "cache/optional_deltas.h"

namespace ks::inspect {
namespace {

template <class T>
std::vector<api::Delta<T>> WholeState(std::vector<std::shared_ptr<const T>> objects) {
  std::vector<api::Delta<T>> deltas;
  deltas.push_back({api::Delta<T>::Type::kReplace, nullptr, std::move(objects)});
  return deltas;
}

// Only what a daemon would watch: the other kinds look empty to plugins.
void PostOptional(scheduler::Scheduler& scheduler, ClusterDump&& dump) {
  const framework::OptionalKinds needed = scheduler.NeededKinds();
  api::OptionalKindTypes::ForEach([&]<class T>(const T*) {
    if (!needed.Contains(framework::kOptionalKindOf<T>)) return;
    scheduler.Post(cache::OptionalDeltasOf<T>(WholeState(std::move(dump.Of<T>()))));
  });
}

bool Before(const api::PodPtr& a, const api::PodPtr& b) {
  if (a->meta.ns != b->meta.ns) return a->meta.ns.view() < b->meta.ns.view();
  return a->meta.name < b->meta.name;
}

}  // namespace

// A scheduler that attempts nothing writes nothing.
class OfflineCluster::NoApi final : public framework::ApiWriter {
 public:
  void Bind(api::PodPtr, std::string, Done) override { Refuse(); }
  void PatchPodStatus(api::PodPtr, api::PodStatusChange, Done) override { Refuse(); }
  void PatchPodGroupStatus(api::PodGroupPtr, api::Condition, Done) override { Refuse(); }
  void EvictPod(api::PodPtr, api::Condition, TimePoint, EvictionDone) override { Refuse(); }
  void WriteVolume(api::PersistentVolumePtr, WriteDone) override { Refuse(); }
  void WriteClaim(api::PersistentVolumeClaimPtr, WriteDone) override { Refuse(); }
  void SendClaimRequest(api::ClaimRequest, ClaimDone) override { Refuse(); }
  void RecordEvent(framework::PodEvent) override { Refuse(); }

 private:
  static void Refuse() { KS_CHECK(false, "a write without an API server"); }
};

OfflineCluster::OfflineCluster() : api_(std::make_unique<NoApi>()) {}
OfflineCluster::~OfflineCluster() = default;

Result<std::unique_ptr<OfflineCluster>> OfflineCluster::Make(ClusterDump dump,
                                                             config::Configuration configuration,
                                                             const framework::Registry& registry,
                                                             const config::FeatureGates* gates) {
  std::unique_ptr<OfflineCluster> cluster(new OfflineCluster());
  configuration.parallelism = 1;
  auto made = scheduler::Scheduler::Create({.configuration = std::move(configuration),
                                            .registry = &registry,
                                            .api = cluster->api_.get(),
                                            .clock = &RealClock(),
                                            .gates = gates});
  if (!made.ok()) return made.error();
  cluster->scheduler_ = std::move(made).value();
  scheduler::Scheduler& scheduler = *cluster->scheduler_;

  cluster->pods_ = dump.pods;
  std::sort(cluster->pods_.begin(), cluster->pods_.end(), Before);
  scheduler.Post(WholeState(std::move(dump.nodes)));
  scheduler.Post(WholeState(std::move(dump.pods)));
  PostOptional(scheduler, std::move(dump));
  // Stopped, a step takes in what was posted and begins no attempt.
  scheduler.Stop();
  scheduler.Step();
  if (Result<void> refreshed = scheduler.context().cluster.cache.RefreshSnapshot();
      !refreshed.ok()) {
    return refreshed.error();
  }
  for (const api::PodPtr& pod : cluster->pods_) {
    const bool waits = scheduler.context().IsQueued(*pod) && !pod->meta.deletion_timestamp;
    if (waits && cluster->ProfileFor(*pod) != nullptr) cluster->pending_.push_back(pod);
  }
  return cluster;
}

api::PodPtr OfflineCluster::FindPod(std::string_view key) const {
  for (const api::PodPtr& pod : pods_) {
    if (pod->meta.Key() == key) return pod;
  }
  return nullptr;
}

const framework::Framework* OfflineCluster::ProfileFor(const api::Pod& pod) const {
  const auto found = scheduler_->context().profiles.find(pod.spec->scheduler_name.str());
  return found == scheduler_->context().profiles.end() ? nullptr : found->second.get();
}

}  // namespace ks::inspect
