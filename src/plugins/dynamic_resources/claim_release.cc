// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/claim_release.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/json/claim_requests.h"
#include "base/canary.h"
#include "base/clock.h"
#include "base/logging.h"
#include "plugins/dynamic_resources/group_claims.h"

namespace ks::plugins {
namespace {

using framework::ApiWriter;
using framework::DeviceState;

constexpr int kMaxConflicts = 5;
constexpr Duration kFirstWait = std::chrono::milliseconds(250);
constexpr Duration kLongestWait = std::chrono::seconds(8);

// How long after a request without answer, which came `after` the one before, it is sent again.
Duration NextWait(Duration after) { return std::clamp(2 * after, kFirstWait, kLongestWait); }

ApiWriter::ClaimDone LogFailure(const char* what, const api::ResourceClaim& claim) {
  return [what, key = claim.meta.Key()](const std::optional<api::ApiError>& error,
                                        const api::ResourceClaimPtr&) {
    if (error) log::Error(error->message, what, {{"resourceClaim", key}});
  };
}

// Takes the finalizer away, then deletes the claim. Lives until its last answer; `over`, if it is
// not null, runs then, whatever it was, and for its sake what is not answered is begun again,
// however often.
class Deletion : public std::enable_shared_from_this<Deletion> {
 public:
  Deletion(framework::Handle& handle, api::ResourceClaimPtr claim, std::function<void()> over)
      : api_(handle.api()),
        tasks_(handle.tasks()),
        claim_(std::move(claim)),
        over_(std::move(over)) {}

  void Start(Duration after = Duration::zero()) {
    after_ = after;
    api::ClaimRequest request = api::RemoveFinalizerRequest(*claim_);
    request.after = after;
    api_.SendClaimRequest(
        std::move(request),
        [self = shared_from_this()](const std::optional<api::ApiError>& error,
                                    const api::ResourceClaimPtr&) { self->FinalizerGone(error); });
  }

 private:
  void FinalizerGone(const std::optional<api::ApiError>& error) {
    if (error && error->IsConflict() && ++conflicts_ < kMaxConflicts) {
      api_.SendClaimRequest(api::GetClaimRequest(*claim_),
                            [self = shared_from_this()](const std::optional<api::ApiError>& failed,
                                                        const api::ResourceClaimPtr& latest) {
                              if (failed) return self->Failed("get resourceclaim ", *failed);
                              self->claim_ = latest;
                              self->Start();
                            });
      return;
    }
    if (error && error->IsNotFound()) return Over();
    if (error) return Failed("update resourceclaim ", *error);
    api_.SendClaimRequest(api::DeleteClaimRequest(*claim_),
                          [self = shared_from_this()](const std::optional<api::ApiError>& failed,
                                                      const api::ResourceClaimPtr&) {
                            if (failed && !failed->IsNotFound()) return self->Failed("", *failed);
                            self->Over();
                          });
  }

  void Failed(const std::string& what, const api::ApiError& error) {
    if (over_ != nullptr && MayBeSaidLater(error)) {  // not in a scheduler that has ended
      return tasks_.PostTask([self = shared_from_this()] { self->Start(NextWait(self->after_)); });
    }
    const std::string key = claim_->meta.Key();
    log::Error(what.empty() ? error.message : what + key + ": " + error.message,
               "Deleting the claim of extended resources failed", {{"resourceClaim", key}});
    Over();
  }

  void Over() const {
    if (over_ != nullptr) over_();
  }

  ApiWriter& api_;
  framework::TaskInbox& tasks_;
  api::ResourceClaimPtr claim_;
  const std::function<void()> over_;
  Duration after_{};  // what was last waited for
  int conflicts_ = 0;
};

void DeleteClaim(framework::Handle& handle, const api::ResourceClaimPtr& claim,
                 std::function<void()> over) {
  std::make_shared<Deletion>(handle, claim, std::move(over))->Start();
}

bool UsedByNobodyElse(const api::ResourceClaim& claim, const api::Pod& pod) {
  return std::all_of(
      claim.reserved_for.begin(), claim.reserved_for.end(),
      [&pod](const api::ClaimConsumer& consumer) { return consumer.uid == pod.meta.uid; });
}

// What PreBind did not wait for may have been done.
void ReadAnswer(AttemptClaim& claim) {
  const auto answer = std::exchange(claim.unread, nullptr);
  if (answer == nullptr) return;
  // A conflict may be one with what the same request did before its answer was lost.
  claim.uncertain =
      answer->error && (claim.uncertain || answer->conflict() || MayBeDone(*answer->error));
  if (answer->error || answer->claim == nullptr) return;
  if (claim.exists && answer->claim->meta.uid != claim.claim->meta.uid) return;
  claim.claim = answer->claim;
  claim.exists = true;
}

// What outlives an attempt and its profile.
struct Releasing {
  ApiWriter& api;
  framework::TaskInbox& tasks;
  DeviceState& devices;
  framework::PodActivator& activator;
  const framework::PodLister& pods;
  const framework::PodGroupStates& groups;
  std::shared_ptr<PendingReleases> releases;
};
Releasing With(framework::Handle& handle, const std::shared_ptr<PendingReleases>& releases) {
  return {handle.api(),  handle.tasks(),      handle.devices(), handle.activator(),
          handle.pods(), handle.pod_groups(), releases};
}

struct Reservation {
  Reservation(const api::ResourceClaim& of, const std::string& uid, api::ClaimConsumer by)
      : ns(of.meta.ns), claim(of.meta.Key()), consumer(std::move(by)), key(uid, consumer.uid) {}

  Symbol ns;
  std::string claim;  // "namespace/name"
  api::ClaimConsumer consumer;
  PendingReleases::Key key;
};

// Whether the claim is still there, and the pod or group.
bool IsThere(const DeviceState& devices, const framework::PodLister& pods,
             const framework::PodGroupStates& groups, const Reservation& of) {
  const api::ResourceClaimPtr claim = devices.FindClaim(of.claim);
  if (claim == nullptr || claim->meta.uid != of.key.first) return false;
  if (IsPod(of.consumer)) {
    const api::PodPtr pod = pods.FindPod(of.ns.str() + '/' + of.consumer.name);
    return pod != nullptr && pod->meta.uid == of.consumer.uid;
  }
  const framework::PodGroupState* group = groups.Find(of.ns, of.consumer.name);
  return group != nullptr && group->object != nullptr && group->object->meta.uid == of.consumer.uid;
}

void End(const Releasing& with, const Reservation& of, bool failed) {
  if (!failed) return with.releases->End(of.key);
  with.releases->EndUnsure(of.key,
                           [&devices = with.devices, &pods = with.pods, &groups = with.groups, of] {
                             return IsThere(devices, pods, groups, of);
                           });
}

// `request` takes these reservations back; `failure` is logged if it fails.
void SendRelease(const Releasing& with, const api::ResourceClaim& claim,
                 const std::vector<api::ClaimConsumer>& consumers, api::ClaimRequest request,
                 const char* failure) {
  std::vector<Reservation> taken;
  for (const api::ClaimConsumer& consumer : consumers) {
    taken.emplace_back(claim, claim.meta.uid, consumer);
    with.releases->Begin(taken.back().key);
  }
  with.api.SendClaimRequest(
      std::move(request),
      [with, taken = std::move(taken), log = LogFailure(failure, claim)](
          const std::optional<api::ApiError>& error, const api::ResourceClaimPtr& answered) {
        log(error, answered);
        with.tasks.PostTask([with, taken, answered, failed = error.has_value()] {
          // A claim that is gone meanwhile has no reservations either.
          if (answered != nullptr) (void)with.devices.Assume(answered);
          for (const Reservation& of : taken) End(with, of, failed);
        });
      });
}

void SendUnreserve(const Releasing& with, const api::ResourceClaim& claim,
                   const api::ClaimConsumer& consumer) {
  SendRelease(with, claim, {consumer}, api::RemoveConsumerRequest(claim, consumer.uid),
              "Unreserving a claim failed");
}

// Asks what became of a write; until that is known, however long it takes, the devices are taken.
// The pod's next attempt may have met them so, and there will be no event when they are not.
void LookAndRelease(const Releasing& with, const api::ResourceClaimPtr& claim,
                    const std::string& uid, const api::PodPtr& pod,
                    Duration after = Duration::zero()) {
  const Reservation of(*claim, uid, ConsumerOf(*pod));
  with.releases->Begin(of.key);
  api::ClaimRequest look = api::GetClaimRequest(*claim);
  look.after = after;
  with.api.SendClaimRequest(std::move(look), [with, claim, pod, of, after](
                                                 const std::optional<api::ApiError>& error,
                                                 const api::ResourceClaimPtr& answered) {
    const bool again = error && MayBeSaidLater(*error);
    with.tasks.PostTask([with, claim, pod, of, after, answered, again, failed = error.has_value()] {
      const auto& [claim_uid, pod_uid] = of.key;
      if (again) {
        LookAndRelease(with, claim, claim_uid, pod, NextWait(after));
        return with.releases->End(of.key);
      }
      if (answered != nullptr && answered->meta.uid == claim_uid) {
        (void)with.devices.Assume(answered);
        if (answered->IsReservedFor(pod_uid)) SendUnreserve(with, *answered, of.consumer);
      }
      with.devices.RemovePendingAllocation(claim_uid, DeviceState::Sharers::kOne);
      End(with, of, failed);
      with.activator.Activate({pod});
    });
  });
}

// The devices of a claim that is about to go are free when it has gone, and not before: the cache
// may not know yet that it has them.
void ReleaseExtended(framework::Handle& handle, AttemptClaim& claim) {
  std::function<void()> free = [] {};
  if (std::exchange(claim.decided, nullptr) != nullptr) {
    free = [&devices = handle.devices(), uid = claim.decided_uid] {
      devices.RemovePendingAllocation(uid, DeviceState::Sharers::kOne);
    };
  }
  if (!claim.exists) return free();
  DeleteClaim(handle, claim.claim,
              [&tasks = handle.tasks(), free = std::move(free)] { tasks.PostTask(free); });
}

}  // namespace

void Unreserve(framework::Handle& handle, const std::shared_ptr<PendingReleases>& releases,
               const api::ResourceClaim& claim, const api::ClaimConsumer& consumer) {
  SendUnreserve(With(handle, releases), claim, consumer);
}

void ReleaseClaims(framework::Handle& handle, const std::shared_ptr<PendingReleases>& releases,
                   const api::PodPtr& pod, ClaimsAttempt& attempt) {
  for (AttemptClaim& each : attempt.claims()) {
    ReadAnswer(each);
    if (each.extended) {
      ReleaseExtended(handle, each);
      continue;
    }
    if (std::exchange(each.decided, nullptr) != nullptr) {
      if (std::exchange(each.uncertain, false)) {
        LookAndRelease(With(handle, releases), each.claim, each.decided_uid, pod);
        continue;
      }
      // What was written has its devices from now on, shown or not.
      if (each.claim->allocation != nullptr) (void)handle.devices().Assume(each.claim);
      handle.devices().RemovePendingAllocation(each.decided_uid, DeviceState::Sharers::kOne);
    }
    if (!each.allocated() || !each.claim->IsReservedFor(pod->meta.uid)) continue;
    if (KS_CANARY(ReservationStays)) continue;
    Unreserve(handle, releases, *each.claim, ConsumerOf(*pod));
  }
}

std::string_view ClaimToFree::Reason() const {
  return is_deleted ? "deletion of ResourceClaim completed"
                    : "deallocation of ResourceClaim completed";
}

// Upstream tries them in random order.
ClaimToFree FindClaimToFree(const api::Pod& pod, const ClaimsAttempt& attempt) {
  const std::vector<AttemptClaim>& claims = attempt.claims();
  for (size_t i = 0; i < claims.size(); ++i) {
    const AttemptClaim& each = claims[i];
    if (each.extended || !attempt.WasUnavailable(i)) continue;
    if (UsedByNobodyElse(*each.claim, pod)) return {.claim = each.claim};
  }
  if (claims.empty() || !claims.back().extended || !claims.back().exists) return {};
  return {.claim = claims.back().claim, .is_deleted = true};
}

void Free(framework::Handle& handle, const std::shared_ptr<PendingReleases>& releases,
          const ClaimToFree& what) {
  if (what.is_deleted) return DeleteClaim(handle, what.claim, nullptr);
  const api::ResourceClaim& claim = *what.claim;
  if (claim.allocation == nullptr && claim.reserved_for.empty()) return;
  SendRelease(With(handle, releases), claim, claim.reserved_for, api::DeallocateRequest(claim),
              "Deallocating a claim failed");
}

}  // namespace ks::plugins
