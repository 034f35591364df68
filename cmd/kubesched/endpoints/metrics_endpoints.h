// SPDX-License-Identifier: Apache-2.0
#pragma once
// /metrics, /metrics/slis and /metrics/resources. Scrapes are answered one after the other by a
// thread of their own: making the text, packing it and waiting for the scheduling thread delay no
// other answer. The scheduling thread gives each scrape a moment between two attempts (/metrics:
// what is only computed when it is read; /metrics/resources: a copy of the pods' pointers); a
// scrape that it leaves waiting for a second shows what was carried over before.
//
// Upstream: docs/spec/metrics.md 1.1, 1.2 and section 7, docs/spec/operations.md section 2.4.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "api/pod.h"
#include "daemon/current_scheduler.h"
#include "metrics/registry.h"
#include "server/http/https_server.h"

namespace ks::daemon {

struct MetricsSources {
  metrics::Registry& metrics;
  metrics::Registry& slis;
  CurrentScheduler& scheduler;
};

// Requires: the server does not serve yet. Lifetime: the sources outlive the server.
void InstallMetrics(server::HttpsServer& https, MetricsSources sources);

// The page of /metrics/resources in the format that `accept` asks for.
std::string ResourcePage(std::vector<api::PodPtr> pods, bool protobuf);

}  // namespace ks::daemon
