// SPDX-License-Identifier: Apache-2.0
// Pods: spec, status and the sharing of equal specs.

#include <functional>

#include "api/decode/decode_object.h"
#include "api/decode/pod_annotations.h"

namespace ks::api {

namespace {

bool ReadToleration(FieldReader auto& reader, auto value, Toleration& toleration) {
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "key") return reader.Sym(field, toleration.key);
    if (key == "operator") return reader.String(field, toleration.op);
    if (key == "value") return reader.Sym(field, toleration.value);
    if (key == "effect") return reader.Sym(field, toleration.effect);
    return true;
  });
}

bool ReadSpread(FieldReader auto& reader, auto value, TopologySpreadConstraint& constraint) {
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "maxSkew") return reader.Int32(field, constraint.max_skew);
    if (key == "topologyKey") return reader.Sym(field, constraint.topology_key);
    if (key == "whenUnsatisfiable") return reader.String(field, constraint.when_unsatisfiable);
    if (key == "labelSelector") {
      return ReadOptionalLabelSelector(reader, field, constraint.label_selector);
    }
    if (key == "minDomains") {
      return reader.Optional(field, constraint.min_domains,
                             [&](auto number, int32_t& out) { return reader.Int32(number, out); });
    }
    if (key == "nodeAffinityPolicy") return reader.String(field, constraint.node_affinity_policy);
    if (key == "nodeTaintsPolicy") return reader.String(field, constraint.node_taints_policy);
    if (key == "matchLabelKeys") return reader.Strings(field, constraint.match_label_keys);
    return true;
  });
}

bool ReadPodClaim(FieldReader auto& reader, auto value, PodResourceClaim& claim) {
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "name") return reader.String(field, claim.name);
    if (key == "resourceClaimName") return reader.String(field, claim.resource_claim_name);
    if (key == "resourceClaimTemplateName") {
      return reader.String(field, claim.resource_claim_template_name);
    }
    return true;
  });
}

bool ReadOptionalText(FieldReader auto& reader, auto value, std::optional<std::string>& out) {
  return reader.Optional(value, out,
                         [&](auto text, std::string& s) { return reader.String(text, s); });
}

bool ReadOptionalResources(FieldReader auto& reader, auto value, std::optional<ResourceList>& out) {
  return reader.Optional(value, out,
                         [&](auto map, ResourceList& list) { return reader.Resources(map, list); });
}

// The requests of a resources object, as absent as they are in it.
bool ReadRequests(FieldReader auto& reader, auto value, std::optional<ResourceList>& requests) {
  requests.reset();
  return reader.Object(value, [&](std::string_view key, auto field) {
    return key != "requests" || ReadOptionalResources(reader, field, requests);
  });
}

// spec.resources.
bool ReadPodResources(FieldReader auto& reader, auto value, PodSpec& spec) {
  spec.resource_requests.reset();
  spec.resource_limits = {};
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "requests") return ReadOptionalResources(reader, field, spec.resource_requests);
    return key != "limits" || reader.Resources(field, spec.resource_limits);
  });
}

// An object of which one text is read, under `wanted`.
bool ReadOnly(FieldReader auto& reader, auto value, std::string_view wanted,
              std::optional<std::string>& out) {
  out.reset();
  return reader.Object(value, [&](std::string_view key, auto field) {
    return key != wanted || ReadOptionalText(reader, field, out);
  });
}

bool ReadGate(FieldReader auto& reader, auto value, std::string& name) {
  return reader.Object(value, [&](std::string_view key, auto field) {
    return key != "name" || reader.String(field, name);
  });
}

bool ReadNodeSelectorMap(FieldReader auto& reader, auto value, PodSpec& spec) {
  bool is_null = false;
  if (!reader.IsNull(value, is_null)) return false;
  spec.node_selector_present = !is_null;
  spec.node_selector = LabelMap();
  return is_null || reader.SymMap(value, spec.node_selector);
}

bool ReadContainerStatus(FieldReader auto& reader, auto value, ContainerStatus& status) {
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "name") return reader.String(field, status.name);
    if (key == "allocatedResources") {
      return ReadOptionalResources(reader, field, status.allocated_resources);
    }
    if (key == "resources") return ReadRequests(reader, field, status.resources_requests);
    return true;
  });
}

// Entries without resources are dropped.
bool ReadContainerStatuses(FieldReader auto& reader, auto value,
                           std::vector<ContainerStatus>& statuses) {
  statuses.clear();
  const bool ok = reader.Array(value, [&](auto element) {
    ContainerStatus status;
    if (!ReadContainerStatus(reader, element, status)) return false;
    if (status.allocated_resources || status.resources_requests) {
      statuses.push_back(std::move(status));
    }
    return true;
  });
  statuses.shrink_to_fit();
  return ok;
}

bool ReadClaimStatus(FieldReader auto& reader, auto value, PodResourceClaimStatus& status) {
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "name") return reader.String(field, status.name);
    if (key == "resourceClaimName") {
      return ReadOptionalText(reader, field, status.resource_claim_name);
    }
    return true;
  });
}

// spec fields that only a few pods have.
bool ReadRareSpecField(FieldReader auto& reader, std::string_view key, auto field, PodSpec& spec) {
  if (key == "schedulingGates") {
    return reader.List(field, spec.scheduling_gates, [&](auto element, std::string& name) {
      return ReadGate(reader, element, name);
    });
  }
  if (key == "schedulingGroup") {
    return ReadOnly(reader, field, "podGroupName", spec.scheduling_group);
  }
  if (key == "topologySpreadConstraints") {
    return reader.List(
        field, spec.topology_spread_constraints,
        [&](auto element, TopologySpreadConstraint& c) { return ReadSpread(reader, element, c); });
  }
  if (key == "ephemeralContainers") {
    return ReadBindMountOptions(reader, field, spec.ephemeral_bind_mount_options);
  }
  if (key == "overhead") return reader.Resources(field, spec.overhead);
  if (key == "resources") return ReadPodResources(reader, field, spec);
  if (key == "resourceClaims") return ReadPodClaims(reader, field, spec.resource_claims);
  if (key == "hostNetwork") return reader.Bool(field, spec.host_network);
  if (key == "hostUsers") {
    return reader.Optional(field, spec.host_users,
                           [&](auto b, bool& out) { return reader.Bool(b, out); });
  }
  return true;
}

void Mix(size_t& hash, size_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL + (hash >> 29);
}
void Mix(size_t& hash, std::string_view text) { Mix(hash, std::hash<std::string_view>()(text)); }
void Mix(size_t& hash, const ResourceList& list) {
  for (const auto& [name, quantity] : list) {
    Mix(hash, name.id());
    Mix(hash, static_cast<size_t>(quantity.MilliValue()));
  }
}
void Mix(size_t& hash, const std::optional<LabelSelectorSpec>& selector) {
  if (!selector) return;
  for (const auto& [key, value] : selector->match_labels) {
    Mix(hash, key);
    Mix(hash, value);
  }
  Mix(hash, selector->match_expressions.size());
}
void Mix(size_t& hash, const std::optional<PodAffinity>& affinity) {
  if (!affinity) return;
  for (const PodAffinityTerm& term : affinity->required) {
    Mix(hash, term.topology_key.id());
    Mix(hash, term.label_selector);
  }
  for (const WeightedPodAffinityTerm& weighted : affinity->preferred) {
    Mix(hash, weighted.term.topology_key.id());
    Mix(hash, weighted.term.label_selector);
  }
}

// A hash over what usually tells templates apart. Equal specs have equal hashes.
size_t HashOf(const PodSpec& spec) {
  size_t hash = spec.scheduler_name.id();
  Mix(hash, static_cast<size_t>(spec.priority.value_or(0)));
  for (const auto* const containers : {&spec.containers, &spec.init_containers}) {
    for (const Container& container : *containers) {
      Mix(hash, container.name);
      Mix(hash, container.image);
      Mix(hash, container.requests);
      Mix(hash, container.limits);
    }
  }
  for (const auto& [key, value] : spec.node_selector) Mix(hash, key.id() * 31 + value.id());
  for (const Toleration& toleration : spec.tolerations) Mix(hash, toleration.key.id());
  for (const TopologySpreadConstraint& constraint : spec.topology_spread_constraints) {
    Mix(hash, constraint.topology_key.id());
    Mix(hash, constraint.label_selector);
  }
  Mix(hash, spec.pod_affinity);
  Mix(hash, spec.pod_anti_affinity);
  for (const Volume& volume : spec.volumes) Mix(hash, volume.id);
  return hash;
}

}  // namespace

bool ReadPodClaims(FieldReader auto& reader, auto value, std::vector<PodResourceClaim>& claims) {
  return reader.List(value, claims, [&](auto element, PodResourceClaim& claim) {
    return ReadPodClaim(reader, element, claim);
  });
}

bool ReadPodClaimStatuses(FieldReader auto& reader, auto value,
                          std::vector<PodResourceClaimStatus>& statuses) {
  return reader.List(value, statuses, [&](auto element, PodResourceClaimStatus& status) {
    return ReadClaimStatus(reader, element, status);
  });
}

bool ReadPodSpec(FieldReader auto& reader, auto value, PodSpec& spec, std::string& node_name) {
  spec = PodSpec();
  node_name.clear();
  const auto container = [&](auto element, Container& out) {
    return ReadContainer(reader, element, out);
  };
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "nodeName") return reader.String(field, node_name);
    if (key == "schedulerName") return reader.Sym(field, spec.scheduler_name);
    if (key == "priority") {
      return reader.Optional(field, spec.priority,
                             [&](auto number, int32_t& out) { return reader.Int32(number, out); });
    }
    if (key == "preemptionPolicy") return reader.Sym(field, spec.preemption_policy);
    if (key == "nodeSelector") return ReadNodeSelectorMap(reader, field, spec);
    if (key == "affinity") return ReadAffinity(reader, field, spec);
    if (key == "tolerations") {
      return reader.List(field, spec.tolerations, [&](auto element, Toleration& t) {
        return ReadToleration(reader, element, t);
      });
    }
    if (key == "containers") return reader.List(field, spec.containers, container);
    if (key == "initContainers") return reader.List(field, spec.init_containers, container);
    if (key == "volumes") {
      return reader.List(field, spec.volumes, [&](auto element, Volume& volume) {
        return ReadVolume(reader, element, volume);
      });
    }
    return ReadRareSpecField(reader, key, field, spec);
  });
}

bool ReadPodStatus(FieldReader auto& reader, auto value, PodStatus& status) {
  status = PodStatus();
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "phase") return reader.String(field, status.phase);
    if (key == "nominatedNodeName") return reader.String(field, status.nominated_node_name);
    if (key == "conditions") {
      return reader.List(field, status.conditions, [&](auto element, Condition& c) {
        return ReadCondition(reader, element, c);
      });
    }
    if (key == "startTime") return reader.Time(field, status.start_time);
    if (key == "containerStatuses") {
      return ReadContainerStatuses(reader, field, status.container_statuses);
    }
    if (key == "initContainerStatuses") {
      return ReadContainerStatuses(reader, field, status.init_container_statuses);
    }
    if (key == "allocatedResources") {
      return ReadOptionalResources(reader, field, status.allocated_resources);
    }
    if (key == "resources") {
      bool is_null = false;
      if (!reader.IsNull(field, is_null)) return false;
      status.resources_present = !is_null;
      status.resources_requests.reset();
      return is_null || ReadRequests(reader, field, status.resources_requests);
    }
    if (key == "resourceClaimStatuses") {
      return ReadPodClaimStatuses(reader, field, status.resource_claim_statuses);
    }
    if (key == "extendedResourceClaimStatus") {
      return ReadOnly(reader, field, "resourceClaimName", status.extended_resource_claim_name);
    }
    return true;
  });
}

bool ReadField(FieldReader auto& reader, std::string_view key, auto value, Draft<Pod>& draft) {
  if (key == "metadata") {
    const auto keep = KeepsPodAnnotations() ? KeepAnnotations::kYes : KeepAnnotations::kNo;
    return ReadMeta(reader, value, draft.object.meta, keep);
  }
  if (key == "spec") return ReadPodSpec(reader, value, draft.spec, draft.object.node_name);
  if (key == "status") return ReadPodStatus(reader, value, draft.object.status);
  return true;
}

// A weak pointer keeps the control block, so that the spec must not live inside it (no
// make_shared).
std::shared_ptr<const PodSpec> SpecCache::Share(PodSpec&& spec) {
  if (slots_.empty()) slots_.resize(kSlots);
  std::weak_ptr<const PodSpec>& slot = slots_[HashOf(spec) % kSlots];
  if (std::shared_ptr<const PodSpec> known = slot.lock(); known && *known == spec) return known;
  std::shared_ptr<const PodSpec> shared(new PodSpec(std::move(spec)));
  slot = shared;
  return shared;
}

KS_FOR_EACH_READER(ReadPodClaims, std::vector<PodResourceClaim>&)
KS_FOR_EACH_READER(ReadPodClaimStatuses, std::vector<PodResourceClaimStatus>&)
KS_FOR_EACH_READER(ReadPodSpec, PodSpec&, std::string&)
KS_FOR_EACH_READER(ReadPodStatus, PodStatus&)
KS_READ_FIELD_FOR_EACH_READER(Pod)

}  // namespace ks::api
