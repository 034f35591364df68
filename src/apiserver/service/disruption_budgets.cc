// SPDX-License-Identifier: Apache-2.0
#include "apiserver/service/disruption_budgets.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <set>

#include "apiserver/service/own_kinds.h"
#include "apiserver/service/subresources.h"
#include "apiserver/table/table_cells.h"
#include "base/text.h"

namespace ks::apiserver {
namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

// A disrupted pod that is still there after this time is forgiven: its eviction went wrong.
constexpr auto kDisruptionTimeout = std::chrono::minutes(2);

const std::string* Label(const Labels& labels, const std::string& key) {
  const auto it = std::lower_bound(
      labels.begin(), labels.end(), key,
      [](const auto& label, const std::string& wanted) { return label.first < wanted; });
  return it != labels.end() && it->first == key ? &it->second : nullptr;
}

bool MatchesExpression(const Json& expression, const Labels& labels) {
  const std::string* value = Label(labels, TextAt(expression, {"key"}));
  const std::string op = TextAt(expression, {"operator"});
  if (op == "Exists") return value != nullptr;
  if (op == "DoesNotExist") return value == nullptr;
  const Json& values = At(expression, {"values"});
  const bool listed = value != nullptr && values.is_array() &&
                      std::find(values.begin(), values.end(), *value) != values.end();
  if (op == "In") return listed;
  return op == "NotIn" && !listed;
}

bool MatchesSelector(const Json& selector, const Labels& labels) {
  if (!selector.is_object()) return false;
  const Json& wanted = At(selector, {"matchLabels"});
  if (wanted.is_object()) {
    for (const auto& [key, value] : wanted.items()) {
      const std::string* actual = Label(labels, key);
      if (actual == nullptr || value != *actual) return false;
    }
  }
  const Json& expressions = At(selector, {"matchExpressions"});
  if (!expressions.is_array()) return true;
  return std::all_of(expressions.begin(), expressions.end(), [&labels](const Json& expression) {
    return MatchesExpression(expression, labels);
  });
}

// All objects of a namespace: [first, last).
auto InNamespace(const Store& store, const KindInfo& kind, std::string_view ns) {
  const Store::Objects& objects = store.objects(kind);
  const auto begin = objects.lower_bound(Store::Key(std::string(ns), ""));
  auto end = begin;
  while (end != objects.end() && end->first.first == ns) ++end;
  return std::pair(begin, end);
}

// What the budget counts.
struct Census {
  int64_t pods = 0;
  int64_t healthy = 0;
  int64_t wanted = 0;   // by the pods' owners
  std::string problem;  // why `wanted` is not known
  Json disrupted = Json::object();
};

const Json* Controller(const Json& pod) {
  const Json& owners = At(pod, {"metadata", "ownerReferences"});
  if (!owners.is_array()) return nullptr;
  const auto it = std::find_if(owners.begin(), owners.end(),
                               [](const Json& owner) { return At(owner, {"controller"}) == true; });
  return it == owners.end() ? nullptr : &*it;
}

// Replicas by the uid of the owner that they belong to.
class OwnerScales {
 public:
  OwnerScales(const Store& store, std::string_view ns) : store_(store), ns_(ns) {}

  // The problem, if the pod's owner does not say how many it wants.
  std::string Add(const Json& owner, const std::string& pod) {
    const std::string kind = TextAt(owner, {"kind"});
    const KindInfo* info = FindKind(TextAt(owner, {"apiVersion"}), kind);
    const bool scales = info != nullptr && (kind == "ReplicaSet" || kind == "StatefulSet" ||
                                            kind == "ReplicationController");
    if (!scales) return Plural(owner) + " does not implement the scale subresource";
    const ObjectPtr stored = store_.Find(*info, ns_, TextAt(owner, {"name"}));
    if (stored == nullptr || stored->uid != TextAt(owner, {"uid"})) {
      return "found no controllers for pod \"" + pod + "\"";
    }
    if (!seen_.insert(stored->uid).second) return {};
    const Json object = stored->Parse();
    const Json* above = Controller(object);
    if (above == nullptr) {
      wanted_ += NumberAt(object, {"spec", "replicas"}, 1);
    } else {
      AddSiblings(*info, TextAt(*above, {"uid"}));
    }
    return {};
  }
  int64_t wanted() const { return wanted_; }

 private:
  static std::string Plural(const Json& owner) {
    const std::string plural = LowerCase(TextAt(owner, {"kind"})) + "s";
    const std::string version = TextAt(owner, {"apiVersion"});
    const size_t slash = version.find('/');
    return slash == std::string::npos ? plural : plural + "." + version.substr(0, slash);
  }
  // The ReplicaSets of a Deployment: together they have its replicas (a little more while it rolls
  // out).
  void AddSiblings(const KindInfo& kind, const std::string& owner_uid) {
    if (!seen_.insert(owner_uid).second) return;
    const auto [begin, end] = InNamespace(store_, kind, ns_);
    for (auto it = begin; it != end; ++it) {
      const Json object = it->second->Parse();
      const Json* owner = Controller(object);
      if (owner == nullptr || TextAt(*owner, {"uid"}) != owner_uid) continue;
      wanted_ += NumberAt(object, {"spec", "replicas"}, 1);
    }
  }

  const Store& store_;
  const std::string ns_;
  std::set<std::string> seen_;
  int64_t wanted_ = 0;
};

bool IsReady(const Json& pod) {
  const Json& conditions = At(pod, {"status", "conditions"});
  if (!conditions.is_array()) return false;
  return std::any_of(conditions.begin(), conditions.end(), [](const Json& condition) {
    return TextAt(condition, {"type"}) == "Ready" && TextAt(condition, {"status"}) == "True";
  });
}

// Counts as gone already: terminating, or evicted a moment ago.
bool IsLeaving(const Json& pod, const Json& disrupted, TimePoint now, Census& census) {
  if (At(pod, {"metadata", "deletionTimestamp"}).is_string()) return true;
  const std::string name = TextAt(pod, {"metadata", "name"});
  const auto it = disrupted.find(name);
  if (it == disrupted.end()) return false;
  const auto since = ParseTime(*it);
  if (!since.has_value() || *since + kDisruptionTimeout < now) return false;
  census.disrupted[name] = *it;
  return true;
}

Census Count(const Registry& registry, std::string_view ns, const Json& budget) {
  Census census;
  OwnerScales scales(registry.store(), ns);
  const Json& selector = At(budget, {"spec", "selector"});
  const Json& listed = At(budget, {"status", "disruptedPods"});
  const Json disrupted = listed.is_object() ? listed : Json::object();
  const TimePoint now = registry.clock().WallNow();
  const auto [begin, end] = InNamespace(registry.store(), Pods(), ns);
  for (auto it = begin; it != end; ++it) {
    const StoredObject& stored = *it->second;
    if (!MatchesSelector(selector, stored.labels)) continue;
    const Json pod = stored.Parse();
    ++census.pods;
    if (!IsLeaving(pod, disrupted, now, census) && IsReady(pod)) ++census.healthy;
    const Json* owner = Controller(pod);
    if (owner != nullptr && census.problem.empty()) {
      census.problem = scales.Add(*owner, stored.name);
    }
  }
  census.wanted = scales.wanted();
  return census;
}

struct Share {
  int64_t value = 0;
  bool percent = false;
};
std::optional<Share> ReadShare(const Json& json) {
  if (json.is_number_integer()) return Share{json.get<int64_t>(), false};
  if (!json.is_string()) return {};
  const auto& text = json.get_ref<const std::string&>();
  Share share{0, true};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), share.value);
  if (error != std::errc() || end == text.data() + text.size() || *end != '%') return {};
  return share;
}
int64_t Of(const Share& share, int64_t total) {
  return share.percent ? (share.value * total + 99) / 100 : share.value;  // rounds up
}

void SetCondition(const std::string& now, bool allowed, const char* reason,
                  const std::string& message, const Json& generation, Json& status) {
  Json& conditions = status["conditions"];
  if (!conditions.is_array()) conditions = Json::array();
  auto it = std::find_if(conditions.begin(), conditions.end(), [](const Json& condition) {
    return TextAt(condition, {"type"}) == "DisruptionAllowed";
  });
  const std::string wanted = allowed ? "True" : "False";
  const bool lasts = it != conditions.end() && TextAt(*it, {"status"}) == wanted;
  Json condition = {{"type", "DisruptionAllowed"},
                    {"status", wanted},
                    {"reason", reason},
                    {"message", message},
                    {"lastTransitionTime", lasts ? TextAt(*it, {"lastTransitionTime"}) : now}};
  if (generation.is_number()) condition["observedGeneration"] = generation;
  if (it == conditions.end()) {
    conditions.push_back(std::move(condition));
  } else {
    *it = std::move(condition);
  }
}

void Recompute(const std::string& now, const Census& census, Json& budget) {
  Json& status = budget["status"];
  if (!status.is_object()) status = Json::object();
  const auto minimum = ReadShare(At(budget, {"spec", "minAvailable"}));
  const auto maximum = ReadShare(At(budget, {"spec", "maxUnavailable"}));
  const bool by_owner = maximum.has_value() || (minimum.has_value() && minimum->percent);
  const Json& generation = At(budget, {"metadata", "generation"});
  if (by_owner && !census.problem.empty()) {
    status["disruptionsAllowed"] = 0;  // on the safe side; the rest stays as it was
    SetCondition(now, false, "SyncFailed", census.problem, At(status, {"observedGeneration"}),
                 status);
    return;
  }
  const int64_t expected = by_owner ? census.wanted : census.pods;
  int64_t desired = 0;
  if (maximum.has_value()) {
    desired = std::max<int64_t>(expected - Of(*maximum, expected), 0);
  } else if (minimum.has_value()) {
    desired = Of(*minimum, expected);
  }
  int64_t allowed = std::max<int64_t>(census.healthy - desired, 0);
  if (expected <= 0) allowed = 0;
  status["expectedPods"] = expected;
  status["desiredHealthy"] = desired;
  status["currentHealthy"] = census.healthy;
  status["disruptionsAllowed"] = allowed;
  if (generation.is_number()) status["observedGeneration"] = generation;
  if (census.disrupted.empty()) {
    status.erase("disruptedPods");
  } else {
    status["disruptedPods"] = census.disrupted;
  }
  SetCondition(now, allowed > 0, allowed > 0 ? "SufficientPods" : "InsufficientPods", "",
               generation, status);
}

}  // namespace

std::vector<ObjectPtr> BudgetsOf(const Store& store, std::string_view ns, const StoredObject& pod) {
  std::vector<ObjectPtr> result;
  const auto [begin, end] = InNamespace(store, Budgets(), ns);
  for (auto it = begin; it != end; ++it) {
    const Json budget = it->second->Parse();
    if (MatchesSelector(At(budget, {"spec", "selector"}), pod.labels)) {
      result.push_back(it->second);
    }
  }
  return result;
}

void UpdateDisruptionBudgets(Registry& registry, std::string_view ns) {
  std::vector<ObjectPtr> budgets;
  const auto [begin, end] = InNamespace(registry.store(), Budgets(), ns);
  for (auto it = begin; it != end; ++it) budgets.push_back(it->second);
  const std::string now = registry.Now();
  for (const ObjectPtr& stored : budgets) {
    const Json before = stored->Parse();
    Json budget = before;
    Recompute(now, Count(registry, ns, before), budget);
    if (budget == before) continue;
    const auto write = [&budget](Json& object) -> std::optional<Failure> {
      object["status"] = budget["status"];
      return {};
    };
    // A budget that went away meanwhile needs no status.
    (void)registry.Modify(Budgets(), ns, stored->name, Part::kStatus, write);
  }
}

}  // namespace ks::apiserver
