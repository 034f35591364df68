// SPDX-License-Identifier: Apache-2.0
#pragma once
// What must hold of claims and their devices: at the API server after every write, and of a
// scheduler between two steps.

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/devices.h"
#include "api/json/claim_requests.h"
#include "api/node.h"
#include "api/pod.h"
#include "apiserver/service/service.h"
#include "sim/plan.h"
#include "sim/trace.h"

namespace ks::sim {

class ApiModel;
class SchedulerProcess;

// The API server's state of claims, followed write by write. Threads: one. Lifetime: the model owns
// it.
//
// A write whose answer is not success may have taken effect, at once or later: the claim is in
// doubt from then on. A scheduler gives its devices free at once, as kube-scheduler does, and sees
// the allocation only when the watch shows it.
class DeviceWatch {
 public:
  using Fail = std::function<void(const std::string& what)>;
  using Say = std::function<void(const std::string& what)>;

  DeviceWatch(ApiModel& api, apiserver::Store& store, Fail fail, Say say);

  // After every write.
  void Look();
  // The server has just put the pod on a node.
  void PodBound(const api::Pod& pod, const std::string& node);

  // A scheduler sends a request about a claim, and hears of it.
  void Sent(const std::string& scheduler, const api::ClaimRequest& request);
  // `claim`: the answer; null: failed, or deleted.
  void Answered(const api::ClaimRequest& request, bool done, const api::ResourceClaimPtr& claim);
  // A scheduler sends the binding of a pod, whose claims are ready; it does not believe in it any
  // more.
  void Binds(const std::string& scheduler, const std::string& uid) { binding_[uid] = scheduler; }
  void GivesUp(const std::string& uid) { binding_.erase(uid); }
  // The scheduler has the lease now: nothing that another one sends can take effect any more,
  // although that one may not know it yet.
  void Leads(const std::string& scheduler);
  // The scheduler that was binding the pod is gone.
  void Orphan(const api::Pod& pod);
  // The scheduler is gone: what it sent may come after its successor's writes.
  void Orphaned(const std::string& scheduler);

  // Once nothing happens any more. Empty: all is as it should be.
  std::string AtEnd();

  uint64_t uncertain() const { return uncertain_; }  // devices given twice, where that may be

 private:
  struct Doubt {
    int under_way = 0;
    bool devices = false;      // may be taken or free
    bool reservation = false;  // may be there or not
  };
  // The end of a reservation: the claim, and the uid of the pod.
  using Release = std::pair<std::string, std::string>;
  // A device that more claims have than it can serve.
  struct Clash {
    std::string device;
    std::vector<std::string> claims;
  };

  void ClaimChanged(const apiserver::Change& change);
  void SliceChanged(const apiserver::Change& change);
  void CheckConsumers(const std::string& key, const api::ResourceClaim& before,
                      const api::ResourceClaim& now);
  void CheckDevices(const std::string& key, const api::ResourceClaim& claim);
  void CheckDevice(const std::string& id, const api::DeviceResult& mine);
  void JudgeClashes();
  bool IsCertain(const Clash& clash) const;
  void CheckClaimOf(const api::Pod& pod, const api::ResourceClaim& claim, const api::Node* node);
  std::string WhyLeftOver(const std::string& key, const api::ResourceClaim& claim) const;
  api::PodPtr FindPod(const api::ResourceClaim& claim, const std::string& name,
                      const std::string& uid) const;

  ApiModel& api_;
  apiserver::Store& store_;
  const Fail fail_;
  const Say say_;
  uint64_t claims_read_ = 0;
  uint64_t slices_read_ = 0;
  std::map<std::string, api::ResourceClaimPtr> claims_;
  std::map<std::string, api::ResourceSlicePtr> slices_;
  std::map<std::string, Doubt> doubts_;           // by claim
  std::map<std::string, std::string> allocator_;  // by claim: the scheduler that allocated it last
  std::set<std::string> deallocated_;             // claims that a scheduler took devices from
  std::map<std::string, std::string> binding_;    // uids of pods, and who binds them
  std::set<std::string> orphans_;                 // uids of pods
  // Under way, with their schedulers. Attempts of a group take back what they try, and may send one
  // several times.
  std::multimap<Release, std::string> releases_;
  std::set<Release> late_releases_;  // of schedulers that are gone
  std::vector<Clash> clashes_;
  uint64_t uncertain_ = 0;
};

// The claims that the pod names or that were made for it, "namespace/name", as far as is known.
std::set<std::string> DeviceClaimsOf(const api::Pod& pod);

// Between two steps of a scheduler: what is decided of claims belongs to a pod that is reserved.
// Empty: it does.
std::string CheckPendingDevices(SchedulerProcess& process);
// Nothing is decided that is not written, and every device that is taken is so by a claim.
std::string CheckNoDevicesPending(SchedulerProcess& process);

}  // namespace ks::sim
