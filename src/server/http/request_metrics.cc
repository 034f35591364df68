// SPDX-License-Identifier: Apache-2.0
#include "server/http/request_metrics.h"
#include "golang/durations.h"

#include <vector>

namespace ks::server {
namespace {

using metrics::Description;
using metrics::ExponentialBuckets;

const std::vector<double>& StepBuckets() {
  static const std::vector<double> buckets = ExponentialBuckets(0.001, 2, 15);
  return buckets;
}

const std::vector<double>& ReviewBuckets() {
  static const std::vector<double> buckets = {0.25, 0.5, 0.7, 1, 1.5, 3, 5, 10};
  return buckets;
}

const std::vector<double>& LifeBuckets() {
  static const std::vector<double> buckets = {0,       1800,    3600,     7200,    21600,
                                              43200,   86400,   172800,   345600,  604800,
                                              2592000, 7776000, 15552000, 31104000};
  return buckets;
}

// Names of users must not become series.
std::string UserClass(std::string_view user) {
  for (const std::string_view known :
       {"admin", "client", "kube_proxy", "kubelet", "system:serviceaccount:kube-system:default"}) {
    if (user == known) return std::string(user);
  }
  return user.find('@') != std::string_view::npos ? "email_id" : "other";
}

}  // namespace

RequestMetrics::RequestMetrics(metrics::Registry& registry)
    : attempts_(registry.AddCounter(
          {.name = "authentication_attempts", .help = "Requests authenticated."})),
      users_(registry.AddCounter({.name = "authenticated_user_requests",
                                  .help = "Authenticated requests by coarse user class."})),
      authentication_seconds_(registry.AddHistogram(
          {.name = "authentication_duration_seconds", .help = "Time of authentication."})),
      authorizations_(registry.AddCounter(
          {.name = "authorization_attempts_total", .help = "Authorization decisions."})),
      authorization_seconds_(registry.AddHistogram(
          {.name = "authorization_duration_seconds", .help = "Time of authorization."})),
      token_reviews_(registry.AddCounter({.name = "apiserver_delegated_authn_request_total",
                                          .help = "TokenReview calls by status."})),
      token_review_seconds_(
          registry.AddHistogram({.name = "apiserver_delegated_authn_request_duration_seconds",
                                 .help = "Latency of TokenReview calls."})),
      access_reviews_(registry.AddCounter({.name = "apiserver_delegated_authz_request_total",
                                           .help = "SubjectAccessReview calls by status."})),
      access_review_seconds_(
          registry.AddHistogram({.name = "apiserver_delegated_authz_request_duration_seconds",
                                 .help = "Latency of SubjectAccessReview calls."})),
      certificate_seconds_(
          registry
              .AddHistogram({.name = "apiserver_client_certificate_expiration_seconds",
                             .help = "Remaining life of client certificates presented."})
              .Add({}, LifeBuckets())),
      token_requests_(registry.AddCounter({.name = "authentication_token_cache_request_total",
                                           .help = "Token look-ups in the cache."})),
      token_fetches_(registry.AddCounter({.name = "authentication_token_cache_fetch_total",
                                          .help = "Tokens asked for because of the cache."})),
      token_fetching_(registry.AddGauge({.name = "authentication_token_cache_active_fetch_count",
                                         .help = "Token look-ups that wait for an answer."})),
      token_request_seconds_(
          registry.AddHistogram({.name = "authentication_token_cache_request_duration_seconds",
                                 .help = "Time of a token look-up."})) {}

void RequestMetrics::Authenticated(std::string_view result, std::string_view user, Duration took) {
  const std::string label(result);
  attempts_.Add({{"result", label}}).Increment();
  authentication_seconds_.Add({{"result", label}}, StepBuckets()).Observe(golang::Seconds(took));
  if (result == "success") users_.Add({{"username", UserClass(user)}}).Increment();
}

void RequestMetrics::Authorized(std::string_view result, Duration took) {
  const std::string label(result);
  authorizations_.Add({{"result", label}}).Increment();
  authorization_seconds_.Add({{"result", label}}, StepBuckets()).Observe(golang::Seconds(took));
}

void RequestMetrics::CertificateShown(Duration left) {
  certificate_seconds_.Observe(golang::Seconds(left));
}

void RequestMetrics::TokenAsked(std::string_view status, Duration took) {
  const std::string label(status);
  token_requests_.Add({{"status", label}}).Increment();
  token_request_seconds_.Add({{"status", label}}, StepBuckets()).Observe(golang::Seconds(took));
}

void RequestMetrics::TokenFetched(std::string_view status) {
  token_fetches_.Add({{"status", std::string(status)}}).Increment();
}

void RequestMetrics::TokenFetches(std::string_view status, int by) {
  token_fetching_.Add({{"status", std::string(status)}}).Increment(by);
}

void RequestMetrics::TokenReviewed(const std::string& code, Duration took) {
  token_reviews_.Add({{"code", code}}).Increment();
  token_review_seconds_.Add({{"code", code}}, ReviewBuckets()).Observe(golang::Seconds(took));
}

void RequestMetrics::AccessReviewed(const std::string& code, Duration took) {
  access_reviews_.Add({{"code", code}}).Increment();
  access_review_seconds_.Add({{"code", code}}, ReviewBuckets()).Observe(golang::Seconds(took));
}

}  // namespace ks::server
