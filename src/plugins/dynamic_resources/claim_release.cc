// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/claim_release.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/json/claim_requests.h"
#include "base/canary.h"
#include "base/logging.h"

namespace ks::plugins {
namespace {

using framework::ApiWriter;
using framework::DeviceState;

constexpr int kMaxTries = 5;

ApiWriter::ClaimDone LogFailure(const char* what, const api::ResourceClaim& claim) {
  return [what, key = claim.meta.Key()](const std::optional<api::ApiError>& error,
                                        const api::ResourceClaimPtr&) {
    if (error) log::Error(error->message, what, {{"resourceClaim", key}});
  };
}

// Takes the finalizer away, then deletes the claim. Lives until its last answer.
class Deletion : public std::enable_shared_from_this<Deletion> {
 public:
  Deletion(ApiWriter& api, api::ResourceClaimPtr claim) : api_(api), claim_(std::move(claim)) {}

  void Start() {
    ++tries_;
    api_.SendClaimRequest(
        api::RemoveFinalizerRequest(*claim_),
        [self = shared_from_this()](const std::optional<api::ApiError>& error,
                                    const api::ResourceClaimPtr&) { self->FinalizerGone(error); });
  }

 private:
  void FinalizerGone(const std::optional<api::ApiError>& error) {
    if (error && error->IsConflict() && tries_ < kMaxTries) {
      api_.SendClaimRequest(api::GetClaimRequest(*claim_),
                            [self = shared_from_this()](const std::optional<api::ApiError>& failed,
                                                        const api::ResourceClaimPtr& latest) {
                              if (failed) return self->Failed("get resourceclaim ", *failed);
                              self->claim_ = latest;
                              self->Start();
                            });
      return;
    }
    if (error) return Failed("update resourceclaim ", *error);
    api_.SendClaimRequest(api::DeleteClaimRequest(*claim_),
                          [self = shared_from_this()](const std::optional<api::ApiError>& failed,
                                                      const api::ResourceClaimPtr&) {
                            if (failed && !failed->IsNotFound()) self->Failed("", *failed);
                          });
  }

  void Failed(const std::string& what, const api::ApiError& error) const {
    const std::string key = claim_->meta.Key();
    log::Error(what.empty() ? error.message : what + key + ": " + error.message,
               "Deleting the claim of extended resources failed", {{"resourceClaim", key}});
  }

  ApiWriter& api_;
  api::ResourceClaimPtr claim_;
  int tries_ = 0;
};

void DeleteClaim(ApiWriter& api, const api::ResourceClaimPtr& claim) {
  std::make_shared<Deletion>(api, claim)->Start();
}

bool UsedByNobodyElse(const api::ResourceClaim& claim, const api::Pod& pod) {
  return std::all_of(
      claim.reserved_for.begin(), claim.reserved_for.end(),
      [&pod](const api::ClaimConsumer& consumer) { return consumer.uid == pod.meta.uid; });
}

// What PreBind did not wait for may have been done.
void ReadAnswer(AttemptClaim& claim) {
  const auto answer = std::exchange(claim.unread, nullptr);
  if (answer == nullptr || answer->error || answer->claim == nullptr) return;
  if (claim.exists && answer->claim->meta.uid != claim.claim->meta.uid) return;
  claim.claim = answer->claim;
  claim.exists = true;
}

}  // namespace

void Unreserve(framework::Handle& handle, const std::shared_ptr<PendingReleases>& releases,
               const api::ResourceClaim& claim, const std::string& consumer_uid) {
  const PendingReleases::Key key(claim.meta.uid, consumer_uid);
  releases->Begin(key);
  handle.api().SendClaimRequest(
      api::RemoveConsumerRequest(claim, consumer_uid),
      [&tasks = handle.tasks(), &devices = handle.devices(), releases, key,
       log = LogFailure("Unreserving a claim failed", claim)](
          const std::optional<api::ApiError>& error, const api::ResourceClaimPtr& answered) {
        log(error, answered);
        tasks.PostTask([&devices, releases, key, answered] {
          // A claim that is gone meanwhile has no reservations either.
          if (answered != nullptr) (void)devices.Assume(answered);
          releases->End(key);
        });
      });
}

void ReleaseClaims(framework::Handle& handle, const std::shared_ptr<PendingReleases>& releases,
                   const api::Pod& pod, ClaimsAttempt& attempt) {
  for (AttemptClaim& each : attempt.claims()) {
    if (each.decided != nullptr) {
      handle.devices().RemovePendingAllocation(each.decided_uid, DeviceState::Sharers::kOne);
      each.decided = nullptr;
    }
    ReadAnswer(each);
    if (each.extended) {
      if (each.exists) DeleteClaim(handle.api(), each.claim);
      continue;
    }
    if (!each.allocated() || !each.claim->IsReservedFor(pod.meta.uid)) continue;
    if (KS_CANARY(ReservationStays)) continue;
    Unreserve(handle, releases, *each.claim, pod.meta.uid);
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

void Free(framework::Handle& handle, const ClaimToFree& what) {
  if (what.is_deleted) return DeleteClaim(handle.api(), what.claim);
  if (what.claim->allocation == nullptr && what.claim->reserved_for.empty()) return;
  handle.api().SendClaimRequest(api::DeallocateRequest(*what.claim),
                                LogFailure("Deallocating a claim failed", *what.claim));
}

}  // namespace ks::plugins
