// SPDX-License-Identifier: Apache-2.0
// Node affinity in plugin arguments. Upstream: docs/spec/config.md section 4.5.

#include <fmt/format.h>

#include <charconv>

#include "api/selector.h"
#include "config/args/args_rules.h"
#include "config/print/print_json.h"

namespace ks::config {
namespace {

using Values = std::optional<std::vector<std::string>>;

std::string ValuesJson(const Values& values) {
  if (!values) return "null";
  JsonBuilder out;
  out.BeginArray();
  for (const std::string& value : *values) out.Text(value);
  out.EndArray();
  return out.Take();
}

size_t Count(const Values& values) { return values ? values->size() : 0; }

std::string Joined(const std::vector<std::string>& problems) {
  return fmt::format("{}", fmt::join(problems, "; "));
}

// As upstream reads it: decimal with an optional sign, 64 bits.
bool IsInteger(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text.starts_with('+') || text.starts_with("+-")) return false;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

void CheckValueCount(const NodeSelectorRequirement& requirement, const std::string& path,
                     Report& report) {
  const std::string& op = requirement.op;
  const size_t count = Count(requirement.values);
  const std::string at = path + ".values";
  if (op == "In" || op == "NotIn") {
    if (count == 0) {
      report.Invalid(at, ValuesJson(requirement.values),
                     "for 'in', 'notin' operators, values set can't be empty");
    }
    return;
  }
  if (op == "Exists" || op == "DoesNotExist") {
    if (count != 0) {
      report.Invalid(at, ValuesJson(requirement.values),
                     "values set must be empty for exists and does not exist");
    }
    return;
  }
  if (count != 1) {
    report.Invalid(at, ValuesJson(requirement.values),
                   "for 'Gt', 'Lt' operators, exactly one value is required");
  }
  for (size_t i = 0; i < count; ++i) {
    if (IsInteger((*requirement.values)[i])) continue;
    report.InvalidText(Indexed(at, i), (*requirement.values)[i],
                       "for 'Gt', 'Lt' operators, the value must be an integer");
  }
}

void CheckExpression(const NodeSelectorRequirement& requirement, const std::string& path,
                     Report& report) {
  const std::string& op = requirement.op;
  if (op != "In" && op != "NotIn" && op != "Exists" && op != "DoesNotExist" && op != "Gt" &&
      op != "Lt") {
    report.Unsupported(path + ".operator", op,
                       {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"});
    return;
  }
  if (const auto problems = api::LabelKeyProblems(requirement.key); !problems.empty()) {
    report.InvalidText(path + ".key", requirement.key, Joined(problems));
  }
  CheckValueCount(requirement, path, report);
  for (size_t i = 0; i < Count(requirement.values); ++i) {
    const std::string& value = (*requirement.values)[i];
    const auto problems = api::LabelValueProblems(value);
    if (problems.empty()) continue;
    const std::string at = Indexed(path + ".values", i);
    report.InvalidText(at + "[" + requirement.key + "]", value, Joined(problems));
    report.At(at);
  }
}

void CheckField(const NodeSelectorRequirement& requirement, const std::string& path,
                Report& report) {
  if (requirement.op != "In" && requirement.op != "NotIn") {
    report.Unsupported(path + ".operator", requirement.op, {"In", "NotIn"});
  } else if (Count(requirement.values) != 1) {
    report.Invalid(path + ".values", ValuesJson(requirement.values), "must have one element");
  }
}

void CheckTerm(const NodeSelectorTerm& term, const std::string& path, Report& report) {
  for (size_t i = 0; i < term.match_expressions.size(); ++i) {
    CheckExpression(term.match_expressions[i], Indexed(path + ".matchExpressions", i), report);
  }
  for (size_t i = 0; i < term.match_fields.size(); ++i) {
    CheckField(term.match_fields[i], Indexed(path + ".matchFields", i), report);
  }
}

// Upstream leaves ".preference" out of its paths; the file has it.
void AppendPreferred(const NodeSelectorTerm& term, const std::string& path, Report& report) {
  Report own;
  CheckTerm(term, path, own);
  for (Finding& finding : own.Take()) {
    finding.path.insert(path.size(), ".preference");
    report.Append(std::move(finding));
  }
}

}  // namespace

void CheckAddedAffinity(const std::optional<NodeAffinity>& affinity, const std::string& path,
                        const FeatureGates& /*gates*/, Report& report) {
  if (!affinity) return;
  if (affinity->required && affinity->required->node_selector_terms) {
    const std::vector<NodeSelectorTerm>& terms = *affinity->required->node_selector_terms;
    const std::string at =
        path + ".requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
    for (size_t i = 0; i < terms.size(); ++i) CheckTerm(terms[i], Indexed(at, i), report);
  }
  const std::string at = path + ".preferredDuringSchedulingIgnoredDuringExecution";
  for (size_t i = 0; i < affinity->preferred.size(); ++i) {
    // A term of weight 0 never counts, so upstream does not read it.
    if (affinity->preferred[i].weight == 0) continue;
    AppendPreferred(affinity->preferred[i].preference, Indexed(at, i), report);
  }
}

}  // namespace ks::config
