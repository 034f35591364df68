// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether a volume for a claim can be made on a node.
//
// Upstream: docs/spec/plugins-volume.md sections 2.7.2 and 2.7.3. Of several capacity objects the
// one of the smallest key counts (upstream: undefined).

#include <cstdint>
#include <functional>
#include <vector>

#include "api/storage.h"
#include "framework/storage_state.h"
#include "plugins/volume_binding/node_index.h"

namespace ks::plugins {

enum class ProvisioningVerdict : uint8_t { kPossible, kImpossible, kNotEnoughSpace };

// How one claim is provisioned. Threads: immutable. Lifetime: only within an attempt.
class Provisioning {
 public:
  // Requires: the class is that of the claim.
  Provisioning(const framework::StorageState& storage, const api::PersistentVolumeClaim& claim,
               api::StorageClassPtr storage_class);

  // `capacity`: the object that promises the space; null where none is asked for.
  ProvisioningVerdict On(const api::LabelMap& node_labels,
                         api::CsiStorageCapacityPtr* capacity) const;

 private:
  void FindCapacities(const framework::StorageState& storage, int64_t requested);

  api::StorageClassPtr class_;
  bool provisions_ = false;
  bool asks_for_capacity_ = false;
  std::vector<const api::CsiStorageCapacityPtr*> capacities_;  // large enough, by key
  NodeIndex<uint32_t, std::less<>> capacities_by_node_;
};

}  // namespace ks::plugins
