// SPDX-License-Identifier: Apache-2.0
#pragma once
// TokenReview and SubjectAccessReview: the API server says who a token is and who may what.
//
// Upstream: docs/spec/operations.md sections 4.3 and 5.

#include <memory>
#include <string>

#include "client/rest/rest_client.h"
#include "server/auth/authentication.h"
#include "server/auth/authorization.h"
#include "server/http/request_metrics.h"

namespace ks::daemon {

// Sends reviews and repeats what failed for a passing reason: four more times, after 0.5 s, growing
// by half, 20 % jitter. Threads: any.
class ReviewSender {
 public:
  using Done = std::function<void(client::RestReply)>;

  // Lifetime: `client` lives until Stop.
  explicit ReviewSender(client::RestClient& client);
  ~ReviewSender() { Stop(); }

  // `done` is called once, from a client thread; never after Stop unless the request was under way.
  void Send(const client::RestRequest& request, Done done);
  // Nothing is sent any more. Idempotent.
  void Stop();

 private:
  struct State;
  const std::shared_ptr<State> state_;
};

// Threads: any. Lifetime: `metrics` outlives it and pending reviews.
class ApiTokenReviewer final : public server::TokenReviewer {
 public:
  ApiTokenReviewer(client::RestClient& client, server::RequestMetrics& metrics)
      : sender_(client), clock_(client.clock()), metrics_(metrics) {}

  void Review(const std::string& token, Done done) override;
  void Stop() { sender_.Stop(); }

 private:
  ReviewSender sender_;
  const Clock& clock_;
  server::RequestMetrics& metrics_;
};

// Threads: any. Lifetime: `metrics` outlives it and pending reviews.
class ApiAccessReviewer final : public server::AccessReviewer {
 public:
  ApiAccessReviewer(client::RestClient& client, server::RequestMetrics& metrics)
      : sender_(client), clock_(client.clock()), metrics_(metrics) {}

  void Review(const server::AccessQuestion& question, Done done) override;
  void Stop() { sender_.Stop(); }

 private:
  ReviewSender sender_;
  const Clock& clock_;
  server::RequestMetrics& metrics_;
};

// The bodies that are sent (docs/spec/operations.md 14.3), and what is read from the answers.
std::string TokenReviewBody(const std::string& token);
std::string AccessReviewBody(const server::AccessQuestion& question);
server::TokenVerdict ReadTokenReview(const std::string& body);
server::AccessVerdict ReadAccessReview(const std::string& body);

}  // namespace ks::daemon
