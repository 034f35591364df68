// SPDX-License-Identifier: Apache-2.0
// What a ResourceSlice may publish.

#include <algorithm>

#include "api/quantity.h"
#include "apiserver/registry/strategy_devices.h"
#include "cel/semver.h"

namespace ks::apiserver {
namespace {

constexpr size_t kMostDevices = 128;
constexpr size_t kMostFullDevices = 64;  // when any of them has taints or consumes counters
constexpr size_t kMostNamed = 32;        // attributes and capacities of a device
constexpr size_t kLongestValue = 64;
constexpr size_t kMostTaints = 16;
constexpr size_t kMostCounterSets = 8;
constexpr size_t kMostCounters = 32;
constexpr size_t kMostConsumed = 2;
constexpr size_t kMostValues = 10;

std::optional<api::Quantity> QuantityOf(const Json& value) {
  if (!value.is_string()) return std::nullopt;
  Result<api::Quantity> parsed = api::Quantity::Parse(value.get_ref<const std::string&>());
  return parsed.ok() ? std::optional(*parsed) : std::nullopt;
}

// Where the devices are: what is set of the ways to say so, in the order of upstream's type.
std::vector<std::string> CheckPlaces(const std::string& field, const Json& object, bool one_term,
                                     std::string_view empty_node, Causes& causes) {
  std::vector<std::string> set;
  if (const Json& node = At(object, "nodeName"); node == "") {
    causes.Invalid(Path(field, "nodeName"), node, empty_node);
  } else if (node.is_string()) {
    set.emplace_back("`nodeName`");
    causes.All(Path(field, "nodeName"), node, SubdomainErrors(node.get<std::string>()));
  }
  if (const Json& selector = At(object, "nodeSelector"); selector.is_object()) {
    set.emplace_back("`nodeSelector`");
    CheckNodeSelector(Path(field, "nodeSelector"), selector, causes);
    const Json& terms = At(selector, "nodeSelectorTerms");
    if (one_term && ElementsOf(terms).size() != 1) {
      causes.Invalid(Path(Path(field, "nodeSelector"), "nodeSelectorTerms"),
                     terms.is_null() ? Json::array() : terms,
                     "must have exactly one node selector term");
    }
  }
  for (const char* key : {"allNodes", "perDeviceNodeSelection"}) {
    const Json& flag = At(object, key);
    if (flag == true) set.push_back("`" + std::string(key) + "`");
    if (flag != false) continue;
    causes.Invalid(Path(field, key), flag, "must be either unset or set to true");
  }
  return set;
}

// Exactly one of them; `which` is upstream's text.
void CheckOnePlace(const std::string& field, const std::vector<std::string>& set,
                   const std::string& which, const std::string& when, Causes& causes) {
  if (set.empty()) return causes.Required(field, which + " is required" + when);
  if (set.size() == 1) return;
  std::string shown;
  for (const std::string& name : set) shown += (shown.empty() ? "{" : ", ") + name;
  causes.Invalid(field, shown + "}",
                 which + " is required" + (when.empty() ? ", but multiple fields are set" : when));
}

void CheckAttribute(const std::string& field, const Json& attribute, Causes& causes) {
  constexpr std::string_view kTypes[] = {"int",  "bool",  "string",  "version",
                                         "ints", "bools", "strings", "versions"};
  constexpr std::string_view kOneOf =
      "one of: `int`, `bool`, `string`, `version`, `ints`, `bools`, `strings`, `versions`";
  std::string set;
  int count = 0;
  for (const std::string_view type : kTypes) {
    if (At(attribute, type).is_null()) continue;
    set += (count++ == 0 ? "" : ", ") + std::string(type);
  }
  if (count == 0) return causes.Invalid(field, "", "must specify " + std::string(kOneOf));
  if (count > 1) {
    return causes.Invalid(field, "{" + set + "}", "must specify exactly " + std::string(kOneOf));
  }
  for (const char* type : {"string", "version"}) {
    if (TextAt(attribute, type).size() <= kLongestValue) continue;
    return causes.TooLong(Path(field, type), kLongestValue);
  }
  const Json& version = At(attribute, "version");
  if (version.is_string() && !cel::Semver::Parse(version.get<std::string>()).ok()) {
    causes.Invalid(Path(field, "version"), version,
                   "must be a string compatible with semver.org spec 2.0.0");
  }
}

// A value that must be reached from `min` in steps.
void CheckStep(const std::string& field, const Json& range, const Json& value, Causes& causes) {
  const auto step = QuantityOf(At(range, "step"));
  const auto min = QuantityOf(At(range, "min"));
  const auto number = QuantityOf(value);
  if (!step || !min || !number || step->Value() <= 0) return;
  if ((number->Value() - min->Value()) % step->Value() == 0) return;
  causes.Invalid(Path(field, "step"), value,
                 "value is not a multiple of a given step (" + step->ToString() + ") from (" +
                     min->ToString() + ")");
}

void CheckRange(const std::string& field, const Json& range, const Json& capacity,
                const Json& otherwise, Causes& causes) {
  const Json& min = At(range, "min");
  const Json& max = At(range, "max");
  if (min.is_null()) {
    return causes.Required(Path(field, "min"), "required when validRange is defined");
  }
  const auto more = [](const Json& a, const Json& b) {
    const auto left = QuantityOf(a);
    const auto right = QuantityOf(b);
    return left && right && *left > *right;
  };
  const auto text = [](const Json& value) {
    return value.is_string() ? value.get<std::string>() : "";
  };
  if (more(min, capacity)) {
    causes.Invalid(Path(field, "min"), min, "min is larger than capacity value: " + text(capacity));
  }
  if (more(max, capacity)) {
    causes.Invalid(Path(field, "max"), max, "max is larger than capacity value: " + text(capacity));
  }
  if (more(min, max)) {
    causes.Invalid(Path(field, "max"), min, "min is larger than max: " + text(max));
  }
  if (more(min, otherwise)) {
    causes.Invalid(Path(field, "default"), otherwise, "default is less than min: " + text(min));
  }
  if (more(otherwise, max)) {
    causes.Invalid(Path(field, "default"), otherwise, "default is more than max: " + text(max));
  }
  CheckStep(field, range, max, causes);
  CheckStep(field, range, otherwise, causes);
}

void CheckValues(const std::string& field, const Json& list, const Json& capacity,
                 const Json& otherwise, Causes& causes) {
  const auto most = QuantityOf(capacity);
  const auto wanted = QuantityOf(otherwise);
  std::optional<api::Quantity> last;
  bool found = false;
  const std::vector<Json>& values = AtMost(field, list, kMostValues, causes);
  for (size_t i = 0; i < values.size(); ++i) {
    const auto value = QuantityOf(values[i]);
    if (!value) continue;
    if (most && *value > *most) {
      causes.Invalid(Path(field, i), values[i],
                     "option is larger than capacity value: " + most->ToString());
    }
    if (last && *value == *last) {
      causes.Duplicate(Path(field, i), std::to_string(value->Value()));
    } else if (last && *value < *last) {
      causes.Invalid(Path(field, i), values[i], "values must be sorted in ascending order");
    }
    found = found || (wanted && *value == *wanted);
    last = value;
  }
  if (wanted && !found) {
    causes.Invalid(field, otherwise, "default value is not valid according to the requestPolicy");
  }
}

void CheckPolicy(const std::string& field, const Json& capacity, bool shared, Causes& causes) {
  const Json& policy = At(capacity, "requestPolicy");
  if (!policy.is_object()) return;
  if (!shared) return causes.Forbidden(field, "allowMultipleAllocations must be true");
  const Json& values = At(policy, "validValues");
  const Json& range = At(policy, "validRange");
  const Json& otherwise = At(policy, "default");
  const bool has_values = !ElementsOf(values).empty();
  if (has_values && range.is_object()) {
    return causes.Forbidden(field,
                            "exactly one policy can be specified, cannot specify \"validValues\" "
                            "and \"validRange\" at the same time");
  }
  if (!has_values && !range.is_object()) return;
  if (otherwise.is_null()) {
    return causes.Required(Path(field, "default"), std::string("required when ") +
                                                       (has_values ? "validValues" : "validRange") +
                                                       " is defined");
  }
  const Json& value = At(capacity, "value");
  if (has_values) {
    CheckValues(Path(field, "validValues"), values, value, otherwise, causes);
  } else {
    CheckRange(Path(field, "validRange"), range, value, otherwise, causes);
  }
}

// Attributes and capacities.
void CheckNamed(const std::string& field, const Json& device, Causes& causes) {
  const Json& attributes = At(device, "attributes");
  const Json& capacities = At(device, "capacity");
  if (attributes.is_object()) {
    for (const auto& [name, attribute] : attributes.items()) {
      CheckKey(Path(field, "attributes"), name, causes);
      CheckAttribute(PathKey(Path(field, "attributes"), name), attribute, causes);
    }
  }
  if (capacities.is_object()) {
    const bool shared = At(device, "allowMultipleAllocations") == true;
    for (const auto& [name, capacity] : capacities.items()) {
      CheckKey(Path(field, "capacity"), name, causes);
      const std::string at = PathKey(Path(field, "capacity"), name);
      CheckPolicy(Path(at, "requestPolicy"), capacity, shared, causes);
    }
  }
  const size_t named = attributes.size() + capacities.size();
  if (named > kMostNamed) {
    causes.Invalid(field, named,
                   "the total number of attributes and capacities must not exceed " +
                       std::to_string(kMostNamed));
  }
}

void CheckCounters(const std::string& field, const Json& counters, Causes& causes) {
  if (!counters.is_object() || counters.empty()) return causes.Required(field);
  if (counters.size() > kMostCounters) {
    return causes.TooMany(field, counters.size(), kMostCounters);
  }
  for (const auto& [name, counter] : counters.items()) {
    causes.All(field, name, LabelErrors(name));
  }
}

// Sets of counters: `name_key` says by which member they are known; each is there once.
void CheckCounterSets(const std::string& field, const Json& list, const char* name_key, size_t most,
                      std::string_view path, Causes& causes) {
  std::set<std::string> names;
  const std::vector<Json>& sets = AtMost(field, list, most, causes);
  for (size_t i = 0; i < sets.size(); ++i) {
    const std::string at = Path(field, i);
    const std::string name = TextAt(sets[i], name_key);
    if (name.empty()) {
      causes.Required(Path(at, name_key));
    } else {
      causes.All(Path(at, name_key), name, LabelErrors(name));
    }
    CheckCounters(Path(at, "counters"), At(sets[i], "counters"), causes);
    if (!names.insert(name).second) AddDuplicate(at, sets[i], "ResourceSlice", path, causes);
  }
}

void CheckDevicePlace(const std::string& field, const Json& device, bool per_device,
                      Causes& causes) {
  if (per_device) {
    return CheckOnePlace(field, CheckPlaces(field, device, false, "must not be empty", causes),
                         "exactly one of `nodeName`, `nodeSelector`, or `allNodes`",
                         " when `perDeviceNodeSelection` is set to true in the ResourceSlice spec",
                         causes);
  }
  for (const char* key : {"nodeName", "nodeSelector", "allNodes"}) {
    if (At(device, key).is_null()) continue;
    return causes.Invalid(field, nullptr,
                          "`nodeName`, `nodeSelector` and `allNodes` can only be set if "
                          "`perDeviceNodeSelection` is set to true in the ResourceSlice spec");
  }
}

void CheckDevice(const std::string& field, const Json& device, bool per_device, Causes& causes) {
  CheckDnsLabel(Path(field, "name"), At(device, "name"), causes);
  CheckNamed(field, device, causes);
  const std::string taints_at = Path(field, "taints");
  const std::vector<Json>& taints = AtMost(taints_at, At(device, "taints"), kMostTaints, causes);
  for (size_t i = 0; i < taints.size(); ++i) {
    CheckDeviceTaint(Path(taints_at, i), taints[i], causes);
  }
  CheckCounterSets(Path(field, "consumesCounters"), At(device, "consumesCounters"), "counterSet",
                   kMostConsumed, "spec.devices.consumesCounters", causes);
  CheckDevicePlace(field, device, per_device, causes);
  CheckBindingConditions(field, device, causes);
}

void CheckDevices(const Json& spec, Causes& causes) {
  const std::string field = "spec.devices";
  const std::vector<Json>& all = ElementsOf(At(spec, "devices"));
  const bool full = std::any_of(all.begin(), all.end(), [](const Json& device) {
    return !ElementsOf(At(device, "taints")).empty() ||
           !ElementsOf(At(device, "consumesCounters")).empty();
  });
  const std::vector<Json>& devices =
      AtMost(field, At(spec, "devices"), full ? kMostFullDevices : kMostDevices, causes);
  const bool per_device = At(spec, "perDeviceNodeSelection") == true;
  std::set<std::string> names;
  for (size_t i = 0; i < devices.size(); ++i) {
    CheckDevice(Path(field, i), devices[i], per_device, causes);
    const std::string name = TextAt(devices[i], "name");
    if (!names.insert(name).second) causes.Duplicate(Path(field, i), name);
  }
}

}  // namespace

void CheckSlice(const Json& slice, Causes& causes) {
  const Json& spec = At(slice, "spec");
  CheckDriver("spec.driver", At(spec, "driver"), Spelling::kLower, causes);
  const Json& pool = At(spec, "pool");
  CheckPool("spec.pool.name", At(pool, "name"), false, causes);
  const int64_t slices = NumberAt(pool, "resourceSliceCount").value_or(0);
  if (slices <= 0) {
    causes.Invalid("spec.pool.resourceSliceCount", slices, "must be greater than zero");
  }
  const int64_t generation = NumberAt(pool, "generation").value_or(0);
  if (generation < 0) {
    causes.Invalid("spec.pool.generation", generation, "must be greater than or equal to zero");
  }
  CheckOnePlace(
      "spec",
      CheckPlaces("spec", spec, true, "must be either unset or set to a non-empty string", causes),
      "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection`", "",
      causes);
  CheckDevices(spec, causes);
  CheckCounterSets("spec.sharedCounters", At(spec, "sharedCounters"), "name", kMostCounterSets,
                   "spec.sharedCounters", causes);
  if (!ElementsOf(At(spec, "sharedCounters")).empty() && !ElementsOf(At(spec, "devices")).empty()) {
    causes.Invalid("spec", "", "only one of `sharedCounters` or `devices` is allowed");
  }
}

void CheckSliceUpdate(const Json& before, const Json& slice, Causes& causes) {
  const Json& old_spec = At(before, "spec");
  const Json& spec = At(slice, "spec");
  const auto check = [&causes](const char* field, const Json& old_value, const Json& value) {
    if (old_value != value) causes.Invalid(field, value, "field is immutable");
  };
  check("spec.driver", At(old_spec, "driver"), At(spec, "driver"));
  check("spec.pool.name", At(At(old_spec, "pool"), "name"), At(At(spec, "pool"), "name"));
  check("spec.nodeName", At(old_spec, "nodeName"), At(spec, "nodeName"));
}

}  // namespace ks::apiserver
