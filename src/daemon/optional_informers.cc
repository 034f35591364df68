// SPDX-License-Identifier: Apache-2.0
#include "daemon/optional_informers.h"

#include <string_view>
#include <utility>
#include <vector>

#include "cache/optional_deltas.h"

namespace ks::daemon {

using framework::OptionalKind;

OptionalInformers::OptionalInformers(client::RestClient& client, client::InformerMetrics& metrics,
                                     uint64_t seed, Sink sink, bool keep_texts)
    : client_(client),
      metrics_(metrics),
      next_seed_(seed),
      sink_(std::move(sink)),
      keep_texts_(keep_texts) {}

OptionalInformers::~OptionalInformers() { Stop(); }

template <class T>
void OptionalInformers::Start(Watch<T>& watch, const char* path, const char* type_name,
                              const char* resource) {
  if (watch != nullptr) return;
  constexpr std::string_view kPackage = "*v1.";
  client::InformerSeries& series = metrics_.For(path, type_name + kPackage.size());
  series.Begin();
  watch = std::make_unique<client::Reflector<T>>(
      client_,
      client::ReflectorOptions{.path = path,
                               .type_name = type_name,
                               .resource = resource,
                               .seed = next_seed_++,
                               .keep_texts = keep_texts_,
                               .metrics = &series},
      [this, &series](std::vector<api::Delta<T>> deltas) {
        sink_(cache::OptionalDeltasOf<T>(std::move(deltas)), series);
      });
  watch->Start();
}

void OptionalInformers::Ensure(framework::OptionalKinds kinds) {
  EnsureOwners(kinds);
  EnsureStorage(kinds);
}

void OptionalInformers::EnsureOwners(framework::OptionalKinds kinds) {
  if (kinds.Contains(OptionalKind::kService)) {
    Start(std::get<Watch<api::Service>>(watches_), "/api/v1/services", "*v1.Service", "services");
  }
  if (kinds.Contains(OptionalKind::kReplicationController)) {
    Start(std::get<Watch<api::ReplicationController>>(watches_), "/api/v1/replicationcontrollers",
          "*v1.ReplicationController", "replicationcontrollers");
  }
  if (kinds.Contains(OptionalKind::kReplicaSet)) {
    Start(std::get<Watch<api::ReplicaSet>>(watches_), "/apis/apps/v1/replicasets", "*v1.ReplicaSet",
          "replicasets");
  }
  if (kinds.Contains(OptionalKind::kStatefulSet)) {
    Start(std::get<Watch<api::StatefulSet>>(watches_), "/apis/apps/v1/statefulsets",
          "*v1.StatefulSet", "statefulsets");
  }
  if (kinds.Contains(OptionalKind::kNamespace)) {
    Start(std::get<Watch<api::Namespace>>(watches_), "/api/v1/namespaces", "*v1.Namespace",
          "namespaces");
  }
  if (kinds.Contains(OptionalKind::kPodDisruptionBudget)) {
    Start(std::get<Watch<api::PodDisruptionBudget>>(watches_),
          "/apis/policy/v1/poddisruptionbudgets", "*v1.PodDisruptionBudget",
          "poddisruptionbudgets");
  }
}

void OptionalInformers::EnsureStorage(framework::OptionalKinds kinds) {
  if (kinds.Contains(OptionalKind::kPersistentVolume)) {
    Start(std::get<Watch<api::PersistentVolume>>(watches_), "/api/v1/persistentvolumes",
          "*v1.PersistentVolume", "persistentvolumes");
  }
  if (kinds.Contains(OptionalKind::kPersistentVolumeClaim)) {
    Start(std::get<Watch<api::PersistentVolumeClaim>>(watches_), "/api/v1/persistentvolumeclaims",
          "*v1.PersistentVolumeClaim", "persistentvolumeclaims");
  }
  if (kinds.Contains(OptionalKind::kStorageClass)) {
    Start(std::get<Watch<api::StorageClass>>(watches_), "/apis/storage.k8s.io/v1/storageclasses",
          "*v1.StorageClass", "storageclasses");
  }
  if (kinds.Contains(OptionalKind::kCsiNode)) {
    Start(std::get<Watch<api::CsiNode>>(watches_), "/apis/storage.k8s.io/v1/csinodes",
          "*v1.CSINode", "csinodes");
  }
  if (kinds.Contains(OptionalKind::kCsiDriver)) {
    Start(std::get<Watch<api::CsiDriver>>(watches_), "/apis/storage.k8s.io/v1/csidrivers",
          "*v1.CSIDriver", "csidrivers");
  }
  if (kinds.Contains(OptionalKind::kCsiStorageCapacity)) {
    Start(std::get<Watch<api::CsiStorageCapacity>>(watches_),
          "/apis/storage.k8s.io/v1/csistoragecapacities", "*v1.CSIStorageCapacity",
          "csistoragecapacities");
  }
  if (kinds.Contains(OptionalKind::kVolumeAttachment)) {
    Start(std::get<Watch<api::VolumeAttachment>>(watches_),
          "/apis/storage.k8s.io/v1/volumeattachments", "*v1.VolumeAttachment", "volumeattachments");
  }
}

void OptionalInformers::Stop() {
  const auto stop = [](auto&... watches) { ((watches ? watches->Stop() : void()), ...); };
  std::apply(stop, watches_);
}

}  // namespace ks::daemon
