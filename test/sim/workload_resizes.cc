// SPDX-License-Identifier: Apache-2.0
// Users who resize pods that run, and the agents of their nodes: they let a pod have what it asks
// for as soon as the node has room, and say so while it has none.

#include "framework/pod_requests.h"
#include "sim/workload.h"

namespace ks::sim {
namespace {

using apiserver::Json;

constexpr const char* kNamespace = "default";
constexpr const char* kPending = "PodResizePending";

std::string MilliCpu(int64_t amount) { return std::to_string(amount) + "m"; }

int64_t Asked(const api::Pod& pod) { return framework::PodRequest(pod).milli_cpu; }

bool Runs(const api::Pod& pod) { return !pod.node_name.empty() && !pod.IsTerminal(); }

// What the agent reports: what the pod is given, and whether it waits for more.
void Report(Json& pod, int64_t given, bool waits) {
  Json& status = pod["status"];
  status["containerStatuses"] = Json::array({{{"name", "c"},
                                              {"image", "example.com/i:1"},
                                              {"imageID", ""},
                                              {"ready", true},
                                              {"restartCount", 0},
                                              {"allocatedResources", {{"cpu", MilliCpu(given)}}}}});
  Json kept = Json::array();
  if (status.contains("conditions")) {
    for (const Json& condition : status["conditions"]) {
      if (condition["type"] != kPending) kept.push_back(condition);
    }
  }
  if (waits) kept.push_back({{"type", kPending}, {"status", "True"}, {"reason", "Deferred"}});
  status["conditions"] = kept;
}

}  // namespace

// Less than the pod asks for while its resize waits.
int64_t Workload::GivenTo(const api::Pod& pod) const {
  const auto given = given_.find(pod.meta.uid);
  return given == given_.end() ? Asked(pod) : given->second;
}

bool Workload::HasRoomForResize(const api::Pod& pod) {
  const auto stored = world_.api.Find("nodes", "", pod.node_name.str());
  if (stored == nullptr) return false;
  int64_t taken = Asked(pod);
  for (const auto& [key, object] : world_.api.Objects("pods")) {
    const api::PodPtr other = Decoded<api::Pod>(*object);
    if (!Runs(*other) || other->node_name != pod.node_name) continue;
    if (other->meta.uid != pod.meta.uid) taken += GivenTo(*other);
  }
  const auto node = Decoded<api::Node>(*stored);
  return taken <= framework::Resource::FromList(node->allocatable).milli_cpu;
}

void Workload::ResizePod() {
  const std::string name = AnyPod();
  if (name.empty()) return;
  const api::PodPtr pod = Decoded<api::Pod>(*world_.api.Find("pods", kNamespace, name));
  if (!Runs(*pod) || pod->meta.deletion_timestamp) return;
  const int wanted = Between(1, 40) * 100;
  TraceAction("resize pod " + name + " to " + MilliCpu(wanted));
  given_.try_emplace(pod->meta.uid, Asked(*pod));
  world_.api.Overwrite("pods", kNamespace, name, [&](Json& json) {
    json["spec"]["containers"][0]["resources"]["requests"]["cpu"] = MilliCpu(wanted);
  });
  world_.loop.After(std::chrono::milliseconds(Between(1, 3000)),
                    [this, name, uid = pod->meta.uid] { ActOnResize(name, uid); });
}

// The agent looks again and again while the resize waits.
void Workload::ActOnResize(const std::string& name, const std::string& uid) {
  const auto stored = world_.api.Find("pods", kNamespace, name);
  if (stored == nullptr || stored->uid != uid) return;
  const api::PodPtr pod = Decoded<api::Pod>(*stored);
  const int64_t asked = Asked(*pod);
  int64_t& given = given_[uid];
  if (!Runs(*pod)) return;
  const bool waits = asked > given && !HasRoomForResize(*pod);
  if (!waits) given = asked;
  if (waits != framework::HasDeferredResize(*pod)) {
    TraceAction("resize of pod " + name + (waits ? " is deferred" : " is done"));
    world_.api.ModifyStatus("pods", kNamespace, name,
                            [&](Json& json) { Report(json, given, waits); });
  }
  if (!waits) return;
  world_.loop.After(std::chrono::milliseconds(Between(500, 5000)),
                    [this, name, uid] { ActOnResize(name, uid); });
}

}  // namespace ks::sim
