// SPDX-License-Identifier: Apache-2.0
#include "inspect/explain_claims.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "plugins/volume_binding/classify.h"
#include "plugins/volume_binding/reasons.h"
#include "plugins/volume_binding/static_match.h"
#include "plugins/volume_binding/volume_affinity.h"

namespace ks::inspect {
namespace {

using framework::NodeInfo;

constexpr size_t kNamesShown = 3;
constexpr std::string_view kNoProvisioner = "kubernetes.io/no-provisioner";

std::string Named(const api::PersistentVolumeClaim& claim) { return "claim " + claim.meta.Key(); }

// "claim ns/data needs 10Gi of class fast".
std::string Need(const api::PersistentVolumeClaim& claim) {
  return Named(claim) + " needs " + (claim.requested ? claim.requested->ToString() : "a volume") +
         " of class " + claim.StorageClass().str();
}

bool MakesVolumes(const api::StorageClass& storage_class) {
  return !storage_class.provisioner.empty() && storage_class.provisioner != kNoProvisioner;
}

std::string Joined(const std::vector<std::string>& texts, std::string_view between) {
  std::string joined;
  for (const std::string& text : texts) {
    if (!joined.empty()) joined += between;
    joined += text;
  }
  return joined;
}

// As kubectl writes it: "zone in (a, b)", "disk", "!disk", "cores > 4".
std::string RequirementText(const api::SelectorRequirement& one) {
  if (one.op == "Exists") return one.key;
  if (one.op == "DoesNotExist") return "!" + one.key;
  const std::string values = Joined(one.values, ", ");
  if (one.op == "Gt") return one.key + " > " + values;
  if (one.op == "Lt") return one.key + " < " + values;
  return one.key + (one.op == "NotIn" ? " notin (" : " in (") + values + ")";
}

std::string TermText(const api::NodeSelectorTerm& term) {
  std::vector<std::string> texts;
  for (const auto* requirements : {&term.match_expressions, &term.match_fields}) {
    for (const api::SelectorRequirement& one : *requirements) {
      texts.push_back(RequirementText(one));
    }
  }
  return Joined(texts, " and ");
}

std::string AllowedText(const std::vector<api::TopologySelectorTerm>& terms) {
  api::NodeSelectorSpec selector;
  for (const api::TopologySelectorTerm& term : terms) {
    api::NodeSelectorTerm& as_selector = selector.terms.emplace_back();
    for (const api::TopologySelectorTerm::Expression& expression : term.expressions) {
      std::vector<std::string> values;
      for (const Symbol& value : expression.values) values.push_back(value.str());
      as_selector.match_expressions.push_back({expression.key.str(), "In", std::move(values)});
    }
  }
  return SelectorText(selector);
}

// The volumes of a class, by why they are not for a claim on a node.
struct Unsuited {
  size_t taken = 0;
  size_t released = 0;  // their claims are gone
  size_t unavailable = 0;
  size_t small = 0;
  size_t elsewhere = 0;
  size_t others = 0;  // mode, access modes, selector, attributes, being deleted
  api::Quantity largest_small;

  std::string Text() const {
    std::vector<std::string> texts;
    const auto add = [&texts](size_t count, const std::string& what) {
      if (count > 0) texts.push_back(std::to_string(count) + " " + what);
    };
    add(taken, "taken by other claims");
    add(released, "released by a claim that is gone");
    add(unavailable, "not in phase Available");
    add(small, "too small (at most " + largest_small.ToString() + ")");
    add(elsewhere, "for other nodes");
    add(others, "of other modes, labels or attributes, or being deleted");
    return Joined(texts, ", ");
  }
};

}  // namespace

std::string SelectorText(const api::NodeSelectorSpec& selector) {
  std::vector<std::string> texts;
  for (const api::NodeSelectorTerm& term : selector.terms) texts.push_back(TermText(term));
  return Joined(texts, " or ");
}

std::string SomeNames(const std::vector<std::string>& names) {
  const size_t shown = names.size() <= kNamesShown + 1 ? names.size() : kNamesShown;
  std::string text =
      Joined({names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown)}, ", ");
  if (shown < names.size()) text += " and " + std::to_string(names.size() - shown) + " more";
  return text;
}

ClaimExplainer::ClaimExplainer(const api::Pod& pod, const framework::Snapshot& snapshot,
                               const framework::StorageState& storage)
    : pod_(pod), snapshot_(snapshot), storage_(storage) {
  Result<plugins::PodClaims> claims = plugins::ClassifyClaims(storage, pod);
  if (!claims.ok()) return;
  for (api::PersistentVolumeClaimPtr& bound : claims->bound) Add(std::move(bound), nullptr);
  for (plugins::DelayedClaimOfPod& delayed : claims->delayed) {
    Add(std::move(delayed.claim), std::move(delayed.storage_class));
  }
}

void ClaimExplainer::Add(api::PersistentVolumeClaimPtr claim, api::StorageClassPtr storage_class) {
  for (const auto& known : claims_) {
    if (known->claim == claim) return;
  }
  plugins::PodClaims alone;
  if (storage_class == nullptr) {
    alone.bound.push_back(claim);
  } else {
    alone.delayed.push_back({claim, storage_class});
  }
  claims_.push_back(std::unique_ptr<Claim>(
      new Claim{std::move(claim), std::move(storage_class),
                plugins::BindingState(storage_, volumes_, std::move(alone), snapshot_.slots())}));
}

std::optional<RowDetail> ClaimExplainer::Why(std::string_view reason, NodeSpan nodes) {
  const std::string& first = nodes.front()->name();
  if (reason == plugins::kReasonUnboundImmediate) {
    std::optional<std::string> text = WhyNotBound();
    if (!text) return std::nullopt;
    return RowDetail{first, *std::move(text)};
  }
  uint8_t problem = 0;
  if (reason == plugins::kReasonVolumeNodeConflict) problem = plugins::kVolumeNodeConflict;
  if (reason == plugins::kReasonNoVolumeToBind) problem = plugins::kNoVolumeToBind;
  if (reason == plugins::kReasonNotEnoughSpace) problem = plugins::kNotEnoughSpace;
  if (reason == plugins::kReasonVolumeMissing) problem = plugins::kVolumeMissing;
  if (problem == 0) return std::nullopt;
  const std::optional<Blamed> blamed = Blame(problem, nodes);
  if (!blamed) {
    return RowDetail{first, "each claim alone would find a volume, but not all of them together"};
  }
  const Claim& claim = *blamed->claim;
  const NodeInfo& node = *blamed->nodes.front();
  RowDetail detail{node.name(), {}};
  switch (problem) {
    case plugins::kVolumeNodeConflict:
      detail.text = Elsewhere(claim, node);
      break;
    case plugins::kNoVolumeToBind:
      detail.text = NoVolume(claim, node);
      break;
    case plugins::kNotEnoughSpace:
      detail = NoSpace(*blamed);
      break;
    default:
      detail.text = Named(*claim.claim) + " is bound to volume " + claim.claim->volume_name +
                    ", which does not exist";
  }
  if (blamed->others > 0) {
    detail.text += " (and " + std::to_string(blamed->others) + " more of the pod's claims)";
  }
  return detail;
}

std::optional<ClaimExplainer::Blamed> ClaimExplainer::Blame(uint8_t problem, NodeSpan nodes) const {
  Blamed blamed;
  for (const auto& claim : claims_) {
    std::vector<const NodeInfo*> where;
    for (const NodeInfo* node : nodes) {
      const Result<uint8_t> problems = claim->alone.Judge(storage_, *node);
      if (problems.ok() && (*problems & problem) != 0) where.push_back(node);
    }
    if (where.empty()) continue;
    if (blamed.claim != nullptr) {
      ++blamed.others;
      continue;
    }
    blamed.claim = claim.get();
    blamed.nodes = std::move(where);
  }
  if (blamed.claim == nullptr) return std::nullopt;
  return blamed;
}

// The reason of the first claim that somebody else has to bind.
std::optional<std::string> ClaimExplainer::WhyNotBound() const {
  for (const api::Volume& volume : pod_.spec->volumes) {
    if (!api::MeansClaim(volume)) continue;
    const auto claim = storage_.CurrentClaim(api::ClaimKey(pod_, volume));
    if (claim == nullptr || claim->FullyBound()) continue;
    const bool delayed = std::any_of(claims_.begin(), claims_.end(),
                                     [&](const auto& known) { return known->claim == claim; });
    if (delayed) continue;
    const std::string name = Named(*claim);
    if (!claim->volume_name.empty()) {
      return name + " is being bound to volume " + claim->volume_name + ": that is not over";
    }
    const Symbol class_name = claim->StorageClass();
    if (class_name.empty()) return name + " names no class and no volume is bound to it";
    const auto storage_class = storage_.FindStorageClass(class_name.view());
    if (storage_class == nullptr) {
      return name + " names class " + class_name.str() + ", which does not exist";
    }
    if (MakesVolumes(*storage_class)) {
      return name + " waits for its volume: " + storage_class->provisioner +
             " has to make it (class " + class_name.str() + " does not wait for the pod)";
    }
    return name + " waits for its volume: class " + class_name.str() +
           " makes none, and none that exists is bound to it";
  }
  return std::nullopt;
}

RowDetail ClaimExplainer::NoSpace(const Blamed& blamed) const {
  const api::PersistentVolumeClaim& claim = *blamed.claim->claim;
  const std::string class_name = claim.StorageClass().str();
  const NodeInfo* best_node = blamed.nodes.front();
  const api::CsiStorageCapacity* best = nullptr;
  for (const api::CsiStorageCapacityPtr& capacity : storage_.CapacitiesOf(class_name)) {
    if (!capacity->Limit()) continue;
    if (best != nullptr && *capacity->Limit() <= *best->Limit()) continue;
    for (const NodeInfo* node : blamed.nodes) {
      if (!capacity->node_topology.Matches(node->node()->meta.labels)) continue;
      best = capacity.get();
      best_node = node;
      break;
    }
  }
  std::string text = Need(claim) + ": ";
  const bool several = blamed.nodes.size() > 1;
  if (best == nullptr) {
    text += several ? "no CSIStorageCapacity of it tells of space on these nodes"
                    : "no CSIStorageCapacity of it tells of space on this node";
  } else if (best->maximum_volume_size) {
    text += "a volume may have at most " + best->maximum_volume_size->ToString();
  } else {
    text += (several ? "at most " : "") + best->capacity->ToString() + " left";
  }
  return {best_node->name(), text};
}

std::string ClaimExplainer::NoVolume(const Claim& claim, const NodeInfo& node) const {
  if (claim.claim->selected_node && *claim.claim->selected_node != node.name()) {
    return Pinned(*claim.claim);
  }
  if (!MakesVolumes(*claim.storage_class)) return NoneOfTheVolumes(claim, node);
  return Named(*claim.claim) + ": class " + claim.storage_class->meta.name +
         " makes volumes only where " + AllowedText(claim.storage_class->allowed_topologies) +
         " (its allowedTopologies)";
}

std::string ClaimExplainer::Pinned(const api::PersistentVolumeClaim& claim) const {
  const std::string& node = *claim.selected_node;
  const std::string annotation(api::kSelectedNodeAnnotation);
  if (snapshot_.Find(node) != nullptr) {
    return Named(claim) + " waits for its volume on node " + node + " (annotation " + annotation +
           "): no other node will do until then";
  }
  return Named(claim) + " is pinned to node " + node +
         ", which does not exist (any more), by its annotation " + annotation +
         ": remove that, and other nodes will do";
}

std::string ClaimExplainer::NoneOfTheVolumes(const Claim& claim, const NodeInfo& node) const {
  const api::PersistentVolumeClaim& wanted = *claim.claim;
  const std::vector<api::PersistentVolumePtr> volumes =
      storage_.CurrentVolumesOf(wanted.StorageClass());
  const std::string need = Need(wanted) + ", which makes no volumes";
  if (volumes.empty()) return need + ", and there is none";
  static const Symbol available("Available");
  static const Symbol released("Released");
  Unsuited unsuited;
  for (const api::PersistentVolumePtr& volume : volumes) {
    if (!plugins::MayBelongTo(*volume, wanted)) {
      ++(volume->phase == released ? unsuited.released : unsuited.taken);
    } else if (!volume->claim_ref && volume->phase != available) {
      ++unsuited.unavailable;
    } else if (wanted.requested && volume->capacity < *wanted.requested) {
      ++unsuited.small;
      unsuited.largest_small = std::max(unsuited.largest_small, volume->capacity);
    } else if (!plugins::AffinityMatches(*volume, node.node()->meta.labels)) {
      ++unsuited.elsewhere;
    } else {
      ++unsuited.others;
    }
  }
  return need + "; of the " + std::to_string(volumes.size()) + " that exist, seen from " +
         node.name() + ": " + unsuited.Text();
}

std::string ClaimExplainer::Elsewhere(const Claim& claim, const NodeInfo& node) const {
  const api::PersistentVolumePtr volume = storage_.CurrentVolume(claim.claim->volume_name);
  std::string text =
      "volume " + volume->meta.name + " of " + Named(*claim.claim) + " is for other nodes";
  const auto migrated = plugins::MigratedAffinity::Of(*volume);
  const auto affinity_on = [&](const NodeInfo& one) {
    return plugins::AffinityOn(*volume, migrated, storage_, one.name());
  };
  const auto here = affinity_on(node);
  const bool own_counts = here.ok() && volume->node_affinity && *here == &*volume->node_affinity;
  if (own_counts && volume->node_affinity_spec) {
    text = "volume " + volume->meta.name + " of " + Named(*claim.claim) + " is for nodes with " +
           SelectorText(*volume->node_affinity_spec);
  }
  std::vector<std::string> names;
  for (const NodeInfo* one : snapshot_.nodes()) {
    const auto affinity = affinity_on(*one);
    if (!affinity.ok()) continue;
    if (*affinity == nullptr || (*affinity)->Matches(one->node()->meta.labels, {})) {
      names.push_back(one->name());
    }
  }
  std::sort(names.begin(), names.end());
  return text + (names.empty() ? ", and there is none" : ": " + SomeNames(names));
}

}  // namespace ks::inspect
