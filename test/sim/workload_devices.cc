// SPDX-License-Identifier: Apache-2.0
// What claims of devices need: classes and templates, claims that pods name, and users and drivers
// who take things away at the wrong time. The controllers are device_model.h.

#include <iterator>
#include <utility>

#include "sim/device_model.h"
#include "sim/workload.h"

namespace ks::sim {
namespace {

using apiserver::Json;

constexpr const char* kNamespace = "default";
constexpr int kTemplates = 3;

Json Exactly(const char* device_class, int count) {
  Json request = {{"deviceClassName", device_class}, {"count", count}};
  if (device_class == std::string(kSharedDevice)) {
    request["capacity"] = {{"requests", {{"memory", std::to_string(8 * count + 4) + "Gi"}}}};
  }
  return request;
}

std::string TemplateName(int number) { return "t" + std::to_string(number); }

}  // namespace

void Workload::DeviceSometime(Duration until, Action action) {
  const auto most = static_cast<uint64_t>(until.count());
  world_.loop.After(Duration(static_cast<int64_t>(devices_random_.Below(most + 1))),
                    std::move(action));
}

void Workload::StartDevices() {
  const Plan& plan = world_.plan;
  AddDeviceClass();
  for (int i = 0; i < kTemplates; ++i) {
    if (DeviceChance(0.7)) {
      AddClaimTemplate(i);
    } else {
      DeviceSometime(plan.faults_end, [this, i] { AddClaimTemplate(i); });
    }
  }
  for (int i = 0; i < plan.shared_device_claims; ++i) {
    DeviceSometime(plan.arrivals, [this, i] { AddDeviceClaim("d" + std::to_string(i)); });
  }
  for (int i = 0; i < plan.device_changes; ++i) {
    DeviceSometime(plan.faults_end, [this] { ChangeDevices(); });
  }
}

// Before its driver makes it, so that it serves an extended resource.
void Workload::AddDeviceClass() {
  const std::string expression =
      std::string("device.driver == \"") + kPlainDevice + ".example.com\"";
  world_.api.Create("deviceclasses", "",
                    {{"metadata", {{"name", kPlainDevice}}},
                     {"spec",
                      {{"selectors", Json::array({{{"cel", {{"expression", expression}}}}})},
                       {"extendedResourceName", kExtendedDevice}}}});
}

void Workload::AddClaimTemplate(int number) {
  const bool made = world_.api.Create(
      "resourceclaimtemplates", kNamespace,
      {{"metadata", {{"name", TemplateName(number)}}}, {"spec", {{"spec", DeviceClaimSpec()}}}});
  TraceAction((made ? "add template " : "cannot add template ") + TemplateName(number));
}

Json Workload::DeviceClaimSpec() {
  const uint64_t what = devices_random_.Below(10);
  const int count = DeviceBetween(1, 2);
  Json request = {{"name", "r"}};
  if (what < 4) {
    request["exactly"] = Exactly(kPlainDevice, count);
  } else if (what < 6) {
    request["exactly"] = Exactly(kSharedDevice, 1);
  } else if (what < 9) {
    request["exactly"] = Exactly(kPreparedDevice, count);
  } else {
    Json first = Exactly(kPlainDevice, 2);
    Json second = Exactly(kPreparedDevice, 1);
    first["name"] = "first";
    second["name"] = "second";
    request["firstAvailable"] = Json::array({first, second});
  }
  if (what < 9 && DeviceChance(0.3)) {
    request["exactly"]["tolerations"] = Json::array({{{"operator", "Exists"}}});
  }
  Json devices = {{"requests", Json::array({request})}};
  if (what < 2 && DeviceChance(0.5)) {
    devices["constraints"] =
        Json::array({{{"matchAttribute", std::string(kPlainDevice) + ".example.com/numa"}}});
  }
  return {{"devices", std::move(devices)}};
}

void Workload::AddDeviceClaim(const std::string& name) {
  const bool made = world_.api.Create(
      "resourceclaims", kNamespace, {{"metadata", {{"name", name}}}, {"spec", DeviceClaimSpec()}});
  TraceAction((made ? "add device claim " : "cannot add device claim ") + name);
}

// A claim of its own or one that it shares; devices as an extended resource.
void Workload::UseDevices(const std::string& pod, Json& spec) {
  if (DeviceChance(world_.plan.extended_resources)) {
    Json& resources = spec["containers"][0]["resources"];
    const std::string count = std::to_string(DeviceBetween(1, 2));
    resources["requests"][kExtendedDevice] = count;
    resources["limits"][kExtendedDevice] = count;
  }
  if (!DeviceChance(world_.plan.device_claiming)) return;
  Json entries = Json::array();
  const bool shares = world_.plan.shared_device_claims > 0 && DeviceChance(0.4);
  if (shares) {
    const uint64_t number = devices_random_.Below(world_.plan.shared_device_claims);
    entries.push_back({{"name", "s"}, {"resourceClaimName", "d" + std::to_string(number)}});
  }
  if (!shares || DeviceChance(0.2)) {
    if (DeviceChance(world_.plan.device_templates)) {
      const int number = DeviceBetween(0, kTemplates - 1);
      entries.push_back({{"name", "t"}, {"resourceClaimTemplateName", TemplateName(number)}});
    } else {
      const std::string claim = pod + "-d";
      entries.push_back({{"name", "o"}, {"resourceClaimName", claim}});
      if (DeviceChance(0.7)) {
        AddDeviceClaim(claim);
      } else {
        DeviceSometime(std::chrono::seconds(10), [this, claim] { AddDeviceClaim(claim); });
      }
    }
  }
  spec["resourceClaims"] = std::move(entries);
}

void Workload::ChangeDevices() {
  const uint64_t what = devices_random_.Below(100);
  if (what < 20) return DeleteDeviceClaim();
  if (what < 40) return DeleteSlice();
  if (what < 60) return ChangeTaintRules();
  if (what < 80) return FailDevice();
  EndDevicePod();
}

// And, half of the time, makes another one of its name.
void Workload::DeleteDeviceClaim() {
  const auto& claims = world_.api.Objects("resourceclaims");
  if (claims.empty()) return;
  const auto any =
      std::next(claims.begin(), static_cast<ptrdiff_t>(devices_random_.Below(claims.size())));
  const std::string name = any->second->name;
  TraceAction("delete device claim " + name);
  world_.api.Delete("resourceclaims", kNamespace, name);
  if (!DeviceChance(0.5)) return;
  DeviceSometime(std::chrono::seconds(5), [this, name] { AddDeviceClaim(name); });
}

// Its driver publishes it again, later.
void Workload::DeleteSlice() {
  const auto& slices = world_.api.Objects("resourceslices");
  if (slices.empty()) return;
  const auto any =
      std::next(slices.begin(), static_cast<ptrdiff_t>(devices_random_.Below(slices.size())));
  const std::string name = any->second->name;
  TraceAction("delete slice " + name);
  world_.api.Delete("resourceslices", "", name);
}

void Workload::ChangeTaintRules() {
  const auto& rules = world_.api.Objects("devicetaintrules");
  if (!rules.empty() && DeviceChance(0.5)) {
    const std::string name = rules.begin()->second->name;
    TraceAction("delete taint rule " + name);
    world_.api.Delete("devicetaintrules", "", name);
    return;
  }
  const char* kind = DeviceChance(0.5) ? kPlainDevice : kPreparedDevice;
  Json selector = {{"driver", std::string(kind) + ".example.com"}};
  const std::string node = DeviceChance(0.7) ? AnyNode() : std::string();
  if (!node.empty()) selector["pool"] = node;
  const std::string name = "rule" + std::to_string(next_rule_++);
  const bool made =
      world_.api.Create("devicetaintrules", "",
                        {{"metadata", {{"name", name}}},
                         {"spec",
                          {{"deviceSelector", selector},
                           {"taint", {{"key", "example.com/broken"}, {"effect", "NoSchedule"}}}}}});
  TraceAction((made ? "add taint rule " : "cannot add taint rule ") + name);
}

// A driver finds that a device of a claim is not to be had, before it says anything else of it.
void Workload::FailDevice() {
  for (const auto& [key, stored] : world_.api.Objects("resourceclaims")) {
    const auto claim = Decoded<api::ResourceClaim>(*stored);
    if (claim->allocation == nullptr || !claim->devices.empty()) continue;
    for (const api::DeviceResult& result : claim->allocation->results) {
      if (result.binding_failure_conditions.empty()) continue;
      const Json condition = {{"type", result.binding_failure_conditions.front()},
                              {"status", "True"},
                              {"reason", "Broken"},
                              {"message", "the device is broken"},
                              {"lastTransitionTime", "2026-01-01T00:00:00Z"}};
      TraceAction("device fails for claim " + claim->meta.name);
      world_.api.ModifyStatus("resourceclaims", kNamespace, claim->meta.name, [&](Json& json) {
        json["status"]["devices"] = Json::array({{{"driver", result.driver.str()},
                                                  {"pool", result.pool.str()},
                                                  {"device", result.device.str()},
                                                  {"conditions", Json::array({condition})}}});
      });
      return;
    }
  }
}

// Most likely in the middle of PreBind.
void Workload::EndDevicePod() {
  for (const auto& [key, stored] : world_.api.Objects("pods")) {
    const api::PodPtr pod = Decoded<api::Pod>(*stored);
    if (!pod->node_name.empty() || pod->spec->resource_claims.empty() || DeviceChance(0.5)) {
      continue;
    }
    return EndPod(pod->meta.name);
  }
}

}  // namespace ks::sim
