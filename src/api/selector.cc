// SPDX-License-Identifier: Apache-2.0
#include "api/selector.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "golang/json_text.h"
#include "golang/quote.h"

namespace ks::api {

namespace {

using Problems = std::vector<std::string>;

// Base 10, optional sign, int64; nothing else. std::from_chars refuses '+'.
std::optional<int64_t> ParseInteger(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [parsed_to, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || parsed_to != end) return std::nullopt;
  return value;
}

std::optional<Requirement::Op> ParseOp(std::string_view op) {
  using Op = Requirement::Op;
  if (op == "In") return Op::kIn;
  if (op == "NotIn") return Op::kNotIn;
  if (op == "Exists") return Op::kExists;
  if (op == "DoesNotExist") return Op::kDoesNotExist;
  if (op == "Gt") return Op::kGt;
  if (op == "Lt") return Op::kLt;
  return std::nullopt;
}

// A list of values as messages show it. An absent and an empty list look alike here: both are null.
std::string ListText(const std::vector<std::string>& values) {
  if (values.empty()) return "null";
  std::string text = "[";
  for (const std::string& value : values) {
    if (text.size() > 1) text += ',';
    text += golang::JsonString(value);
  }
  return text + "]";
}

// `path` is empty or ends with a dot.
void CheckKey(const std::string& key, const std::string& path, Problems& problems) {
  const Problems messages = LabelKeyProblems(key);
  if (messages.empty()) return;
  problems.push_back(fmt::format("{}key: Invalid value: {}: {}", path, golang::Quote(key),
                                 fmt::join(messages, "; ")));
}

void CheckCount(Requirement::Op op, const std::vector<std::string>& values, const std::string& path,
                Problems& problems) {
  using Op = Requirement::Op;
  const char* message = nullptr;
  switch (op) {
    case Op::kIn:
    case Op::kNotIn:
      if (values.empty()) message = "for 'in', 'notin' operators, values set can't be empty";
      break;
    case Op::kExists:
    case Op::kDoesNotExist:
      if (!values.empty()) message = "values set must be empty for exists and does not exist";
      break;
    case Op::kGt:
    case Op::kLt:
      if (values.size() != 1) message = "for 'Gt', 'Lt' operators, exactly one value is required";
      break;
  }
  if (message != nullptr) {
    problems.push_back(
        fmt::format("{}values: Invalid value: {}: {}", path, ListText(values), message));
  }
}

// Checks and compiles one requirement; with problems the result is of no use.
Requirement CompileRequirement(const SelectorRequirement& spec, Requirement::Op op,
                               const std::string& path, Problems& problems) {
  const bool compares = op == Requirement::Op::kGt || op == Requirement::Op::kLt;
  Requirement requirement{.key = {}, .op = op, .values = {}};
  const size_t problems_before = problems.size();
  CheckKey(spec.key, path, problems);
  CheckCount(op, spec.values, path, problems);
  for (size_t i = 0; compares && i < spec.values.size(); ++i) {
    const std::optional<int64_t> bound = ParseInteger(spec.values[i]);
    if (bound) {
      requirement.bound = *bound;
    } else {
      problems.push_back(fmt::format(
          "{}values[{}]: Invalid value: {}: for 'Gt', 'Lt' operators, the value must be an integer",
          path, i, golang::Quote(spec.values[i])));
    }
  }
  for (size_t i = 0; i < spec.values.size(); ++i) {
    const Problems messages = LabelValueProblems(spec.values[i]);
    if (messages.empty()) continue;
    problems.push_back(fmt::format("{}values[{}][{}]: Invalid value: {}: {}", path, i, spec.key,
                                   golang::Quote(spec.values[i]), fmt::join(messages, "; ")));
  }
  if (problems.size() != problems_before) return requirement;  // what is illegal is not interned
  requirement.key = Symbol(spec.key);
  if (spec.values.size() > Requirement::kFewValues) {
    requirement.many_values = std::make_shared<const ValueTexts>(spec.values);
    return requirement;
  }
  requirement.values.reserve(spec.values.size());
  for (const std::string& value : spec.values) requirement.values.emplace_back(value);
  std::sort(requirement.values.begin(), requirement.values.end());
  return requirement;
}

bool HasValue(const Requirement& requirement, const Symbol& value) {
  if (requirement.many_values != nullptr) return requirement.many_values->Contains(value.view());
  return std::binary_search(requirement.values.begin(), requirement.values.end(), value);
}

std::string RequirementText(const Requirement& requirement) {
  using Op = Requirement::Op;
  const std::string_view key = requirement.key.view();
  std::vector<std::string_view> values;
  for (const Symbol& value : requirement.values) values.push_back(value.view());
  if (requirement.many_values != nullptr) values = requirement.many_values->all();
  std::sort(values.begin(), values.end());
  switch (requirement.op) {
    case Op::kIn:
      if (requirement.from_match_labels) return fmt::format("{}={}", key, values.front());
      return fmt::format("{} in ({})", key, fmt::join(values, ","));
    case Op::kNotIn:
      return fmt::format("{} notin ({})", key, fmt::join(values, ","));
    case Op::kExists:
      return std::string(key);
    case Op::kDoesNotExist:
      return fmt::format("!{}", key);
    case Op::kGt:
      return fmt::format("{}>{}", key, requirement.bound);
    case Op::kLt:
      return fmt::format("{}<{}", key, requirement.bound);
  }
  return "";
}

constexpr const char* kLabelOps = R"("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")";

std::string UnsupportedOperator(const std::string& path, const std::string& op,
                                const char* supported) {
  return fmt::format("{}operator: Unsupported value: {}: supported values: {}", path,
                     golang::Quote(op), supported);
}

}  // namespace

bool operator==(const Requirement& a, const Requirement& b) {
  const auto& left = a.many_values;
  const auto& right = b.many_values;
  const bool same_many = left == right || (left != nullptr && right != nullptr && *left == *right);
  return same_many && a.key == b.key && a.op == b.op && a.values == b.values &&
         a.bound == b.bound && a.from_match_labels == b.from_match_labels;
}

bool Requirement::Matches(const LabelMap& labels) const {
  const Symbol* const value = labels.Find(key);
  switch (op) {
    case Op::kIn:
      return value != nullptr && HasValue(*this, *value);
    case Op::kNotIn:
      return value == nullptr || !HasValue(*this, *value);
    case Op::kExists:
      return value != nullptr;
    case Op::kDoesNotExist:
      return value == nullptr;
    case Op::kGt:
    case Op::kLt: {
      if (value == nullptr) return false;
      const std::optional<int64_t> number = ParseInteger(value->view());
      return number && (op == Op::kGt ? *number > bound : *number < bound);
    }
  }
  return false;
}

LabelSelector LabelSelector::Everything() {
  LabelSelector selector;
  selector.nothing_ = false;
  return selector;
}

Result<LabelSelector> LabelSelector::Compile(const std::optional<LabelSelectorSpec>& spec) {
  if (!spec) return LabelSelector();
  LabelSelector selector = Everything();
  const auto add = [&](const SelectorRequirement& requirement, Requirement::Op op,
                       bool from_match_labels) {
    Problems problems;
    Requirement compiled = CompileRequirement(requirement, op, "", problems);
    compiled.from_match_labels = from_match_labels;
    selector.requirements_.push_back(std::move(compiled));
    return JoinProblems(problems);
  };
  for (const auto& [key, value] : spec->match_labels) {
    const SelectorRequirement requirement{.key = key, .op = "In", .values = {value}};
    if (std::string problem = add(requirement, Requirement::Op::kIn, true); !problem.empty()) {
      return Error{std::move(problem)};
    }
  }
  for (const SelectorRequirement& requirement : spec->match_expressions) {
    const std::optional<Requirement::Op> op = ParseOp(requirement.op);
    if (!op || *op == Requirement::Op::kGt || *op == Requirement::Op::kLt) {
      return Error{
          fmt::format("{} is not a valid label selector operator", golang::Quote(requirement.op))};
    }
    if (std::string problem = add(requirement, *op, false); !problem.empty()) {
      return Error{std::move(problem)};
    }
  }
  std::stable_sort(
      selector.requirements_.begin(), selector.requirements_.end(),
      [](const Requirement& a, const Requirement& b) { return a.key.view() < b.key.view(); });
  return selector;
}

bool LabelSelector::Matches(const LabelMap& labels) const {
  if (nothing_) return false;
  return std::all_of(requirements_.begin(), requirements_.end(),
                     [&](const Requirement& requirement) { return requirement.Matches(labels); });
}

std::string LabelSelector::ToString() const {
  std::string text;
  for (const Requirement& requirement : requirements_) {
    if (!text.empty()) text += ',';
    text += RequirementText(requirement);
  }
  return text;
}

NodeSelector::Term NodeSelector::CompileTerm(const NodeSelectorTerm& spec,
                                             const std::string& path) {
  Term term{.empty = spec.empty(), .errors = {}, .expressions = {}, .fields = {}};
  for (size_t i = 0; i < spec.match_expressions.size(); ++i) {
    const SelectorRequirement& requirement = spec.match_expressions[i];
    const std::string place = fmt::format("{}.matchExpressions[{}].", path, i);
    if (const std::optional<Requirement::Op> op = ParseOp(requirement.op)) {
      term.expressions.push_back(CompileRequirement(requirement, *op, place, term.errors));
    } else {
      term.errors.push_back(UnsupportedOperator(place, requirement.op, kLabelOps));
    }
  }
  for (size_t i = 0; i < spec.match_fields.size(); ++i) {
    const SelectorRequirement& field = spec.match_fields[i];
    const std::string place = fmt::format("{}.matchFields[{}].", path, i);
    if (field.op != "In" && field.op != "NotIn") {
      term.errors.push_back(UnsupportedOperator(place, field.op, R"("In", "NotIn")"));
    } else if (field.values.size() != 1) {
      term.errors.push_back(fmt::format("{}values: Invalid value: {}: must have one element", place,
                                        ListText(field.values)));
    } else {
      term.fields.push_back(Field{.is_name = field.key == "metadata.name",
                                  .negate = field.op == "NotIn",
                                  .value = field.values.front()});
    }
  }
  return term;
}

NodeSelector NodeSelector::Compile(const NodeSelectorSpec& spec, std::string_view path_prefix) {
  NodeSelector selector;
  selector.terms_.reserve(spec.terms.size());
  for (size_t i = 0; i < spec.terms.size(); ++i) {
    selector.terms_.push_back(CompileTerm(spec.terms[i], fmt::format("{}[{}]", path_prefix, i)));
  }
  return selector;
}

bool NodeSelector::TermMatches(const Term& term, const LabelMap& labels,
                               std::string_view node_name) {
  if (term.empty || !term.errors.empty()) return false;
  for (const Requirement& requirement : term.expressions) {
    if (!requirement.Matches(labels)) return false;
  }
  if (node_name.empty()) return true;
  for (const Field& field : term.fields) {
    const std::string_view actual = field.is_name ? node_name : std::string_view();
    if ((actual == field.value) == field.negate) return false;
  }
  return true;
}

bool NodeSelector::Matches(const LabelMap& labels, std::string_view node_name) const {
  return std::any_of(terms_.begin(), terms_.end(),
                     [&](const Term& term) { return TermMatches(term, labels, node_name); });
}

std::string NodeSelector::ErrorText() const {
  Problems problems;
  for (const Term& term : terms_) {
    problems.insert(problems.end(), term.errors.begin(), term.errors.end());
  }
  return JoinProblems(problems);
}

bool NodeSelector::HasErrors() const {
  return std::any_of(terms_.begin(), terms_.end(),
                     [](const Term& term) { return !term.errors.empty(); });
}

Result<PreferredTerms> PreferredTerms::Compile(const std::vector<PreferredSchedulingTerm>& terms,
                                               std::string_view path_prefix) {
  PreferredTerms compiled;
  Problems problems;
  for (size_t i = 0; i < terms.size(); ++i) {
    if (terms[i].weight == 0 || terms[i].preference.empty()) continue;
    NodeSelector::Term term =
        NodeSelector::CompileTerm(terms[i].preference, fmt::format("{}[{}]", path_prefix, i));
    problems.insert(problems.end(), term.errors.begin(), term.errors.end());
    NodeSelector selector;
    selector.terms_.push_back(std::move(term));
    compiled.terms_.emplace_back(terms[i].weight, std::move(selector));
  }
  if (!problems.empty()) return Error{JoinProblems(problems)};
  return compiled;
}

int64_t PreferredTerms::Score(const LabelMap& labels, std::string_view node_name) const {
  int64_t score = 0;
  for (const auto& [weight, selector] : terms_) {
    if (selector.Matches(labels, node_name)) score += weight;
  }
  return score;
}

}  // namespace ks::api
