// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reservation: what Reserve has assumed for a pod, what PreBind writes of it, and what Unreserve
// takes back.
//
// Upstream: docs/spec/plugins-volume.md sections 2.9, 2.10 (step 1), 2.11 and 2.12.

#include <memory>
#include <string>
#include <vector>

#include "api/storage.h"
#include "base/result.h"
#include "framework/plugin.h"
#include "framework/storage_state.h"

namespace ks::plugins {

// An existing volume for a claim.
struct StaticBinding {
  api::PersistentVolumeClaimPtr claim;
  api::PersistentVolumePtr volume;
};

// A volume to be made for a claim. `capacity`: what promises the space; may be null.
struct Provision {
  api::PersistentVolumeClaimPtr claim;
  api::CsiStorageCapacityPtr capacity;
};

// Threads: the scheduling thread; the answers of writes come on others. Lifetime: `storage`
// outlives it.
class Reservation : public std::enable_shared_from_this<Reservation> {
 public:
  // Assumes all of it, or nothing. Errors: those of StorageState::Assume.
  static Result<std::shared_ptr<Reservation>> Make(framework::StorageState& storage,
                                                   std::string node_name,
                                                   const std::vector<StaticBinding>& bindings,
                                                   const std::vector<Provision>& provisions);

  const std::string& node_name() const { return node_name_; }
  // Volumes as they are to become, then as they were written.
  const std::vector<StaticBinding>& bindings() const { return bindings_; }
  const std::vector<api::PersistentVolumeClaimPtr>& provisions() const { return provisions_; }

  // Volumes first, then claims.
  size_t writes() const { return bindings_.size() + provisions_.size(); }
  // Write number `index`.
  framework::PreBindStep::Call Write(size_t index);
  // Takes over what the writes have answered so far.
  void TakeAnswers();
  // Takes back what is assumed from write number `first` on. What was written stays: it has another
  // resourceVersion by now.
  void Revert(size_t first = 0);

 private:
  Reservation(framework::StorageState& storage, std::string node_name)
      : storage_(storage), node_name_(std::move(node_name)) {}

  Result<void> AssumeVolume(const StaticBinding& binding);
  Result<void> AssumeClaim(const api::PersistentVolumeClaimPtr& claim);

  framework::StorageState& storage_;
  const std::string node_name_;
  std::vector<StaticBinding> bindings_;
  std::vector<api::PersistentVolumeClaimPtr> provisions_;
  // By write: the resourceVersion afterwards. The answer's thread writes it before the framework
  // hears of the answer, the scheduling thread reads it after that.
  std::vector<std::string> written_;
};

// The volume as it is to become for the claim; the volume itself when it is so already.
api::PersistentVolumePtr BoundTo(const api::PersistentVolumePtr& volume,
                                 const api::PersistentVolumeClaim& claim);

}  // namespace ks::plugins
