// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the client tells /metrics of its requests.
//
// Upstream: docs/spec/metrics.md section 4.

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/mutex.h"
#include "client/http/connection_metrics.h"
#include "metrics/registry.h"

namespace ks::client {

// The metrics of one server. `method` is in upper case, `code` an HTTP status or 0 where no answer
// came. Threads: any. Lifetime: RestMetrics outlives it.
class HostMetrics {
 public:
  ~HostMetrics();

  // A request or the opening of a watch was answered or failed; each sending counts.
  void CountRequest(const std::string& method, int code) KS_EXCLUDES(mutex_);
  // It will be sent again because of that.
  void CountRepetition(const std::string& method, int code) KS_EXCLUDES(mutex_);
  // A request ended with a whole body. The time includes repetitions and waits of all kinds.
  struct Exchange {
    Duration took{};
    size_t request_bytes = 0;
    size_t response_bytes = 0;  // unpacked
  };
  void ObserveExchange(const std::string& method, const Exchange& exchange) KS_EXCLUDES(mutex_);
  // How long a sending was held back by the client's own rate limit.
  void ObserveRateLimit(const std::string& method, Duration wait) KS_EXCLUDES(mutex_);

 private:
  friend class RestMetrics;
  struct Families;
  // The series of one method; null until used.
  struct Series {
    std::map<int, metrics::Counter*> requests;     // by code
    std::map<int, metrics::Counter*> repetitions;  // by code
    metrics::Histogram* durations = nullptr;
    metrics::Histogram* request_sizes = nullptr;
    metrics::Histogram* response_sizes = nullptr;
    metrics::Histogram* rate_limits = nullptr;
  };

  HostMetrics(Families& families, std::string host);

  Families& families_;
  const std::string host_;
  Mutex mutex_;
  std::map<std::string, Series, std::less<>> series_ KS_GUARDED_BY(mutex_);
};

// One for all clients of a process. Threads: any. Lifetime: `registry` outlives it; it outlives the
// clients that tell it.
class RestMetrics {
 public:
  explicit RestMetrics(metrics::Registry& registry);
  ~RestMetrics();

  // `server_url` as in the kubeconfig; the label `host` is its host:port.
  HostMetrics& For(std::string_view server_url) KS_EXCLUDES(mutex_);
  ConnectionMetrics& connections() { return connections_; }

 private:
  ConnectionMetrics connections_;
  std::unique_ptr<HostMetrics::Families> families_;
  Mutex mutex_;
  std::map<std::string, std::unique_ptr<HostMetrics>, std::less<>> hosts_ KS_GUARDED_BY(mutex_);
};

}  // namespace ks::client
