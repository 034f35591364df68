// SPDX-License-Identifier: Apache-2.0
#pragma once
// Requests about claims as steps of PreBind, and what they answered.

#include <memory>
#include <optional>
#include <utility>

#include "api/json/claim_requests.h"
#include "api/status.h"
#include "framework/api_writer.h"
#include "framework/plugin.h"

namespace ks::plugins {

// The answer to the last request. The answer's thread writes it before the framework hears of it,
// the scheduling thread reads it after that.
struct ClaimAnswer {
  std::optional<api::ApiError> error;
  api::ResourceClaimPtr claim;

  bool conflict() const { return error && error->code == 409; }
  std::string ErrorText() const { return error->message.empty() ? error->reason : error->message; }
};

// Whether what was asked for may have been done although the answer is an error.
inline bool MayBeDone(const api::ApiError& error) {
  return error.code >= 500 || (error.IsTransport() && !error.connection_refused);
}

// Whether nobody said what became of it, and the API server may say if it is asked again.
inline bool MayBeSaidLater(const api::ApiError& error) {
  return error.code >= 500 || error.code == 429 || error.IsTransport();
}

// A step that sends the request. Failures stand in the answer; the step itself always succeeds.
inline framework::PreBindStep ClaimStep(api::ClaimRequest request,
                                        std::shared_ptr<ClaimAnswer> answer) {
  framework::PreBindStep step;
  step.calls.push_back([request = std::move(request), answer = std::move(answer)](
                           framework::ApiWriter& api, framework::ApiWriter::Done done) {
    api.SendClaimRequest(request,
                         [answer, done = std::move(done)](std::optional<api::ApiError> error,
                                                          api::ResourceClaimPtr claim) {
                           *answer = {.error = std::move(error), .claim = std::move(claim)};
                           done(std::nullopt);
                         });
  });
  return step;
}

}  // namespace ks::plugins
