// SPDX-License-Identifier: Apache-2.0
#include "client/rest/rest_metrics.h"

#include <utility>
#include <vector>

#include "client/http/server_url.h"
#include "golang/durations.h"

namespace ks::client {
namespace {

const std::vector<double>& DurationBuckets() {
  static const std::vector<double> buckets{0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60};
  return buckets;
}
const std::vector<double>& SizeBuckets() {
  static const std::vector<double> buckets{64,    256,    512,     1024,    4096,    16384,
                                           65536, 262144, 1048576, 4194304, 16777216};
  return buckets;
}

std::string CodeText(int code) { return code == 0 ? "<error>" : std::to_string(code); }

}  // namespace

struct HostMetrics::Families {
  explicit Families(metrics::Registry& registry)
      : requests(
            registry.AddCounter({.name = "rest_client_requests_total",
                                 .help = "API requests sent, by HTTP status, verb and server."})),
        repetitions(registry.AddCounter(
            {.name = "rest_client_request_retries_total", .help = "Requests sent again."})),
        durations(registry.AddHistogram({.name = "rest_client_request_duration_seconds",
                                         .help = "API request time until the body was read."})),
        request_sizes(registry.AddHistogram(
            {.name = "rest_client_request_size_bytes", .help = "Sizes of request bodies."})),
        response_sizes(registry.AddHistogram(
            {.name = "rest_client_response_size_bytes", .help = "Sizes of response bodies."})),
        rate_limits(registry.AddHistogram(
            {.name = "rest_client_rate_limiter_duration_seconds",
             .help = "Time a request waited for the client's own rate limit."})) {}

  metrics::Family<metrics::Counter>& requests;
  metrics::Family<metrics::Counter>& repetitions;
  metrics::Family<metrics::Histogram>& durations;
  metrics::Family<metrics::Histogram>& request_sizes;
  metrics::Family<metrics::Histogram>& response_sizes;
  metrics::Family<metrics::Histogram>& rate_limits;
};

HostMetrics::HostMetrics(Families& families, std::string host)
    : families_(families), host_(std::move(host)) {}

HostMetrics::~HostMetrics() = default;

void HostMetrics::CountRequest(const std::string& method, int code) {
  MutexLock lock(mutex_);
  metrics::Counter*& series = series_[method].requests[code];
  if (series == nullptr) {
    series =
        &families_.requests.Add({{"code", CodeText(code)}, {"host", host_}, {"method", method}});
  }
  series->Increment();
}

void HostMetrics::CountRepetition(const std::string& method, int code) {
  MutexLock lock(mutex_);
  metrics::Counter*& series = series_[method].repetitions[code];
  if (series == nullptr) {
    series =
        &families_.repetitions.Add({{"code", CodeText(code)}, {"host", host_}, {"verb", method}});
  }
  series->Increment();
}

void HostMetrics::ObserveExchange(const std::string& method, const Exchange& exchange) {
  MutexLock lock(mutex_);
  Series& series = series_[method];
  if (series.durations == nullptr) {
    const prometheus::Labels labels{{"host", host_}, {"verb", method}};
    series.durations = &families_.durations.Add(labels, DurationBuckets());
    series.request_sizes = &families_.request_sizes.Add(labels, SizeBuckets());
    series.response_sizes = &families_.response_sizes.Add(labels, SizeBuckets());
  }
  series.durations->Observe(golang::Seconds(exchange.took));
  series.request_sizes->Observe(static_cast<double>(exchange.request_bytes));
  series.response_sizes->Observe(static_cast<double>(exchange.response_bytes));
}

void HostMetrics::ObserveRateLimit(const std::string& method, Duration wait) {
  MutexLock lock(mutex_);
  metrics::Histogram*& series = series_[method].rate_limits;
  if (series == nullptr) {
    series = &families_.rate_limits.Add({{"host", host_}, {"verb", method}}, DurationBuckets());
  }
  series->Observe(golang::Seconds(wait));
}

RestMetrics::RestMetrics(metrics::Registry& registry)
    : connections_(registry), families_(std::make_unique<HostMetrics::Families>(registry)) {}

RestMetrics::~RestMetrics() = default;

HostMetrics& RestMetrics::For(std::string_view server_url) {
  const auto url = ParseServerUrl(server_url);
  const std::string host = url.ok() ? url->Authority() : std::string(server_url);
  MutexLock lock(mutex_);
  std::unique_ptr<HostMetrics>& made = hosts_[host];
  if (made == nullptr) made.reset(new HostMetrics(*families_, host));
  return *made;
}

}  // namespace ks::client
