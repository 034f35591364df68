// SPDX-License-Identifier: Apache-2.0
#include "client/write/eviction_job.h"

#include <string>
#include <string_view>

#include "client/write/pod_requests.h"

namespace ks::client {
namespace {

// The API server's words for a precondition that does not hold. Any other conflict is an error.
constexpr std::string_view kOtherUid = "UID in the precondition";

// The pod is gone, or another one has its name by now.
bool IsGone(const api::ApiError& error) {
  return error.IsNotFound() ||
         (error.IsConflict() && error.message.find(kOtherUid) != std::string::npos);
}

}  // namespace

void EvictionJob::Try() {
  std::string body = api::PodStatusPatch(*pod_, change_);
  if (body.empty()) return Delete();
  Send(StatusPatchRequest(*pod_, std::move(body)), &EvictionJob::OnPatched);
}

void EvictionJob::OnPatched(RestReply reply) {
  if (reply.ok()) return Delete();
  if (RetryIfTemporary(*reply.error, /*on_conflict=*/true)) return;
  OnDeleted(std::move(reply));
}

void EvictionJob::Delete() {
  RestRequest request = PodRequest(*pod_);
  request.method = "DELETE";
  request.body = api::DeleteOptionsBody(pod_->meta.uid);
  Send(std::move(request), &EvictionJob::OnDeleted);
}

// A pod that is gone needs no eviction.
void EvictionJob::OnDeleted(RestReply reply) {
  gone_ = !reply.ok() && IsGone(*reply.error);
  if (gone_) reply.error.reset();
  End(std::move(reply.error));
}

void EvictionJob::Report(std::optional<api::ApiError> error) {
  using framework::EvictionOutcome;
  const Done done = std::move(done_);
  const EvictionOutcome outcome = error.has_value() ? EvictionOutcome::kFailed
                                  : gone_           ? EvictionOutcome::kGone
                                                    : EvictionOutcome::kEvicted;
  if (done) done(outcome, std::move(error));
}

}  // namespace ks::client
