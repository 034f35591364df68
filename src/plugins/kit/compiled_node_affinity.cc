// SPDX-License-Identifier: Apache-2.0
#include "plugins/kit/compiled_node_affinity.h"

#include <utility>

namespace ks::plugins {
namespace {

constexpr std::string_view kNodeNameField = "metadata.name";

// The names that one term allows: the intersection of its In lists on metadata.name. Absent when it
// has none. Lists of several values count although they can never match (trap 22).
std::optional<std::set<std::string>> NamesOf(const api::NodeSelectorTerm& term) {
  std::optional<std::set<std::string>> names;
  for (const api::SelectorRequirement& field : term.match_fields) {
    if (field.key != kNodeNameField || field.op != "In") continue;
    const std::set<std::string> listed(field.values.begin(), field.values.end());
    if (!names) {
      names = listed;
    } else {
      std::erase_if(*names, [&listed](const std::string& name) { return !listed.contains(name); });
    }
  }
  return names;
}

// The union over the terms; absent when some term names no node.
std::optional<std::set<std::string>> NamesOf(const api::NodeSelectorSpec& spec) {
  std::optional<std::set<std::string>> all;
  for (const api::NodeSelectorTerm& term : spec.terms) {
    std::optional<std::set<std::string>> names = NamesOf(term);
    if (!names) return std::nullopt;
    if (!all) all.emplace();
    all->merge(*names);
  }
  return all;
}

}  // namespace

CompiledNodeAffinity::CompiledNodeAffinity(const api::PodSpec& spec)
    : node_selector_(spec.node_selector) {
  has_required = spec.node_selector_present;
  if (!spec.node_affinity) return;
  if (spec.node_affinity->required) {
    has_required = true;
    required_ = api::NodeSelector::Compile(*spec.node_affinity->required);
    node_names = NamesOf(*spec.node_affinity->required);
  }
  has_preferred = spec.node_affinity->preferred_present;
  Result<api::PreferredTerms> terms = api::PreferredTerms::Compile(spec.node_affinity->preferred);
  if (terms.ok()) {
    preferred = std::move(terms).value();
  } else {
    preferred_error = terms.error().message;
  }
}

bool MatchesNodeSelector(const api::LabelMap& node_selector, const api::Node& node) {
  for (const auto& [key, value] : node_selector) {
    const Symbol* label = node.meta.labels.Find(key);
    if (label == nullptr || *label != value) return false;
  }
  return true;
}

bool CompiledNodeAffinity::MatchesRequired(const api::Node& node) const {
  if (!MatchesNodeSelector(node_selector_, node)) return false;
  return !required_ || required_->Matches(node.meta.labels, node.meta.name);
}

}  // namespace ks::plugins
