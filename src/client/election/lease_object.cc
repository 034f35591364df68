// SPDX-License-Identifier: Apache-2.0
#include "client/election/lease_object.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "api/json/encode.h"

namespace ks::client {
namespace {

// Keys in the order of writing, as the reference has them.
using Ordered = nlohmann::ordered_json;

std::string Text(const Ordered& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

int64_t Number(const Ordered& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<int64_t>() : 0;
}

void Write(const LeaseRecord& record, Ordered& spec) {
  const auto time = [](const std::string& text) {
    return text.empty() ? Ordered() : Ordered(text);
  };
  spec["holderIdentity"] = record.holder;
  spec["leaseDurationSeconds"] = record.duration_seconds;
  spec["acquireTime"] = time(record.acquire_time);
  spec["renewTime"] = time(record.renew_time);
  spec["leaseTransitions"] = record.transitions;
}

std::string Dump(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, Ordered::error_handler_t::replace);
}

}  // namespace

Result<LeaseObject> LeaseObject::Parse(std::string_view json) {
  const Ordered object = Ordered::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object() || Text(object, "kind") != "Lease") {
    return Error{"the answer is no Lease"};
  }
  const auto meta = object.find("metadata");
  if (meta == object.end() || !meta->is_object()) return Error{"the Lease has no metadata"};
  LeaseObject lease;
  lease.text_ = json;
  lease.uid_ = Text(*meta, "uid");
  lease.resource_version_ = Text(*meta, "resourceVersion");
  const auto spec = object.find("spec");
  if (spec == object.end() || !spec->is_object()) return lease;
  lease.record_ = {.holder = Text(*spec, "holderIdentity"),
                   .duration_seconds = Number(*spec, "leaseDurationSeconds"),
                   .acquire_time = Text(*spec, "acquireTime"),
                   .renew_time = Text(*spec, "renewTime"),
                   .transitions = Number(*spec, "leaseTransitions"),
                   .preferred_holder = Text(*spec, "preferredHolder")};
  lease.spec_ =
      nlohmann::json(*spec).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return lease;
}

std::string LeaseObject::With(const LeaseRecord& record) const {
  Ordered object = Ordered::parse(text_, nullptr, /*allow_exceptions=*/false);
  Ordered& spec = object["spec"];
  if (!spec.is_object()) spec = Ordered::object();
  Write(record, spec);
  return Dump(object);
}

std::string NewLeaseBody(std::string_view ns, std::string_view name, const LeaseRecord& record) {
  Ordered spec = Ordered::object();
  Write(record, spec);
  return Dump({{"kind", "Lease"},
               {"apiVersion", "coordination.k8s.io/v1"},
               {"metadata", {{"name", name}, {"namespace", ns}}},
               {"spec", std::move(spec)}});
}

std::string LeaseEventBody(const LeaseEvent& event) {
  const std::string now = FormatTime(event.now);
  return Dump(
      {{"kind", "Event"},
       {"apiVersion", "v1"},
       {"metadata", {{"name", api::EventName(event.name, event.now, 0)}, {"namespace", event.ns}}},
       {"involvedObject",
        {{"kind", "Lease"},
         {"namespace", event.ns},
         {"name", event.name},
         {"uid", event.uid},
         {"apiVersion", "coordination.k8s.io/v1"},
         {"resourceVersion", event.resource_version}}},
       {"reason", "LeaderElection"},
       {"message", event.message},
       {"source", {{"component", event.component}}},
       {"firstTimestamp", now},
       {"lastTimestamp", now},
       {"count", 1},
       {"type", "Normal"},
       {"eventTime", nullptr},
       {"reportingComponent", event.component},
       {"reportingInstance", ""}});
}

}  // namespace ks::client
