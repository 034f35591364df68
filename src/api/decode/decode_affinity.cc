// SPDX-License-Identifier: Apache-2.0
// spec.affinity.

#include "api/decode/decode_object.h"

namespace ks::api {

namespace {

constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";

bool ReadNodeTerm(FieldReader auto& reader, auto value, NodeSelectorTerm& term) {
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "matchExpressions") return ReadRequirements(reader, field, term.match_expressions);
    if (key == "matchFields") return ReadRequirements(reader, field, term.match_fields);
    return true;
  });
}

bool ReadPreferredNodeTerm(FieldReader auto& reader, auto value, PreferredSchedulingTerm& term) {
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "weight") return reader.Int32(field, term.weight);
    if (key != "preference") return true;
    term.preference = NodeSelectorTerm();
    return ReadNodeTerm(reader, field, term.preference);
  });
}

bool ReadNodeAffinity(FieldReader auto& reader, auto value, NodeAffinity& affinity) {
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == kRequired) {
      return reader.Optional(field, affinity.required,
                             [&](auto object, NodeSelectorSpec& selector) {
                               return ReadNodeSelector(reader, object, selector);
                             });
    }
    if (key != kPreferred) return true;
    bool is_null = false;
    if (!reader.IsNull(field, is_null)) return false;
    affinity.preferred_present = !is_null;
    affinity.preferred.clear();
    if (is_null) return true;
    return reader.List(field, affinity.preferred, [&](auto element, PreferredSchedulingTerm& term) {
      return ReadPreferredNodeTerm(reader, element, term);
    });
  });
}

bool ReadPodTerm(FieldReader auto& reader, auto value, PodAffinityTerm& term) {
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "labelSelector") {
      return ReadOptionalLabelSelector(reader, field, term.label_selector);
    }
    if (key == "namespaces") return reader.Syms(field, term.namespaces);
    if (key == "namespaceSelector") {
      return ReadOptionalLabelSelector(reader, field, term.namespace_selector);
    }
    if (key == "topologyKey") return reader.Sym(field, term.topology_key);
    return true;
  });
}

bool ReadWeightedPodTerm(FieldReader auto& reader, auto value, WeightedPodAffinityTerm& weighted) {
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "weight") return reader.Int32(field, weighted.weight);
    if (key != "podAffinityTerm") return true;
    weighted.term = PodAffinityTerm();
    return ReadPodTerm(reader, field, weighted.term);
  });
}

bool ReadPodAffinity(FieldReader auto& reader, auto value, PodAffinity& affinity) {
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == kRequired) {
      return reader.List(field, affinity.required, [&](auto element, PodAffinityTerm& term) {
        return ReadPodTerm(reader, element, term);
      });
    }
    if (key != kPreferred) return true;
    return reader.List(field, affinity.preferred, [&](auto element, WeightedPodAffinityTerm& term) {
      return ReadWeightedPodTerm(reader, element, term);
    });
  });
}

}  // namespace

bool ReadNodeSelector(FieldReader auto& reader, auto value, NodeSelectorSpec& selector) {
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key != "nodeSelectorTerms") return true;
    return reader.List(field, selector.terms, [&](auto element, NodeSelectorTerm& term) {
      return ReadNodeTerm(reader, element, term);
    });
  });
}

bool ReadAffinity(FieldReader auto& reader, auto value, PodSpec& spec) {
  spec.node_affinity.reset();
  spec.pod_affinity.reset();
  spec.pod_anti_affinity.reset();
  const auto pod_affinity = [&](auto object, PodAffinity& affinity) {
    return ReadPodAffinity(reader, object, affinity);
  };
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "nodeAffinity") {
      return reader.Optional(field, spec.node_affinity, [&](auto object, NodeAffinity& affinity) {
        return ReadNodeAffinity(reader, object, affinity);
      });
    }
    if (key == "podAffinity") return reader.Optional(field, spec.pod_affinity, pod_affinity);
    if (key == "podAntiAffinity") {
      return reader.Optional(field, spec.pod_anti_affinity, pod_affinity);
    }
    return true;
  });
}

KS_FOR_EACH_READER(ReadNodeSelector, NodeSelectorSpec&)
KS_FOR_EACH_READER(ReadAffinity, PodSpec&)

}  // namespace ks::api
