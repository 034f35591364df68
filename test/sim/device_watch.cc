// SPDX-License-Identifier: Apache-2.0
#include "sim/device_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/pod_claims.h"
#include "sim/process.h"

namespace ks::sim {
namespace {

using apiserver::Change;
using Verb = api::ClaimRequest::Verb;

const apiserver::KindInfo& Kind(const char* plural) {
  return *apiserver::FindResource("resource.k8s.io", "v1", plural);
}

std::string KeyOf(const api::ClaimRequest& request) { return request.ns + "/" + request.name; }

std::string IdOf(const api::DeviceResult& result) {
  return result.driver.str() + "/" + result.pool.str() + "/" + result.device.str();
}

// Of a strategic patch: the claim, and the uid of the pod that gives up its reservation.
std::pair<std::string, std::string> ReleaseOf(const api::ClaimRequest& request) {
  const apiserver::Json body = apiserver::Json::parse(request.body);
  return {KeyOf(request), body.at("status").at("reservedFor").at(0).at("uid")};
}

bool IsTrue(const api::AllocatedDeviceStatus& status, const std::string& type) {
  return std::any_of(status.conditions.begin(), status.conditions.end(),
                     [&](const auto& it) { return it.type == type && it.status == "True"; });
}

// Every binding condition of the device is there, and no failure.
bool IsPrepared(const api::ResourceClaim& claim, const api::DeviceResult& result) {
  if (result.binding_conditions.empty()) return true;
  return std::any_of(claim.devices.begin(), claim.devices.end(), [&](const auto& status) {
    if (status.driver != result.driver || status.pool != result.pool ||
        status.device != result.device) {
      return false;
    }
    const auto holds = [&](const std::string& type) { return IsTrue(status, type); };
    return std::all_of(result.binding_conditions.begin(), result.binding_conditions.end(), holds) &&
           std::none_of(result.binding_failure_conditions.begin(),
                        result.binding_failure_conditions.end(), holds);
  });
}

bool HasFinalizer(const api::ResourceClaim& claim) {
  return std::find(claim.finalizers.begin(), claim.finalizers.end(), api::kClaimDeleteProtection) !=
         claim.finalizers.end();
}

// The same devices, in whatever JSON.
bool SameDevices(const api::ClaimAllocation& a, const api::ClaimAllocation& b) {
  return std::equal(a.results.begin(), a.results.end(), b.results.begin(), b.results.end(),
                    [](const api::DeviceResult& x, const api::DeviceResult& y) {
                      return IdOf(x) == IdOf(y) && x.share_id == y.share_id;
                    });
}

}  // namespace

std::set<std::string> DeviceClaimsOf(const api::Pod& pod) {
  std::set<std::string> claims;
  for (const api::PodResourceClaim& entry : pod.spec->resource_claims) {
    const std::string* name = api::ResourceClaimName(pod, entry);
    if (name != nullptr) claims.insert(pod.meta.ns.str() + "/" + *name);
  }
  const auto& extended = pod.status.claims->extended_resource_claim_name;
  if (extended) claims.insert(pod.meta.ns.str() + "/" + *extended);
  return claims;
}

// ---- the server ----

DeviceWatch::DeviceWatch(ApiModel& api, apiserver::Store& store, Fail fail, Say say)
    : api_(api), store_(store), fail_(std::move(fail)), say_(std::move(say)) {
  claims_read_ = store_.NextSequence(Kind("resourceclaims"));
  slices_read_ = store_.NextSequence(Kind("resourceslices"));
}

void DeviceWatch::Look() {
  static const apiserver::KindInfo& claims = Kind("resourceclaims");
  static const apiserver::KindInfo& slices = Kind("resourceslices");
  while (const Change* change = store_.At(slices, slices_read_)) {
    ++slices_read_;
    SliceChanged(*change);
  }
  while (const Change* change = store_.At(claims, claims_read_)) {
    ++claims_read_;
    ClaimChanged(*change);
  }
  JudgeClashes();
}

void DeviceWatch::SliceChanged(const Change& change) {
  if (change.type == Change::Type::kDeleted) {
    slices_.erase(change.object->name);
  } else {
    slices_[change.object->name] = Decoded<api::ResourceSlice>(*change.object);
  }
}

void DeviceWatch::ClaimChanged(const Change& change) {
  const std::string key = change.object->ns + "/" + change.object->name;
  const auto now =
      change.type == Change::Type::kDeleted ? nullptr : Decoded<api::ResourceClaim>(*change.object);
  const api::ResourceClaimPtr before = std::exchange(claims_[key], now);
  if (now == nullptr) {
    claims_.erase(key);
    return;
  }
  const bool same = before != nullptr && before->meta.uid == now->meta.uid;
  if (same) CheckConsumers(key, *before, *now);
  if (now->allocation == nullptr) return;
  if (same && before->allocation != nullptr) {
    if (SameDevices(*before->allocation, *now->allocation)) return;
    fail_("claim " + key + " is given other devices than it has");
    return;
  }
  say_("claim " + key + " has devices");
  if (!HasFinalizer(*now)) fail_("claim " + key + " has devices and no finalizer");
  CheckDevices(key, *now);
}

// Nobody takes away what a pod on a node has reserved, or one that is being bound. Not asked of
// what a scheduler that is gone sent: as upstream's, the end of a reservation holds at any version
// of the claim.
void DeviceWatch::CheckConsumers(const std::string& key, const api::ResourceClaim& before,
                                 const api::ResourceClaim& now) {
  for (const api::ClaimConsumer& consumer : before.reserved_for) {
    if (now.IsReservedFor(consumer.uid) || !binding_.contains(consumer.uid)) continue;
    const api::PodPtr pod = FindPod(now, consumer.name, consumer.uid);
    if (pod == nullptr || pod->IsTerminal() || pod->meta.deletion_timestamp) continue;
    if (late_releases_.contains({key, consumer.uid})) continue;
    fail_(fmt::format("claim {} is not reserved for pod {} any more, which uses it", key,
                      consumer.name));
  }
}

void DeviceWatch::CheckDevices(const std::string& key, const api::ResourceClaim& claim) {
  std::set<std::string> own;
  for (const api::DeviceResult& result : claim.allocation->results) {
    const std::string id = IdOf(result);
    if (result.share_id.empty() && !own.insert(id).second) {
      fail_("claim " + key + " has the device " + id + " twice");
    }
    CheckDevice(id, result);
  }
}

// A device of one claim alone, or one that has enough for all its shares.
void DeviceWatch::CheckDevice(const std::string& id, const api::DeviceResult& mine) {
  Clash clash{.device = id, .claims = {}};
  std::map<std::string, api::Quantity> consumed;
  size_t alone = 0;
  size_t uses = 0;
  for (const auto& [key, claim] : claims_) {
    if (claim->allocation == nullptr) continue;
    for (const api::DeviceResult& result : claim->allocation->results) {
      if (IdOf(result) != id) continue;
      ++uses;
      if (result.share_id.empty()) ++alone;
      clash.claims.push_back(key);
      for (const auto& amount : result.consumed_capacity) {
        consumed[amount.name.str()] += amount.value;
      }
    }
  }
  bool exceeds = alone > 0 && uses > 1;
  for (const auto& [name, slice] : slices_) {
    if (slice->driver != mine.driver || slice->pool != mine.pool) continue;
    for (const api::Device& device : slice->devices) {
      if (device.name != mine.device) continue;
      for (const api::DeviceCapacity& capacity : device.capacity) {
        exceeds = exceeds || consumed[capacity.name.str()] > capacity.value;
      }
    }
  }
  if (exceeds) clashes_.push_back(std::move(clash));
}

// One scheduler gave the device to all of them, and heard so of each.
bool DeviceWatch::IsCertain(const Clash& clash) const {
  const std::string& first = allocator_.at(clash.claims.front());
  return std::all_of(clash.claims.begin(), clash.claims.end(), [&](const std::string& claim) {
    return !doubts_.at(claim).devices && allocator_.at(claim) == first;
  });
}

void DeviceWatch::JudgeClashes() {
  std::vector<Clash> open;
  for (Clash& clash : clashes_) {
    const bool pending =
        std::any_of(clash.claims.begin(), clash.claims.end(),
                    [&](const std::string& claim) { return doubts_.at(claim).under_way > 0; });
    const std::string what = fmt::format("device {} is given to the claims {}", clash.device,
                                         fmt::join(clash.claims, ", "));
    if (!IsCertain(clash)) {
      ++uncertain_;
      say_(what + ", of which one is in doubt");
    } else if (pending) {
      open.push_back(std::move(clash));
    } else {
      fail_(what);
    }
  }
  clashes_ = std::move(open);
}

api::PodPtr DeviceWatch::FindPod(const api::ResourceClaim& claim, const std::string& name,
                                 const std::string& uid) const {
  const apiserver::ObjectPtr stored = api_.Find("pods", claim.meta.ns.str(), name);
  if (stored == nullptr || stored->uid != uid) return nullptr;
  return Decoded<api::Pod>(*stored);
}

// A binding that its scheduler gave up may take effect all the same.
void DeviceWatch::PodBound(const api::Pod& pod, const std::string& node) {
  if (!binding_.contains(pod.meta.uid) || pod.IsTerminal()) return;
  const apiserver::ObjectPtr stored = api_.Find("nodes", "", node);
  const api::NodePtr known = stored == nullptr ? nullptr : Decoded<api::Node>(*stored);
  for (const std::string& key : DeviceClaimsOf(pod)) {
    if (deallocated_.contains(key)) continue;
    const auto claim = claims_.find(key);
    if (claim == claims_.end()) {
      fail_(fmt::format("pod {} is on {}, but its claim {} does not exist", pod.meta.name, node,
                        key));
    } else {
      CheckClaimOf(pod, *claim->second, known.get());
    }
  }
}

void DeviceWatch::CheckClaimOf(const api::Pod& pod, const api::ResourceClaim& claim,
                               const api::Node* node) {
  const auto wrong = [&](const char* what) {
    fail_(fmt::format("pod {} is on {}, but its claim {} {}", pod.meta.name, pod.node_name.view(),
                      claim.meta.name, what));
  };
  if (claim.allocation == nullptr) return wrong("is not allocated");
  if (!claim.IsReservedFor(pod.meta.uid)) return wrong("is not reserved for it");
  const auto& results = claim.allocation->results;
  if (!std::all_of(results.begin(), results.end(),
                   [&](const auto& result) { return IsPrepared(claim, result); })) {
    wrong("has devices that are not ready");
  }
  const auto& selector = claim.allocation->node_selector;
  if (node == nullptr || selector == nullptr) return;
  if (!selector->compiled.Matches(node->meta.labels, node->meta.name)) {
    wrong("has devices elsewhere");
  }
}

void DeviceWatch::Sent(const std::string& scheduler, const api::ClaimRequest& request) {
  if (request.verb == Verb::kGet || request.verb == Verb::kCreate) return;
  const std::string key = KeyOf(request);
  Doubt& doubt = doubts_[key];
  ++doubt.under_way;
  // What is taken away is free for the scheduler before the server knows.
  if (request.verb == Verb::kDelete) doubt.devices = true;
  if (request.verb != Verb::kPatchStatus) return;
  if (request.strategic) {
    releases_.emplace(ReleaseOf(request), scheduler);
    return;
  }
  const apiserver::Json body = apiserver::Json::parse(request.body);
  const apiserver::Json& status = body.at("status");
  if (!status.contains("allocation")) return;
  if (status["allocation"].is_null()) {
    deallocated_.insert(key);
  } else {
    allocator_[key] = scheduler;
  }
}

// What was written before a version that a scheduler has seen cannot be written any more, but for
// the end of a reservation.
void DeviceWatch::Answered(const api::ClaimRequest& request, bool done,
                           const api::ResourceClaimPtr& claim) {
  if (request.verb == Verb::kCreate) return;
  Doubt& doubt = doubts_[KeyOf(request)];
  if (request.verb != Verb::kGet) --doubt.under_way;
  if (request.strategic) {
    const auto release = releases_.find(ReleaseOf(request));
    if (release != releases_.end()) releases_.erase(release);
  }
  if (claim != nullptr && claim->allocation != nullptr && !request.strategic) {
    doubt.devices = false;
  }
  if (done || request.verb == Verb::kGet) return;
  doubt.devices = true;
  doubt.reservation = true;
}

void DeviceWatch::Orphan(const api::Pod& pod) {
  GivesUp(pod.meta.uid);
  orphans_.insert(pod.meta.uid);
  const apiserver::ObjectPtr stored = api_.Find("pods", pod.meta.ns.str(), pod.meta.name);
  std::set<std::string> claims = DeviceClaimsOf(pod);
  if (stored != nullptr) claims.merge(DeviceClaimsOf(*Decoded<api::Pod>(*stored)));
  for (const std::string& claim : claims) {
    doubts_[claim].devices = true;
    doubts_[claim].reservation = true;
  }
}

void DeviceWatch::Leads(const std::string& scheduler) {
  std::erase_if(binding_, [&](const auto& binding) { return binding.second != scheduler; });
}

void DeviceWatch::Orphaned(const std::string& scheduler) {
  std::erase_if(releases_, [&](const auto& release) {
    if (release.second == scheduler) late_releases_.insert(release.first);
    return release.second == scheduler;
  });
}

// Upstream takes back nothing that it does not know to be written, and tries only once to take back
// the rest; the claim controller looks after pods that are gone alone.
std::string DeviceWatch::WhyLeftOver(const std::string& key,
                                     const api::ResourceClaim& claim) const {
  const api::OwnerReference* owner = claim.meta.Controller();
  if (owner != nullptr && claim.allocation != nullptr &&
      FindPod(claim, owner->name, owner->uid) == nullptr) {
    return fmt::format("claim {} of pod {}, which is gone, has devices", key, owner->name);
  }
  const auto doubt = doubts_.find(key);
  // Who made a claim for extended resources may have died before the pod's status named it. It is
  // deleted by the pod's next attempt, which nothing brings about.
  const bool in_doubt =
      (owner != nullptr && orphans_.contains(owner->uid)) ||
      (doubt != doubts_.end() && (doubt->second.reservation || doubt->second.under_way > 0));
  for (const api::ClaimConsumer& consumer : claim.reserved_for) {
    const api::PodPtr pod = FindPod(claim, consumer.name, consumer.uid);
    if (pod == nullptr) {
      return fmt::format("claim {} is reserved for pod {}, which is gone", key, consumer.name);
    }
    if (!pod->node_name.empty() || in_doubt) continue;
    return fmt::format("claim {} is reserved for pod {}, which is nowhere", key, consumer.name);
  }
  return {};
}

std::string DeviceWatch::AtEnd() {
  for (const auto& [key, claim] : claims_) {
    std::string why = WhyLeftOver(key, *claim);
    if (!why.empty()) return why;
  }
  return {};
}

// ---- a scheduler ----

namespace {

// What counts as taken is what the claims say, and what is decided.
std::string CheckCountedDevices(SchedulerProcess& process) {
  const cache::DeviceStores& devices = process.scheduler().context().cluster.devices;
  if (!process.HasNewAllocations(devices.changes().end() + devices.allocation_changes().end())) {
    return {};
  }
  const auto taken = [](const api::ClaimAllocation& allocation, std::vector<std::string>* ids) {
    for (const api::DeviceResult& result : allocation.results) {
      ids->push_back(IdOf(result) + "/" + result.share_id);
    }
  };
  std::vector<std::string> counted;
  for (const auto& allocation : devices.Allocations()) taken(*allocation, &counted);
  std::vector<std::string> known;
  for (const auto& each : devices.AllocatedClaims()) taken(*each.claim->allocation, &known);
  std::sort(counted.begin(), counted.end());
  std::sort(known.begin(), known.end());
  if (counted == known) return {};
  return fmt::format("the devices {} count as taken, those of the claims are {}",
                     fmt::join(counted, ", "), fmt::join(known, ", "));
}

}  // namespace

std::string CheckPendingDevices(SchedulerProcess& process) {
  const cache::DeviceStores& devices = process.scheduler().context().cluster.devices;
  for (const auto& [key, claim] : process.device_claims()) {
    if (devices.PendingAllocation(claim->meta.uid) == nullptr) continue;
    const api::OwnerReference* owner = claim->meta.Controller();
    const bool reserved = process.recorder().IsDeviceClaimReserved(key) ||
                          (owner != nullptr && process.recorder().reserved().contains(owner->uid));
    // Written for a pod that is bound, and that version is not shown yet.
    if (claim->for_extended_resources && claim->allocation == nullptr) continue;
    // What a failed attempt wrote is being looked at, or deleted.
    if (!reserved && !process.recorder().IsDeviceClaimAsked(key))
      return "devices are kept for claim " + key + ", and nobody is binding it";
  }
  return CheckCountedDevices(process);
}

std::string CheckNoDevicesPending(SchedulerProcess& process) {
  const cache::DeviceStores& devices = process.scheduler().context().cluster.devices;
  size_t allocated = 0;
  for (const auto& [key, claim] : process.device_claims()) {
    if (devices.PendingAllocation(claim->meta.uid) != nullptr) {
      return "devices stay kept for claim " + key;
    }
    if (claim->allocation != nullptr) ++allocated;
  }
  const size_t known = devices.Allocations().size();
  if (known == allocated) return {};
  return fmt::format("{} claims have devices, {} of them count", allocated, known);
}

}  // namespace ks::sim
