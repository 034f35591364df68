// SPDX-License-Identifier: Apache-2.0
#include "apiserver/controllers/device_kinds.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "apiserver/store/json_fields.h"
#include "golang/quote.h"

namespace ks::apiserver {
namespace {

constexpr int kMostDevices = 128;        // in a slice
constexpr int kMostTaintedDevices = 64;  // in one with taints
constexpr size_t kLongestName = 51;      // with ".example.com" a driver's 63
// What makes a device of an allocation that of an entry in a claim's status.
constexpr std::array<const char*, 4> kIdentity{"driver", "pool", "device", "shareID"};
constexpr std::string_view kCure = "write COUNTxNAME, as in 8xgpu";

bool IsLabel(std::string_view text) {
  const auto inside = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !text.empty() && inside(text.front()) && inside(text.back()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return inside(c) || c == '-'; });
}

Result<void> ParseOption(std::string_view option, DeviceKind& kind) {
  if (option == "binding") {
    kind.binding = true;
  } else if (option == "shared") {
    kind.shared = true;
  } else if (option == "tainted") {
    kind.tainted = true;
  } else {
    return Error{"unknown option " + golang::Quote(std::string(option)) +
                 " (there are binding, shared and tainted)"};
  }
  return {};
}

Result<DeviceKind> ParseKind(std::string_view text) {
  DeviceKind kind;
  const size_t colon = std::min(text.find(':'), text.size());
  const std::string_view head = text.substr(0, colon);
  const size_t x = head.find('x');
  if (x == std::string_view::npos) {
    return Error{"there is no count and name (" + std::string(kCure) + ")"};
  }
  const char* end = head.data() + x;
  const auto parsed = std::from_chars(head.data(), end, kind.count);
  if (parsed.ec != std::errc() || parsed.ptr != end || kind.count < 1 ||
      kind.count > kMostDevices) {
    return Error{golang::Quote(std::string(head.substr(0, x))) +
                 " is no number of devices from 1 to " + std::to_string(kMostDevices) + " (" +
                 std::string(kCure) + ")"};
  }
  kind.name = head.substr(x + 1);
  if (!IsLabel(kind.name) || kind.name.size() > kLongestName) {
    return Error{golang::Quote(kind.name) +
                 " is no name (lower case letters, digits and dashes, at most " +
                 std::to_string(kLongestName) + ")"};
  }
  size_t begin = colon;
  while (begin < text.size()) {
    const size_t next = std::min(text.find(':', begin + 1), text.size());
    if (Result<void> read = ParseOption(text.substr(begin + 1, next - begin - 1), kind);
        !read.ok()) {
      return read.error();
    }
    begin = next;
  }
  if (kind.tainted && kind.count > kMostTaintedDevices) {
    return Error{"of tainted devices a node has at most " + std::to_string(kMostTaintedDevices)};
  }
  return kind;
}

Json DeviceOf(const DeviceKind& kind, int index) {
  Json memory{{"value", "40Gi"}};
  if (kind.shared) {
    memory["requestPolicy"] = {{"default", "1Gi"},
                               {"validRange", {{"min", "1Gi"}, {"max", "40Gi"}, {"step", "1Gi"}}}};
  }
  const int numa = 2 * index / kind.count;  // the first half, the second half
  Json device{{"name", kind.name + "-" + std::to_string(index)},
              {"attributes",
               {{"model", {{"string", kind.name + "-v1"}}},
                {"index", {{"int", index}}},
                {"numa", {{"int", numa}}},
                {"driverVersion", {{"version", "1.0.0"}}}}},
              {"capacity", {{"memory", std::move(memory)}}}};
  if (kind.shared) device["allowMultipleAllocations"] = true;
  if (kind.binding) {
    device["bindingConditions"] = Json::array({kind.driver() + "/ready"});
    device["bindingFailureConditions"] = Json::array({kind.driver() + "/failed"});
  }
  if (kind.tainted && index == kind.count - 1) {
    device["taints"] =
        Json::array({{{"key", kind.driver() + "/unhealthy"}, {"effect", "NoSchedule"}}});
  }
  return device;
}

const Json& List(const Json* found) {
  static const Json* none = new Json(Json::array());
  return found != nullptr && found->is_array() ? *found : *none;
}

const Json& ResultsOf(const Json& claim) {
  const Json* allocation = Find(claim, "status", "allocation");
  return List(allocation == nullptr ? nullptr : Find(*allocation, "devices", "results"));
}

bool IsSame(const Json& result, const Json& device) {
  return std::all_of(kIdentity.begin(), kIdentity.end(),
                     [&](const char* key) { return Text(result, key) == Text(device, key); });
}

bool HasCondition(const Json& device, const Json& type) {
  const Json& conditions = List(Find(device, "conditions"));
  return std::any_of(conditions.begin(), conditions.end(), [&](const Json& condition) {
    const Json* own = Find(condition, "type");
    return own != nullptr && *own == type;
  });
}

// Those of the result that `devices`, the claim's status, does not speak of.
Json Lacking(const Json& result, const Json& devices) {
  Json lacking = Json::array();
  for (const Json& type : List(Find(result, "bindingConditions"))) {
    const bool there = std::any_of(devices.begin(), devices.end(), [&](const Json& device) {
      return IsSame(result, device) && HasCondition(device, type);
    });
    if (!there) lacking.push_back(type);
  }
  return lacking;
}

// The entry of a result's device in the status, made when there is none.
Json& EntryOf(const Json& result, Json& devices) {
  for (Json& device : devices) {
    if (IsSame(result, device)) return device;
  }
  Json device;
  for (const char* key : kIdentity) {
    if (result.contains(key)) device[key] = result[key];
  }
  devices.push_back(std::move(device));
  return devices.back();
}

}  // namespace

Result<void> ParseDeviceKinds(std::string_view text, std::vector<DeviceKind>& kinds) {
  size_t begin = 0;
  while (begin <= text.size()) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    const std::string place =
        "character " + std::to_string(begin + 1) + ", " + golang::Quote(std::string(part)) + ": ";
    Result<DeviceKind> kind = ParseKind(part);
    if (!kind.ok()) return Error{place + kind.error().message};
    const bool twice = std::any_of(kinds.begin(), kinds.end(), [&](const DeviceKind& other) {
      return other.name == kind->name;
    });
    if (twice) {
      return Error{place + kind->name + " is there twice (give each kind a name of its own)"};
    }
    kinds.push_back(std::move(kind).value());
    begin = end + 1;
  }
  return {};
}

Json DeviceClassOf(const DeviceKind& kind) {
  const std::string expression = "device.driver == " + golang::Quote(kind.driver());
  return {{"metadata", {{"name", kind.name}}},
          {"spec", {{"selectors", Json::array({{{"cel", {{"expression", expression}}}}})}}}};
}

std::string DeviceSliceName(const DeviceKind& kind, const std::string& node) {
  return node + "-" + kind.driver();
}

Json DeviceSliceOf(const DeviceKind& kind, const StoredObject& node) {
  Json devices = Json::array();
  for (int i = 0; i < kind.count; ++i) devices.push_back(DeviceOf(kind, i));
  return {{"metadata",
           {{"name", DeviceSliceName(kind, node.name)},
            {"ownerReferences", Json::array({{{"apiVersion", "v1"},
                                              {"kind", "Node"},
                                              {"name", node.name},
                                              {"uid", node.uid},
                                              {"controller", true}}})}}},
          {"spec",
           {{"driver", kind.driver()},
            {"nodeName", node.name},
            {"pool", {{"name", node.name}, {"generation", 1}, {"resourceSliceCount", 1}}},
            {"devices", std::move(devices)}}}};
}

bool LacksConditions(const DeviceKind& kind, const Json& claim) {
  const Json& devices = List(Find(claim, "status", "devices"));
  const Json& results = ResultsOf(claim);
  return std::any_of(results.begin(), results.end(), [&](const Json& result) {
    return Text(result, "driver") == kind.driver() && !Lacking(result, devices).empty();
  });
}

void SetConditions(const DeviceKind& kind, const std::string& now, Json& claim) {
  const Json results = ResultsOf(claim);
  Json& devices = claim["status"]["devices"];
  if (!devices.is_array()) devices = Json::array();
  for (const Json& result : results) {
    if (Text(result, "driver") != kind.driver()) continue;
    const Json lacking = Lacking(result, devices);
    if (lacking.empty()) continue;
    Json& entry = EntryOf(result, devices);
    Json& conditions = entry["conditions"];
    if (!conditions.is_array()) conditions = Json::array();
    for (const Json& type : lacking) {
      conditions.push_back({{"type", type},
                            {"status", "True"},
                            {"reason", "Prepared"},
                            {"message", "the simulated device is ready"},
                            {"lastTransitionTime", now}});
    }
  }
}

}  // namespace ks::apiserver
