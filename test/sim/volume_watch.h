// SPDX-License-Identifier: Apache-2.0
#pragma once
// What must hold of volumes and claims: at the API server after every write, and of a scheduler
// when it reserves, writes, and between two steps.

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "api/storage.h"
#include "apiserver/service/service.h"
#include "framework/snapshot.h"
#include "framework/storage_state.h"
#include "sim/event_loop.h"
#include "sim/plan.h"
#include "sim/trace.h"

namespace ks::sim {

class ApiModel;
class SchedulerProcess;

// The API server's state of volumes, followed write by write. Threads: one. Lifetime: the model
// owns it.
class VolumeWatch {
 public:
  using Fail = std::function<void(const std::string& what)>;

  VolumeWatch(ApiModel& api, apiserver::Store& store, const Plan& plan, Fail fail);

  // After every write.
  void Look();
  // The server has just put the pod on a node.
  void PodBound(const api::Pod& pod, const std::string& node);
  // Somebody but a scheduler and the controller takes away what the claim, "namespace/name", is
  // bound to, or the claim itself: from now on it may be unbound although pods come to use it.
  void Disturb(const std::string& claim) { disturbed_.insert(claim); }
  // Likewise with all claims bound to the volume.
  void DisturbVolume(const std::string& volume);
  // A scheduler is about to write that its claim is to be provisioned for the node.
  void Announce(const api::PersistentVolumeClaim& claim);

  // Once nothing happens any more. Empty: all is as it should be.
  std::string AtEnd() const;

  uint64_t shared() const { return shared_; }  // ReadWriteOncePod claims that two pods came to use

 private:
  void VolumeChanged(const apiserver::Change& change);
  void ClaimChanged(const apiserver::Change& change);
  void CheckPairs();
  void CheckClaimOf(const api::Pod& pod, const std::string& key, const api::Node* node);
  bool IsReached(const std::string& key, const api::PersistentVolume& volume,
                 const api::Node* node) const;
  void CheckAlone(const api::Pod& pod, const std::string& key);

  ApiModel& api_;
  apiserver::Store& store_;
  const Plan& plan_;
  const Fail fail_;
  uint64_t volumes_read_ = 0;
  uint64_t claims_read_ = 0;
  std::map<std::string, api::PersistentVolumePtr> volumes_;
  std::map<std::string, api::PersistentVolumeClaimPtr> claims_;
  std::map<std::string, std::set<std::string>> wanted_by_;   // volumes by the claim they ever named
  std::set<std::string> once_bound_;                         // claims by key
  std::set<std::string> disturbed_;                          // likewise
  std::set<std::pair<std::string, std::string>> announced_;  // claim's uid, node
  uint64_t shared_ = 0;
};

// Whom the volume is claimed for, "namespace/name". Requires: it has a claimRef.
std::string ClaimOf(const api::PersistentVolume& volume);

// The claims of the pod, "namespace/name".
std::set<std::string> ClaimsOf(const api::Pod& pod);

// Why the claims of `pod`, which is assumed on the node of that name, do not let it be there;
// empty: they do. By what `storage` knows, in which nothing of this pod is assumed yet. In a trial
// of a group it is not asked who else uses a claim of one pod: VolumeRestrictions, which found
// nobody while all victims were away, is not asked again when one of them is spared.
std::string WhyOutOfReach(const api::Pod& pod, const std::string& node,
                          const framework::Snapshot& snapshot,
                          const framework::StorageState& storage, bool is_trial);

// Between two steps of a scheduler: what is assumed of volumes and claims belongs to a pod that is
// reserved. Empty: it does.
std::string CheckAssumedVolumes(SchedulerProcess& process);
// Nothing is assumed.
std::string CheckNoVolumeAssumed(SchedulerProcess& process);

}  // namespace ks::sim
