// SPDX-License-Identifier: Apache-2.0
#include "owner_informers.h"

#include <utility>
#include <vector>

namespace ks::daemon {

using framework::OwnerKind;

OwnerInformers::OwnerInformers(client::RestClient& client, uint64_t seed, Sink sink)
    : client_(client), next_seed_(seed), sink_(std::move(sink)) {}

OwnerInformers::~OwnerInformers() { Stop(); }

template <class T>
void OwnerInformers::Start(std::unique_ptr<client::Reflector<T>>& reflector, const char* path,
                           const char* type_name, const char* resource) {
  if (reflector != nullptr) return;
  reflector = std::make_unique<client::Reflector<T>>(
      client_,
      client::ReflectorOptions{
          .path = path, .type_name = type_name, .resource = resource, .seed = next_seed_++},
      [this](std::vector<api::Delta<T>> deltas) { sink_(cache::OwnerDeltas(std::move(deltas))); });
  reflector->Start();
}

void OwnerInformers::Ensure(framework::OwnerKinds kinds) {
  if (kinds.Contains(OwnerKind::kService)) {
    Start(services_, "/api/v1/services", "*v1.Service", "services");
  }
  if (kinds.Contains(OwnerKind::kReplicationController)) {
    Start(replication_controllers_, "/api/v1/replicationcontrollers", "*v1.ReplicationController",
          "replicationcontrollers");
  }
  if (kinds.Contains(OwnerKind::kReplicaSet)) {
    Start(replica_sets_, "/apis/apps/v1/replicasets", "*v1.ReplicaSet", "replicasets");
  }
  if (kinds.Contains(OwnerKind::kStatefulSet)) {
    Start(stateful_sets_, "/apis/apps/v1/statefulsets", "*v1.StatefulSet", "statefulsets");
  }
  if (kinds.Contains(OwnerKind::kNamespace)) {
    Start(namespaces_, "/api/v1/namespaces", "*v1.Namespace", "namespaces");
  }
  if (kinds.Contains(OwnerKind::kPodDisruptionBudget)) {
    Start(budgets_, "/apis/policy/v1/poddisruptionbudgets", "*v1.PodDisruptionBudget",
          "poddisruptionbudgets");
  }
}

void OwnerInformers::Stop() {
  if (services_ != nullptr) services_->Stop();
  if (replication_controllers_ != nullptr) replication_controllers_->Stop();
  if (replica_sets_ != nullptr) replica_sets_->Stop();
  if (stateful_sets_ != nullptr) stateful_sets_->Stop();
  if (namespaces_ != nullptr) namespaces_->Stop();
  if (budgets_ != nullptr) budgets_->Stop();
}

}  // namespace ks::daemon
