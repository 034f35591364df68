// SPDX-License-Identifier: Apache-2.0
// Slices, classes and taint rules of devices, and what claims share with them.

#include "api/decode/decode_devices.h"

namespace ks::api {

namespace {

bool ReadTaint(FieldReader auto& reader, auto value, DeviceTaint& taint) {
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "key") return reader.Sym(field, taint.key);
    if (key == "value") return reader.Sym(field, taint.value);
    return key != "effect" || reader.Sym(field, taint.effect);
  });
}

template <class T, class Read>
bool ReadValues(FieldReader auto& reader, auto value, DeviceAttributeValue& out, Read&& read) {
  return reader.List(value, out.emplace<std::vector<T>>(), read);
}

bool ReadVersion(FieldReader auto& reader, auto value, DeviceVersion& version) {
  return reader.String(value, version.text);
}

// One of the members of the union; null: that member is absent.
bool ReadAttributeMember(FieldReader auto& reader, std::string_view key, auto value,
                         DeviceAttributeValue& out) {
  bool is_null = false;
  if (!reader.IsNull(value, is_null) || is_null) return is_null;
  if (key == "int") return reader.Int64(value, out.emplace<int64_t>());
  if (key == "bool") return reader.Bool(value, out.emplace<bool>());
  if (key == "string") return reader.String(value, out.emplace<std::string>());
  if (key == "version") return ReadVersion(reader, value, out.emplace<DeviceVersion>());
  if (key == "ints") {
    return ReadValues<int64_t>(reader, value, out, [&](auto element, int64_t& number) {
      return reader.Int64(element, number);
    });
  }
  if (key == "strings") return reader.Strings(value, out.emplace<std::vector<std::string>>());
  if (key == "versions") {
    return ReadValues<DeviceVersion>(reader, value, out, [&](auto element, DeviceVersion& read) {
      return ReadVersion(reader, element, read);
    });
  }
  if (key != "bools") return true;
  std::vector<bool>& flags = out.emplace<std::vector<bool>>();
  return reader.Array(value, [&](auto element) {
    bool flag = false;
    const bool ok = reader.Bool(element, flag);
    flags.push_back(flag);
    return ok;
  });
}

bool ReadAttributes(FieldReader auto& reader, auto value, std::vector<DeviceAttribute>& out) {
  out.clear();
  const bool ok = reader.Object(value, [&](std::string_view name, auto attribute) {
    DeviceAttribute& read = out.emplace_back();
    read.name = reader.Intern(name);
    return reader.Object(attribute, [&](std::string_view key, auto field) {
      return ReadAttributeMember(reader, key, field, read.value);
    });
  });
  out.shrink_to_fit();
  return ok;
}

bool ReadRange(FieldReader auto& reader, auto value, CapacityRequestPolicy::Range& range) {
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "min") return ReadOptional(reader, field, range.min);
    if (key == "max") return ReadOptional(reader, field, range.max);
    return key != "step" || ReadOptional(reader, field, range.step);
  });
}

bool ReadPolicy(FieldReader auto& reader, auto value, DeviceCapacity& capacity) {
  bool is_null = false;
  if (!reader.IsNull(value, is_null) || is_null) return is_null;
  auto policy = std::make_shared<CapacityRequestPolicy>();
  const bool ok = reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "default") return ReadOptional(reader, field, policy->default_amount);
    if (key == "validValues") {
      return reader.List(field, policy->valid_values, [&](auto element, Quantity& amount) {
        return reader.ReadQuantity(element, amount);
      });
    }
    if (key != "validRange") return true;
    return reader.Optional(field, policy->valid_range,
                           [&](auto object, CapacityRequestPolicy::Range& range) {
                             return ReadRange(reader, object, range);
                           });
  });
  capacity.policy = std::move(policy);
  return ok;
}

bool ReadCapacity(FieldReader auto& reader, auto value, std::vector<DeviceCapacity>& out) {
  out.clear();
  const bool ok = reader.Object(value, [&](std::string_view name, auto object) {
    DeviceCapacity& capacity = out.emplace_back();
    capacity.name = reader.Intern(name);
    return reader.Object(object, [&](std::string_view key, auto field) {
      if (key == "value") return reader.ReadQuantity(field, capacity.value);
      return key != "requestPolicy" || ReadPolicy(reader, field, capacity);
    });
  });
  out.shrink_to_fit();
  return ok;
}

bool ReadCounters(FieldReader auto& reader, auto value, std::vector<NamedQuantity>& out) {
  out.clear();
  const bool ok = reader.Object(value, [&](std::string_view name, auto object) {
    NamedQuantity& counter = out.emplace_back();
    counter.name = reader.Intern(name);
    return ReadMember(reader, object, "value",
                      [&](auto field) { return reader.ReadQuantity(field, counter.value); });
  });
  out.shrink_to_fit();
  return ok;
}

bool ReadConsumption(FieldReader auto& reader, auto value, Device& device) {
  return reader.List(value, device.consumes_counters, [&](auto element, CounterSet& counters) {
    return reader.Object(element, [&](std::string_view key, auto field) {
      if (key == "counterSet") return reader.Sym(field, counters.name);
      if (key == "counters") return ReadCounters(reader, field, counters.counters);
      if (key != "compatibilityGroups") return true;
      return reader.List(field, counters.compatibility_groups,
                         [&](auto group, Symbol& name) { return reader.Sym(group, name); });
    });
  });
}

bool IsNodesField(std::string_view key) {
  return key == "nodeName" || key == "allNodes" || key == "nodeSelector";
}

// Requires: IsNodesField(key).
bool ReadNodesField(FieldReader auto& reader, std::string_view key, auto value,
                    DeviceNodes& nodes) {
  if (key == "nodeName") return reader.Sym(value, nodes.node_name);
  if (key == "allNodes") return reader.Bool(value, nodes.all_nodes);
  return ReadDeviceNodeSelector(reader, value, nodes.selector);
}

bool ReadDevice(FieldReader auto& reader, auto value, Device& device) {
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "name") return reader.Sym(field, device.name);
    if (key == "attributes") return ReadAttributes(reader, field, device.attributes);
    if (key == "capacity") return ReadCapacity(reader, field, device.capacity);
    if (key == "consumesCounters") return ReadConsumption(reader, field, device);
    if (IsNodesField(key)) return ReadNodesField(reader, key, field, device.nodes);
    if (key == "taints") {
      return reader.List(field, device.taints, [&](auto element, DeviceTaint& taint) {
        return ReadTaint(reader, element, taint);
      });
    }
    if (key == "bindsToNode") return reader.Bool(field, device.binds_to_node);
    if (key == "bindingConditions") return reader.Strings(field, device.binding_conditions);
    if (key == "bindingFailureConditions") {
      return reader.Strings(field, device.binding_failure_conditions);
    }
    return key != "allowMultipleAllocations" ||
           reader.Bool(field, device.allow_multiple_allocations);
  });
}

bool ReadPool(FieldReader auto& reader, auto value, ResourceSlice& slice) {
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "name") return reader.Sym(field, slice.pool);
    if (key == "generation") return reader.Int64(field, slice.pool_generation);
    return key != "resourceSliceCount" || reader.Int64(field, slice.pool_slice_count);
  });
}

bool ReadSliceSpec(FieldReader auto& reader, auto value, ResourceSlice& slice) {
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "driver") return reader.Sym(field, slice.driver);
    if (key == "pool") return ReadPool(reader, field, slice);
    if (IsNodesField(key)) return ReadNodesField(reader, key, field, slice.nodes);
    if (key == "perDeviceNodeSelection") {
      return ReadOptional(reader, field, slice.per_device_node_selection);
    }
    if (key == "skipNodeOperations") return reader.Strings(field, slice.skip_node_operations);
    if (key == "devices") {
      return reader.List(field, slice.devices, [&](auto element, Device& device) {
        return ReadDevice(reader, element, device);
      });
    }
    if (key != "sharedCounters") return true;
    return reader.List(field, slice.shared_counters, [&](auto element, CounterSet& counters) {
      return reader.Object(element, [&](std::string_view name, auto member) {
        if (name == "name") return reader.Sym(member, counters.name);
        return name != "counters" || ReadCounters(reader, member, counters.counters);
      });
    });
  });
}

bool ReadRuleSelector(FieldReader auto& reader, auto value, DeviceTaintRule::Selector& selector) {
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "driver") return ReadOptional(reader, field, selector.driver);
    if (key == "pool") return ReadOptional(reader, field, selector.pool);
    return key != "device" || ReadOptional(reader, field, selector.device);
  });
}

}  // namespace

bool ReadDeviceNodeSelector(FieldReader auto& reader, auto value, DeviceNodeSelectorPtr& selector) {
  selector = nullptr;
  bool is_null = false;
  if (!reader.IsNull(value, is_null) || is_null) return is_null;
  auto read = std::make_shared<DeviceNodeSelector>();
  if (!ReadNodeSelector(reader, value, read->spec)) return false;
  read->compiled = NodeSelector::Compile(read->spec);
  selector = std::move(read);
  return true;
}

bool ReadDeviceSelectors(FieldReader auto& reader, auto value,
                         std::vector<DeviceSelector>& selectors) {
  const auto read_expression = [&](auto object, std::string& expression) {
    return ReadMember(reader, object, "expression",
                      [&](auto text) { return reader.String(text, expression); });
  };
  return reader.List(value, selectors, [&](auto element, DeviceSelector& selector) {
    return ReadMember(reader, element, "cel",
                      [&](auto cel) { return reader.Optional(cel, selector, read_expression); });
  });
}

bool ReadDeviceConfigs(FieldReader auto& reader, auto value, std::vector<DeviceConfig>& configs) {
  return reader.List(value, configs, [&](auto element, DeviceConfig& config) {
    return reader.Object(element, [&](std::string_view key, auto field) {
      if (key == "requests") return reader.Strings(field, config.requests);
      if (key != "opaque") return true;
      bool is_null = false;
      if (!reader.IsNull(field, is_null) || is_null) return is_null;
      return reader.ObjectJson(field, config.opaque);
    });
  });
}

bool ReadField(FieldReader auto& reader, std::string_view key, auto value,
               Draft<ResourceSlice>& draft) {
  if (key == "metadata") return ReadMeta(reader, value, draft.object.meta, KeepAnnotations::kNo);
  return key != "spec" || ReadSliceSpec(reader, value, draft.object);
}

bool ReadField(FieldReader auto& reader, std::string_view key, auto value,
               Draft<DeviceClass>& draft) {
  DeviceClass& device_class = draft.object;
  if (key == "metadata") return ReadMeta(reader, value, device_class.meta, KeepAnnotations::kNo);
  if (key != "spec") return true;
  return reader.Object(value, [&](std::string_view name, auto field) {
    if (name == "selectors") return ReadDeviceSelectors(reader, field, device_class.selectors);
    if (name == "config") return ReadDeviceConfigs(reader, field, device_class.config);
    return name != "extendedResourceName" ||
           reader.String(field, device_class.extended_resource_name);
  });
}

bool ReadField(FieldReader auto& reader, std::string_view key, auto value,
               Draft<DeviceTaintRule>& draft) {
  DeviceTaintRule& rule = draft.object;
  if (key == "metadata") return ReadMeta(reader, value, rule.meta, KeepAnnotations::kNo);
  if (key != "spec") return true;
  return reader.Object(value, [&](std::string_view name, auto field) {
    if (name == "taint") return ReadTaint(reader, field, rule.taint);
    if (name != "deviceSelector") return true;
    return reader.Optional(field, rule.selector,
                           [&](auto object, DeviceTaintRule::Selector& selector) {
                             return ReadRuleSelector(reader, object, selector);
                           });
  });
}

KS_FOR_EACH_READER(ReadDeviceNodeSelector, DeviceNodeSelectorPtr&)
KS_FOR_EACH_READER(ReadDeviceSelectors, std::vector<DeviceSelector>&)
KS_FOR_EACH_READER(ReadDeviceConfigs, std::vector<DeviceConfig>&)
KS_READ_FIELD_FOR_EACH_READER(ResourceSlice)
KS_READ_FIELD_FOR_EACH_READER(DeviceClass)
KS_READ_FIELD_FOR_EACH_READER(DeviceTaintRule)

}  // namespace ks::api
