// SPDX-License-Identifier: Apache-2.0
// The page of /metrics/resources: docs/spec/metrics.md section 7. Written series by series, because
// that of a large cluster has half a million of them.

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "framework/pod_requests.h"
#include "kubesched/endpoints/metrics_endpoints.h"
#include "metrics/protobuf_format.h"
#include "metrics/text_format.h"

namespace ks::daemon {
namespace {

using prometheus::ClientMetric;

struct Kind {
  std::string_view name;
  std::string_view help;
  api::ResourceList (*totals)(const api::Pod& pod);
};

constexpr std::array<Kind, 2> kKinds = {
    Kind{.name = "kube_pod_resource_limit",
         .help = "[STABLE] Upper bound of a pod, as scheduler and kubelet account it, by resource.",
         .totals = [](const api::Pod& pod) { return framework::AggregateLimits(pod); }},
    Kind{.name = "kube_pod_resource_request",
         .help = "[STABLE] What a pod asks for, as scheduler and kubelet account it, by resource.",
         .totals = [](const api::Pod& pod) { return framework::AggregateRequests(pod, {}); }}};

std::string_view UnitOf(std::string_view resource) {
  if (resource == "cpu") return "cores";
  if (resource == "memory" || resource == "storage" || resource == "ephemeral-storage" ||
      resource.starts_with("hugepages-")) {
    return "bytes";
  }
  return resource.starts_with("attachable-volumes-") ? "integer" : "";
}

double AsDouble(const api::Quantity& quantity) {
  // Thousandths of this many units still fit.
  constexpr int64_t kMostUnits = int64_t{1} << 52;
  const int64_t units = quantity.Value();
  if (units > kMostUnits || units < -kMostUnits) return static_cast<double>(units);
  return static_cast<double>(quantity.MilliValue()) / 1000;
}

bool EndedOnNode(const api::Pod& pod) { return !pod.node_name.empty() && pod.IsTerminal(); }

// The pod's labels, sorted by name; resource and unit are filled in for each series.
enum LabelPlace : uint8_t { kNamespace, kNode, kPod, kPriority, kResource, kScheduler, kUnit };
ClientMetric LabelsOf(const api::Pod& pod) {
  const auto& priority = pod.spec->priority;
  ClientMetric metric;
  metric.label = {{"namespace", std::string(pod.meta.ns.view())},
                  {"node", pod.node_name.str()},
                  {"pod", pod.meta.name},
                  {"priority", priority ? std::to_string(*priority) : std::string()},
                  {"resource", ""},
                  {"scheduler", std::string(pod.spec->scheduler_name.view())},
                  {"unit", ""}};
  return metric;
}

// Calls use(metric) for each series of one kind.
template <class Use>
void ForEachSeries(const std::vector<api::PodPtr>& pods, const Kind& kind, Use use) {
  for (const api::PodPtr& pod : pods) {
    std::map<std::string_view, double> values;
    for (const auto& [name, quantity] : kind.totals(*pod)) {
      if (!quantity.IsZero()) values.emplace(name.view(), AsDouble(quantity));
    }
    if (values.empty()) continue;
    ClientMetric metric = LabelsOf(*pod);
    for (const auto& [resource, value] : values) {
      metric.label[kResource].value = resource;
      metric.label[kUnit].value = UnitOf(resource);
      metric.gauge.value = value;
      use(metric);
    }
  }
}

}  // namespace

std::string ResourcePage(std::vector<api::PodPtr> pods, bool protobuf) {
  constexpr auto kGauge = prometheus::MetricType::Gauge;
  std::erase_if(pods, [](const api::PodPtr& pod) { return EndedOnNode(*pod); });
  std::sort(pods.begin(), pods.end(), [](const api::PodPtr& a, const api::PodPtr& b) {
    return std::tuple(a->meta.ns.view(), a->node_name.view(), std::string_view(a->meta.name)) <
           std::tuple(b->meta.ns.view(), b->node_name.view(), std::string_view(b->meta.name));
  });
  std::string page;
  for (const Kind& kind : kKinds) {
    bool any = false;
    if (protobuf) {
      metrics::ProtobufFamily family(kind.name, kind.help, kGauge);
      ForEachSeries(pods, kind, [&](const ClientMetric& metric) {
        any = true;
        family.Add(metric);
      });
      if (any) family.Finish(&page);
      continue;
    }
    ForEachSeries(pods, kind, [&](const ClientMetric& metric) {
      if (!any) metrics::AppendTextHead(&page, kind.name, kind.help, kGauge);
      any = true;
      metrics::AppendTextSeries(&page, kind.name, kGauge, metric);
    });
  }
  return page;
}

}  // namespace ks::daemon
