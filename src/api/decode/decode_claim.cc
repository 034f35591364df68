// SPDX-License-Identifier: Apache-2.0
// Claims of devices.

#include "api/decode/decode_devices.h"

namespace ks::api {

namespace {

bool ReadQuantities(FieldReader auto& reader, auto value, std::vector<NamedQuantity>& out) {
  out.clear();
  const bool ok = reader.Object(value, [&](std::string_view name, auto amount) {
    NamedQuantity& read = out.emplace_back();
    read.name = reader.Intern(name);
    return reader.ReadQuantity(amount, read.value);
  });
  out.shrink_to_fit();
  return ok;
}

bool ReadTolerations(FieldReader auto& reader, auto value, std::vector<DeviceToleration>& out) {
  return reader.List(value, out, [&](auto element, DeviceToleration& toleration) {
    return reader.Object(element, [&](std::string_view key, auto field) {
      if (key == "key") return reader.Sym(field, toleration.key);
      if (key == "operator") return reader.String(field, toleration.op);
      if (key == "value") return reader.Sym(field, toleration.value);
      if (key == "effect") return reader.Sym(field, toleration.effect);
      return key != "tolerationSeconds" || ReadOptional(reader, field, toleration.seconds);
    });
  });
}

bool ReadDerivedAttribute(FieldReader auto& reader, auto value, DerivedAttribute& derived) {
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "name") return reader.String(field, derived.name);
    return key != "expression" || reader.String(field, derived.expression);
  });
}

bool ReadExactRequest(FieldReader auto& reader, auto value, ExactDeviceRequest& request) {
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "name") return reader.String(field, request.name);
    if (key == "deviceClassName") return reader.Sym(field, request.device_class_name);
    if (key == "selectors") return ReadDeviceSelectors(reader, field, request.selectors);
    if (key == "allocationMode") return reader.String(field, request.allocation_mode);
    if (key == "count") return reader.Int64(field, request.count);
    if (key == "adminAccess") return ReadOptional(reader, field, request.admin_access);
    if (key == "tolerations") return ReadTolerations(reader, field, request.tolerations);
    if (key == "derivedAttributes") {
      return reader.List(field, request.derived_attributes,
                         [&](auto element, DerivedAttribute& derived) {
                           return ReadDerivedAttribute(reader, element, derived);
                         });
    }
    if (key != "capacity") return true;
    bool is_null = false;
    if (!reader.IsNull(field, is_null)) return false;
    request.has_capacity = !is_null;
    return ReadMember(reader, field, "requests", [&](auto amounts) {
      return ReadQuantities(reader, amounts, request.capacity);
    });
  });
}

bool ReadRequest(FieldReader auto& reader, auto value, DeviceRequest& request) {
  const auto read = [&](auto object, ExactDeviceRequest& exact) {
    return ReadExactRequest(reader, object, exact);
  };
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "name") return reader.String(field, request.name);
    if (key == "exactly") return reader.Optional(field, request.exactly, read);
    return key != "firstAvailable" || reader.List(field, request.first_available, read);
  });
}

bool ReadConstraint(FieldReader auto& reader, auto value, DeviceConstraint& constraint) {
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "requests") return reader.Strings(field, constraint.requests);
    if (key == "matchAttribute") return ReadOptional(reader, field, constraint.match_attribute);
    return key != "distinctAttribute" || ReadOptional(reader, field, constraint.distinct_attribute);
  });
}

bool ReadDevices(FieldReader auto& reader, auto value, ResourceClaim& claim) {
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "requests") {
      return reader.List(field, claim.requests, [&](auto element, DeviceRequest& request) {
        return ReadRequest(reader, element, request);
      });
    }
    if (key == "constraints") {
      return reader.List(field, claim.constraints, [&](auto element, DeviceConstraint& read) {
        return ReadConstraint(reader, element, read);
      });
    }
    return key != "config" || ReadDeviceConfigs(reader, field, claim.config);
  });
}

bool ReadSpec(FieldReader auto& reader, auto value, ResourceClaim& claim) {
  return ReadMember(reader, value, "devices",
                    [&](auto devices) { return ReadDevices(reader, devices, claim); });
}

bool ReadResult(FieldReader auto& reader, auto value, DeviceResult& result) {
  return reader.Object(value, [&](std::string_view key, auto field) {
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

bool ReadAllocation(FieldReader auto& reader, auto value, ClaimAllocationPtr& out) {
  bool is_null = false;
  if (!reader.IsNull(value, is_null) || is_null) return is_null;
  auto allocation = std::make_shared<ClaimAllocation>();
  const bool ok = reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "nodeSelector") {
      return ReadDeviceNodeSelector(reader, field, allocation->node_selector);
    }
    if (key == "allocationTimestamp") return reader.Time(field, allocation->timestamp);
    if (key != "devices") return true;
    return ReadMember(reader, field, "results", [&](auto list) {
      return reader.List(list, allocation->results, [&](auto element, DeviceResult& result) {
        return ReadResult(reader, element, result);
      });
    });
  });
  out = std::move(allocation);
  return ok;
}

bool ReadConsumer(FieldReader auto& reader, auto value, ClaimConsumer& consumer) {
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "apiGroup") return reader.String(field, consumer.api_group);
    if (key == "resource") return reader.String(field, consumer.resource);
    if (key == "name") return reader.String(field, consumer.name);
    return key != "uid" || reader.String(field, consumer.uid);
  });
}

bool ReadDeviceStatus(FieldReader auto& reader, auto value, AllocatedDeviceStatus& status) {
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "driver") return reader.Sym(field, status.driver);
    if (key == "pool") return reader.Sym(field, status.pool);
    if (key == "device") return reader.Sym(field, status.device);
    if (key != "conditions") return true;
    return reader.List(field, status.conditions, [&](auto element, Condition& condition) {
      return ReadCondition(reader, element, condition);
    });
  });
}

bool ReadClaimStatus(FieldReader auto& reader, auto value, ResourceClaim& claim) {
  bool is_null = false;
  if (!reader.IsNull(value, is_null) || is_null) return is_null;
  MembersOf<decltype(reader)> object;
  std::string_view text;
  if (!reader.ObjectText(value, object, text)) return false;
  // An empty status is as good as none.
  if (!text.empty() && text != "{}") {
    claim.status_fingerprint = MixFingerprint(kFingerprintSeed, text);
  }
  return reader.Fields(object, [&](std::string_view key, auto field) {
    if (key == "allocation") return ReadAllocation(reader, field, claim.allocation);
    if (key == "reservedFor") {
      return reader.List(field, claim.reserved_for, [&](auto element, ClaimConsumer& consumer) {
        return ReadConsumer(reader, element, consumer);
      });
    }
    if (key != "devices") return true;
    return reader.List(field, claim.devices, [&](auto element, AllocatedDeviceStatus& status) {
      return ReadDeviceStatus(reader, element, status);
    });
  });
}

bool ReadClaimMeta(FieldReader auto& reader, auto value, ResourceClaim& claim) {
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "finalizers") return reader.Strings(field, claim.finalizers);
    if (key != "annotations") return ReadMetaField(reader, key, field, claim.meta);
    return ReadMember(reader, field, kExtendedResourceClaimAnnotation, [&](auto annotation) {
      std::string_view text;
      const bool ok = reader.Text(annotation, text);
      claim.for_extended_resources = text == "true";
      return ok;
    });
  });
}

}  // namespace

bool ReadField(FieldReader auto& reader, std::string_view key, auto value,
               Draft<ResourceClaim>& draft) {
  if (key == "metadata") return ReadClaimMeta(reader, value, draft.object);
  if (key == "spec") return ReadSpec(reader, value, draft.object);
  return key != "status" || ReadClaimStatus(reader, value, draft.object);
}

KS_READ_FIELD_FOR_EACH_READER(ResourceClaim)

}  // namespace ks::api
