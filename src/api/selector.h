// SPDX-License-Identifier: Apache-2.0
#pragma once
// Label selectors and node selectors: as written in an object, and compiled for matching.
//
// Upstream: docs/spec/api.md section 5 (operators, error texts, nil against empty),
// docs/spec/plugins-node.md 2.10.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/labels.h"
#include "api/value_texts.h"
#include "base/result.h"

namespace ks::api {

// One requirement as written. The operator stays text: an unknown one is an error only when the
// selector is compiled.
struct SelectorRequirement {
  std::string key;
  std::string op;  // "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt" or anything else
  std::vector<std::string> values;

  friend bool operator==(const SelectorRequirement&, const SelectorRequirement&) = default;
};

// metav1.LabelSelector as written. A null selector is an absent optional: it matches nothing, an
// empty one everything.
struct LabelSelectorSpec {
  std::vector<std::pair<std::string, std::string>> match_labels;  // sorted by key text
  std::vector<SelectorRequirement> match_expressions;

  friend bool operator==(const LabelSelectorSpec&, const LabelSelectorSpec&) = default;
};

// core/v1 NodeSelectorTerm and NodeSelector as written.
struct NodeSelectorTerm {
  std::vector<SelectorRequirement> match_expressions;
  std::vector<SelectorRequirement> match_fields;

  bool empty() const { return match_expressions.empty() && match_fields.empty(); }
  friend bool operator==(const NodeSelectorTerm&, const NodeSelectorTerm&) = default;
};
struct NodeSelectorSpec {
  std::vector<NodeSelectorTerm> terms;

  friend bool operator==(const NodeSelectorSpec&, const NodeSelectorSpec&) = default;
};
struct PreferredSchedulingTerm {
  int32_t weight = 0;
  NodeSelectorTerm preference;

  friend bool operator==(const PreferredSchedulingTerm&, const PreferredSchedulingTerm&) = default;
};

// A compiled requirement over labels. Values are symbols, whose ids In and NotIn compare, or the
// texts of more than kFewValues.
struct Requirement {
  enum class Op : uint8_t { kIn, kNotIn, kExists, kDoesNotExist, kGt, kLt };
  Symbol key;
  Op op = Op::kIn;
  static constexpr size_t kFewValues = 64;
  std::vector<Symbol> values;  // sorted by id; none where many_values has them
  std::shared_ptr<const ValueTexts> many_values{};
  int64_t bound = 0;               // Gt and Lt
  bool from_match_labels = false;  // printed k=v instead of k in (v)

  bool Matches(const LabelMap& labels) const;
  friend bool operator==(const Requirement& a, const Requirement& b);
};

// A compiled label selector. Default-constructed: matches nothing (the null selector).
// Threads: immutable after construction.
class LabelSelector {
 public:
  LabelSelector() = default;
  static LabelSelector Everything();
  // Error: upstream's text for the first problem found.
  static Result<LabelSelector> Compile(const std::optional<LabelSelectorSpec>& spec);

  bool Matches(const LabelMap& labels) const;
  bool MatchesNothing() const { return nothing_; }
  bool Empty() const { return !nothing_ && requirements_.empty(); }
  // "a=1,b=2,c in (x,y),d notin (z),e,!f"; empty for both the empty and the match-nothing selector.
  std::string ToString() const;
  // Sorted by key text. Empty for both the empty and the match-nothing selector.
  const std::vector<Requirement>& requirements() const { return requirements_; }
  friend bool operator==(const LabelSelector&, const LabelSelector&) = default;

 private:
  bool nothing_ = true;
  std::vector<Requirement> requirements_;  // sorted by key text
};

// A compiled node selector: terms are alternatives, a term with an error never matches.
// Threads: immutable after construction.
class NodeSelector {
 public:
  // Never fails: errors are kept and reported by Match. `path_prefix` stands before every path in
  // error texts, for example "nodeSelectorTerms" gives
  // nodeSelectorTerms[0].matchExpressions[0].operator: …
  static NodeSelector Compile(const NodeSelectorSpec& spec,
                              std::string_view path_prefix = "nodeSelectorTerms");

  // `node_name` serves metadata.name; an empty one makes matchFields true.
  bool Matches(const LabelMap& labels, std::string_view node_name) const;
  // The errors that Match reports when no term matched: empty, one text, or several joined as "[e1,
  // e2]".
  std::string ErrorText() const;
  bool HasErrors() const;

 private:
  struct Field {
    bool is_name = false;  // metadata.name; any other field reads as the empty string
    bool negate = false;
    std::string value;
  };
  struct Term {
    bool empty = false;
    std::vector<std::string> errors;
    std::vector<Requirement> expressions;
    std::vector<Field> fields;
  };
  static Term CompileTerm(const NodeSelectorTerm& spec, const std::string& path);
  static bool TermMatches(const Term& term, const LabelMap& labels, std::string_view node_name);

  std::vector<Term> terms_;
  friend class PreferredTerms;
};

// Compiled preferred scheduling terms: terms of weight 0 or with an empty preference are dropped
// before parsing.
class PreferredTerms {
 public:
  // Error: field errors with a path that starts at the term index
  // ("[0].matchExpressions[0].operator: …"), `path_prefix` before it.
  static Result<PreferredTerms> Compile(const std::vector<PreferredSchedulingTerm>& terms,
                                        std::string_view path_prefix = "");

  // Sum of the weights of the matching terms.
  int64_t Score(const LabelMap& labels, std::string_view node_name) const;
  bool empty() const { return terms_.empty(); }

 private:
  std::vector<std::pair<int64_t, NodeSelector>> terms_;
};

// Validity of names as the API checks them: an empty result means valid, else the message of the
// first problem.
std::string CheckLabelKey(std::string_view key);
std::string CheckLabelValue(std::string_view value);
// All messages, in upstream's order (docs/spec/config.md 4.9).
std::vector<std::string> LabelKeyProblems(std::string_view key);
std::vector<std::string> LabelValueProblems(std::string_view value);
// Dot-separated [a-z0-9]([-a-z0-9]*[a-z0-9])? of any length.
bool IsDnsSubdomain(std::string_view text);
// One problem as it is, several as "[p1, p2]" without repetitions, none as "".
std::string JoinProblems(const std::vector<std::string>& problems);

}  // namespace ks::api
