// SPDX-License-Identifier: Apache-2.0
#include "client/http/connection_metrics.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "golang/durations.h"

namespace ks::client {
namespace {

std::vector<double> RotationBuckets() {
  return {600, 1800, 3600, 14400, 86400, 604800, 2592000, 7776000, 15552000, 31104000, 124416000};
}

const char* StatusText(ExecCall::Status status) {
  switch (status) {
    case ExecCall::Status::kNoError:
      return "no_error";
    case ExecCall::Status::kExecutionError:
      return "plugin_execution_error";
    case ExecCall::Status::kNotFound:
      return "plugin_not_found_error";
    case ExecCall::Status::kClientError:
      break;
  }
  return "client_internal_error";
}

// Result and reason.
std::pair<const char*, const char*> CaReloadTexts(CaReload outcome) {
  switch (outcome) {
    case CaReload::kUpdated:
      return {"success", "updated"};
    case CaReload::kUnchanged:
      return {"success", "unchanged"};
    case CaReload::kUnreadable:
      return {"failure", "read_error"};
    case CaReload::kEmpty:
      return {"failure", "empty"};
    case CaReload::kUnusable:
      break;
  }
  return {"failure", "ca_parse_error"};
}

}  // namespace

ConnectionMetrics::ConnectionMetrics(metrics::Registry& registry, const Clock& clock)
    : clock_(clock),
      entries_(registry
                   .AddGauge({.name = "rest_client_transport_cache_entries",
                              .help = "Connection pools alive."})
                   .Add({})),
      create_calls_(registry.AddCounter({.name = "rest_client_transport_create_calls_total",
                                         .help = "Connection pools made or shared."})),
      ca_reloads_(registry.AddCounter({.name = "rest_client_transport_ca_reload_total",
                                       .help = "Re-reads of the server's CA file."})),
      exec_calls_(registry.AddCounter(
          {.name = "rest_client_exec_plugin_call_total", .help = "Runs of exec plugins."})),
      rotation_age_(
          registry
              .AddHistogram({.name = "rest_client_exec_plugin_certificate_rotation_age",
                             .help = "Age of exec plugins' certificates when replaced, seconds."})
              .Add({}, RotationBuckets())),
      seconds_left_(
          registry
              .AddGauge(
                  {.name = "rest_client_exec_plugin_ttl_seconds",
                   .help = "golang::Seconds until an exec plugin's certificate ends; +Inf: none."})
              .Add({})),
      before_text_(registry.BeforeText([this] { seconds_left_.Set(SecondsLeft()); })) {}

void ConnectionMetrics::Made() {
  entries_.Increment();
  create_calls_.Add({{"result", "miss"}}).Increment();
}

void ConnectionMetrics::Shared() { create_calls_.Add({{"result", "hit"}}).Increment(); }

void ConnectionMetrics::Gone() { entries_.Decrement(); }

void ConnectionMetrics::CountCaReload(CaReload outcome) {
  const auto [result, reason] = CaReloadTexts(outcome);
  ca_reloads_.Add({{"reason", reason}, {"result", result}}).Increment();
}

void ConnectionMetrics::CountExecCall(const ExecCall& call) {
  exec_calls_.Add({{"call_status", StatusText(call.status)}, {"code", std::to_string(call.code)}})
      .Increment();
}

void ConnectionMetrics::SetCertificateEnd(const void* login, std::optional<TimePoint> end) {
  const MutexLock lock(mutex_);
  if (end.has_value()) {
    certificate_ends_[login] = *end;
  } else {
    certificate_ends_.erase(login);
  }
}

void ConnectionMetrics::CertificateReplaced(TimePoint valid_from) {
  rotation_age_.Observe(golang::Seconds(clock_.WallNow() - valid_from));
}

double ConnectionMetrics::SecondsLeft() const {
  const MutexLock lock(mutex_);
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [login, end] : certificate_ends_) {
    least = std::min(least, golang::Seconds(end - clock_.WallNow()));
  }
  return least;
}

}  // namespace ks::client
