// SPDX-License-Identifier: Apache-2.0
#include "ksdev/perf/claim_allocation.h"

#include <algorithm>
#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "ksdev/perf/workers.h"

namespace ks::ctl::dev::perf {
namespace {

using Json = nlohmann::json;

constexpr const char* kGroup = "/apis/resource.k8s.io/v1";

struct Device {
  std::string driver;
  std::string pool;
  std::string name;

  friend auto operator<=>(const Device&, const Device&) = default;
};
// Free devices of one node, of one driver.
struct NodeDevices {
  std::string node;
  std::string driver;
  std::deque<Device> devices{};
};

Result<Json> Items(ObjectClient& objects, const std::string& path) {
  Result<Json> list = objects.Get(path);
  if (!list.ok()) return list;
  return list->value("items", Json::array());
}

std::set<Device> InUse(const Json& claims) {
  static const Json::json_pointer results_path("/status/allocation/devices/results");
  std::set<Device> used;
  for (const Json& claim : claims) {
    if (!claim.contains(results_path)) continue;
    for (const Json& result : claim.at(results_path)) {
      used.insert(
          {result.value("driver", ""), result.value("pool", ""), result.value("device", "")});
    }
  }
  return used;
}

// The driver of a class whose one selector compares it and nothing else.
Result<std::string> DriverOf(const Json& device_class) {
  static const Json::json_pointer selectors_path("/spec/selectors");
  constexpr std::string_view kBegin = "device.driver == \"";
  const Json selectors = device_class.value(selectors_path, Json::array());
  if (selectors.size() == 1) {
    static const Json::json_pointer expression_path("/cel/expression");
    const std::string text = selectors[0].value(expression_path, std::string());
    const size_t end = text.find('"', kBegin.size());
    if (text.starts_with(kBegin) && end + 1 == text.size()) {
      return text.substr(kBegin.size(), end - kBegin.size());
    }
  }
  return Error{"allocResourceClaims: the device class is none of all devices of a driver: " +
               device_class.value(selectors_path, Json()).dump()};
}

// What one claim asks for.
struct Ask {
  std::string request;
  std::string device_class;
  size_t count = 1;
};
Result<Ask> AskOf(const Json& claim) {
  const Json devices = claim.at("spec").value("devices", Json::object());
  const Json requests = devices.value("requests", Json::array());
  const bool plain = requests.size() == 1 && devices.value("constraints", Json::array()).empty() &&
                     requests[0].contains("exactly");
  if (plain) {
    const Json& exactly = requests[0].at("exactly");
    if (exactly.value("selectors", Json::array()).empty() &&
        exactly.value("allocationMode", "ExactCount") == "ExactCount" &&
        !exactly.value("adminAccess", false)) {
      return Ask{.request = requests[0].value("name", ""),
                 .device_class = exactly.value("deviceClassName", ""),
                 .count = exactly.value("count", size_t{1})};
    }
  }
  return Error{"allocResourceClaims: the claim asks for more than some devices of a class: " +
               devices.dump()};
}

class Allocation {
 public:
  explicit Allocation(ObjectClient& objects) : objects_(objects) {}

  Result<void> Load(const std::set<Device>& used);
  // The claim with its devices in status.
  Result<Json> Allocate(const Json& claim);

 private:
  ObjectClient& objects_;
  std::map<std::string, std::string> drivers_;  // by class
  std::vector<NodeDevices> nodes_;
  size_t turn_ = 0;
};

Result<void> Allocation::Load(const std::set<Device>& used) {
  const Result<Json> classes = Items(objects_, std::string(kGroup) + "/deviceclasses");
  if (!classes.ok()) return classes.error();
  for (const Json& device_class : *classes) {
    if (const Result<std::string> driver = DriverOf(device_class); driver.ok()) {
      drivers_[device_class.at("metadata").value("name", "")] = *driver;
    }
  }
  const Result<Json> slices = Items(objects_, std::string(kGroup) + "/resourceslices");
  if (!slices.ok()) return slices.error();
  std::map<std::pair<std::string, std::string>, std::deque<Device>> by_node;
  for (const Json& slice : *slices) {
    const Json& spec = slice.at("spec");
    const std::string node = spec.value("nodeName", "");
    const std::string driver = spec.value("driver", "");
    if (node.empty()) continue;
    for (const Json& device : spec.value("devices", Json::array())) {
      Device one{driver, spec.at("pool").value("name", ""), device.value("name", "")};
      if (!used.contains(one)) by_node[{node, driver}].push_back(std::move(one));
    }
  }
  for (auto& [key, devices] : by_node) {
    nodes_.push_back({.node = key.first, .driver = key.second, .devices = std::move(devices)});
  }
  std::mt19937 chance(1);
  std::shuffle(nodes_.begin(), nodes_.end(), chance);
  return {};
}

Result<Json> Allocation::Allocate(const Json& claim) {
  const Result<Ask> ask = AskOf(claim);
  if (!ask.ok()) return ask.error();
  const auto driver = drivers_.find(ask->device_class);
  if (driver == drivers_.end()) {
    return Error{"allocResourceClaims: the device class " + ask->device_class +
                 " is not there, or none of all devices of a driver"};
  }
  for (size_t tries = 0; tries < nodes_.size(); ++tries) {
    NodeDevices& node = nodes_[turn_++ % nodes_.size()];
    if (node.driver != driver->second || node.devices.size() < ask->count) continue;
    Json results = Json::array();
    for (size_t i = 0; i < ask->count; ++i) {
      const Device& device = node.devices.front();
      results.push_back({{"request", ask->request},
                         {"driver", device.driver},
                         {"pool", device.pool},
                         {"device", device.name}});
      node.devices.pop_front();
    }
    const Json term = {
        {"matchFields",
         {{{"key", "metadata.name"}, {"operator", "In"}, {"values", Json::array({node.node})}}}}};
    Json allocated = claim;
    allocated["apiVersion"] = "resource.k8s.io/v1";
    allocated["kind"] = "ResourceClaim";
    allocated["status"]["allocation"] = {
        {"devices", {{"results", results}}},
        {"nodeSelector", {{"nodeSelectorTerms", Json::array({term})}}}};
    return allocated;
  }
  return Error{"allocResourceClaims: no node has devices left"};
}

}  // namespace

Result<void> AllocateClaimsOf(ObjectClient& objects, const std::string& ns) {
  const Result<Json> all = Items(objects, std::string(kGroup) + "/resourceclaims");
  if (!all.ok()) return all.error();
  Allocation allocation(objects);
  if (Result<void> loaded = allocation.Load(InUse(*all)); !loaded.ok()) return loaded;
  std::vector<Json> allocated;
  for (const Json& claim : *all) {
    const std::string claim_ns = claim.at("metadata").value("namespace", "");
    const bool has_one = claim.contains("status") && claim.at("status").contains("allocation");
    if (has_one || (!ns.empty() && claim_ns != ns)) continue;
    Result<Json> one = allocation.Allocate(claim);
    if (!one.ok()) return one.error();
    allocated.push_back(std::move(one).value());
  }
  return InParallel(allocated.size(), kWorkers, [&](size_t i) {
    const std::string claim_ns = allocated[i].at("metadata").value("namespace", "");
    return objects.Update(allocated[i], claim_ns, "status");
  });
}

}  // namespace ks::ctl::dev::perf
