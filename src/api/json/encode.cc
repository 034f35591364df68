// SPDX-License-Identifier: Apache-2.0
#include "api/json/encode.h"

#include <algorithm>
#include <type_traits>

#include <fmt/format.h>

#include "api/json/event_reference.h"
#include "api/json/object_writer.h"
#include "golang/json_text.h"

namespace ks::api {

namespace {

std::string TimeJson(const std::optional<TimePoint>& time) {
  return time ? golang::JsonString(FormatTime(*time)) : "null";
}

// A new element of the conditions list: every field that is not empty. Keys in order.
std::string NewCondition(const Condition& condition) {
  ObjectWriter object;
  object.Raw("lastProbeTime", TimeJson(condition.last_probe_time));
  object.Raw("lastTransitionTime", TimeJson(condition.last_transition_time));
  object.TextUnlessEmpty("message", condition.message);
  if (condition.observed_generation != 0) {
    object.Number("observedGeneration", condition.observed_generation);
  }
  object.TextUnlessEmpty("reason", condition.reason);
  object.Text("status", condition.status);
  object.Text("type", condition.type);
  return object.Done();
}

// null deletes a field that the new value does not have.
void TextDifference(ObjectWriter& object, std::string_view key, const std::string& from,
                    const std::string& to) {
  if (from == to) return;
  if (to.empty()) {
    object.Raw(key, "null");
  } else {
    object.Text(key, to);
  }
}

void TimeDifference(ObjectWriter& object, std::string_view key,
                    const std::optional<TimePoint>& from, const std::optional<TimePoint>& to) {
  const std::string json = TimeJson(to);
  if (TimeJson(from) != json) object.Raw(key, json);
}

// The changed fields of an element; empty when nothing that counts has changed.
std::string ChangedCondition(const Condition& from, const Condition& to) {
  const bool same_status = from.status == to.status;
  if (same_status && from.reason == to.reason && from.message == to.message &&
      from.last_probe_time == to.last_probe_time) {
    return "";
  }
  ObjectWriter object;
  TimeDifference(object, "lastProbeTime", from.last_probe_time, to.last_probe_time);
  if (!same_status) {
    TimeDifference(object, "lastTransitionTime", from.last_transition_time,
                   to.last_transition_time);
  }
  TextDifference(object, "message", from.message, to.message);
  if (from.observed_generation != to.observed_generation) {
    if (to.observed_generation == 0) {
      object.Raw("observedGeneration", "null");
    } else {
      object.Number("observedGeneration", to.observed_generation);
    }
  }
  TextDifference(object, "reason", from.reason, to.reason);
  TextDifference(object, "status", from.status, to.status);
  if (object.Empty()) return "";  // times that differ by less than what is written
  object.Text("type", to.type);
  return object.Done();
}

// The types of all conditions in the order after the patch.
std::string ConditionOrder(const std::vector<std::string>& types, const std::string& patched) {
  std::string text = "[";
  const auto add = [&](const std::string& type) {
    if (text.size() > 1) text += ',';
    text += ObjectWriter().Text("type", type).Done();
  };
  for (const std::string& type : types) add(type);
  if (std::ranges::count(types, patched) == 0) add(patched);
  return text + "]";
}

// The list with the changed or new element, as a strategic merge patch names it.
void ListDifference(ObjectWriter& status, const std::vector<std::string>& types,
                    const std::string& patched, const std::string& element) {
  if (element.empty()) return;
  if (!types.empty()) status.Raw("$setElementOrder/conditions", ConditionOrder(types, patched));
  status.Raw("conditions", "[" + element + "]");
}

void ConditionDifference(ObjectWriter& status, const Pod& pod, const Condition& wanted) {
  const Condition* const current = pod.FindCondition(wanted.type);
  ListDifference(status, pod.status.conditions->types(), wanted.type,
                 current == nullptr ? NewCondition(wanted) : ChangedCondition(*current, wanted));
}

// A condition of the newer kind: the message is written also when it is empty.
std::string GroupConditionDifference(const Condition* from, const Condition& to) {
  ObjectWriter object;
  if (from == nullptr || from->status != to.status) {
    object.Raw("lastTransitionTime", TimeJson(to.last_transition_time));
  }
  if (from == nullptr || from->message != to.message) object.Text("message", to.message);
  if ((from == nullptr ? 0 : from->observed_generation) != to.observed_generation) {
    object.Number("observedGeneration", to.observed_generation);
  }
  if (from == nullptr || from->reason != to.reason) object.Text("reason", to.reason);
  if (from == nullptr || from->status != to.status) object.Text("status", to.status);
  return object.Empty() ? "" : object.Text("type", to.type).Done();
}

std::string ReferenceJson(const EventReference& reference) {
  return ObjectWriter()
      .Text("kind", reference.kind)
      .TextUnlessEmpty("namespace", reference.meta->ns.view())
      .TextUnlessEmpty("name", reference.meta->name)
      .TextUnlessEmpty("uid", reference.meta->uid)
      .Text("apiVersion", reference.api_version)
      .TextUnlessEmpty("resourceVersion", reference.meta->resource_version)
      .Done();
}

std::string MappingJson(const ExtendedResourceMapping& mapping) {
  return ObjectWriter()
      .Text("containerName", mapping.container)
      .Text("resourceName", mapping.resource)
      .Text("requestName", mapping.request)
      .Done();
}

std::string ExtendedClaimStatusJson(const ExtendedResourceClaimStatus& status) {
  return ObjectWriter()
      .Raw("requestMappings", ListJson(status.mappings, MappingJson))
      .Text("resourceClaimName", status.claim_name)
      .Done();
}

std::string SeriesJson(int32_t count, TimePoint last_observed) {
  return ObjectWriter()
      .Number("count", count)
      .Text("lastObservedTime", FormatMicroTime(last_observed))
      .Done();
}

}  // namespace

std::string BindingBody(const Pod& pod, std::string_view node_name) {
  const std::string metadata = ObjectWriter()
                                   .TextUnlessEmpty("name", pod.meta.name)
                                   .TextUnlessEmpty("namespace", pod.meta.ns.view())
                                   .TextUnlessEmpty("uid", pod.meta.uid)
                                   .Done();
  const std::string target =
      ObjectWriter().Text("kind", "Node").TextUnlessEmpty("name", node_name).Done();
  return ObjectWriter()
      .Text("kind", "Binding")
      .Text("apiVersion", "v1")
      .Raw("metadata", metadata)
      .Raw("target", target)
      .Done();
}

std::string PodStatusPatch(const Pod& pod, const PodStatusChange& change) {
  ObjectWriter status;
  if (change.condition) ConditionDifference(status, pod, *change.condition);
  if (change.nominated_node_name) {
    TextDifference(status, "nominatedNodeName", pod.status.nominated_node_name.str(),
                   *change.nominated_node_name);
  }
  if (change.extended_resource_claim) {
    status.Raw("extendedResourceClaimStatus",
               ExtendedClaimStatusJson(*change.extended_resource_claim));
  }
  if (status.Empty()) return "";
  return ObjectWriter().Raw("status", status.Done()).Done();
}

std::string PodGroupStatusPatch(const PodGroup& group, const Condition& condition) {
  const Condition* current = nullptr;
  std::vector<std::string> types;
  for (const Condition& known : group.conditions) {
    if (known.type == condition.type) current = &known;
    types.push_back(known.type);
  }
  ObjectWriter status;
  ListDifference(status, types, condition.type, GroupConditionDifference(current, condition));
  return status.Empty() ? "" : ObjectWriter().Raw("status", status.Done()).Done();
}

std::string DeleteOptionsBody(std::string_view uid) {
  return ObjectWriter()
      .Text("kind", "DeleteOptions")
      .Text("apiVersion", "v1")
      .Raw("preconditions", ObjectWriter().Text("uid", uid).Done())
      .Done();
}

const ObjectMeta* MetaOf(const EventRelated& related) {
  return std::visit(
      [](const auto& object) -> const ObjectMeta* {
        if constexpr (std::is_same_v<decltype(object), const std::monostate&>) {
          return nullptr;
        } else {
          return object == nullptr ? nullptr : &object->meta;
        }
      },
      related);
}

EventReference ReferenceTo(const EventRelated& object) {
  const ObjectMeta* const meta = MetaOf(object);
  if (std::holds_alternative<PodGroupPtr>(object)) {
    return {"PodGroup", "scheduling.k8s.io/v1beta1", meta};
  }
  if (std::holds_alternative<CompositePodGroupPtr>(object)) {
    return {"CompositePodGroup", "scheduling.k8s.io/v1alpha3", meta};
  }
  return {"Pod", "v1", meta};
}

std::string EventBody(const EventRecord& event) {
  ObjectWriter object;
  object.Text("kind", "Event").Text("apiVersion", "events.k8s.io/v1");
  object.Raw(
      "metadata",
      ObjectWriter().Text("name", event.name).Text("namespace", EventNamespaceOf(event)).Done());
  object.Text("eventTime", FormatMicroTime(event.event_time));
  if (event.series_count > 0) {
    object.Raw("series", SeriesJson(event.series_count, event.series_last_observed));
  }
  object.TextUnlessEmpty("reportingController", event.reporting_controller);
  object.TextUnlessEmpty("reportingInstance", event.reporting_instance);
  object.TextUnlessEmpty("action", event.action).TextUnlessEmpty("reason", event.reason);
  const EventReference regarding = ReferenceTo(event.regarding);
  if (regarding.meta != nullptr) object.Raw("regarding", ReferenceJson(regarding));
  const EventReference related = ReferenceTo(event.related);
  if (related.meta != nullptr) object.Raw("related", ReferenceJson(related));
  object.TextUnlessEmpty("note", event.note).Text("type", EventTypeOf(event));
  object.Raw("deprecatedSource", "{}");
  object.Raw("deprecatedFirstTimestamp", "null").Raw("deprecatedLastTimestamp", "null");
  return object.Done();
}

std::string EventSeriesPatch(int32_t count, TimePoint last_observed) {
  return ObjectWriter().Raw("series", SeriesJson(count, last_observed)).Done();
}

}  // namespace ks::api
