// SPDX-License-Identifier: Apache-2.0
#include "apiserver/controllers/node_agents_status.h"

#include <algorithm>
#include <utility>

#include "api/time_text.h"
#include "golang/durations.h"

namespace ks::apiserver::agents {
namespace {

constexpr std::string_view kUnreachable = "node.kubernetes.io/unreachable";
constexpr std::string_view kNotReady = "node.kubernetes.io/not-ready";

Json* FindCondition(Json& conditions, std::string_view type) {
  for (Json& condition : conditions) {
    if (condition.is_object() && Text(condition, "type") == type) return &condition;
  }
  return nullptr;
}

Json& List(Json& object, const char* key) {
  Json& list = object[key];
  if (!list.is_array()) list = Json::array();
  return list;
}

// lastTransitionTime moves with the status only.
void SetPodCondition(Json& pod, std::string_view type, Json wanted, TimePoint now) {
  Json& conditions = List(pod["status"], "conditions");
  Json* const found = FindCondition(conditions, type);
  const bool same = found != nullptr && Text(*found, "status") == Text(wanted, "status");
  wanted["type"] = type;
  wanted["lastProbeTime"] = nullptr;
  wanted["lastTransitionTime"] = same ? (*found)["lastTransitionTime"] : Json(FormatTime(now));
  if (const Json* generation = Find(pod, "metadata", "generation")) {
    wanted["observedGeneration"] = *generation;
  }
  if (found != nullptr) {
    *found = std::move(wanted);
  } else {
    conditions.push_back(std::move(wanted));
  }
}

void SetPodConditions(Json& pod, std::string_view status, std::string_view reason, TimePoint now) {
  for (const std::string_view type : {"Ready", "ContainersReady"}) {
    Json condition{{"status", status}};
    if (!reason.empty()) condition["reason"] = reason;
    SetPodCondition(pod, type, std::move(condition), now);
  }
}

std::string ContainerId(const Json& pod, std::string_view container, int64_t restarts) {
  // Unique and reproducible; a real one is a hash.
  return "simulated://" + Text(pod["metadata"], "uid") + "/" + std::string(container) + "/" +
         std::to_string(restarts);
}

Json ContainerStatus(const Json& pod, const Json& container) {
  const std::string image = Text(container, "image");
  const std::string name = Text(container, "name");
  return Json{{"name", name},
              {"image", image},
              {"imageID", "simulated://" + image},
              {"containerID", ContainerId(pod, name, 0)},
              {"restartCount", 0},
              {"lastState", Json::object()}};
}

Json Running(TimePoint now) { return {{"running", {{"startedAt", FormatTime(now)}}}}; }

Json Terminated(const Json& status, TimePoint now) {
  Json ended{{"exitCode", 0},
             {"reason", "Completed"},
             {"finishedAt", FormatTime(now)},
             {"startedAt", FormatTime(now)}};
  if (const Json* state = Find(status, "state"); state != nullptr) {
    if (const Json* started = Find(*state, "running", "startedAt")) ended["startedAt"] = *started;
  }
  if (const Json* id = Find(status, "containerID")) ended["containerID"] = *id;
  return {{"terminated", std::move(ended)}};
}

Json RunningStatuses(const Json& pod, const char* containers, TimePoint now) {
  Json statuses = Json::array();
  const Json* list = Find(pod, "spec", containers);
  if (list == nullptr || !list->is_array()) return statuses;
  for (const Json& container : *list) {
    if (!container.is_object()) continue;
    Json status = ContainerStatus(pod, container);
    const bool once = std::string_view(containers) == "initContainers" &&
                      Text(container, "restartPolicy") != "Always";
    status["ready"] = true;
    status["started"] = !once;
    status["state"] = once ? Terminated(status, now) : Running(now);
    statuses.push_back(std::move(status));
  }
  return statuses;
}

void EndContainers(Json& status, const char* list, TimePoint now) {
  const auto it = status.find(list);
  if (it == status.end() || !it->is_array()) return;
  for (Json& container : *it) {
    const Json* state = Find(container, "state");
    if (state != nullptr && state->contains("terminated")) continue;
    container["state"] = Terminated(container, now);
    container["ready"] = false;
    container["started"] = false;
  }
}

void SetNodeCondition(Json& node, std::string_view type, Json wanted, TimePoint now) {
  Json& conditions = List(node["status"], "conditions");
  Json* found = FindCondition(conditions, type);
  const bool same = found != nullptr && Text(*found, "status") == Text(wanted, "status");
  wanted["type"] = type;
  // An agent that fell silent has sent no heartbeat.
  const bool silent = found != nullptr && Text(wanted, "status") == "Unknown";
  wanted["lastHeartbeatTime"] = silent ? (*found)["lastHeartbeatTime"] : Json(FormatTime(now));
  wanted["lastTransitionTime"] = same ? (*found)["lastTransitionTime"] : Json(FormatTime(now));
  if (found != nullptr) {
    *found = std::move(wanted);
  } else {
    conditions.push_back(std::move(wanted));
  }
}

bool Tolerates(const Json& toleration, const Taint& taint) {
  const std::string effect = Text(toleration, "effect");
  const std::string key = Text(toleration, "key");
  const std::string op = Text(toleration, "operator");
  if (!effect.empty() && effect != "NoExecute") return false;
  if (!key.empty() && key != taint.key) return false;
  if (op == "Exists") return true;
  return (op.empty() || op == "Equal") && Text(toleration, "value") == taint.value;
}

struct NodeCondition {
  const char* type;
  const char* status;
  const char* reason;
  const char* message;
};
constexpr NodeCondition kHealthy[] = {
    {"MemoryPressure", "False", "KubeletHasSufficientMemory",
     "kubelet has sufficient memory available"},
    {"DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"},
    {"PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"},
    {"Ready", "True", "KubeletReady", "kubelet is posting ready status"}};

}  // namespace

void MarkRunning(Json& pod, const Addresses& addresses, TimePoint now) {
  const Json* host_network = Find(pod, "spec", "hostNetwork");
  const bool host = host_network != nullptr && *host_network == true;
  const std::string& ip = host ? addresses.host_ip : addresses.pod_ip;
  Json& status = pod["status"];
  status["phase"] = "Running";
  status["startTime"] = FormatTime(now);
  status["hostIP"] = addresses.host_ip;
  status["hostIPs"] = Json::array({{{"ip", addresses.host_ip}}});
  status["podIP"] = ip;
  status["podIPs"] = Json::array({{{"ip", ip}}});
  status["containerStatuses"] = RunningStatuses(pod, "containers", now);
  if (Json inits = RunningStatuses(pod, "initContainers", now); !inits.empty()) {
    status["initContainerStatuses"] = std::move(inits);
  }
  if (const Json* generation = Find(pod, "metadata", "generation")) {
    status["observedGeneration"] = *generation;
  }
  SetPodCondition(pod, "PodReadyToStartContainers", {{"status", "True"}}, now);
  SetPodCondition(pod, "Initialized", {{"status", "True"}}, now);
  SetPodConditions(pod, "True", "", now);
}

void MarkSucceeded(Json& pod, TimePoint now) {
  Json& status = pod["status"];
  status["phase"] = "Succeeded";
  EndContainers(status, "containerStatuses", now);
  EndContainers(status, "initContainerStatuses", now);
  SetPodCondition(pod, "PodReadyToStartContainers", {{"status", "False"}}, now);
  SetPodCondition(pod, "Initialized", {{"status", "True"}, {"reason", "PodCompleted"}}, now);
  SetPodConditions(pod, "False", "PodCompleted", now);
}

void MarkRestarted(Json& pod, TimePoint now) {
  const auto it = pod["status"].find("containerStatuses");
  if (it == pod["status"].end() || !it->is_array()) return;
  for (Json& status : *it) {
    const Json* count = Find(status, "restartCount");
    const int64_t restarts = count != nullptr && count->is_number() ? count->get<int64_t>() + 1 : 1;
    status["lastState"] = Terminated(status, now);
    status["state"] = Running(now);
    status["restartCount"] = restarts;
    status["containerID"] = ContainerId(pod, Text(status, "name"), restarts);
  }
}

void MarkReadiness(Json& pod, bool ready, TimePoint now) {
  Json& status = pod["status"];
  if (Text(status, "phase") != "Running") return;
  Json* condition = FindCondition(List(status, "conditions"), "Ready");
  if (condition == nullptr || (Text(*condition, "status") == "True") == ready) return;
  if (ready) {
    SetPodConditions(pod, "True", "", now);
  } else {
    (*condition)["status"] = "False";
    (*condition)["lastTransitionTime"] = FormatTime(now);
  }
}

void MarkEvicted(Json& pod, TimePoint now) {
  SetPodCondition(pod, "DisruptionTarget",
                  {{"status", "True"},
                   {"reason", "DeletionByTaintManager"},
                   {"message", "Taint manager: deleting due to NoExecute taint"}},
                  now);
}

std::optional<TimePoint> StartedAt(const Json& pod) {
  std::optional<TimePoint> latest;
  const Json* statuses = Find(pod, "status", "containerStatuses");
  if (statuses == nullptr || !statuses->is_array()) return latest;
  for (const Json& status : *statuses) {
    const Json* running = Find(status, "state", "running");
    if (running == nullptr) continue;
    const auto at = api::ParseTime(Text(*running, "startedAt"), api::TimePrecision::kAny);
    if (at && (!latest || *latest < *at)) latest = at;
  }
  return latest;
}

void MarkNodeReady(Json& node, const std::string& host_ip, TimePoint now) {
  for (const NodeCondition& healthy : kHealthy) {
    SetNodeCondition(
        node, healthy.type,
        {{"status", healthy.status}, {"reason", healthy.reason}, {"message", healthy.message}},
        now);
  }
  Json& status = node["status"];
  if (InternalIp(node).empty()) {
    Json& addresses = List(status, "addresses");
    addresses.push_back({{"type", "InternalIP"}, {"address", host_ip}});
    addresses.push_back({{"type", "Hostname"}, {"address", Text(node["metadata"], "name")}});
  }
  Json& info = status["nodeInfo"];
  if (!info.is_object() || Text(info, "kubeletVersion").empty()) {
    info = Json{{"architecture", "amd64"},
                {"bootID", ""},
                {"containerRuntimeVersion", "simulated://1"},
                {"kernelVersion", "simulated"},
                {"kubeProxyVersion", ""},
                {"kubeletVersion", "v1.37.1"},
                {"machineID", ""},
                {"operatingSystem", "linux"},
                {"osImage", "simulated"},
                {"systemUUID", Text(node["metadata"], "uid")}};
  }
  const auto spec = node.find("spec");
  if (spec == node.end() || !spec->is_object()) return;
  const auto taints = spec->find("taints");
  if (taints == spec->end() || !taints->is_array()) return;
  Json kept = Json::array();
  for (const Json& taint : *taints) {
    const std::string key = Text(taint, "key");
    if (key != kUnreachable && key != kNotReady) kept.push_back(taint);
  }
  if (kept.empty()) {
    spec->erase("taints");
  } else {
    *taints = std::move(kept);
  }
}

void MarkNodeUnreachable(Json& node, TimePoint now) {
  for (const NodeCondition& healthy : kHealthy) {
    SetNodeCondition(node, healthy.type,
                     {{"status", "Unknown"},
                      {"reason", "NodeStatusUnknown"},
                      {"message", "Kubelet stopped posting node status."}},
                     now);
  }
  Json& taints = List(node["spec"], "taints");
  for (const char* effect : {"NoSchedule", "NoExecute"}) {
    const bool there = std::any_of(taints.begin(), taints.end(), [&](const Json& taint) {
      return Text(taint, "key") == kUnreachable && Text(taint, "effect") == effect;
    });
    if (there) continue;
    taints.push_back({{"key", kUnreachable}, {"effect", effect}, {"timeAdded", FormatTime(now)}});
  }
}

std::string ReadyStatus(const Json& node) {
  const Json* conditions = Find(node, "status", "conditions");
  if (conditions == nullptr || !conditions->is_array()) return "";
  for (const Json& condition : *conditions) {
    if (Text(condition, "type") == "Ready") return Text(condition, "status");
  }
  return "";
}

std::string InternalIp(const Json& node) {
  const Json* addresses = Find(node, "status", "addresses");
  if (addresses == nullptr || !addresses->is_array()) return "";
  for (const Json& address : *addresses) {
    if (Text(address, "type") == "InternalIP") return Text(address, "address");
  }
  return "";
}

std::vector<Taint> EvictingTaints(const Json& node) {
  std::vector<Taint> evicting;
  const Json* taints = Find(node, "spec", "taints");
  if (taints == nullptr || !taints->is_array()) return evicting;
  for (const Json& taint : *taints) {
    if (Text(taint, "effect") != "NoExecute") continue;
    evicting.push_back({Text(taint, "key"), Text(taint, "value")});
  }
  return evicting;
}

std::optional<Duration> MayStay(const Json& pod, const std::vector<Taint>& taints) {
  static const Json none = Json::array();
  const Json* found = Find(pod, "spec", "tolerations");
  const Json& tolerations = found != nullptr && found->is_array() ? *found : none;
  std::optional<Duration> shortest;
  for (const Taint& taint : taints) {
    const auto used = std::find_if(tolerations.begin(), tolerations.end(),
                                   [&](const Json& each) { return Tolerates(each, taint); });
    if (used == tolerations.end()) return Duration::zero();
    const Json* seconds = Find(*used, "tolerationSeconds");
    if (seconds == nullptr || !seconds->is_number_integer()) continue;
    // A year is as good as the int64 that the field can hold, and does not overflow.
    const auto limited = std::clamp<int64_t>(seconds->get<int64_t>(), 0, 365LL * 24 * 3600);
    const Duration stay = std::chrono::seconds(limited);
    if (!shortest || stay < *shortest) shortest = stay;
  }
  return shortest;
}

std::optional<Duration> ParseLifetime(std::string_view text) {
  const Result<Duration> parsed = golang::ParseDuration(text);
  if (!parsed.ok() || *parsed < Duration::zero()) return std::nullopt;
  return *parsed;
}

}  // namespace ks::apiserver::agents
