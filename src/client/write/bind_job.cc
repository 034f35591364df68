// SPDX-License-Identifier: Apache-2.0
#include "client/write/bind_job.h"

#include "api/decode/decoder.h"
#include "api/json/encode.h"
#include "api/proto/proto_bodies.h"
#include "base/canary.h"
#include "client/write/pod_requests.h"
#include "client/write/write_dispatcher.h"

namespace ks::client {

void BindJob::Try() {
  RestRequest request = PodRequest(*pod_, "/binding");
  request.method = "POST";
  if (SendsProtobuf()) {
    request.content_type = kProtobufType;
    request.body = api::BindingProto(*pod_, node_name_);
  } else {
    request.body = api::BindingBody(*pod_, node_name_);
  }
  Send(std::move(request), &BindJob::OnAnswer);
}

void BindJob::OnAnswer(RestReply reply) {
  if (reply.ok()) return End(std::nullopt);
  if (RetryIfFormRefused(reply)) return;
  if (!reply.error->IsConflict() && RetryIfTemporary(*reply.error, /*on_conflict=*/false)) {
    return dispatcher().Count(&WriterStats::bind_retries);
  }
  // Whoever hears of a failure gives the node's room free, so one that may be none is looked into.
  if (uncertain()) return AskWhoWon(std::move(*reply.error));
  End(std::move(reply.error));
}

// A try of ours may have been carried out although no good answer came, and may be what the server
// now calls a conflict.
void BindJob::AskWhoWon(api::ApiError error) {
  if (KS_CANARY(ConflictTakenForSuccess)) return End(std::nullopt);
  failure_ = std::move(error);
  Send(PodRequest(*pod_), &BindJob::OnPodRead);
}

void BindJob::OnPodRead(const RestReply& reply) {
  if (!IsBoundByUs(reply)) return End(std::move(failure_));
  dispatcher().Count(&WriterStats::binds_resolved_by_get);
  End(std::nullopt);
}

// The pod, as the server has it now, stands on the node this job wants.
bool BindJob::IsBoundByUs(const RestReply& reply) const {
  if (!reply.ok()) return false;
  api::Decoder decoder;
  const Result<api::PodPtr> found = decoder.Object<api::Pod>(reply.body);
  return found.ok() && (*found)->meta.uid == pod_->meta.uid && (*found)->node_name == node_name_;
}

void BindJob::Report(std::optional<api::ApiError> error) {
  const Done done = std::move(done_);
  if (done) done(std::move(error));
}

}  // namespace ks::client
