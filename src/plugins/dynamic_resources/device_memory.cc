// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/device_memory.h"

namespace ks::plugins {

void DeviceMemory::CatchUp() {
  CatchUpWithSlices();
  CatchUpWithAllocations();
}

void DeviceMemory::CatchUpWithSlices() {
  const framework::ObjectLog& log = devices_.changes();
  if (!slices_ || !log.Holds(slices_position_)) {
    slices_.emplace(engine_, numbers_, features_);
    for (const api::ResourceSlicePtr& slice : devices_.Slices()) slices_->Set(slice);
  } else {
    for (uint64_t i = slices_position_; i < log.end(); ++i) {
      const framework::ObjectChange& change = log.At(i);
      if (change.kind != framework::OptionalKind::kResourceSlice) continue;
      if (const api::ResourceSlicePtr slice = devices_.FindSlice(change.key)) {
        slices_->Set(slice);
      } else {
        slices_->Remove(change.key);
      }
    }
  }
  slices_position_ = log.end();
}

void DeviceMemory::CatchUpWithAllocations() {
  const framework::AllocationLog& log = devices_.allocation_changes();
  if (!allocated_ || !log.Holds(allocations_position_)) {
    allocated_.emplace(numbers_, features_);
    answers_ = {};  // changes are counted anew
    for (const api::ClaimAllocationPtr& allocation : devices_.Allocations()) {
      allocated_->Add(*allocation);
    }
  } else {
    for (uint64_t i = allocations_position_; i < log.end(); ++i) {
      const framework::AllocationChange& change = log.At(i);
      if (change.removed != nullptr) allocated_->Remove(*change.removed);
      if (change.added != nullptr) allocated_->Add(*change.added);
    }
  }
  allocations_position_ = log.end();
}

}  // namespace ks::plugins
