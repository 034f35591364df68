// SPDX-License-Identifier: Apache-2.0
#pragma once
// Counts of authentication and authorization.
//
// Upstream: docs/spec/metrics.md section 5.

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/mutex.h"
#include "metrics/registry.h"

namespace ks::server {

// Threads: any. Lifetime: the registry outlives it.
class RequestMetrics {
 public:
  explicit RequestMetrics(metrics::Registry& registry);

  // `result`: success, failure, error. `user`: of a success.
  void Authenticated(std::string_view result, std::string_view user, Duration took);
  // `result`: allowed, denied, no-opinion, error.
  void Authorized(std::string_view result, Duration took);
  void CertificateShown(Duration left);
  // `status`: hit, miss.
  void TokenAsked(std::string_view status, Duration took);
  // `status`: ok, error.
  void TokenFetched(std::string_view status);
  // `status`: blocked, in_flight; `by` ±1.
  void TokenFetches(std::string_view status, int by);
  // `code`: the HTTP status, or `<error>`.
  void TokenReviewed(const std::string& code, Duration took);
  void AccessReviewed(const std::string& code, Duration took);

 private:
  metrics::Family<metrics::Counter>& attempts_;
  metrics::Family<metrics::Counter>& users_;
  metrics::Family<metrics::Histogram>& authentication_seconds_;
  metrics::Family<metrics::Counter>& authorizations_;
  metrics::Family<metrics::Histogram>& authorization_seconds_;
  metrics::Family<metrics::Counter>& token_reviews_;
  metrics::Family<metrics::Histogram>& token_review_seconds_;
  metrics::Family<metrics::Counter>& access_reviews_;
  metrics::Family<metrics::Histogram>& access_review_seconds_;
  metrics::Histogram& certificate_seconds_;
  metrics::Family<metrics::Counter>& token_requests_;
  metrics::Family<metrics::Counter>& token_fetches_;
  metrics::Family<metrics::Gauge>& token_fetching_;
  metrics::Family<metrics::Histogram>& token_request_seconds_;
};

}  // namespace ks::server
