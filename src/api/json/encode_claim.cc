// SPDX-License-Identifier: Apache-2.0
#include "api/json/encode_claim.h"

#include <string_view>

#include "api/json/object_writer.h"
#include "golang/json_text.h"

namespace ks::api {
namespace {

void AddUnlessEmpty(ObjectWriter& object, std::string_view key,
                    const std::vector<std::string>& texts) {
  if (!texts.empty()) object.Raw(key, StringsJson(texts));
}

// `write` makes JSON of an element.
template <class T, class Write>
void AddListUnlessEmpty(ObjectWriter& object, std::string_view key, const std::vector<T>& list,
                        Write write) {
  if (!list.empty()) object.Raw(key, ListJson(list, write));
}

void AddTime(ObjectWriter& object, std::string_view key, const std::optional<TimePoint>& time) {
  if (time) object.Text(key, FormatTime(*time));
}

// ---- an allocation ----

std::string TolerationJson(const DeviceToleration& toleration) {
  ObjectWriter object;
  object.TextUnlessEmpty("key", toleration.key.view()).TextUnlessEmpty("operator", toleration.op);
  object.TextUnlessEmpty("value", toleration.value.view());
  object.TextUnlessEmpty("effect", toleration.effect.view());
  if (toleration.seconds) object.Number("tolerationSeconds", *toleration.seconds);
  return object.Done();
}

std::string QuantitiesJson(const std::vector<NamedQuantity>& quantities) {
  ObjectWriter object;
  for (const NamedQuantity& quantity : quantities) {
    object.Text(quantity.name.view(), quantity.value.ToString());
  }
  return object.Done();
}

std::string ResultJson(const DeviceResult& result) {
  ObjectWriter object;
  object.Text("request", result.request).Text("driver", result.driver.view());
  object.Text("pool", result.pool.view()).Text("device", result.device.view());
  if (result.admin_access) object.Raw("adminAccess", "true");
  if (!result.tolerations.empty()) {
    object.Raw("tolerations", ListJson(result.tolerations, TolerationJson));
  }
  AddUnlessEmpty(object, "bindingConditions", result.binding_conditions);
  AddUnlessEmpty(object, "bindingFailureConditions", result.binding_failure_conditions);
  object.TextUnlessEmpty("shareID", result.share_id);
  if (!result.consumed_capacity.empty()) {
    object.Raw("consumedCapacity", QuantitiesJson(result.consumed_capacity));
  }
  AddUnlessEmpty(object, "skipNodeOperations", result.skip_node_operations);
  return object.Done();
}

std::string ConfigJson(const DeviceConfig& config) {
  ObjectWriter object;
  object.TextUnlessEmpty("source", config.source);
  AddUnlessEmpty(object, "requests", config.requests);
  if (!config.opaque.empty()) object.Raw("opaque", config.opaque);
  return object.Done();
}

std::string RequirementJson(const SelectorRequirement& requirement) {
  ObjectWriter object;
  object.Text("key", requirement.key).Text("operator", requirement.op);
  AddUnlessEmpty(object, "values", requirement.values);
  return object.Done();
}

std::string TermJson(const NodeSelectorTerm& term) {
  ObjectWriter object;
  if (!term.match_expressions.empty()) {
    object.Raw("matchExpressions", ListJson(term.match_expressions, RequirementJson));
  }
  if (!term.match_fields.empty()) {
    object.Raw("matchFields", ListJson(term.match_fields, RequirementJson));
  }
  return object.Done();
}

std::string DevicesJson(const ClaimAllocation& allocation) {
  ObjectWriter object;
  if (!allocation.results.empty()) object.Raw("results", ListJson(allocation.results, ResultJson));
  if (!allocation.config.empty()) object.Raw("config", ListJson(allocation.config, ConfigJson));
  return object.Done();
}

std::string ConsumerJson(const ClaimConsumer& consumer) {
  return ObjectWriter()
      .TextUnlessEmpty("apiGroup", consumer.api_group)
      .Text("resource", consumer.resource)
      .Text("name", consumer.name)
      .Text("uid", consumer.uid)
      .Done();
}

std::string OwnerJson(const OwnerReference& owner) {
  ObjectWriter object;
  object.Text("apiVersion", owner.api_version).Text("kind", owner.kind);
  object.Text("name", owner.name).Text("uid", owner.uid);
  if (owner.controller) object.Raw("controller", "true");
  return object.Done();
}

// ---- a whole claim ----

std::string SelectorJson(const DeviceSelector& selector) {
  ObjectWriter object;
  if (selector) object.Raw("cel", ObjectWriter().Text("expression", *selector).Done());
  return object.Done();
}

std::string DerivedJson(const DerivedAttribute& derived) {
  return ObjectWriter().Text("name", derived.name).Text("expression", derived.expression).Done();
}

std::string ExactRequestJson(const ExactDeviceRequest& request) {
  ObjectWriter object;
  object.TextUnlessEmpty("name", request.name);
  object.TextUnlessEmpty("deviceClassName", request.device_class_name.view());
  AddListUnlessEmpty(object, "selectors", request.selectors, SelectorJson);
  object.TextUnlessEmpty("allocationMode", request.allocation_mode);
  object.Number("count", request.count);
  if (request.admin_access) object.Raw("adminAccess", *request.admin_access ? "true" : "false");
  AddListUnlessEmpty(object, "tolerations", request.tolerations, TolerationJson);
  if (request.has_capacity) {
    object.Raw("capacity", ObjectWriter().Raw("requests", QuantitiesJson(request.capacity)).Done());
  }
  AddListUnlessEmpty(object, "derivedAttributes", request.derived_attributes, DerivedJson);
  return object.Done();
}

std::string ConstraintJson(const DeviceConstraint& constraint) {
  ObjectWriter object;
  AddUnlessEmpty(object, "requests", constraint.requests);
  if (constraint.match_attribute) object.Text("matchAttribute", *constraint.match_attribute);
  if (constraint.distinct_attribute) {
    object.Text("distinctAttribute", *constraint.distinct_attribute);
  }
  return object.Done();
}

std::string DeviceConditionJson(const Condition& condition) {
  ObjectWriter object;
  object.Text("type", condition.type).Text("status", condition.status);
  object.TextUnlessEmpty("reason", condition.reason);
  object.TextUnlessEmpty("message", condition.message);
  AddTime(object, "lastProbeTime", condition.last_probe_time);
  AddTime(object, "lastTransitionTime", condition.last_transition_time);
  object.Number("observedGeneration", condition.observed_generation);
  return object.Done();
}

std::string DeviceStatusJson(const AllocatedDeviceStatus& status) {
  ObjectWriter object;
  object.Text("driver", status.driver.view()).Text("pool", status.pool.view());
  object.Text("device", status.device.view());
  AddListUnlessEmpty(object, "conditions", status.conditions, DeviceConditionJson);
  return object.Done();
}

std::string MetaJson(const ResourceClaim& claim) {
  const ObjectMeta& meta = claim.meta;
  ObjectWriter object;
  object.Text("name", meta.name).Text("namespace", meta.ns.view()).Text("uid", meta.uid);
  object.Text("resourceVersion", meta.resource_version).Number("generation", meta.generation);
  ObjectWriter labels;
  for (const auto& [key, value] : meta.labels) labels.Text(key.view(), value.view());
  if (!labels.Empty()) object.Raw("labels", labels.Done());
  if (claim.for_extended_resources) {
    object.Raw("annotations", ObjectWriter().Text(kExtendedResourceClaimAnnotation, "true").Done());
  }
  AddTime(object, "creationTimestamp", meta.creation_timestamp);
  AddTime(object, "deletionTimestamp", meta.deletion_timestamp);
  AddListUnlessEmpty(object, "ownerReferences", *meta.owner_references, OwnerJson);
  AddUnlessEmpty(object, "finalizers", claim.finalizers);
  return object.Done();
}

std::string SpecJson(const ResourceClaim& claim) {
  ObjectWriter devices;
  AddListUnlessEmpty(devices, "requests", claim.requests, RequestJson);
  AddListUnlessEmpty(devices, "constraints", claim.constraints, ConstraintJson);
  AddListUnlessEmpty(devices, "config", claim.config, ConfigJson);
  return ObjectWriter().Raw("devices", devices.Done()).Done();
}

std::string StatusJson(const ResourceClaim& claim) {
  ObjectWriter status;
  if (claim.allocation) {
    status.Raw("allocation", AllocationJson(claim.allocation.get(), std::nullopt));
  }
  AddListUnlessEmpty(status, "reservedFor", claim.reserved_for, ConsumerJson);
  AddListUnlessEmpty(status, "devices", claim.devices, DeviceStatusJson);
  return status.Done();
}

}  // namespace

std::string StringsJson(const std::vector<std::string>& texts) {
  return ListJson(texts, golang::JsonString);
}

std::string OwnersJson(const std::vector<OwnerReference>& owners) {
  return ListJson(owners, OwnerJson);
}

std::string RequestJson(const DeviceRequest& request) {
  ObjectWriter object;
  object.Text("name", request.name);
  if (request.exactly) object.Raw("exactly", ExactRequestJson(*request.exactly));
  AddListUnlessEmpty(object, "firstAvailable", request.first_available, ExactRequestJson);
  return object.Done();
}

std::string ConstraintsJson(const std::vector<DeviceConstraint>& constraints) {
  return ListJson(constraints, ConstraintJson);
}

std::string ConsumersJson(const std::vector<ClaimConsumer>& consumers) {
  return ListJson(consumers, ConsumerJson);
}

std::string AllocationJson(const ClaimAllocation* allocation, std::optional<TimePoint> timestamp) {
  ObjectWriter object;
  if (allocation != nullptr) {
    object.Raw("devices", DevicesJson(*allocation));
    if (allocation->node_selector) {
      const std::vector<NodeSelectorTerm>& terms = allocation->node_selector->spec.terms;
      object.Raw("nodeSelector",
                 ObjectWriter().Raw("nodeSelectorTerms", ListJson(terms, TermJson)).Done());
    }
    if (!timestamp) timestamp = allocation->timestamp;
  }
  AddTime(object, "allocationTimestamp", timestamp);
  return object.Empty() ? std::string() : object.Done();
}

std::string ClaimJson(const ResourceClaim& claim) {
  return ObjectWriter()
      .Raw("metadata", MetaJson(claim))
      .Raw("spec", SpecJson(claim))
      .Raw("status", StatusJson(claim))
      .Done();
}

}  // namespace ks::api
