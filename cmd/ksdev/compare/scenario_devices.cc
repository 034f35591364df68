// SPDX-License-Identifier: Apache-2.0
#include "ksdev/compare/scenario_devices.h"

#include <fmt/format.h>

#include <future>
#include <set>
#include <string>
#include <utility>

#include "client/rest/rest_client.h"
#include "ksdev/compare/create_all.h"

namespace ks::ctl::dev {
namespace {

using Json = nlohmann::json;

constexpr const char* kDriver = "bench.devices.kubesched.io";
constexpr const char* kClass = "bench-device";
constexpr const char* kApi = "/apis/resource.k8s.io/v1/";
constexpr size_t kGroup = 4;      // devices with a numa node in common
constexpr size_t kRareEvery = 8;  // devices

std::string ClaimName(size_t index) { return fmt::format("devices-{:05}", index); }

std::string ClaimsPath(const Workload& workload) {
  return fmt::format("{}namespaces/{}/resourceclaims", kApi, workload.ns);
}

Json DeviceClass() {
  const Json selector = {{"cel", {{"expression", fmt::format("device.driver == '{}'", kDriver)}}}};
  return {{"apiVersion", "resource.k8s.io/v1"},
          {"kind", "DeviceClass"},
          {"metadata", {{"name", kClass}}},
          {"spec", {{"selectors", Json::array({selector})}}}};
}

// Ten attributes, as drivers of accelerators have them.
Json Device(size_t index) {
  Json attributes = {{"model", {{"string", "a100"}}},
                     {"vendor", {{"string", "kubesched"}}},
                     {"index", {{"int", index}}},
                     {"numa", {{"int", index / kGroup}}},
                     {"rare", {{"bool", index % kRareEvery == 0}}},
                     {"driverVersion", {{"version", "1.2.3"}}}};
  for (const char* name : {"minor", "slot", "bus", "link"}) attributes[name] = {{"int", index}};
  return {{"name", fmt::format("device-{}", index)},
          {"attributes", std::move(attributes)},
          {"capacity", {{"memory", {{"value", "40Gi"}}}}}};
}

Json Slice(const DeviceLoad& load, size_t index) {
  const std::string node = NodeName(index);
  Json devices = Json::array();
  for (size_t i = 0; i < load.per_node; ++i) devices.push_back(Device(i));
  return {{"apiVersion", "resource.k8s.io/v1"},
          {"kind", "ResourceSlice"},
          {"metadata", {{"name", node}}},
          {"spec",
           {{"driver", kDriver},
            {"nodeName", node},
            {"pool", {{"name", node}, {"generation", 1}, {"resourceSliceCount", 1}}},
            {"devices", std::move(devices)}}}};
}

Json Claim(const DeviceLoad& load, size_t index) {
  Json exactly = {{"deviceClassName", kClass}};
  Json devices = Json::object();
  const auto select = [&exactly](const char* attribute) {
    const Json selector = {
        {"cel", {{"expression", fmt::format("device.attributes['{}'].{}", kDriver, attribute)}}}};
    exactly["selectors"] = Json::array({selector});
  };
  switch (load.ask) {
    case DeviceAsk::kAny:
      break;
    case DeviceAsk::kSelector:
      select("model == 'a100'");
      break;
    case DeviceAsk::kRare:
      select("rare");
      break;
    case DeviceAsk::kMatched:
      exactly["count"] = kGroup;
      devices["constraints"] = Json::array({{{"matchAttribute", fmt::format("{}/numa", kDriver)}}});
  }
  devices["requests"] = Json::array({{{"name", "r"}, {"exactly", std::move(exactly)}}});
  return {{"apiVersion", "resource.k8s.io/v1"},
          {"kind", "ResourceClaim"},
          {"metadata", {{"name", ClaimName(index)}}},
          {"spec", {{"devices", std::move(devices)}}}};
}

Result<Json> Get(Cluster& cluster, const std::string& path) {
  std::promise<client::RestReply> promise;
  const auto exchange =
      cluster.rest().Send({.target = path, .verb = "list", .resource = "resourceclaims"},
                          [&](client::RestReply reply) { promise.set_value(std::move(reply)); });
  const client::RestReply reply = promise.get_future().get();
  if (!reply.ok()) return Error{"list claims: " + reply.error->message};
  return Json::parse(reply.body);
}

}  // namespace

Result<void> CreateDevices(Cluster& cluster, const Workload& workload, const DeviceLoad& load,
                           size_t count) {
  Result<void> made = CreateAll(cluster, workload, 1, std::string(kApi) + "deviceclasses",
                                [](size_t) { return DeviceClass(); });
  if (!made.ok()) return made;
  made = CreateAll(cluster, workload, workload.nodes, std::string(kApi) + "resourceslices",
                   [&](size_t i) { return Slice(load, i); });
  if (!made.ok()) return made;
  return CreateAll(cluster, workload, count, ClaimsPath(workload),
                   [&](size_t i) { return Claim(load, i); });
}

void UseDeviceClaim(Json& pod, size_t index) {
  pod["spec"]["resourceClaims"] =
      Json::array({{{"name", "devices"}, {"resourceClaimName", ClaimName(index)}}});
  pod["spec"]["containers"][0]["resources"]["claims"] = Json::array({{{"name", "devices"}}});
}

Result<void> CheckDevices(Cluster& cluster, const Workload& workload, size_t count) {
  const Result<Json> claims = Get(cluster, ClaimsPath(workload));
  if (!claims.ok()) return claims.error();
  std::set<std::pair<std::string, std::string>> taken;
  size_t allocated = 0;
  for (const Json& claim : claims->at("items")) {
    const Json allocation = claim.value("status", Json::object()).value("allocation", Json());
    if (allocation.is_null()) continue;
    ++allocated;
    for (const Json& result : allocation.at("devices").at("results")) {
      const std::string pool = result.at("pool");
      const std::string device = result.at("device");
      if (!taken.emplace(pool, device).second) {
        return Error{"device " + device + " of " + pool + " was given twice"};
      }
    }
  }
  if (allocated == count) return {};
  return Error{fmt::format("{} of {} claims are allocated", allocated, count)};
}

}  // namespace ks::ctl::dev
