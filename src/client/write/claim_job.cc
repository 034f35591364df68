// SPDX-License-Identifier: Apache-2.0
#include "client/write/claim_job.h"

#include "api/decode/decoder.h"

namespace ks::client {
namespace {

using api::ClaimRequest;
using Verb = ClaimRequest::Verb;

const char* MethodOf(Verb verb) {
  switch (verb) {
    case Verb::kGet:
      return "GET";
    case Verb::kCreate:
      return "POST";
    case Verb::kPatch:
    case Verb::kPatchStatus:
      return "PATCH";
    case Verb::kDelete:
      return "DELETE";
  }
  return "GET";
}

RestRequest ToRest(const ClaimRequest& request) {
  std::string target = "/apis/resource.k8s.io/v1/namespaces/" + request.ns + "/resourceclaims";
  if (request.verb != Verb::kCreate) target += '/' + request.name;
  if (request.verb == Verb::kPatchStatus) target += "/status";
  RestRequest rest{.method = MethodOf(request.verb),
                   .target = std::move(target),
                   .body = request.body,
                   .resource = "resourceclaims",
                   .name = request.name};
  if (request.verb == Verb::kPatch || request.verb == Verb::kPatchStatus) {
    rest.content_type = request.strategic ? "application/strategic-merge-patch+json"
                                          : "application/merge-patch+json";
  }
  return rest;
}

}  // namespace

bool ClaimJob::MayStart() const {
  return request_.after == Duration::zero() || dispatcher().timers().clock().Now() >= not_before_;
}

ClaimJob::Counter ClaimJob::CountedAs(bool ok) const {
  if (request_.verb == Verb::kGet) return nullptr;
  return ok ? &WriterStats::claim_writes : &WriterStats::claim_write_failures;
}

void ClaimJob::Try() { Send(ToRest(request_), &ClaimJob::OnAnswer); }

void ClaimJob::OnAnswer(const RestReply& reply) {
  if (reply.ok()) return End(ReadClaim(reply.body));
  if (!RetryIfPassing(reply)) End(Failure(*reply.error));
}

// That nobody listened to the last try, or that it was refused, does not tell what became of an
// earlier one without answer. That the claim is another one by now, or gone, does.
api::ApiError ClaimJob::Failure(api::ApiError error) const {
  const bool tells = error.code == 409 || error.IsNotFound();
  if (!uncertain() || tells || error.code >= 500) return error;
  error.code = 0;
  error.reason.clear();
  error.connection_refused = false;
  return error;
}

bool ClaimJob::RetryIfPassing(const RestReply& reply) {
  if (reply.fenced) return false;
  if (reply.uncertain && reply.error->IsTransport()) return RetryIfTriesAreLeft();
  return RetryIfTemporary(*reply.error, /*on_conflict=*/false);
}

std::optional<api::ApiError> ClaimJob::ReadClaim(const std::string& body) {
  if (request_.verb == Verb::kDelete) return std::nullopt;
  api::Decoder decoder;
  const Result<api::ResourceClaimPtr> read = decoder.Object<api::ResourceClaim>(body);
  if (read.ok()) claim_ = *read;
  if (claim_ != nullptr) return std::nullopt;
  api::ApiError error;
  error.message = "the answer holds no ResourceClaim: " +
                  (read.ok() ? "it is of another kind" : read.error().message);
  return error;
}

void ClaimJob::Report(std::optional<api::ApiError> error) {
  const Done done = std::move(done_);
  if (done) done(std::move(error), std::move(claim_));
}

}  // namespace ks::client
