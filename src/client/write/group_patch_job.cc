// SPDX-License-Identifier: Apache-2.0
#include "client/write/group_patch_job.h"

#include <string>

namespace ks::client {

void GroupPatchJob::Try() {
  std::string body = api::PodGroupStatusPatch(*group_, condition_);
  if (body.empty()) return EndSoon();
  std::string target = "/apis/scheduling.k8s.io/v1beta1/namespaces/";
  target.append(group_->meta.ns.view()).append("/podgroups/").append(group_->meta.name);
  Send({.method = "PATCH",
        .target = target + "/status",
        .body = std::move(body),
        .content_type = "application/strategic-merge-patch+json",
        .decoded = true,
        .resource = "podgroups",
        .name = group_->meta.name},
       &GroupPatchJob::OnAnswer);
}

void GroupPatchJob::OnAnswer(RestReply reply) {
  if (!reply.ok() && RetryIfTemporary(*reply.error, /*on_conflict=*/true)) return;
  End(std::move(reply.error));
}

void GroupPatchJob::Report(std::optional<api::ApiError> error) {
  const Done done = std::move(done_);
  if (done) done(std::move(error));
}

}  // namespace ks::client
