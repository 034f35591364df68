// SPDX-License-Identifier: Apache-2.0
// What may be written into the status of a ResourceClaim.

#include "apiserver/registry/strategy_devices.h"

namespace ks::apiserver {
namespace {

constexpr size_t kMostConsumers = 256;
constexpr size_t kMostConditions = 8;

// A device among allocated ones: driver, pool, device, share.
std::string DeviceId(const Json& device) {
  return TextAt(device, "driver") + "/" + TextAt(device, "pool") + "/" + TextAt(device, "device") +
         "/" + TextAt(device, "shareID");
}

void CheckConsumers(const Json& status, Causes& causes) {
  const std::string field = "status.reservedFor";
  std::set<std::string> uids;
  const std::vector<Json>& consumers =
      AtMost(field, At(status, "reservedFor"), kMostConsumers, causes);
  for (size_t i = 0; i < consumers.size(); ++i) {
    for (const char* key : {"resource", "name", "uid"}) {
      if (TextAt(consumers[i], key).empty()) causes.Required(Path(Path(field, i), key));
    }
    if (uids.insert(TextAt(consumers[i], "uid")).second) continue;
    AddDuplicate(Path(field, i), consumers[i], "ResourceClaim", "status.reservedFor", causes);
  }
  if (!consumers.empty() && At(status, "allocation").is_null()) {
    causes.Forbidden(field, "may not be specified when `allocated` is not set");
  }
}

void CheckResult(const std::string& field, const Json& result, const std::set<std::string>& names,
                 Causes& causes) {
  const std::string request = TextAt(result, "request");
  if (request.empty()) CheckDnsLabel(Path(field, "request"), request, causes);
  if (!names.contains(request)) {
    causes.Invalid(Path(field, "request"), request,
                   "must be the name of a request in the claim or the name of a request and a "
                   "subrequest separated by '/'");
  }
  CheckDriver(Path(field, "driver"), At(result, "driver"), Spelling::kAny, causes);
  CheckPool(Path(field, "pool"), At(result, "pool"), true, causes);
  CheckDnsLabel(Path(field, "device"), At(result, "device"), causes);
  CheckBindingConditions(field, result, causes);
  const Json& share = At(result, "shareID");
  if (share.is_string() && !IsUuid(share.get_ref<const std::string&>())) {
    causes.Invalid(Path(field, "shareID"), share, "must be a lowercase UUID in 8-4-4-4-12 format");
  }
}

void CheckAllocation(const Json& claim, Causes& causes) {
  const std::string field = "status.allocation.devices";
  const Json& allocation = At(At(claim, "status"), "allocation");
  const std::set<std::string> names = RequestNames(At(claim, "spec"));
  const std::string results_at = Path(field, "results");
  const std::vector<Json>& results =
      AtMost(results_at, At(At(allocation, "devices"), "results"), kMostRequests, causes);
  for (size_t i = 0; i < results.size(); ++i) {
    CheckResult(Path(results_at, i), results[i], names, causes);
  }
  const std::string config_at = Path(field, "config");
  const std::vector<Json>& config = ElementsOf(At(At(allocation, "devices"), "config"));
  for (size_t i = 0; i < config.size(); ++i) {
    const std::string at = Path(config_at, i);
    const std::string source = TextAt(config[i], "source");
    if (source.empty()) {
      causes.Required(Path(at, "source"));
    } else {
      causes.OneOf(Path(at, "source"), source, {"FromClaim", "FromClass"});
    }
    CheckRequestNames(Path(at, "requests"), At(config[i], "requests"), names, causes);
    CheckOpaque(at, config[i], causes);
  }
  CheckNodeSelector("status.allocation.nodeSelector", At(allocation, "nodeSelector"), causes);
}

void CheckDevices(const Json& status, Causes& causes) {
  const std::string field = "status.devices";
  std::set<std::string> allocated;
  for (const Json& result : ElementsOf(At(At(At(status, "allocation"), "devices"), "results"))) {
    allocated.insert(DeviceId(result));
  }
  std::set<std::string> seen;
  const std::vector<Json>& devices = ElementsOf(At(status, "devices"));
  for (size_t i = 0; i < devices.size(); ++i) {
    const std::string at = Path(field, i);
    const Json& device = devices[i];
    CheckDriver(Path(at, "driver"), At(device, "driver"), Spelling::kLower, causes);
    CheckPool(Path(at, "pool"), At(device, "pool"), false, causes);
    CheckDnsLabel(Path(at, "device"), At(device, "device"), causes);
    const std::string conditions_at = Path(at, "conditions");
    const Json& conditions = At(device, "conditions");
    if (!AtMost(conditions_at, conditions, kMostConditions, causes).empty()) {
      CheckConditions(conditions_at, conditions, causes);
    }
    if (!allocated.contains(DeviceId(device))) {
      const std::string shown = R"({"Driver":)" + Json(TextAt(device, "driver")).dump() +
                                R"(,"Pool":)" + Json(TextAt(device, "pool")).dump() +
                                R"(,"Device":)" + Json(TextAt(device, "device")).dump() +
                                R"(,"ShareID":)" + Json(TextAt(device, "shareID")).dump() + "}";
      causes.Add({"FieldValueInvalid",
                  "Invalid value: " + shown + ": must be an allocated device in the claim", at});
    }
    if (!seen.insert(DeviceId(device)).second) {
      AddDuplicate(at, device, "ResourceClaim", "status.devices", causes);
    }
  }
}

}  // namespace

void CheckClaimStatus(const Json& before, const Json& claim, Causes& causes) {
  const Json& status = At(claim, "status");
  const Json& old_allocation = At(At(before, "status"), "allocation");
  const Json& allocation = At(status, "allocation");
  CheckConsumers(status, causes);
  CheckDevices(status, causes);
  if (allocation.is_object()) CheckAllocation(claim, causes);
  if (!old_allocation.is_null() && !allocation.is_null() && old_allocation != allocation) {
    causes.Invalid("status.allocation", nullptr, "field cannot be modified once set");
  }
}

void DropDeallocated(const Json& before, Json& claim) {
  Json* status = Find(claim, "status");
  if (status == nullptr) return;
  std::set<std::string> gone;
  const auto results = [](const Json& object) -> const std::vector<Json>& {
    return ElementsOf(At(At(At(At(object, "status"), "allocation"), "devices"), "results"));
  };
  for (const Json& result : results(before)) gone.insert(DeviceId(result));
  for (const Json& result : results(claim)) gone.erase(DeviceId(result));
  Json* devices = Find(*status, "devices");
  if (gone.empty() || devices == nullptr || !devices->is_array()) return;
  Json kept = Json::array();
  for (Json& device : *devices) {
    if (!gone.contains(DeviceId(device))) kept.push_back(std::move(device));
  }
  if (kept.empty()) {
    status->erase("devices");
  } else {
    *devices = std::move(kept);
  }
}

}  // namespace ks::apiserver
