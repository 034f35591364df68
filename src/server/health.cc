// SPDX-License-Identifier: Apache-2.0
#include "server/health.h"

#include <set>
#include <utility>

#include "base/logging.h"

namespace ks::server {
namespace {

struct HealthQuery {
  bool verbose = false;
  std::set<std::string> excluded;
};

HealthQuery ParseQuery(std::string_view text) {
  const Query query(text);
  HealthQuery result{.verbose = query.Has("verbose")};
  for (const std::string_view name : query.All("exclude")) {
    result.excluded.emplace(name);
  }
  return result;
}

std::string UnmatchedLine(const std::set<std::string>& unmatched) {
  if (unmatched.empty()) {
    return "";
  }
  std::string names;
  for (const std::string& name : unmatched) {
    names += (names.empty() ? "\"" : ",\"") + name + '"';
  }
  return "warn: some health checks cannot be excluded: no matches for " + names + "\n";
}

}  // namespace

Response AnswerHealth(std::string_view name, const std::vector<HealthCheck>& checks,
                      std::string_view query, HealthMetrics* metrics) {
  HealthQuery asked = ParseQuery(query);
  std::string lines;
  std::string failed_names;
  std::string failures;
  for (const HealthCheck& check : checks) {
    if (asked.excluded.erase(check.name) > 0) {
      lines += "[+]" + check.name + " excluded: ok\n";
      continue;
    }
    const std::string failure = check.failure();
    if (metrics != nullptr) {
      metrics->Checked(std::string(name), check.name, failure.empty());
    }
    if (failure.empty()) {
      lines += "[+]" + check.name + " ok\n";
      continue;
    }
    lines += "[-]" + check.name + " failed: reason withheld\n";
    failed_names += (failed_names.empty() ? "" : ",") + check.name;
    failures += "[-]" + check.name + " failed: " + failure + "\n";
  }
  Response response;
  if (!failed_names.empty()) {
    KS_LOG(2, failed_names + " check failed: " + std::string(name) + "\n" + failures);
    response.status = 500;
    response.body = lines + UnmatchedLine(asked.excluded) + std::string(name) + " check failed\n";
    return response;
  }
  response.body =
      asked.verbose ? lines + UnmatchedLine(asked.excluded) + std::string(name) + " check passed\n"
                    : "ok";
  return response;
}

Response AnswerHealthCheck(const HealthCheck& check) {
  const std::string failure = check.failure();
  if (failure.empty()) {
    return Response{.body = "ok", .no_sniff = false};
  }
  return Response{.status = 500, .body = "internal server error: " + failure + "\n"};
}

void InstallHealth(HttpsServer& server, const std::string& name, std::vector<HealthCheck> checks,
                   HealthMetrics* metrics) {
  for (const HealthCheck& check : checks) {
    server.Handle("/" + name + "/" + check.name,
                  [check](const Request&) { return AnswerHealthCheck(check); });
  }
  server.Handle("/" + name, [name, checks = std::move(checks), metrics](const Request& request) {
    return AnswerHealth(name, checks, request.query, metrics);
  });
}

void InstallSchedulerHealth(HttpsServer& server, const SchedulerHealth& health,
                            SchedulerHealthOptions options) {
  const HealthCheck ping{.name = "ping", .failure = [] { return std::string(); }};
  const HealthCheck shutdown{.name = "shutdown", .failure = [&health] {
                               return health.shutting_down ? std::string("process is shutting down")
                                                           : std::string();
                             }};
  const HealthCheck sync{.name = "sched-handler-sync", .failure = [&health] {
                           return health.handlers_synced
                                      ? std::string()
                                      : std::string("handlers are not fully synchronized");
                         }};
  std::vector<HealthCheck> alive = {ping};
  std::vector<HealthCheck> ready = {shutdown, sync};
  if (options.leader_election) {
    const HealthCheck leader{.name = "leaderElection",
                             .failure = std::move(options.leader_election)};
    alive = {leader};
    ready.insert(ready.begin(), leader);
  }
  if (options.informer_sync) {
    ready.push_back({.name = "informer-sync", .failure = std::move(options.informer_sync)});
  }
  InstallHealth(server, "healthz", std::move(alive), options.metrics);
  InstallHealth(server, "livez", {ping}, options.metrics);
  InstallHealth(server, "readyz", std::move(ready), options.metrics);
}

}  // namespace ks::server
