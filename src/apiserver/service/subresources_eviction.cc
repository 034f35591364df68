// SPDX-License-Identifier: Apache-2.0
// Evictions under PodDisruptionBudgets; what the budgets allow is computed in
// disruption_budgets.cc.
#include <algorithm>
#include <vector>

#include "apiserver/service/disruption_budgets.h"
#include "apiserver/service/own_kinds.h"
#include "apiserver/service/subresources.h"
#include "apiserver/table/table_cells.h"

namespace ks::apiserver {
namespace {

constexpr size_t kDisruptedPodsMax = 2000;

std::optional<Failure> CheckBody(std::string_view ns, std::string_view url_name,
                                 const Json& eviction) {
  const std::string kind = TextAt(eviction, {"kind"}, "Eviction");
  if (kind != "Eviction") {
    return BadRequest(kind + " in version \"v1\" cannot be handled as a Eviction: no kind \"" +
                      kind + "\" is registered for version \"policy/v1\"");
  }
  const std::string body_ns = TextAt(eviction, {"metadata", "namespace"});
  if (!body_ns.empty() && body_ns != ns) {
    return BadRequest(
        "the namespace of the provided object does not match the namespace sent on the request");
  }
  if (TextAt(eviction, {"metadata", "name"}) != url_name) {
    return BadRequest("name in URL does not match name in Eviction object");
  }
  return {};
}

DeleteOptions OptionsOf(const Json& eviction, bool dry_run) {
  const Json& json = At(eviction, {"deleteOptions"});
  DeleteOptions options;
  const Json& grace = At(json, {"gracePeriodSeconds"});
  if (grace.is_number_integer()) options.grace_period_seconds = grace.get<int64_t>();
  options.uid = TextAt(json, {"preconditions", "uid"});
  options.resource_version = TextAt(json, {"preconditions", "resourceVersion"});
  const Json& dry = At(json, {"dryRun"});
  options.dry_run = dry_run || (dry.is_array() && !dry.empty());
  return options;
}

Failure Refuse(std::string cause, int retry_after_seconds = 0) {
  Failure failure = TooManyRequests(
      "Cannot evict pod as it would violate the pod's disruption budget.", retry_after_seconds);
  failure.causes = {{.reason = "DisruptionBudget", .message = std::move(cause), .field = ""}};
  return failure;
}

bool IsReady(const Json& pod) {
  const Json& conditions = At(pod, {"status", "conditions"});
  if (!conditions.is_array()) return false;
  return std::any_of(conditions.begin(), conditions.end(), [](const Json& condition) {
    return TextAt(condition, {"type"}) == "Ready" && TextAt(condition, {"status"}) == "True";
  });
}

// Nobody counts on such a pod.
bool CanIgnoreBudget(const Json& pod) {
  const std::string phase = TextAt(pod, {"status", "phase"});
  return phase == "Succeeded" || phase == "Failed" || phase == "Pending" ||
         At(pod, {"metadata", "deletionTimestamp"}).is_string();
}

// A pod that is not ready does not count as healthy: whether it may go is the budget's policy.
bool MayLeaveUnready(const Json& budget) {
  if (TextAt(budget, {"spec", "unhealthyPodEvictionPolicy"}) == "AlwaysAllow") return true;
  const int64_t desired = NumberAt(budget, {"status", "desiredHealthy"});
  return desired > 0 && NumberAt(budget, {"status", "currentHealthy"}) >= desired;
}

std::optional<Failure> CheckAllowed(const Json& budget) {
  const std::string name = TextAt(budget, {"metadata", "name"});
  if (NumberAt(budget, {"status", "observedGeneration"}) <
      NumberAt(budget, {"metadata", "generation"})) {
    return Refuse("The disruption budget " + name + " is still being processed by the server.", 10);
  }
  const Json& disrupted = At(budget, {"status", "disruptedPods"});
  if (disrupted.is_object() && disrupted.size() > kDisruptedPodsMax) {
    return Forbidden(
        Budgets(), name,
        "DisruptedPods map too big - too many evictions not confirmed by PDB controller");
  }
  if (NumberAt(budget, {"status", "disruptionsAllowed"}) > 0) return {};
  return Refuse("The disruption budget " + name + " needs " +
                std::to_string(NumberAt(budget, {"status", "desiredHealthy"})) +
                " healthy pods and has " +
                std::to_string(NumberAt(budget, {"status", "currentHealthy"})) + " currently");
}

// Takes one disruption from the budget, as if the pod had gone already.
std::optional<Failure> Spend(Registry& registry, std::string_view ns, const std::string& budget,
                             std::string_view pod, bool dry_run) {
  const std::string now = registry.Now();
  const auto change = [&](Json& object) -> std::optional<Failure> {
    if (auto failure = CheckAllowed(object)) return failure;
    Json& status = object["status"];
    status["disruptionsAllowed"] = NumberAt(status, {"disruptionsAllowed"}) - 1;
    Json& disrupted = status["disruptedPods"];
    if (!disrupted.is_object()) disrupted = Json::object();
    disrupted[std::string(pod)] = now;
    return {};
  };
  const auto written =
      registry.Modify(Budgets(), ns, budget, Part::kStatus, change, {.dry_run = dry_run});
  if (!written.ok()) return written.failure();
  return {};
}

std::optional<Failure> CheckBudgets(Registry& registry, std::string_view ns,
                                    const StoredObject& stored, const Json& pod, bool dry_run) {
  if (CanIgnoreBudget(pod)) return {};
  const std::vector<ObjectPtr> budgets = BudgetsOf(registry.store(), ns, stored);
  if (budgets.empty()) return {};
  if (budgets.size() > 1) {
    return Failure{.code = 500,
                   .reason = "",
                   .message =
                       "This pod has more than one PodDisruptionBudget, which the eviction "
                       "subresource does not support."};
  }
  if (!IsReady(pod) && MayLeaveUnready(budgets.front()->Parse())) return {};
  return Spend(registry, ns, budgets.front()->name, stored.name, dry_run);
}

void AddDisruptionTarget(const std::string& now, Json& pod) {
  Json& status = pod["status"];
  if (!status.is_object()) status = Json::object();
  Json& conditions = status["conditions"];
  if (!conditions.is_array()) conditions = Json::array();
  auto it = std::find_if(conditions.begin(), conditions.end(), [](const Json& condition) {
    return TextAt(condition, {"type"}) == "DisruptionTarget";
  });
  const bool lasts = it != conditions.end() && TextAt(*it, {"status"}) == "True";
  Json condition = {{"type", "DisruptionTarget"},
                    {"status", "True"},
                    {"reason", "EvictionByEvictionAPI"},
                    {"message", "Eviction API: evicting"},
                    {"lastProbeTime", nullptr},
                    {"lastTransitionTime", lasts ? TextAt(*it, {"lastTransitionTime"}) : now}};
  if (it == conditions.end()) {
    conditions.push_back(std::move(condition));
  } else {
    *it = std::move(condition);
  }
}

}  // namespace

Outcome<Json> EvictPod(Registry& registry, std::string_view ns, std::string_view url_name,
                       const Json& eviction, bool dry_run) {
  if (auto failure = CheckBody(ns, url_name, eviction)) return *std::move(failure);
  const DeleteOptions options = OptionsOf(eviction, dry_run);
  const auto found = registry.Get(Pods(), ns, url_name);
  if (!found.ok()) return found.failure();
  const ObjectPtr& stored = *found;  // `found` keeps it
  if (auto failure = CheckBudgets(registry, ns, *stored, stored->Parse(), options.dry_run)) {
    return *std::move(failure);
  }
  if (!options.uid.empty() && options.uid != stored->uid) {
    return Conflict("Pod", url_name,
                    "the UID in the precondition (" + options.uid +
                        ") does not match the UID in record (" + stored->uid +
                        "). The object might have been deleted and then recreated");
  }
  DeleteOptions deletion = options;
  if (!options.dry_run && options.resource_version.empty()) {
    const std::string now = registry.Now();
    const auto mark = [&now](Json& pod) -> std::optional<Failure> {
      AddDisruptionTarget(now, pod);
      return {};
    };
    const auto marked = registry.Modify(Pods(), ns, url_name, Part::kStatus, mark);
    if (!marked.ok()) return marked.failure();
  }
  const auto deleted = registry.Delete(Pods(), ns, url_name, deletion);
  if (!deleted.ok()) return deleted.failure();
  return CreatedStatus();
}

}  // namespace ks::apiserver
