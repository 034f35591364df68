// SPDX-License-Identifier: Apache-2.0
#include "kubesched/endpoints/endpoints.h"

#include <memory>

#include "base/clock.h"
#include "kubesched/endpoints/debug_endpoints.h"
#include "kubesched/endpoints/metrics_endpoints.h"
#include "kubesched/endpoints/profiling_endpoints.h"
#include "kubesched/endpoints/status_pages.h"
#include "server/health_metrics.h"

namespace ks::daemon {
namespace {

void InstallHealth(server::HttpsServer& https, const EndpointSources& sources) {
  auto metrics = std::make_shared<server::HealthMetrics>(sources.slis);
  server::SchedulerHealthOptions options{.leader_election = sources.leader_election,
                                         .informer_sync = sources.informer_sync,
                                         .metrics = metrics.get()};
  server::InstallSchedulerHealth(https, sources.health, std::move(options));
  https.Keep(std::move(metrics));
}

// "1.36" of --emulated-version=kube=1.36.
std::string EmulatedVersion(const Options& flags) {
  if (flags.gates.emulated_version.empty()) return "1.37";
  const std::string& last = flags.gates.emulated_version.back();
  return last.substr(last.find('=') + 1);
}

void InstallStatusPages(server::HttpsServer& https, const EndpointSources& sources) {
  if (sources.gates.Enabled(config::Gate::kComponentFlagz)) {
    https.Handle("/flagz", [&flags = sources.flags](const server::Request& request) {
      return AnswerFlagz(request, flags.values);
    });
  }
  if (!sources.gates.Enabled(config::Gate::kComponentStatusz)) return;
  https.Handle("/statusz", [started = RealClock().WallNow(),
                            emulated =
                                EmulatedVersion(sources.flags)](const server::Request& request) {
    return AnswerStatusz(
        request, {.started = started, .now = RealClock().WallNow(), .emulated_version = emulated});
  });
}

}  // namespace

void InstallEndpoints(server::HttpsServer& https, const EndpointSources& sources) {
  InstallHealth(https, sources);
  https.Handle("/configz", [&reloader = sources.reloader](const server::Request&) {
    return server::Response{.content_type = "application/json", .body = reloader.Configz()};
  });
  InstallMetrics(
      https, {.metrics = sources.metrics, .slis = sources.slis, .scheduler = sources.scheduler});
  InstallStatusPages(https, sources);
  if (sources.configuration.enable_profiling) InstallProfiling(https, sources.timers);
  InstallDebugEndpoints(
      https,
      {.scheduler = sources.scheduler, .access = sources.access, .identity = sources.identity});
}

}  // namespace ks::daemon
