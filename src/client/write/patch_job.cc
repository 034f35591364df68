// SPDX-License-Identifier: Apache-2.0
#include "client/write/patch_job.h"

#include <utility>

#include "client/write/pod_requests.h"

namespace ks::client {
namespace {

PatchJob::Done BothOf(PatchJob::Done first, PatchJob::Done second) {
  return [first = std::move(first),
          second = std::move(second)](const std::optional<api::ApiError>& error) {
    if (first) first(error);
    if (second) second(error);
  };
}

}  // namespace

bool PatchJob::CanMerge(const PatchJob& later) const {
  return !change_.condition || !later.change_.condition ||
         change_.condition->type == later.change_.condition->type;
}

PatchJob::Done PatchJob::Merge(PatchJob& later) {
  if (later.change_.condition) change_.condition = std::move(later.change_.condition);
  if (later.change_.nominated_node_name) {
    change_.nominated_node_name = std::move(later.change_.nominated_node_name);
  }
  pod_ = std::move(later.pod_);
  if (later.change_.extended_resource_claim) {
    change_.extended_resource_claim = std::move(later.change_.extended_resource_claim);
  } else if (change_.extended_resource_claim) {
    done_ = BothOf(std::move(done_), std::move(later.done_));
    return nullptr;
  }
  return std::exchange(done_, std::move(later.done_));
}

void PatchJob::Try() {
  std::string body = dropped_ ? std::string() : api::PodStatusPatch(*pod_, change_);
  if (body.empty()) return EndSoon();
  Send(StatusPatchRequest(*pod_, std::move(body)), &PatchJob::OnAnswer);
}

void PatchJob::OnAnswer(RestReply reply) {
  if (!reply.ok() && RetryIfTemporary(*reply.error, /*on_conflict=*/true)) return;
  End(std::move(reply.error));
}

void PatchJob::Report(std::optional<api::ApiError> error) {
  const Done done = std::move(done_);
  if (done) done(std::move(error));
}

}  // namespace ks::client
