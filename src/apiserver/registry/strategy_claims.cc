// SPDX-License-Identifier: Apache-2.0
// What a ResourceClaim may ask for.

#include "apiserver/registry/strategy_devices.h"

namespace ks::apiserver {
namespace {

constexpr size_t kMostAlternatives = 8;
constexpr std::string_view kUnknownRequest =
    "must be the name of a request in the claim or the name of a request and a subrequest "
    "separated by '/'";

// Reports elements with a name that an earlier one has.
class NamesOnce {
 public:
  // `path`: of the list in a ResourceClaim.
  NamesOnce(std::string_view path, Causes& causes) : path_(path), causes_(causes) {}

  void Check(const std::string& field, const Json& named) {
    if (names_.insert(TextAt(named, "name")).second) return;
    AddDuplicate(field, named, "ResourceClaim", path_, causes_);
  }

 private:
  const std::string_view path_;
  Causes& causes_;
  std::set<std::string> names_;
};

void CheckMode(const std::string& field, const Json& request, Causes& causes) {
  const std::string mode = TextAt(request, "allocationMode");
  const int64_t count = NumberAt(request, "count").value_or(0);
  if (mode == "ExactCount") {
    if (count <= 0) causes.Invalid(Path(field, "count"), count, "must be greater than zero");
  } else if (mode == "All") {
    if (count == 0) return;
    causes.Invalid(Path(field, "count"), count,
                   "must not be specified when allocationMode is 'All'");
  } else {
    causes.NotSupported(Path(field, "allocationMode"), mode, {"All", "ExactCount"});
  }
}

// What `exactly` and an alternative have in common.
void CheckWanted(const std::string& field, const Json& request, Causes& causes) {
  const std::string name = TextAt(request, "deviceClassName");
  if (name.empty()) {
    causes.Required(Path(field, "deviceClassName"));
  } else {
    causes.All(Path(field, "deviceClassName"), name, SubdomainErrors(name));
  }
  CheckSelectors(Path(field, "selectors"), At(request, "selectors"), causes);
  CheckMode(field, request, causes);
  CheckDeviceTolerations(Path(field, "tolerations"), At(request, "tolerations"), causes);
}

void CheckAlternatives(const std::string& field, const Json& list, Causes& causes) {
  NamesOnce once("spec.devices.requests.firstAvailable", causes);
  const std::vector<Json>& alternatives = AtMost(field, list, kMostAlternatives, causes);
  for (size_t i = 0; i < alternatives.size(); ++i) {
    const std::string at = Path(field, i);
    CheckDnsLabel(Path(at, "name"), At(alternatives[i], "name"), causes);
    CheckWanted(at, alternatives[i], causes);
    once.Check(at, alternatives[i]);
  }
}

void CheckRequest(const std::string& field, const Json& request, Causes& causes) {
  constexpr std::string_view kOneOf = "exactly one of `exactly` or `firstAvailable` is required";
  CheckDnsLabel(Path(field, "name"), At(request, "name"), causes);
  const Json& exactly = At(request, "exactly");
  const Json& alternatives = At(request, "firstAvailable");
  const bool has_alternatives = !ElementsOf(alternatives).empty();
  if (exactly.is_object() && has_alternatives) {
    return causes.Invalid(field, nullptr, std::string(kOneOf) + ", but multiple fields are set");
  }
  if (!exactly.is_object() && !has_alternatives) return causes.Required(field, kOneOf);
  if (exactly.is_object()) return CheckWanted(Path(field, "exactly"), exactly, causes);
  CheckAlternatives(Path(field, "firstAvailable"), alternatives, causes);
}

void CheckConstraint(const std::string& field, const Json& constraint,
                     const std::set<std::string>& names, Causes& causes) {
  CheckRequestNames(Path(field, "requests"), At(constraint, "requests"), names, causes);
  const Json& same = At(constraint, "matchAttribute");
  const Json& different = At(constraint, "distinctAttribute");
  if (same.is_null() && different.is_null()) {
    return causes.Required(field,
                           "exactly one of \"matchAttribute\" or \"distinctAttribute\" is "
                           "required, but multiple fields are set");
  }
  if (!same.is_null()) CheckFullName(Path(field, "matchAttribute"), same, causes);
  if (!different.is_null()) CheckFullName(Path(field, "distinctAttribute"), different, causes);
}

}  // namespace

std::set<std::string> RequestNames(const Json& claim_spec) {
  std::set<std::string> names;
  for (const Json& request : ElementsOf(At(At(claim_spec, "devices"), "requests"))) {
    const std::string name = TextAt(request, "name");
    names.insert(name);
    for (const Json& alternative : ElementsOf(At(request, "firstAvailable"))) {
      names.insert(name + "/" + TextAt(alternative, "name"));
    }
  }
  return names;
}

void CheckRequestNames(const std::string& field, const Json& names,
                       const std::set<std::string>& known, Causes& causes) {
  std::set<std::string> seen;
  const std::vector<Json>& list = AtMost(field, names, kMostRequests, causes);
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string name = list[i].is_string() ? list[i].get<std::string>() : "";
    if (!known.contains(name)) causes.Invalid(Path(field, i), name, kUnknownRequest);
    if (!seen.insert(name).second) causes.Duplicate(Path(field, i), name);
  }
}

void CheckDeviceClaim(const std::string& field, const Json& claim_spec, Causes& causes) {
  const Json& devices = At(claim_spec, "devices");
  const std::string at = Path(field, "devices");
  const std::string requests_at = Path(at, "requests");
  NamesOnce once("spec.devices.requests", causes);
  const std::vector<Json>& requests =
      AtMost(requests_at, At(devices, "requests"), kMostRequests, causes);
  for (size_t i = 0; i < requests.size(); ++i) {
    CheckRequest(Path(requests_at, i), requests[i], causes);
    once.Check(Path(requests_at, i), requests[i]);
  }
  const std::set<std::string> names = RequestNames(claim_spec);
  const std::string config_at = Path(at, "config");
  const std::vector<Json>& config = AtMost(config_at, At(devices, "config"), kMostRequests, causes);
  for (size_t i = 0; i < config.size(); ++i) {
    CheckRequestNames(Path(Path(config_at, i), "requests"), At(config[i], "requests"), names,
                      causes);
    CheckOpaque(Path(config_at, i), config[i], causes);
  }
  const std::string constraints_at = Path(at, "constraints");
  const std::vector<Json>& constraints =
      AtMost(constraints_at, At(devices, "constraints"), kMostRequests, causes);
  for (size_t i = 0; i < constraints.size(); ++i) {
    CheckConstraint(Path(constraints_at, i), constraints[i], names, causes);
  }
}

}  // namespace ks::apiserver
