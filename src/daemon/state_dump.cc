// SPDX-License-Identifier: Apache-2.0
#include "daemon/state_dump.h"

#include <string>
#include <utility>
#include <vector>

#include "base/logging.h"
#include "config/print/print_json.h"
#include "inspect/cache_report.h"

namespace ks::daemon {
namespace {

struct State {
  inspect::CacheDump cache;
  inspect::ClusterAccount informers;
  std::string queue_summary;
  std::vector<api::PodPtr> queued;
};

// `["a","b"]`, as klog prints lists.
std::string List(const std::vector<inspect::CacheDifference>& differences, std::string_view kind) {
  config::JsonBuilder json;
  json.BeginArray();
  for (const inspect::CacheDifference& difference : differences) {
    if (difference.kind != kind) continue;
    json.Text(difference.uid.empty() ? difference.object : difference.uid);
  }
  json.EndArray();
  return json.Take();
}

void LogMismatch(const State& state) {
  const auto differences = inspect::Compare(state.cache, state.informers);
  const std::string none = "[]";
  const std::string missed_nodes = List(differences, "missedNode");
  const std::string redundant_nodes = List(differences, "redundantNode");
  if (missed_nodes != none || redundant_nodes != none) {
    log::Info(0, "Cache mismatch",
              {{"missedNodes", missed_nodes}, {"redundantNodes", redundant_nodes}});
  }
  const std::string missed_pods = List(differences, "missedPod");
  const std::string redundant_pods = List(differences, "redundantPod");
  if (missed_pods != none || redundant_pods != none) {
    log::Info(0, "Cache mismatch",
              {{"missedPods", missed_pods}, {"redundantPods", redundant_pods}});
  }
}

}  // namespace

void DumpState(CurrentScheduler& current) {
  const auto state = current.Ask([](scheduler::Scheduler& scheduler) {
    return State{.cache = inspect::CollectCache(scheduler),
                 .informers = inspect::InformerAccount(scheduler),
                 .queue_summary = scheduler.context().queue.pending().Summary(),
                 .queued = scheduler.context().queue.stores().Pods()};
  });
  if (!state) {
    log::Info(0, "Nothing to dump: no scheduler runs at this moment");
    return;
  }
  log::Info(3, "Cache comparer started");
  LogMismatch(*state);
  log::Info(3, "Cache comparer finished");
  log::Info(0, "Dump of cached NodeInfo", {{"nodes", inspect::NodeLines(state->cache)}});
  std::string pods;
  for (const api::PodPtr& pod : state->queued) pods += inspect::PodLine(*pod);
  log::Info(0, "Dump of scheduling queue", {{"summary", state->queue_summary}, {"pods", pods}});
}

}  // namespace ks::daemon
