// SPDX-License-Identifier: Apache-2.0
// Rows of pods: the STATUS column says in one word what a pod is up to.
#include <algorithm>

#include "apiserver/table/table_cells.h"

namespace ks::apiserver {
namespace {

struct Summary {
  std::string reason;
  int64_t ready = 0;
  int64_t total = 0;
  int64_t restarts = 0;
  std::optional<TimePoint> last_restart{};
  // The restarts of sidecars alone: what counts once initialization is over.
  int64_t sidecar_restarts = 0;
  std::optional<TimePoint> last_sidecar_restart{};
};

const Json& List(const Json& object, std::initializer_list<const char*> path) {
  static const Json* none = new Json(Json::array());
  const Json& found = At(object, path);
  return found.is_array() ? found : *none;
}

const Json* Condition(const Json& pod, std::string_view type) {
  for (const Json& condition : List(pod, {"status", "conditions"})) {
    if (TextAt(condition, {"type"}) == type) return &condition;
  }
  return nullptr;
}

bool ConditionTrue(const Json& pod, std::string_view type) {
  const Json* condition = Condition(pod, type);
  return condition != nullptr && TextAt(*condition, {"status"}) == "True";
}

bool IsSidecar(const Json& container) { return TextAt(container, {"restartPolicy"}) == "Always"; }

const Json* ContainerOf(const Json& containers, const Json& status) {
  const std::string name = TextAt(status, {"name"});
  for (const Json& container : containers) {
    if (TextAt(container, {"name"}) == name) return &container;
  }
  return nullptr;
}

void CountRestarts(const Json& status, int64_t& restarts, std::optional<TimePoint>& last) {
  restarts += NumberAt(status, {"restartCount"});
  const auto finished = ParseTime(At(status, {"lastState", "terminated", "finishedAt"}));
  if (finished.has_value() && (!last.has_value() || *finished > *last)) last = finished;
}

std::string ExitText(const Json& terminated) {
  const int64_t signal = NumberAt(terminated, {"signal"});
  if (signal != 0) return "Signal:" + std::to_string(signal);
  return "ExitCode:" + std::to_string(NumberAt(terminated, {"exitCode"}));
}

// True: this init container is what the pod waits for; `reason` says so.
bool Initializing(const Json& status, size_t index, size_t count, bool sidecar, Summary& summary) {
  const Json& terminated = At(status, {"state", "terminated"});
  if (terminated.is_object() && NumberAt(terminated, {"exitCode"}) == 0) return false;
  if (sidecar && At(status, {"started"}) == true) {
    if (At(status, {"ready"}) == true) ++summary.ready;
    return false;
  }
  const std::string waiting = TextAt(status, {"state", "waiting", "reason"});
  if (terminated.is_object()) {
    const std::string reason = TextAt(terminated, {"reason"});
    summary.reason = "Init:" + (reason.empty() ? ExitText(terminated) : reason);
  } else if (!waiting.empty() && waiting != "PodInitializing") {
    summary.reason = "Init:" + waiting;
  } else {
    summary.reason = "Init:" + std::to_string(index) + "/" + std::to_string(count);
  }
  return true;
}

bool ReadInitContainers(const Json& pod, Summary& summary) {
  const Json& containers = List(pod, {"spec", "initContainers"});
  const Json& statuses = List(pod, {"status", "initContainerStatuses"});
  for (size_t i = 0; i < statuses.size(); ++i) {
    const Json* container = ContainerOf(containers, statuses[i]);
    const bool sidecar = container != nullptr && IsSidecar(*container);
    CountRestarts(statuses[i], summary.restarts, summary.last_restart);
    if (sidecar) {
      CountRestarts(statuses[i], summary.sidecar_restarts, summary.last_sidecar_restart);
    }
    if (Initializing(statuses[i], i, containers.size(), sidecar, summary)) return true;
  }
  return false;
}

void ReadContainers(const Json& pod, Summary& summary) {
  summary.restarts = summary.sidecar_restarts;
  summary.last_restart = summary.last_sidecar_restart;
  bool running = false;
  const Json& statuses = List(pod, {"status", "containerStatuses"});
  for (size_t i = statuses.size(); i-- > 0;) {
    const Json& status = statuses[i];
    CountRestarts(status, summary.restarts, summary.last_restart);
    const std::string waiting = TextAt(status, {"state", "waiting", "reason"});
    const Json& terminated = At(status, {"state", "terminated"});
    if (!waiting.empty()) {
      summary.reason = waiting;
    } else if (terminated.is_object()) {
      const std::string reason = TextAt(terminated, {"reason"});
      summary.reason = reason.empty() ? ExitText(terminated) : reason;
    } else if (At(status, {"ready"}) == true && At(status, {"state", "running"}).is_object()) {
      running = true;
      ++summary.ready;
    }
  }
  // One container has ended while another one still runs.
  if (summary.reason == "Completed" && running) {
    summary.reason = ConditionTrue(pod, "Ready") ? "Running" : "NotReady";
  }
}

Summary Summarize(const Json& pod) {
  Summary summary;
  const std::string phase = TextAt(pod, {"status", "phase"});
  const std::string pod_reason = TextAt(pod, {"status", "reason"});
  summary.reason = pod_reason.empty() ? phase : pod_reason;
  const Json* scheduled = Condition(pod, "PodScheduled");
  if (scheduled != nullptr && TextAt(*scheduled, {"reason"}) == "SchedulingGated") {
    summary.reason = "SchedulingGated";
  }
  const Json& init_containers = List(pod, {"spec", "initContainers"});
  summary.total = static_cast<int64_t>(List(pod, {"spec", "containers"}).size()) +
                  std::count_if(init_containers.begin(), init_containers.end(), IsSidecar);
  const bool initializing = ReadInitContainers(pod, summary);
  if (!initializing || ConditionTrue(pod, "Initialized")) ReadContainers(pod, summary);
  if (At(pod, {"metadata", "deletionTimestamp"}).is_string()) {
    if (pod_reason == "NodeLost") {
      summary.reason = "Unknown";
    } else if (phase != "Succeeded" && phase != "Failed") {
      summary.reason = "Terminating";
    }
  }
  return summary;
}

std::string ReadinessGates(const Json& pod) {
  const Json& gates = List(pod, {"spec", "readinessGates"});
  if (gates.empty()) return "<none>";
  const auto met = std::count_if(gates.begin(), gates.end(), [&pod](const Json& gate) {
    return ConditionTrue(pod, TextAt(gate, {"conditionType"}));
  });
  return std::to_string(met) + "/" + std::to_string(gates.size());
}

std::string PodAddress(const Json& pod) {
  const Json& addresses = List(pod, {"status", "podIPs"});
  if (!addresses.empty()) return TextAt(addresses.front(), {"ip"}, "<none>");
  return TextAt(pod, {"status", "podIP"}, "<none>");
}

}  // namespace

Json PodCells(const Json& pod, TimePoint now) {
  const Summary summary = Summarize(pod);
  std::string restarts = std::to_string(summary.restarts);
  if (summary.restarts != 0 && summary.last_restart.has_value()) {
    restarts += " (" + HumanDuration(now - *summary.last_restart) + " ago)";
  }
  return Json::array({TextAt(pod, {"metadata", "name"}),
                      std::to_string(summary.ready) + "/" + std::to_string(summary.total),
                      summary.reason, restarts,
                      Since(At(pod, {"metadata", "creationTimestamp"}), now), PodAddress(pod),
                      TextAt(pod, {"spec", "nodeName"}, "<none>"),
                      TextAt(pod, {"status", "nominatedNodeName"}, "<none>"), ReadinessGates(pod)});
}

Json PodRowConditions(const Json& pod) {
  const std::string phase = TextAt(pod, {"status", "phase"});
  if (phase != "Succeeded" && phase != "Failed") return Json::array();
  const char* message =
      phase == "Failed" ? "The pod failed." : "The pod has completed successfully.";
  return Json::array(
      {{{"type", "Completed"}, {"status", "True"}, {"reason", phase}, {"message", message}}});
}

}  // namespace ks::apiserver
