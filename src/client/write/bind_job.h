// SPDX-License-Identifier: Apache-2.0
#pragma once
// A binding of a pod to a node: a POST, and a GET where it may have been carried out although no
// good answer came. Waits for the pod's patch in flight (pod_writes.h).
//
//   POST --good--> over
//        --protobuf refused--> POST in JSON
//        --passing failure--> wait --> POST
//        --failure, nothing uncertain--> over
//        --failure, a try may have been carried out--> GET --ours--> over, bound
//                                                          --else--> over, with the failure
//
// Upstream: docs/spec/api.md section 9.1.

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "api/pod.h"
#include "client/write/pod_writes.h"
#include "client/write/write_job.h"
#include "framework/api_writer.h"

namespace ks::client {

class BindJob final : public WriteJob {
 public:
  using Done = framework::ApiWriter::Done;

  // `done` may be null. Requires: PodWrites::AddBinding was called for the pod.
  BindJob(std::shared_ptr<WriteDispatcher> dispatcher, RestClient& client,
          std::shared_ptr<PodWrites> pods, api::PodPtr pod, std::string node_name, Done done)
      : WriteJob(std::move(dispatcher), client, LaneName::kBind),
        pods_(std::move(pods)),
        pod_(std::move(pod)),
        node_name_(std::move(node_name)),
        done_(std::move(done)) {}

  std::string_view CallType() const override { return "pod_binding"; }
  Counter CountedAs(bool ok) const override {
    return ok ? &WriterStats::binds : &WriterStats::bind_failures;
  }
  bool MayStart() const override { return pods_->MayBind(pod_->meta.uid); }
  void Ended() override { pods_->EndBinding(pod_->meta.uid); }
  void Report(std::optional<api::ApiError> error) override;

 private:
  void Try() override;
  void OnAnswer(RestReply reply);
  void AskWhoWon(api::ApiError error);
  void OnPodRead(const RestReply& reply);
  bool IsBoundByUs(const RestReply& reply) const;

  const std::shared_ptr<PodWrites> pods_;
  const api::PodPtr pod_;
  const std::string node_name_;
  Done done_;
  std::optional<api::ApiError> failure_;  // of the last try, while the pod is read
};

}  // namespace ks::client
