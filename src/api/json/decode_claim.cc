// SPDX-License-Identifier: Apache-2.0
// Claims of devices.

#include "api/json/decode_devices.h"

namespace ks::api {

namespace {

using Value = JsonReader::Value;

bool ReadQuantities(JsonReader& reader, Value value, std::vector<NamedQuantity>& out) {
  out.clear();
  const bool ok = reader.Object(value, [&](std::string_view name, Value amount) {
    NamedQuantity& read = out.emplace_back();
    read.name = reader.Intern(name);
    return reader.ReadQuantity(amount, read.value);
  });
  out.shrink_to_fit();
  return ok;
}

bool ReadTolerations(JsonReader& reader, Value value, std::vector<DeviceToleration>& out) {
  return reader.List(value, out, [&](Value element, DeviceToleration& toleration) {
    return reader.Object(element, [&](std::string_view key, Value field) {
      if (key == "key") return reader.Sym(field, toleration.key);
      if (key == "operator") return reader.String(field, toleration.op);
      if (key == "value") return reader.Sym(field, toleration.value);
      if (key == "effect") return reader.Sym(field, toleration.effect);
      return key != "tolerationSeconds" || ReadOptional(reader, field, toleration.seconds);
    });
  });
}

bool ReadDerivedAttribute(JsonReader& reader, Value value, DerivedAttribute& derived) {
  return reader.Object(value, [&](std::string_view key, Value field) {
    if (key == "name") return reader.String(field, derived.name);
    return key != "expression" || reader.String(field, derived.expression);
  });
}

bool ReadExactRequest(JsonReader& reader, Value value, ExactDeviceRequest& request) {
  return reader.Object(value, [&](std::string_view key, Value field) {
    if (key == "name") return reader.String(field, request.name);
    if (key == "deviceClassName") return reader.Sym(field, request.device_class_name);
    if (key == "selectors") return ReadDeviceSelectors(reader, field, request.selectors);
    if (key == "allocationMode") return reader.String(field, request.allocation_mode);
    if (key == "count") return reader.Int64(field, request.count);
    if (key == "adminAccess") return ReadOptional(reader, field, request.admin_access);
    if (key == "tolerations") return ReadTolerations(reader, field, request.tolerations);
    if (key == "derivedAttributes") {
      return reader.List(field, request.derived_attributes,
                         [&](Value element, DerivedAttribute& derived) {
                           return ReadDerivedAttribute(reader, element, derived);
                         });
    }
    if (key != "capacity") return true;
    bool is_null = false;
    if (!reader.IsNull(field, is_null)) return false;
    request.has_capacity = !is_null;
    return ReadMember(reader, field, "requests", [&](Value amounts) {
      return ReadQuantities(reader, amounts, request.capacity);
    });
  });
}

bool ReadRequest(JsonReader& reader, Value value, DeviceRequest& request) {
  const auto read = [&](Value object, ExactDeviceRequest& exact) {
    return ReadExactRequest(reader, object, exact);
  };
  return reader.Object(value, [&](std::string_view key, Value field) {
    if (key == "name") return reader.String(field, request.name);
    if (key == "exactly") return reader.Optional(field, request.exactly, read);
    return key != "firstAvailable" || reader.List(field, request.first_available, read);
  });
}

bool ReadConstraint(JsonReader& reader, Value value, DeviceConstraint& constraint) {
  return reader.Object(value, [&](std::string_view key, Value field) {
    if (key == "requests") return reader.Strings(field, constraint.requests);
    if (key == "matchAttribute") return ReadOptional(reader, field, constraint.match_attribute);
    return key != "distinctAttribute" || ReadOptional(reader, field, constraint.distinct_attribute);
  });
}

bool ReadDevices(JsonReader& reader, Value value, ResourceClaim& claim) {
  return reader.Object(value, [&](std::string_view key, Value field) {
    if (key == "requests") {
      return reader.List(field, claim.requests, [&](Value element, DeviceRequest& request) {
        return ReadRequest(reader, element, request);
      });
    }
    if (key == "constraints") {
      return reader.List(field, claim.constraints, [&](Value element, DeviceConstraint& read) {
        return ReadConstraint(reader, element, read);
      });
    }
    return key != "config" || ReadDeviceConfigs(reader, field, claim.config);
  });
}

bool ReadSpec(JsonReader& reader, Value value, ResourceClaim& claim) {
  return ReadMember(reader, value, "devices",
                    [&](Value devices) { return ReadDevices(reader, devices, claim); });
}

bool ReadResult(JsonReader& reader, Value value, DeviceResult& result) {
  return reader.Object(value, [&](std::string_view key, Value field) {
    if (key == "request") return reader.String(field, result.request);
    if (key == "driver") return reader.Sym(field, result.driver);
    if (key == "pool") return reader.Sym(field, result.pool);
    if (key == "device") return reader.Sym(field, result.device);
    if (key == "adminAccess") return reader.Bool(field, result.admin_access);
    if (key == "shareID") return reader.String(field, result.share_id);
    if (key == "consumedCapacity") {
      return ReadQuantities(reader, field, result.consumed_capacity);
    }
    if (key == "tolerations") return ReadTolerations(reader, field, result.tolerations);
    if (key == "bindingConditions") return reader.Strings(field, result.binding_conditions);
    if (key == "bindingFailureConditions") {
      return reader.Strings(field, result.binding_failure_conditions);
    }
    return key != "skipNodeOperations" || reader.Strings(field, result.skip_node_operations);
  });
}

bool ReadAllocation(JsonReader& reader, Value value, ClaimAllocationPtr& out) {
  bool is_null = false;
  if (!reader.IsNull(value, is_null) || is_null) return is_null;
  auto allocation = std::make_shared<ClaimAllocation>();
  const bool ok = reader.Object(value, [&](std::string_view key, Value field) {
    if (key == "nodeSelector") {
      return ReadDeviceNodeSelector(reader, field, allocation->node_selector);
    }
    if (key == "allocationTimestamp") return reader.Time(field, allocation->timestamp);
    if (key != "devices") return true;
    return ReadMember(reader, field, "results", [&](Value list) {
      return reader.List(list, allocation->results, [&](Value element, DeviceResult& result) {
        return ReadResult(reader, element, result);
      });
    });
  });
  out = std::move(allocation);
  return ok;
}

bool ReadConsumer(JsonReader& reader, Value value, ClaimConsumer& consumer) {
  return reader.Object(value, [&](std::string_view key, Value field) {
    if (key == "apiGroup") return reader.String(field, consumer.api_group);
    if (key == "resource") return reader.String(field, consumer.resource);
    if (key == "name") return reader.String(field, consumer.name);
    return key != "uid" || reader.String(field, consumer.uid);
  });
}

bool ReadDeviceStatus(JsonReader& reader, Value value, AllocatedDeviceStatus& status) {
  return reader.Object(value, [&](std::string_view key, Value field) {
    if (key == "driver") return reader.Sym(field, status.driver);
    if (key == "pool") return reader.Sym(field, status.pool);
    if (key == "device") return reader.Sym(field, status.device);
    if (key != "conditions") return true;
    return reader.List(field, status.conditions, [&](Value element, Condition& condition) {
      return ReadCondition(reader, element, condition);
    });
  });
}

bool ReadClaimStatus(JsonReader& reader, Value value, ResourceClaim& claim) {
  bool is_null = false;
  if (!reader.IsNull(value, is_null) || is_null) return is_null;
  simdjson::ondemand::object object;
  std::string_view text;
  if (!ReadObjectText(reader, value, object, text)) return false;
  // An empty status is as good as none.
  if (text != "{}") claim.status_fingerprint = MixFingerprint(kFingerprintSeed, text);
  return reader.Fields(object, [&](std::string_view key, Value field) {
    if (key == "allocation") return ReadAllocation(reader, field, claim.allocation);
    if (key == "reservedFor") {
      return reader.List(field, claim.reserved_for, [&](Value element, ClaimConsumer& consumer) {
        return ReadConsumer(reader, element, consumer);
      });
    }
    if (key != "devices") return true;
    return reader.List(field, claim.devices, [&](Value element, AllocatedDeviceStatus& status) {
      return ReadDeviceStatus(reader, element, status);
    });
  });
}

bool ReadClaimMeta(JsonReader& reader, Value value, ResourceClaim& claim) {
  return reader.Object(value, [&](std::string_view key, Value field) {
    if (key == "finalizers") return reader.Strings(field, claim.finalizers);
    if (key != "annotations") return ReadMetaField(reader, key, field, claim.meta);
    return ReadMember(reader, field, kExtendedResourceClaimAnnotation, [&](Value annotation) {
      std::string_view text;
      const bool ok = reader.Text(annotation, text);
      claim.for_extended_resources = text == "true";
      return ok;
    });
  });
}

}  // namespace

bool ReadField(JsonReader& reader, std::string_view key, Value value, Draft<ResourceClaim>& draft) {
  if (key == "metadata") return ReadClaimMeta(reader, value, draft.object);
  if (key == "spec") return ReadSpec(reader, value, draft.object);
  return key != "status" || ReadClaimStatus(reader, value, draft.object);
}

}  // namespace ks::api
