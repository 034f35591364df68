// SPDX-License-Identifier: Apache-2.0
#include "api/selector.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "golang/quote.h"

namespace ks::api {
namespace {

using Requirements = std::vector<SelectorRequirement>;
using Pairs = std::vector<std::pair<std::string, std::string>>;

LabelMap Labels(const Pairs& pairs) {
  LabelMap labels;
  for (const auto& [key, value] : pairs) labels.Set(Symbol(key), Symbol(value));
  return labels;
}

constexpr const char* kNameRule =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr const char* kValueRule =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end "
    "with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for "
    "validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

TEST(LabelSelectorTest, W1) {
  const LabelSelectorSpec spec{.match_labels = {{"a", "1"}, {"b", "2"}},
                               .match_expressions = {{"c", "In", {"y", "x"}},
                                                     {"d", "NotIn", {"z"}},
                                                     {"e", "Exists", {}},
                                                     {"f", "DoesNotExist", {}}}};
  const Result<LabelSelector> selector = LabelSelector::Compile(spec);
  ASSERT_TRUE(selector.ok());
  EXPECT_TRUE(selector->Matches(Labels({{"a", "1"}, {"b", "2"}, {"c", "x"}, {"e", ""}})));
  EXPECT_EQ(selector->ToString(), "a=1,b=2,c in (x,y),d notin (z),e,!f");
}

// They are held in another form, by which nothing may change.
TEST(LabelSelectorTest, ManyValues) {
  std::vector<std::string> values;
  for (int i = 100; i < 200; ++i) values.push_back("v" + std::to_string(i));
  const auto compile = [&values](const std::string& op) {
    return LabelSelector::Compile(LabelSelectorSpec{{}, {{"k", op, values}}}).value();
  };
  const LabelSelector in = compile("In");
  const LabelSelector not_in = compile("NotIn");
  for (const auto& [value, is_listed] :
       std::vector<std::pair<std::string, bool>>{{"v100", true}, {"v199", true}, {"v200", false}}) {
    EXPECT_EQ(in.Matches(Labels({{"k", value}})), is_listed) << value;
    EXPECT_EQ(not_in.Matches(Labels({{"k", value}})), !is_listed) << value;
  }
  EXPECT_FALSE(in.Matches({}));
  EXPECT_TRUE(not_in.Matches({}));
  EXPECT_TRUE(in.ToString().starts_with("k in (v100,v101,")) << in.ToString();
  EXPECT_NE(in, not_in);
  std::swap(values.front(), values.back());
  EXPECT_EQ(compile("In"), in);
  values.front() = "v0";
  EXPECT_NE(compile("In"), in);
}

TEST(LabelSelectorTest, W2NullAndEmpty) {
  const Result<LabelSelector> null = LabelSelector::Compile(std::nullopt);
  ASSERT_TRUE(null.ok());
  EXPECT_FALSE(null->Matches({}));
  EXPECT_TRUE(null->MatchesNothing());
  EXPECT_FALSE(null->Empty());
  EXPECT_EQ(null->ToString(), "");
  const Result<LabelSelector> empty = LabelSelector::Compile(LabelSelectorSpec());
  ASSERT_TRUE(empty.ok());
  EXPECT_TRUE(empty->Matches({}));
  EXPECT_TRUE(empty->Empty());
  EXPECT_EQ(empty->ToString(), "");
  EXPECT_TRUE(LabelSelector::Everything().Matches(Labels({{"a", "1"}})));
  EXPECT_FALSE(LabelSelector().Matches(Labels({{"a", "1"}})));
}

TEST(LabelSelectorTest, Matching) {
  struct Case {
    const char* name;
    SelectorRequirement requirement;
    bool matches;
    const char* text;
  };
  const LabelMap labels = Labels({{"a", "1"}, {"e", ""}});
  const Case cases[] = {
      {"in", {"a", "In", {"2", "1"}}, true, "a in (1,2)"},
      {"in_other", {"a", "In", {"2"}}, false, "a in (2)"},
      {"in_missing", {"b", "In", {"1"}}, false, "b in (1)"},
      {"in_empty_value", {"e", "In", {""}}, true, "e in ()"},
      {"not_in", {"a", "NotIn", {"1"}}, false, "a notin (1)"},
      {"not_in_other", {"a", "NotIn", {"2"}}, true, "a notin (2)"},
      {"not_in_missing", {"b", "NotIn", {"1"}}, true, "b notin (1)"},
      {"exists", {"e", "Exists", {}}, true, "e"},
      {"exists_missing", {"b", "Exists", {}}, false, "b"},
      {"not_exists", {"b", "DoesNotExist", {}}, true, "!b"},
      {"not_exists_present", {"a", "DoesNotExist", {}}, false, "!a"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Result<LabelSelector> selector = LabelSelector::Compile(
        LabelSelectorSpec{.match_labels = {}, .match_expressions = {c.requirement}});
    ASSERT_TRUE(selector.ok());
    EXPECT_EQ(selector->Matches(labels), c.matches);
    EXPECT_EQ(selector->ToString(), c.text);
  }
}

TEST(LabelSelectorTest, Errors) {
  struct Case {
    const char* name;
    LabelSelectorSpec spec;
    std::string error;
  };
  const Case cases[] = {
      {"W3",
       {.match_labels = {}, .match_expressions = {{"c", "Exists", {"y"}}}},
       "values: Invalid value: [\"y\"]: values set must be empty for exists and does not exist"},
      {"W4",
       {.match_labels = {}, .match_expressions = {{"c", "Gt", {"1"}}}},
       "\"Gt\" is not a valid label selector operator"},
      {"bad_key",
       {.match_labels = {{"bad key!", "1"}}, .match_expressions = {}},
       std::string("key: Invalid value: \"bad key!\": ") + kNameRule},
      {"bad_value",
       {.match_labels = {{"a", "bad value!"}}, .match_expressions = {}},
       std::string("values[0][a]: Invalid value: \"bad value!\": ") + kValueRule},
      {"no_values",
       {.match_labels = {}, .match_expressions = {{"a", "In", {}}}},
       "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"},
      {"labels_come_first",
       {.match_labels = {{"a", "bad value!"}}, .match_expressions = {{"a", "In", {}}}},
       std::string("values[0][a]: Invalid value: \"bad value!\": ") + kValueRule},
      {"first_expression",
       {.match_labels = {}, .match_expressions = {{"a", "x", {}}, {"a", "In", {}}}},
       "\"x\" is not a valid label selector operator"},
      {"two_problems_of_one_requirement",
       {.match_labels = {}, .match_expressions = {{"a", "Exists", {"b!"}}}},
       std::string("[values: Invalid value: [\"b!\"]: values set must be empty for exists and does "
                   "not exist, "
                   "values[0][a]: Invalid value: \"b!\": ") +
           kValueRule + "]"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Result<LabelSelector> selector = LabelSelector::Compile(c.spec);
    ASSERT_FALSE(selector.ok());
    EXPECT_EQ(selector.error().message, c.error);
  }
}

NodeSelectorSpec Spec(std::vector<NodeSelectorTerm> terms) {
  return NodeSelectorSpec{.terms = std::move(terms)};
}
NodeSelectorTerm Expressions(Requirements expressions) {
  return {.match_expressions = std::move(expressions), .match_fields = {}};
}
NodeSelectorTerm FieldTerm(Requirements fields) {
  return {.match_expressions = {}, .match_fields = std::move(fields)};
}

// docs/spec/api.md 5.3 and the worked examples of docs/spec/plugins-node.md 2.10.
TEST(NodeSelectorTest, Matching) {
  struct Case {
    const char* name;
    NodeSelectorSpec spec;
    bool matches;
    bool error;
  };
  const Case cases[] = {
      {"N1_no_terms", Spec({}), false, false},
      {"N1_empty_term", Spec({NodeSelectorTerm()}), false, false},
      {"N2", Spec({Expressions({{"a", "In", {"1", "2"}}})}), true, false},
      {"N3", Spec({Expressions({{"zz", "NotIn", {"1"}}})}), true, false},
      {"N4", Spec({Expressions({{"e", "Exists", {}}})}), true, false},
      {"N5_gt_7", Spec({Expressions({{"cpu", "Gt", {"7"}}})}), true, false},
      {"N5_gt_8", Spec({Expressions({{"cpu", "Gt", {"8"}}})}), false, false},
      {"N6", Spec({Expressions({{"pad", "Gt", {"6"}}})}), true, false},
      {"N7_text", Spec({Expressions({{"s", "Gt", {"6"}}})}), false, false},
      {"N7_missing", Spec({Expressions({{"zz", "Gt", {"6"}}})}), false, false},
      {"N8", Spec({Expressions({{"neg", "Gt", {"-4"}}})}), false, true},
      {"N9",
       Spec({NodeSelectorTerm{.match_expressions = {{"a", "In", {"9"}}},
                              .match_fields = {{"metadata.name", "In", {"n1"}}}}}),
       false, false},
      {"N10_namespace_in", Spec({FieldTerm({{"metadata.namespace", "In", {"n1"}}})}), false, false},
      {"N10_foo_not_in", Spec({FieldTerm({{"spec.foo", "NotIn", {"n1"}}})}), true, false},
      {"N11", Spec({Expressions({{"a", "Foo", {}}}), Expressions({{"a", "In", {"1"}}})}), true,
       true},
      {"N12", Spec({Expressions({{"a", "Foo", {}}}), Expressions({{"a", "In", {"2"}}})}), false,
       true},
      {"unknown_field_in_empty", Spec({FieldTerm({{"spec.foo", "In", {""}}})}), true, false},
      {"name", Spec({FieldTerm({{"metadata.name", "In", {"n1"}}})}), true, false},
      {"other_name", Spec({FieldTerm({{"metadata.name", "In", {"n2"}}})}), false, false},
      {"not_name", Spec({FieldTerm({{"metadata.name", "NotIn", {"n1"}}})}), false, false},
      {"lt", Spec({Expressions({{"cpu", "Lt", {"9"}}})}), true, false},
      {"lt_negative_label", Spec({Expressions({{"neg", "Lt", {"0"}}})}), true, false},
      {"plus_value", Spec({Expressions({{"cpu", "Gt", {"+7"}}})}), false, true},
      {"leading_zero_value", Spec({Expressions({{"cpu", "Gt", {"07"}}})}), true, false},
      {"int64_range", Spec({Expressions({{"cpu", "Lt", {"9223372036854775808"}}})}), false, true},
      {"big_label", Spec({Expressions({{"big", "Gt", {"1"}}})}), false, false},
      {"plus_label", Spec({Expressions({{"plus", "Gt", {"1"}}})}), true, false},
      {"malformed_not_in", Spec({Expressions({{"zz", "NotIn", {"a b"}}})}), false, true},
      {"and", Spec({Expressions({{"a", "In", {"1"}}, {"cpu", "In", {"9"}}})}), false, false},
      {"or", Spec({Expressions({{"a", "In", {"9"}}}), Expressions({{"cpu", "In", {"8"}}})}), true,
       false},
  };
  const LabelMap labels = Labels({{"a", "1"},
                                  {"cpu", "8"},
                                  {"neg", "-3"},
                                  {"pad", "007"},
                                  {"s", "x"},
                                  {"e", ""},
                                  {"big", "9223372036854775808"},
                                  {"plus", "+2"}});
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const NodeSelector selector = NodeSelector::Compile(c.spec);
    EXPECT_EQ(selector.Matches(labels, "n1"), c.matches);
    EXPECT_EQ(selector.HasErrors(), c.error) << selector.ErrorText();
    EXPECT_EQ(selector.ErrorText().empty(), !c.error);
  }
}

// They are held in another form.
TEST(NodeSelectorTest, ManyValues) {
  std::vector<std::string> values;
  for (int i = 0; i < 1000; ++i) values.push_back("v" + std::to_string(i));
  struct Case {
    std::string op;
    LabelMap labels;
    bool want;
  };
  const Case cases[] = {
      {"In", {{Symbol("k"), Symbol("v0")}}, true},
      {"In", {{Symbol("k"), Symbol("v999")}}, true},
      {"In", {{Symbol("k"), Symbol("v1000")}}, false},
      {"In", {{Symbol("k"), Symbol("")}}, false},
      {"In", {{Symbol("other"), Symbol("v0")}}, false},
      {"NotIn", {{Symbol("k"), Symbol("v999")}}, false},
      {"NotIn", {{Symbol("k"), Symbol("v1000")}}, true},
      {"NotIn", {}, true},
  };
  for (const Case& c : cases) {
    const NodeSelector selector =
        NodeSelector::Compile({{{{{"k", c.op, values}, {"all", "DoesNotExist", {}}}, {}}}});
    EXPECT_FALSE(selector.HasErrors());
    EXPECT_EQ(selector.Matches(c.labels, "n"), c.want) << c.op;
    LabelMap others = c.labels;
    others.Set(Symbol("all"), Symbol("x"));
    EXPECT_FALSE(selector.Matches(others, "n")) << c.op;
    const NodeSelector copy(selector);
    EXPECT_EQ(copy.Matches(c.labels, "n"), c.want) << c.op;
  }
  values[500] = "not one";
  const std::string illegal = NodeSelector::Compile({{{{{"k", "In", values}}, {}}}}).ErrorText();
  EXPECT_TRUE(
      illegal.starts_with("nodeSelectorTerms[0].matchExpressions[0].values[500][k]: "
                          "Invalid value: \"not one\": "))
      << illegal;
  values[500] = "v500";
  const std::string count = NodeSelector::Compile({{{{{"k", "Exists", values}}, {}}}}).ErrorText();
  EXPECT_NE(count.find("values set must be empty for exists and does not exist"), std::string::npos)
      << count.substr(0, 200);
}

TEST(NodeSelectorTest, FieldsAreTrueOnANodeWithoutName) {
  const NodeSelector selector =
      NodeSelector::Compile(Spec({FieldTerm({{"metadata.name", "In", {"n1"}}})}));
  EXPECT_TRUE(selector.Matches({}, ""));
}

TEST(NodeSelectorTest, ErrorTexts) {
  struct Case {
    const char* name;
    NodeSelectorTerm term;
    std::string error;
  };
  const std::string expression = "nodeSelectorTerms[0].matchExpressions[0].";
  const std::string field = "nodeSelectorTerms[0].matchFields[0].";
  const Case cases[] = {
      {"operator", Expressions({{"a", "Foo", {}}}),
       expression +
           R"(operator: Unsupported value: "Foo": supported values: "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")"},
      {"gt_text", Expressions({{"a", "Gt", {"x"}}}),
       expression +
           R"(values[0]: Invalid value: "x": for 'Gt', 'Lt' operators, the value must be an integer)"},
      {"gt_two", Expressions({{"a", "Gt", {"1", "2"}}}),
       expression +
           R"(values: Invalid value: ["1","2"]: for 'Gt', 'Lt' operators, exactly one value is required)"},
      {"in_none", Expressions({{"a", "In", {}}}),
       expression +
           "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"},
      {"exists_values", Expressions({{"a", "Exists", {"1"}}}),
       expression +
           R"(values: Invalid value: ["1"]: values set must be empty for exists and does not exist)"},
      {"bad_key", Expressions({{"bad key!", "Exists", {}}}),
       expression + "key: Invalid value: \"bad key!\": " + kNameRule},
      {"empty_key", Expressions({{"", "Exists", {}}}),
       expression + "key: Invalid value: \"\": name part must be non-empty; " + kNameRule},
      {"bad_value", Expressions({{"a", "In", {"x y"}}}),
       expression + "values[0][a]: Invalid value: \"x y\": " + kValueRule},
      {"field_operator", FieldTerm({{"metadata.name", "Exists", {}}}),
       field + R"(operator: Unsupported value: "Exists": supported values: "In", "NotIn")"},
      {"field_values", FieldTerm({{"metadata.name", "In", {"n1", "n2"}}}),
       field + R"(values: Invalid value: ["n1","n2"]: must have one element)"},
      {"field_no_values", FieldTerm({{"metadata.name", "In", {}}}),
       field + "values: Invalid value: null: must have one element"},
      {"two", Expressions({{"a", "In", {}}, {"b", "In", {}}}),
       "[" + expression +
           "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty, "
           "nodeSelectorTerms[0].matchExpressions[1].values: Invalid value: null: for 'in', "
           "'notin' operators, values set "
           "can't be empty]"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(NodeSelector::Compile(Spec({c.term})).ErrorText(), c.error);
  }
  EXPECT_EQ(NodeSelector::Compile(Spec({FieldTerm({{"x", "In", {}}})}), "spec.terms").ErrorText(),
            "spec.terms[0].matchFields[0].values: Invalid value: null: must have one element");
}

TEST(PreferredTermsTest, Score) {
  const std::vector<PreferredSchedulingTerm> terms = {
      {.weight = 5, .preference = Expressions({{"a", "In", {"1"}}})},
      {.weight = 7, .preference = Expressions({{"b", "Exists", {}}})},
      {.weight = 0, .preference = Expressions({{"a", "Foo", {}}})},
      {.weight = 3, .preference = NodeSelectorTerm()},
      {.weight = 11, .preference = FieldTerm({{"metadata.name", "In", {"n1"}}})},
  };
  const Result<PreferredTerms> compiled = PreferredTerms::Compile(terms);
  ASSERT_TRUE(compiled.ok());
  EXPECT_EQ(compiled->Score(Labels({{"a", "1"}}), "n1"), 16);
  EXPECT_EQ(compiled->Score(Labels({{"a", "1"}, {"b", ""}}), "n2"), 12);
  EXPECT_FALSE(compiled->empty());
}

TEST(PreferredTermsTest, ErrorsStartAtTheTermIndex) {
  const Result<PreferredTerms> compiled =
      PreferredTerms::Compile({{.weight = 1, .preference = NodeSelectorTerm()},
                               {.weight = 1, .preference = Expressions({{"a", "Foo", {}}})}});
  ASSERT_FALSE(compiled.ok());
  EXPECT_EQ(
      compiled.error().message,
      R"([1].matchExpressions[0].operator: Unsupported value: "Foo": supported values: "In", "NotIn", "Exists", )"
      R"("DoesNotExist", "Gt", "Lt")");
}

TEST(LabelSyntaxTest, Keys) {
  struct Case {
    const char* name;
    std::string key;
    const char* problem;  // empty: valid
  };
  const Case cases[] = {
      {"plain", "a", ""},
      {"prefixed", "example.com/My_Name.1", ""},
      {"longest_name", std::string(63, 'a'), ""},
      {"long_name", std::string(64, 'a'), "name part must be no more than 63 bytes"},
      {"empty", "", "name part must be non-empty"},
      {"empty_prefix", "/a", "prefix part must be non-empty"},
      {"empty_name", "a.b/", "name part must be non-empty"},
      {"long_prefix", std::string(254, 'a') + "/a", "prefix part must be no more than 253 bytes"},
      {"bad_prefix", "A.b/a",
       "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
       "characters, '-' or '.', and must "
       "start and end with an alphanumeric character (e.g. 'example.com', regex used for "
       "validation is "
       "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"},
      {"two_slashes", "a/b/c",
       "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start "
       "and end with an "
       "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
       "validation is "
       "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' "
       "(e.g. "
       "'example.com/MyName')"},
      {"blank", "a b", kNameRule},
      {"dash_first", "-a", kNameRule},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(CheckLabelKey(c.key), c.problem);
  }
}

TEST(LabelSyntaxTest, Values) {
  EXPECT_EQ(CheckLabelValue(""), "");
  EXPECT_EQ(CheckLabelValue("My_value.1"), "");
  EXPECT_EQ(CheckLabelValue(std::string(64, 'a')), "must be no more than 63 bytes");
  EXPECT_EQ(CheckLabelValue("-a"), kValueRule);
  EXPECT_EQ(LabelValueProblems(std::string(64, '!')).size(), 2u);
}

TEST(LabelSyntaxTest, Quote) {
  EXPECT_EQ(golang::Quote("a\"\\\n\x01\x7f"), R"("a\"\\\n\x01\x7f")");
  EXPECT_EQ(golang::Quote("<é>\xff"), "\"<é>\\xff\"");
  EXPECT_EQ(golang::Quote("\u2028\ufeff"), "\"\\u2028\\ufeff\"");
}

}  // namespace
}  // namespace ks::api
