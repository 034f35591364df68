// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_affinity/args.h"

#include <utility>
#include <vector>

namespace ks::plugins {
namespace {

constexpr std::string_view kRequired =
    "addedAffinity.requiredDuringSchedulingIgnoredDuringExecution";
constexpr std::string_view kPreferred =
    "addedAffinity.preferredDuringSchedulingIgnoredDuringExecution";

std::vector<api::SelectorRequirement> Requirements(
    const std::vector<config::NodeSelectorRequirement>& given) {
  std::vector<api::SelectorRequirement> requirements;
  for (const config::NodeSelectorRequirement& item : given) {
    requirements.push_back({item.key, item.op, item.values.value_or(std::vector<std::string>())});
  }
  return requirements;
}

api::NodeSelectorTerm Term(const config::NodeSelectorTerm& term) {
  return {Requirements(term.match_expressions), Requirements(term.match_fields)};
}

}  // namespace

Result<AddedAffinity> AddedAffinityOf(const config::PluginArgs& args) {
  AddedAffinity added;
  const auto* given = std::get_if<config::NodeAffinityArgs>(&args);
  if (given == nullptr || !given->added_affinity) return added;
  const config::NodeAffinity& affinity = *given->added_affinity;
  if (affinity.required) {
    api::NodeSelectorSpec spec;
    if (affinity.required->node_selector_terms) {
      for (const auto& term : *affinity.required->node_selector_terms) {
        spec.terms.push_back(Term(term));
      }
    }
    added.required =
        api::NodeSelector::Compile(spec, std::string(kRequired) + ".nodeSelectorTerms");
    if (added.required->HasErrors()) return Error{added.required->ErrorText()};
  }
  std::vector<api::PreferredSchedulingTerm> preferred;
  for (const config::PreferredSchedulingTerm& term : affinity.preferred) {
    preferred.push_back({term.weight, Term(term.preference)});
  }
  Result<api::PreferredTerms> terms = api::PreferredTerms::Compile(preferred, kPreferred);
  if (!terms.ok()) return terms.error();
  added.preferred = std::move(terms).value();
  return added;
}

}  // namespace ks::plugins
