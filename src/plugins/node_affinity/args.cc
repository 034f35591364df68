// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_affinity/args.h"

#include <cstdint>
#include <limits>
#include <string>

#include <nlohmann/json.hpp>

#include "plugins/args_reader.h"

namespace ks::plugins {
namespace {

constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";

std::vector<api::SelectorRequirement> ReadRequirements(const ArgsReader& term,
                                                       std::string_view field) {
  std::vector<api::SelectorRequirement> requirements;
  for (const ArgsReader& item : term.Objects(field, {"key", "operator", "values"})) {
    requirements.push_back({item.Text("key"), item.Text("operator"), item.Texts("values")});
  }
  return requirements;
}

api::NodeSelectorTerm ReadTerm(const ArgsReader& term) {
  return {ReadRequirements(term, "matchExpressions"), ReadRequirements(term, "matchFields")};
}

api::NodeSelectorSpec ReadRequired(const ArgsReader& affinity) {
  api::NodeSelectorSpec spec;
  const ArgsReader required = affinity.Object(kRequired, {"nodeSelectorTerms"});
  for (const ArgsReader& term :
       required.Objects("nodeSelectorTerms", {"matchExpressions", "matchFields"})) {
    spec.terms.push_back(ReadTerm(term));
  }
  return spec;
}

std::vector<api::PreferredSchedulingTerm> ReadPreferred(const ArgsReader& affinity) {
  std::vector<api::PreferredSchedulingTerm> terms;
  for (const ArgsReader& item : affinity.Objects(kPreferred, {"weight", "preference"})) {
    api::PreferredSchedulingTerm term;
    term.weight = static_cast<int32_t>(item.Integer("weight", std::numeric_limits<int32_t>::min(),
                                                    std::numeric_limits<int32_t>::max()));
    term.preference = ReadTerm(item.Object("preference", {"matchExpressions", "matchFields"}));
    terms.push_back(std::move(term));
  }
  return terms;
}

// One error, or "[e1, e2]".
std::string Join(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return a + b;
  const auto inner = [](const std::string& text) {
    return text.starts_with('[') && text.ends_with(']') ? text.substr(1, text.size() - 2) : text;
  };
  return "[" + inner(a) + ", " + inner(b) + "]";
}

}  // namespace

Result<AddedAffinity> ReadNodeAffinityArgs(const config::PluginArgs& args) {
  std::string problem;
  const nlohmann::json json = JsonOf(args);
  const ArgsReader root(json, "", {"addedAffinity"}, &problem);
  const ArgsReader affinity = root.Object("addedAffinity", {kRequired, kPreferred});
  const api::NodeSelectorSpec required = ReadRequired(affinity);
  const std::vector<api::PreferredSchedulingTerm> preferred = ReadPreferred(affinity);
  if (!problem.empty()) return Error{problem};

  AddedAffinity added;
  if (affinity.Has(kRequired)) {
    added.required =
        api::NodeSelector::Compile(required, affinity.Path(kRequired) + ".nodeSelectorTerms");
    if (added.required->HasErrors()) problem = added.required->ErrorText();
  }
  Result<api::PreferredTerms> terms =
      api::PreferredTerms::Compile(preferred, affinity.Path(kPreferred));
  if (!terms.ok()) problem = Join(problem, terms.error().message);
  if (!problem.empty()) return Error{problem};
  added.preferred = std::move(terms).value();
  return added;
}

}  // namespace ks::plugins
