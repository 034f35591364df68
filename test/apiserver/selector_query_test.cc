// SPDX-License-Identifier: Apache-2.0
#include "apiserver/store/selector_query.h"

#include <gtest/gtest.h>

#include "apiserver/store/store.h"

namespace ks::apiserver {
namespace {

const KindInfo& Pods() { return *FindKind("v1", "Pod"); }

ObjectPtr Pod(const Json& labels, const std::string& node = "") {
  return Store::Make(Pods(),
                     Json{{"metadata", {{"name", "p"}, {"namespace", "ns"}, {"labels", labels}}},
                          {"spec", {{"nodeName", node}}},
                          {"status", {{"phase", "Running"}}}},
                     1);
}

struct LabelRow {
  std::string name;
  std::string query;
  bool want_ab = false;    // labels a=b
  bool want_none = false;  // no labels
  bool want_ac5 = false;   // labels a=c, n=5
};

class LabelQueries : public ::testing::TestWithParam<LabelRow> {};

TEST_P(LabelQueries, Match) {
  const Outcome<SelectorQuery> query = SelectorQuery::Parse(Pods(), GetParam().query, "");
  ASSERT_TRUE(query.ok()) << query.failure().message;
  EXPECT_EQ(query->Matches(*Pod({{"a", "b"}})), GetParam().want_ab);
  EXPECT_EQ(query->Matches(*Pod(Json::object())), GetParam().want_none);
  EXPECT_EQ(query->Matches(*Pod({{"a", "c"}, {"n", "5"}})), GetParam().want_ac5);
}

INSTANTIATE_TEST_SUITE_P(Upstream, LabelQueries,
                         ::testing::Values(LabelRow{"Empty", "", true, true, true},
                                           LabelRow{"Equal", "a=b", true, false, false},
                                           LabelRow{"DoubleEqual", "a==b", true, false, false},
                                           LabelRow{"Blanks", " a = b ", true, false, false},
                                           LabelRow{"NotEqual", "a!=b", false, true, true},
                                           LabelRow{"In", "a in (b,c)", true, false, true},
                                           LabelRow{"NotIn", "a notin (b)", false, true, true},
                                           LabelRow{"Exists", "n", false, false, true},
                                           LabelRow{"Absent", "!n", true, true, false},
                                           LabelRow{"Greater", "n>4", false, false, true},
                                           LabelRow{"NotGreater", "n>5", false, false, false},
                                           LabelRow{"Less", "n<6", false, false, true},
                                           LabelRow{"And", "a,n", false, false, true},
                                           LabelRow{"EmptyValue", "a=", false, false, false},
                                           LabelRow{"EmptyValueInList", "a in (,b)", true, false,
                                                    false}),
                         [](const auto& row) { return row.param.name; });

struct FieldRow {
  std::string name;
  std::string query;
  bool want = false;  // of pod ns/p on node n, Running
};

class FieldQueries : public ::testing::TestWithParam<FieldRow> {};

TEST_P(FieldQueries, Match) {
  const Outcome<SelectorQuery> query = SelectorQuery::Parse(Pods(), "", GetParam().query);
  ASSERT_TRUE(query.ok()) << query.failure().message;
  EXPECT_EQ(query->Matches(*Pod(Json::object(), "n")), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Upstream, FieldQueries,
    ::testing::Values(
        FieldRow{"Node", "spec.nodeName=n", true}, FieldRow{"Unassigned", "spec.nodeName=", false},
        FieldRow{"Assigned", "spec.nodeName!=", true}, FieldRow{"Name", "metadata.name=p", true},
        FieldRow{"OtherName", "metadata.name=q", false},
        FieldRow{"Namespace", "metadata.namespace==ns", true},
        FieldRow{"SchedulersOwn", "status.phase!=Succeeded,status.phase!=Failed", true},
        FieldRow{"Phase", "status.phase=Running,spec.nodeName=n", true},
        FieldRow{"HostNetwork", "spec.hostNetwork=false", true},
        FieldRow{"Escapes", "metadata.name=p\\,q", false}),
    [](const auto& row) { return row.param.name; });

TEST(SelectorQuery, KnowsTheOneName) {
  EXPECT_EQ(SelectorQuery::Parse(Pods(), "", "metadata.name=x\\,y")->name(), "x,y");
  EXPECT_FALSE(SelectorQuery::Parse(Pods(), "", "metadata.name!=x")->name().has_value());
  EXPECT_TRUE(SelectorQuery::Parse(Pods(), "", "")->MatchesEverything());
}

struct BadRow {
  std::string name;
  std::string labels;
  std::string fields;
  std::string want;
};

class BadQueries : public ::testing::TestWithParam<BadRow> {};

TEST_P(BadQueries, AreRefusedWithUpstreamsWords) {
  const Outcome<SelectorQuery> query =
      SelectorQuery::Parse(Pods(), GetParam().labels, GetParam().fields);
  ASSERT_FALSE(query.ok());
  EXPECT_EQ(query.failure().code, 400);
  EXPECT_EQ(query.failure().reason, "BadRequest");
  EXPECT_EQ(query.failure().message, GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Upstream, BadQueries,
    ::testing::Values(
        BadRow{"UnknownField", "", "foo=x", "field label not supported: foo"},
        BadRow{"NoOperator", "", "foo", "invalid selector: 'foo'; can't understand 'foo'"},
        BadRow{"TwoKeys", "a b", "",
               "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"},
        BadRow{"TwoOperators", "a=b=c", "", "found '=', expected: ',' or 'end of string'"},
        BadRow{
            "BadKey", "-a=b", "",
            "unable to parse requirement: <nil>: Invalid value: \"-a\": name part must consist "
            "of alphanumeric characters, '-', '_' or '.', and must start and end with an "
            "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
            "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"},
        BadRow{"NoList", "a in x", "", "unable to parse requirement: found 'x' expected: '('"},
        BadRow{
            "BadValue", "a=__", "",
            "unable to parse requirement: values[0][a]: Invalid value: \"__\": a valid label "
            "must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and "
            "must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  "
            "or '12345', regex used for validation is "
            "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"}),
    [](const auto& row) { return row.param.name; });

TEST(SelectorQuery, EventsHaveOtherNamesInTheirOtherForm) {
  const KindInfo& core = *FindKind("v1", "Event");
  const KindInfo& events_v1 = *FindKind("events.k8s.io/v1", "Event");
  const ObjectPtr event = Store::Make(
      core, Json::parse(R"({"metadata":{"name":"e","namespace":"ns"},"involvedObject":{"name":"p"},
                      "reason":"r","reportingComponent":"s","type":"Normal"})"),
      1);
  const auto matches = [&event](const KindInfo& kind, const char* query) {
    const Outcome<SelectorQuery> parsed = SelectorQuery::Parse(kind, "", query);
    return parsed.ok() && parsed->Matches(*event);
  };
  EXPECT_TRUE(matches(core, "involvedObject.name=p,reason=r,type=Normal,source=s"));
  EXPECT_TRUE(matches(events_v1, "regarding.name=p,reason=r,type=Normal,reportingController=s"));
  EXPECT_FALSE(matches(events_v1, "regarding.name=q"));
  EXPECT_EQ(SelectorQuery::Parse(events_v1, "", "involvedObject.name=p").failure().message,
            "field label not supported: involvedObject.name");
}

}  // namespace
}  // namespace ks::apiserver
