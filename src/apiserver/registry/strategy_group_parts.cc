// SPDX-License-Identifier: Apache-2.0
// The fields that groups of pods and the templates of Workloads have in common.
#include <set>

#include "apiserver/registry/strategy_devices.h"
#include "apiserver/registry/strategy_groups.h"

namespace ks::apiserver {
namespace {

constexpr int64_t kHighestPriority = 1000000000;
constexpr size_t kMostTopologyKeys = 1;
constexpr size_t kMostGroupClaims = 4;

std::vector<std::string> InBytes(std::vector<std::string> errors) {
  constexpr std::string_view kCharacters = "characters";
  for (std::string& error : errors) {
    if (error.starts_with("must be no more than")) {
      error.replace(error.find(kCharacters), kCharacters.size(), "bytes");
    }
  }
  return errors;
}

void CheckConstraints(const std::string& field, const Json& constraints, Causes& causes) {
  const std::string keys_at = Path(field, "topology");
  const std::vector<Json>& keys =
      AtMost(keys_at, At(constraints, "topology"), kMostTopologyKeys, causes);
  for (size_t i = 0; i < keys.size(); ++i) {
    const std::string at = Path(Path(keys_at, i), "key");
    const std::string key = TextAt(keys[i], "key");
    if (key.empty()) causes.Required(at);
    if (!key.empty()) causes.All(at, key, QualifiedNameErrors(key));
  }
}

void CheckClaim(const std::string& field, const Json& claim, Causes& causes) {
  CheckUnion(field, claim, {"resourceClaimName", "resourceClaimTemplateName"}, causes);
  const std::string name = TextAt(claim, "name");
  if (name.empty()) causes.Required(Path(field, "name"));
  if (!name.empty()) causes.All(Path(field, "name"), name, GroupLabelErrors(name));
  for (const char* key : {"resourceClaimName", "resourceClaimTemplateName"}) {
    const Json& wanted = At(claim, key);
    if (!wanted.is_string()) continue;
    causes.All(Path(field, key), wanted, GroupSubdomainErrors(wanted.get<std::string>()));
  }
}

void CheckClaims(const std::string& field, const Json& list, const ListPlace& place,
                 Causes& causes) {
  const std::vector<Json>& claims = AtMost(field, list, kMostGroupClaims, causes);
  std::set<std::string> names;
  for (size_t i = 0; i < claims.size(); ++i) {
    if (names.insert(TextAt(claims[i], "name")).second) continue;
    AddDuplicate(Path(field, i), claims[i], place.kind, place.path, causes);
  }
  for (size_t i = 0; i < claims.size(); ++i) CheckClaim(Path(field, i), claims[i], causes);
}

}  // namespace

std::vector<std::string> GroupSubdomainErrors(std::string_view name) {
  return InBytes(SubdomainErrors(name));
}

std::vector<std::string> GroupLabelErrors(std::string_view name) {
  return InBytes(LabelErrors(name));
}

void CheckUnion(const std::string& field, const Json& object,
                std::initializer_list<std::string_view> members, Causes& causes) {
  std::string all;
  std::string present;
  size_t count = 0;
  for (const std::string_view member : members) {
    all += (all.empty() ? "`" : ", `") + std::string(member) + "`";
    const Json& value = At(object, member);
    if (value.is_null() || (value.is_array() && value.empty())) continue;
    present += (present.empty() ? "" : ", ") + std::string(member);
    ++count;
  }
  if (count == 0) causes.Invalid(field, "", "must specify one of: " + all);
  if (count > 1) causes.Invalid(field, "{" + present + "}", "must specify exactly one of: " + all);
}

bool IsNewField(const std::string& owner_field, const Json& before, const Json& owner,
                std::string_view name, Causes& causes) {
  if (!before.is_object()) return true;
  if (At(before, name) != At(owner, name)) {
    causes.Invalid(Path(owner_field, name), nullptr, "field is immutable");
  }
  return false;
}

void CheckSchedulingPolicy(const std::string& owner_field, const Json& before, const Json& owner,
                           std::string_view count, Causes& causes) {
  const std::string field = Path(owner_field, "schedulingPolicy");
  const Json& policy = At(owner, "schedulingPolicy");
  const Json& gang = At(policy, "gang");
  CheckUnion(field, policy, {"basic", "gang"}, causes);
  const std::string gang_at = Path(field, "gang");
  if (before.is_object()) {
    const Json& old_policy = At(before, "schedulingPolicy");
    IsNewField(field, old_policy, policy.is_object() ? policy : Json::object(), "basic", causes);
    const bool had_gang = !At(old_policy, "gang").is_null();
    if (had_gang && gang.is_null()) {
      causes.Invalid(gang_at, nullptr, "field cannot be cleared once set");
    } else if (!had_gang && !gang.is_null()) {
      causes.Invalid(gang_at, nullptr, "field cannot be set once created");
    }
  }
  if (gang.is_null()) return;
  const int64_t number = NumberAt(gang, count).value_or(0);
  if (number == 0) causes.Required(Path(gang_at, count));
  if (number < 0) {
    causes.Invalid(Path(gang_at, count), number, "must be greater than or equal to 1");
  }
}

void CheckGroupFields(const std::string& owner_field, const Json& before, const Json& owner,
                      const ListPlace& claims, Causes& causes) {
  const auto is_new = [&](std::string_view name) {
    return IsNewField(owner_field, before, owner, name, causes);
  };
  if (is_new("schedulingConstraints")) {
    CheckConstraints(Path(owner_field, "schedulingConstraints"), At(owner, "schedulingConstraints"),
                     causes);
  }
  if (is_new("resourceClaims")) {
    CheckClaims(Path(owner_field, "resourceClaims"), At(owner, "resourceClaims"), claims, causes);
  }
  const Json& mode = At(owner, "disruptionMode");
  if (is_new("disruptionMode") && !mode.is_null()) {
    CheckUnion(Path(owner_field, "disruptionMode"), mode, {"single", "all"}, causes);
  }
  const std::string class_name = TextAt(owner, "priorityClassName");
  if (is_new("priorityClassName") && !class_name.empty()) {
    causes.All(Path(owner_field, "priorityClassName"), class_name,
               GroupSubdomainErrors(class_name));
  }
  const int64_t priority = NumberAt(owner, "priority").value_or(0);
  if (is_new("priority") && priority > kHighestPriority) {
    causes.Invalid(Path(owner_field, "priority"), priority,
                   "must be less than or equal to " + std::to_string(kHighestPriority));
  }
  if (is_new("preemptionPolicy") && !At(owner, "preemptionPolicy").is_null()) {
    causes.OneOf(Path(owner_field, "preemptionPolicy"), TextAt(owner, "preemptionPolicy"),
                 {"Never", "PreemptLowerPriority"});
  }
}

}  // namespace ks::apiserver
