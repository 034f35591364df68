// SPDX-License-Identifier: Apache-2.0
#include "daemon/trace_export.h"

#include <cstdlib>
#include <string>
#include <utility>

#include "base/logging.h"
#include "base/random.h"
#include "base/uuid.h"
#include "client/http/proxy.h"
#include "client/http/server_url.h"
#include "client/rest/rest_client.h"
#include "daemon/api_side.h"

namespace ks::daemon {
namespace {

constexpr Duration kLastWords = std::chrono::seconds(1);

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// OpenTelemetry's conventions for services and for Kubernetes.
tracing::Resource OfThisProcess(uint64_t seed) {
  Random random(seed);
  tracing::Resource resource{
      .attributes = {}, .scope_name = "kubesched", .scope_version = "v" KS_VERSION};
  const auto add = [&](std::string_view key, std::string value) {
    if (!value.empty()) resource.attributes.emplace_back(key, std::move(value));
  };
  add("service.name", "kubesched");
  add("service.version", "v" KS_VERSION);
  add("service.instance.id", NewUuid(random));
  add("host.name", HostName());
  // Set in the manifests; a pod's host name is its name otherwise.
  std::string pod = Environment("POD_NAME");
  if (pod.empty() && !Environment("KUBERNETES_SERVICE_HOST").empty()) pod = HostName();
  add("k8s.pod.name", std::move(pod));
  add("k8s.namespace.name", Environment("POD_NAMESPACE"));
  return resource;
}

}  // namespace

Result<std::unique_ptr<TraceExport>> TraceExport::Start(const config::TracingConfiguration& tracing,
                                                        metrics::Registry& metrics, uint64_t seed) {
  const Result<client::ServerUrl> url = client::ParseServerUrl(tracing.server);
  if (!url.ok()) return url.error();
  auto transport =
      client::NewBeastTransport({.server = tracing.server, .proxy = client::ChooseProxy("", *url)});
  if (!transport.ok()) return transport.error();
  std::unique_ptr<TraceExport> made(new TraceExport());
  made->per_million_ = static_cast<uint32_t>(tracing.sampling_rate_per_million);
  made->transport_ = std::move(transport).value();
  made->timers_ = client::NewTimerThread();
  made->exporter_ = std::make_unique<client::SpanExporter>(
      *made->transport_, *made->timers_, metrics,
      client::SpanExporterOptions{.path = tracing.path,
                                  .user_agent = client::UserAgent("kubesched", "traces"),
                                  .resource = OfThisProcess(seed),
                                  .seed = seed});
  log::Info(0, "Tracing pods",
            {{"endpoint", tracing.server + tracing.path},
             {"samplingRatePerMillion", tracing.sampling_rate_per_million}});
  return made;
}

void TraceExport::Flush() { (void)exporter_->Flush(kLastWords); }

}  // namespace ks::daemon
