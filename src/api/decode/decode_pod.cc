// SPDX-License-Identifier: Apache-2.0
// Pods: spec and status.

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

bool ReadResourceStatus(FieldReader auto& reader, auto value, PodResourceStatus& status) {
  bool is_null = false;
  if (!reader.IsNull(value, is_null)) return false;
  status.present = !is_null;
  status.requests.reset();
  return is_null || ReadRequests(reader, value, status.requests);
}

bool ReadConditions(FieldReader auto& reader, auto value, PodConditions& conditions) {
  conditions = PodConditions();
  return reader.Array(value, [&](auto element) {
    Condition condition;
    if (!ReadCondition(reader, element, condition)) return false;
    conditions.Add(std::move(condition));
    return true;
  });
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

bool ReadPodSpec(FieldReader auto& reader, auto value, PodSpec& spec, Symbol& node_name) {
  spec = PodSpec();
  node_name = Symbol();
  const auto container = [&](auto element, Container& out) {
    return ReadContainer(reader, element, out);
  };
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "nodeName") return reader.Sym(field, node_name);
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

bool ReadPodStatus(FieldReader auto& reader, auto value, Draft<Pod>& draft) {
  PodStatus& status = draft.object.status;
  PodResourceStatus& resources = draft.resources;
  status = PodStatus();
  resources = PodResourceStatus();
  draft.conditions = PodConditions();
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "phase") return reader.Sym(field, status.phase);
    if (key == "nominatedNodeName") return reader.Sym(field, status.nominated_node_name);
    if (key == "conditions") return ReadConditions(reader, field, draft.conditions);
    if (key == "startTime") return reader.Time(field, status.start_time);
    if (key == "containerStatuses") {
      return ReadContainerStatuses(reader, field, resources.containers);
    }
    if (key == "initContainerStatuses") {
      return ReadContainerStatuses(reader, field, resources.init_containers);
    }
    if (key == "allocatedResources") {
      return ReadOptionalResources(reader, field, resources.allocated);
    }
    if (key == "resources") return ReadResourceStatus(reader, field, resources);
    if (key == "resourceClaimStatuses") {
      return ReadPodClaimStatuses(reader, field, status.claims.Mutable().resource_claims);
    }
    if (key == "extendedResourceClaimStatus") {
      return ReadOnly(reader, field, "resourceClaimName",
                      status.claims.Mutable().extended_resource_claim_name);
    }
    return true;
  });
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

bool ReadField(FieldReader auto& reader, std::string_view key, auto value, Draft<Pod>& draft) {
  if (key == "metadata") {
    const auto keep = KeepsPodAnnotations() ? KeepAnnotations::kYes : KeepAnnotations::kNo;
    return ReadMeta(reader, value, draft.object.meta, keep);
  }
  if (key == "spec") return ReadPodSpec(reader, value, draft.spec, draft.object.node_name);
  if (key == "status") return ReadPodStatus(reader, value, draft);
  return true;
}

KS_FOR_EACH_READER(ReadPodClaims, std::vector<PodResourceClaim>&)
KS_FOR_EACH_READER(ReadPodClaimStatuses, std::vector<PodResourceClaimStatus>&)
KS_READ_FIELD_FOR_EACH_READER(Pod)

}  // namespace ks::api
