// SPDX-License-Identifier: Apache-2.0
#include "apiserver/store/selector_query.h"

#include <algorithm>
#include <charconv>

#include "api/selector.h"
#include "golang/quote.h"

namespace ks::apiserver {

// Reads a label selector as written in a query: "a=b,c in (d,e),!f,g>1".
class LabelQueryParser {
 public:
  using Term = SelectorQuery::LabelTerm;

  explicit LabelQueryParser(std::string_view text) : text_(text) {}

  Outcome<std::vector<Term>> Parse() {
    std::vector<Term> terms;
    Next();
    while (!error_.has_value() && token_ != "") {
      terms.push_back(ParseTerm());
      if (error_.has_value()) break;
      if (token_ == "") break;
      if (token_ != ",") {
        return BadRequest("found '" + token_ + "', expected: ',' or 'end of string'");
      }
      Next();
      if (token_ == "" || (symbol_ && token_ != "!")) {
        return BadRequest("found '" + token_ + "', expected: identifier after ','");
      }
    }
    if (error_.has_value()) return BadRequest("unable to parse requirement: " + *error_);
    return terms;
  }

 private:
  static bool IsSymbol(char c) {
    return std::string_view("=!(),<>").find(c) != std::string_view::npos;
  }
  static bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

  // Moves to the next token; "" at the end.
  void Next() {
    while (at_ < text_.size() && IsBlank(text_[at_])) ++at_;
    const size_t begin = at_;
    symbol_ = at_ < text_.size() && IsSymbol(text_[at_]);
    if (symbol_) {
      ++at_;
      const std::string_view two = text_.substr(begin, 2);
      if (two == "==" || two == "!=") ++at_;
    } else {
      while (at_ < text_.size() && !IsSymbol(text_[at_]) && !IsBlank(text_[at_])) ++at_;
    }
    token_ = text_.substr(begin, at_ - begin);
  }

  void Fail(std::string message) {
    if (!error_.has_value()) error_ = std::move(message);
  }

  Term ParseTerm() {
    Term term;
    const bool negated = symbol_ && token_ == "!";
    if (negated) Next();
    if (symbol_ || token_.empty()) {
      Fail("found '" + token_ + "', expected: identifier");
      return term;
    }
    term.key = token_;
    Next();
    const std::string problem = api::JoinProblems(api::LabelKeyProblems(term.key));
    if (!problem.empty()) {
      Fail("<nil>: Invalid value: " + golang::Quote(term.key) + ": " + problem);
      return term;
    }
    if (negated || token_ == "" || token_ == ",") {
      term.op = negated ? Term::Op::kDoesNotExist : Term::Op::kExists;
      return term;
    }
    ParseComparison(&term);
    for (size_t i = 0; i < term.values.size() && !error_.has_value(); ++i) {
      const std::string wrong = api::JoinProblems(api::LabelValueProblems(term.values[i]));
      if (wrong.empty()) continue;
      Fail("values[" + std::to_string(i) + "][" + term.key +
           "]: Invalid value: " + golang::Quote(term.values[i]) + ": " + wrong);
    }
    return term;
  }

  void ParseComparison(Term* term) {
    if (token_ == "in" || token_ == "notin") {
      term->op = token_ == "in" ? Term::Op::kIn : Term::Op::kNotIn;
      Next();
      ParseValues(term);
      return;
    }
    if (token_ == "=" || token_ == "==" || token_ == "!=") {
      term->op = token_ == "!=" ? Term::Op::kNotIn : Term::Op::kIn;
    } else if (token_ == ">" || token_ == "<") {
      term->op = token_ == ">" ? Term::Op::kGt : Term::Op::kLt;
    } else {
      Fail("found '" + token_ + "', expected: in, notin, =, ==, !=, gt, lt");
      return;
    }
    Next();
    std::string value;
    if (!symbol_ && !token_.empty()) {
      value = token_;
      Next();
    } else if (symbol_ && token_ != ",") {
      Fail("found '" + token_ + "', expected: identifier");
      return;
    }
    if (term->op == Term::Op::kGt || term->op == Term::Op::kLt) {
      const auto [end, error] =
          std::from_chars(value.data(), value.data() + value.size(), term->bound);
      if (error != std::errc() || end != value.data() + value.size()) {
        Fail("values[0][" + term->key + "]: Invalid value: " + golang::Quote(value) +
             ": for 'Gt', 'Lt' operators, the value must be an integer");
      }
      return;
    }
    term->values.push_back(std::move(value));
  }

  // "(a,b,)": an empty place is the empty value.
  void ParseValues(Term* term) {
    if (token_ != "(") return Fail("found '" + token_ + "' expected: '('");
    Next();
    bool need_value = true;
    while (token_ != ")") {
      if (token_ == "") return Fail("found '', expected: ',', ')' or identifier");
      if (token_ == ",") {
        if (need_value) term->values.emplace_back();
        need_value = true;
      } else if (symbol_) {
        return Fail("found '" + token_ + "', expected: ',', ')' or identifier");
      } else if (!need_value) {
        return Fail("found '" + token_ + "', expected: ',' or ')'");
      } else {
        term->values.push_back(token_);
        need_value = false;
      }
      Next();
    }
    if (need_value) term->values.emplace_back();
    std::sort(term->values.begin(), term->values.end());
    Next();
  }

  std::string_view text_;
  size_t at_ = 0;
  std::string token_;
  bool symbol_ = false;
  std::optional<std::string> error_;
};

bool SelectorQuery::Matches(const LabelTerm& term, const StoredObject& object) {
  using Op = LabelTerm::Op;
  const auto it =
      std::lower_bound(object.labels.begin(), object.labels.end(), term.key,
                       [](const auto& label, const std::string& key) { return label.first < key; });
  const bool there = it != object.labels.end() && it->first == term.key;
  if (term.op == Op::kExists) return there;
  if (term.op == Op::kDoesNotExist) return !there;
  if (!there) return term.op == Op::kNotIn;
  const std::string& value = it->second;
  if (term.op == Op::kIn || term.op == Op::kNotIn) {
    const bool found =
        std::find(term.values.begin(), term.values.end(), value) != term.values.end();
    return found == (term.op == Op::kIn);
  }
  int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size()) return false;
  return term.op == Op::kGt ? number > term.bound : number < term.bound;
}

bool SelectorQuery::Matches(const FieldTerm& term, const StoredObject& object) {
  const std::string& value = term.field == FieldTerm::kName ? object.name
                             : term.field == FieldTerm::kNamespace
                                 ? object.ns
                                 : object.fields[static_cast<size_t>(term.field)];
  return (value == term.value) != term.negate;
}

bool SelectorQuery::Matches(const StoredObject& object) const {
  const auto matches = [&object](const auto& term) { return Matches(term, object); };
  return std::all_of(fields_.begin(), fields_.end(), matches) &&
         std::all_of(labels_.begin(), labels_.end(), matches);
}

Outcome<SelectorQuery::FieldTerm> SelectorQuery::ParseField(const KindInfo& kind,
                                                            std::string_view term) {
  size_t at = 0;
  while (at < term.size() && term[at] != '=' && term.substr(at, 2) != "!=") {
    at += term[at] == '\\' ? 2 : 1;
  }
  if (at >= term.size()) {
    const std::string text(term);
    return BadRequest("invalid selector: '" + text + "'; can't understand '" + text + "'");
  }
  FieldTerm parsed;
  parsed.negate = term[at] == '!';
  const std::string path(term.substr(0, at));
  const size_t operator_size = term[at] == '!' || term.substr(at, 2) == "==" ? 2 : 1;
  std::string_view value = term.substr(at + operator_size);
  for (size_t i = 0; i < value.size(); ++i) {
    if (value[i] == '\\' && i + 1 < value.size()) ++i;
    parsed.value += value[i];
  }
  const auto& known = kind.selectable_fields;
  const auto it = std::find(known.begin(), known.end(), path);
  if (path == "metadata.name") {
    parsed.field = FieldTerm::kName;
  } else if (path == "metadata.namespace") {
    parsed.field = FieldTerm::kNamespace;
  } else if (it != known.end()) {
    parsed.field = static_cast<int>(it - known.begin());
  } else {
    return BadRequest("field label not supported: " + path);
  }
  return parsed;
}

Outcome<std::vector<SelectorQuery::FieldTerm>> SelectorQuery::ParseFields(const KindInfo& kind,
                                                                          std::string_view text) {
  std::vector<FieldTerm> terms;
  while (!text.empty()) {
    size_t end = 0;
    while (end < text.size() && text[end] != ',') end += text[end] == '\\' ? 2 : 1;
    end = std::min(end, text.size());
    const std::string_view term = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (term.empty()) continue;
    Outcome<FieldTerm> parsed = ParseField(kind, term);
    if (!parsed.ok()) return parsed.failure();
    terms.push_back(std::move(*parsed));
  }
  return terms;
}

Outcome<SelectorQuery> SelectorQuery::Parse(const KindInfo& kind, std::string_view labels,
                                            std::string_view fields) {
  SelectorQuery query;
  Outcome<std::vector<LabelTerm>> label_terms = LabelQueryParser(labels).Parse();
  if (!label_terms.ok()) return label_terms.failure();
  query.labels_ = std::move(*label_terms);
  Outcome<std::vector<FieldTerm>> field_terms = ParseFields(kind, fields);
  if (!field_terms.ok()) return field_terms.failure();
  query.fields_ = std::move(*field_terms);
  for (const FieldTerm& term : query.fields_) {
    if (term.field == FieldTerm::kName && !term.negate) query.name_ = term.value;
  }
  return query;
}

void SelectorQuery::RequireName(std::string_view name) {
  fields_.push_back({.field = FieldTerm::kName, .negate = false, .value = std::string(name)});
  name_ = name;
}

}  // namespace ks::apiserver
