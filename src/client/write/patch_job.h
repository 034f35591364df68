// SPDX-License-Identifier: Apache-2.0
#pragma once
// A patch of a pod's status. Waits for the patch of the same pod in flight; while it is queued, a
// later one may be merged into it, and a binding drops it (pod_writes.h).
//
// Upstream: docs/spec/api.md section 9.2.

#include <memory>
#include <string>

#include "api/json/encode.h"
#include "api/pod.h"
#include "client/write/pod_writes.h"
#include "client/write/write_job.h"
#include "framework/api_writer.h"

namespace ks::client {

class PatchJob final : public WriteJob {
 public:
  using Done = framework::ApiWriter::Done;

  // `done` may be null.
  PatchJob(std::shared_ptr<WriteDispatcher> dispatcher, RestClient& client,
           std::shared_ptr<PodWrites> pods, api::PodPtr pod, api::PodStatusChange change, Done done)
      : WriteJob(std::move(dispatcher), client, LaneName::kPatch),
        pods_(std::move(pods)),
        pod_(std::move(pod)),
        change_(std::move(change)),
        done_(std::move(done)) {}

  std::string_view CallType() const override { return "pod_status_patch"; }
  Counter CountedAs(bool ok) const override {
    return ok ? &WriterStats::patches : &WriterStats::patch_failures;
  }
  bool MayStart() const override { return pods_->MayStart(*this); }
  void Started() override { pods_->StartPatch(*this); }
  void Ended() override { pods_->EndPatch(*this); }
  void Report(std::optional<api::ApiError> error) override;

  // For PodWrites, which calls one at a time; those that change the job only while it is queued.
  const std::string& uid() const { return pod_->meta.uid; }
  bool CanMerge(const PatchJob& later) const;
  // Makes this the patch that says what both say. What the later one leaves alone stays as this one
  // wanted it. The callback of the call that is superseded; null if it is to wait, because the pod
  // may be bound only once its extended resource claim is known.
  Done Merge(PatchJob& later);
  Done TakeDone() { return std::move(done_); }
  // Nothing is sent any more; the call succeeds.
  void Drop() { dropped_ = true; }

 private:
  void Try() override;
  void OnAnswer(RestReply reply);

  const std::shared_ptr<PodWrites> pods_;
  api::PodPtr pod_;
  api::PodStatusChange change_;
  Done done_;
  bool dropped_ = false;
};

}  // namespace ks::client
