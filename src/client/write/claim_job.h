// SPDX-License-Identifier: Apache-2.0
#pragma once
// One request about a ResourceClaim. Patches are valid for one resourceVersion, or bring about the
// same however often they are sent, and creations name what they make, so that all of them may be
// repeated.
//
//   request --good--> over, with the claim
//           --passing failure, or no answer--> wait --> the same request
//           --else--> over, with the failure; as one without answer if a try may have been carried
//                     out and no later answer tells
//
// Upstream: docs/spec/plugins-dra.md sections 4.4, 4.7, 4.9, 10.4 and 10.5.

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "api/json/claim_requests.h"
#include "base/clock.h"
#include "client/write/write_dispatcher.h"
#include "client/write/write_job.h"
#include "framework/api_writer.h"

namespace ks::client {

// As ApiWriter's SendClaimRequest says.
class ClaimJob final : public WriteJob {
 public:
  using Done = framework::ApiWriter::ClaimDone;

  // `done` may be null.
  ClaimJob(std::shared_ptr<WriteDispatcher> dispatcher, RestClient& client,
           api::ClaimRequest request, Done done)
      : WriteJob(std::move(dispatcher), client, LaneName::kBind),
        request_(std::move(request)),
        not_before_(this->dispatcher().timers().clock().Now() + request_.after),
        done_(std::move(done)) {}

  bool MayStart() const override;
  Counter CountedAs(bool ok) const override;
  void Report(std::optional<api::ApiError> error) override;

 private:
  using Verb = api::ClaimRequest::Verb;

  void Try() override;
  void OnAnswer(const RestReply& reply);
  bool RetryIfPassing(const RestReply& reply);
  // What is reported of it.
  api::ApiError Failure(api::ApiError error) const;
  // The error if the answer holds no claim.
  std::optional<api::ApiError> ReadClaim(const std::string& body);

  const api::ClaimRequest request_;
  const TimePoint not_before_;
  Done done_;
  api::ResourceClaimPtr claim_;  // of the answer
};

}  // namespace ks::client
