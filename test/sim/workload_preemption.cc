// SPDX-License-Identifier: Apache-2.0
// What preemption needs: pods of several priorities, budgets, nominations by somebody else, and
// agents of nodes that start pods and end those that are deleted.

#include <array>
#include <iterator>

#include "sim/workload.h"

namespace ks::sim {
namespace {

using apiserver::Json;

constexpr const char* kNamespace = "default";

struct Class {
  const char* name;
  int value;
};
constexpr std::array<Class, 4> kClasses = {
    {{"critical", 100000}, {"important", 2000}, {"usual", 100}, {"spare", -5}}};

}  // namespace

void Workload::StartPreemption() {
  const Plan& plan = world_.plan;
  for (const Class& it : kClasses) {
    world_.api.Create("priorityclasses", "",
                      {{"metadata", {{"name", it.name}}}, {"value", it.value}});
  }
  for (int i = 0; i < plan.budgets; ++i) AddBudget(i);
  for (int i = 0; i < plan.budgets; ++i) Sometime(plan.faults_end, [this] { ChangeBudget(); });
  for (int i = 0; i < plan.nominations; ++i) Sometime(plan.faults_end, [this] { Nominate(); });
  world_.api.set_pod_watcher([this](const api::PodPtr& pod) { Attend(pod); });
}

void Workload::MakeImportant(Json& spec) {
  if (Chance(world_.plan.important)) {
    spec["priorityClassName"] = kClasses[random_.Below(kClasses.size())].name;
  }
}

void Workload::AddBudget(int number) {
  const std::string name = "b" + std::to_string(number);
  // One budget for an app: with several the result would hang on their order.
  const Json selector = {{"matchLabels", {{"app", "a" + std::to_string(number)}}}};
  const bool made =
      world_.api.Create("poddisruptionbudgets", kNamespace,
                        {{"metadata", {{"name", name}}},
                         {"spec", {{"minAvailable", Between(0, 5)}, {"selector", selector}}}});
  TraceAction((made ? "add budget " : "cannot add budget ") + name);
}

void Workload::ChangeBudget() {
  const auto& budgets = world_.api.Objects("poddisruptionbudgets");
  if (budgets.empty()) return AddBudget(0);
  const std::string name =
      std::next(budgets.begin(), static_cast<ptrdiff_t>(random_.Below(budgets.size())))
          ->second->name;
  if (Chance(0.3)) {
    TraceAction("delete budget " + name);
    world_.api.Delete("poddisruptionbudgets", kNamespace, name);
    return;
  }
  const int least = Between(0, 5);
  TraceAction("change budget " + name);
  world_.api.Modify("poddisruptionbudgets", kNamespace, name,
                    [&](Json& budget) { budget["spec"]["minAvailable"] = least; });
}

// Somebody who plans ahead: a cluster autoscaler, or a user who knows better.
void Workload::Nominate() {
  const std::string name = AnyPod();
  if (name.empty()) return;
  const std::string node = Chance(0.7) ? AnyNode() : "";
  const auto stored = world_.api.Find("pods", kNamespace, name);
  if (!Decoded<api::Pod>(*stored)->node_name.empty()) return;
  TraceAction(node.empty() ? "clear nomination of " + name : "nominate " + name + " to " + node);
  world_.api.ModifyStatus("pods", kNamespace, name, [&](Json& pod) {
    if (node.empty()) {
      pod["status"].erase("nominatedNodeName");
    } else {
      pod["status"]["nominatedNodeName"] = node;
    }
  });
}

void Workload::Attend(const api::PodPtr& pod) {
  if (pod->node_name.empty()) return;
  const std::string& uid = pod->meta.uid;
  const std::string& name = pod->meta.name;
  if (pod->meta.deletion_timestamp) {
    if (!ending_.insert(uid).second) return;
    const auto most = static_cast<uint64_t>(world_.plan.longest_grace.count());
    world_.loop.After(Duration(static_cast<int64_t>(random_.Below(most + 1))),
                      [this, name, uid] { EndPodOf(name, uid); });
  } else if (started_.insert(uid).second) {
    world_.loop.After(std::chrono::milliseconds(Between(10, 5000)),
                      [this, name, uid] { StartPod(name, uid); });
  }
}

void Workload::StartPod(const std::string& name, const std::string& uid) {
  const auto stored = world_.api.Find("pods", kNamespace, name);
  if (stored == nullptr || stored->uid != uid) return;
  const api::PodPtr pod = Decoded<api::Pod>(*stored);
  if (pod->IsTerminal() || pod->meta.deletion_timestamp) return;
  const bool ready = Chance(0.8);
  TraceAction("start pod " + name + (ready ? "" : ", not ready"));
  const std::string now = FormatTime(world_.loop.WallNow());
  world_.api.ModifyStatus("pods", kNamespace, name, [&](Json& json) {
    Json& status = json["status"];
    status["phase"] = "Running";
    status["startTime"] = now;
    Json& conditions = status["conditions"];
    if (!conditions.is_array()) conditions = Json::array();
    conditions.push_back(
        {{"type", "Ready"}, {"status", ready ? "True" : "False"}, {"lastTransitionTime", now}});
  });
}

void Workload::EndPodOf(const std::string& name, const std::string& uid) {
  const auto stored = world_.api.Find("pods", kNamespace, name);
  if (stored == nullptr || stored->uid != uid) return;
  TraceAction("pod " + name + " ends");
  world_.api.Delete("pods", kNamespace, name);
}

}  // namespace ks::sim
