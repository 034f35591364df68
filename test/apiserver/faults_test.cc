// SPDX-License-Identifier: Apache-2.0
#include "apiserver/http/faults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace ks::apiserver {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

const UserInfo kScheduler{.name = "system:kube-scheduler", .groups = {"system:authenticated"}};

RequestInfo Bind() {
  return {.path = "/api/v1/namespaces/default/pods/p/binding",
          .resource_request = true,
          .verb = "create",
          .version = "v1",
          .resource = "pods",
          .subresource = "binding",
          .ns = "default",
          .name = "p"};
}

FaultRules Loaded(const std::string& json, uint64_t seed = 1) {
  FaultRules rules(seed);
  const Result<void> loaded = rules.Load(json);
  KS_CHECK(loaded.ok(), loaded.ok() ? "" : loaded.error().message);
  return rules;
}

std::string Fired(FaultRules& rules, int requests) {
  std::string fired;
  for (int i = 0; i < requests; ++i) {
    fired += rules.Decide(kScheduler, Bind()) ? 'x' : '.';
  }
  return fired;
}

TEST(FaultRules, EveryFieldIsRead) {
  FaultRules rules = Loaded(R"({"rules":[
    {"match":{"verb":"create","resource":"pods","subresource":"binding",
              "user":"system:kube-scheduler","path":"/api/v1/*"},
     "fault":{"latency":"200ms","status":503,"reason":"Sleepy","retryAfter":2,"applied":true}}]})");
  const std::optional<Fault> one = rules.Decide(kScheduler, Bind());
  ASSERT_TRUE(one);
  EXPECT_EQ(one->latency, milliseconds(200));
  EXPECT_EQ(one->status, 503);
  EXPECT_EQ(one->reason, "Sleepy");
  EXPECT_EQ(one->retry_after, 2);
  EXPECT_TRUE(one->applied);

  rules =
      Loaded(R"({"rules":[{"fault":{"cutWatch":"1s","bytesPerSecond":100,"staleList":true}}]})");
  const std::optional<Fault> two = rules.Decide(kScheduler, Bind());
  ASSERT_TRUE(two);
  EXPECT_EQ(two->cut_watch, std::chrono::seconds(1));
  EXPECT_EQ(two->bytes_per_second, 100);
  EXPECT_TRUE(two->stale_list);
  EXPECT_TRUE(rules.MakesStaleLists());

  EXPECT_TRUE(Loaded(R"({"rules":[{"fault":{"reset":true}}]})").Decide(kScheduler, Bind())->reset);
  EXPECT_TRUE(Loaded(R"({"rules":[{"fault":{"stall":true}}]})").Decide(kScheduler, Bind())->stall);
  EXPECT_EQ(Loaded(R"({"rules":[{"fault":{"stallWatch":"3s"}}]})")
                .Decide(kScheduler, Bind())
                ->stall_watch,
            std::chrono::seconds(3));
}

struct MatchRow {
  const char* match;
  bool want;
};

TEST(FaultRules, AllFieldsOfAMatchMustFit) {
  const MatchRow rows[] = {
      {R"({})", true},
      {R"({"verb":"create"})", true},
      {R"({"verb":"update"})", false},
      {R"({"resource":"pods"})", true},
      {R"({"resource":"nodes"})", false},
      {R"({"subresource":"binding"})", true},
      {R"({"subresource":"status"})", false},
      {R"({"user":"system:kube-scheduler"})", true},
      {R"({"user":"somebody"})", false},
      {R"({"path":"/api/*"})", true},
      {R"({"path":"/api/v1/namespaces/default/pods/p/binding"})", true},
      {R"({"path":"/api/v1/namespaces/default/pods/p"})", false},
      {R"({"path":"/apis/*"})", false},
      {R"({"verb":"create","resource":"nodes"})", false},
  };
  for (const MatchRow& row : rows) {
    FaultRules rules =
        Loaded(std::string(R"({"rules":[{"match":)") + row.match + R"(,"fault":{"status":500}}]})");
    EXPECT_EQ(rules.Decide(kScheduler, Bind()).has_value(), row.want) << row.match;
  }
}

TEST(FaultRules, AfterAndTimesCountMatchingRequests) {
  FaultRules rules = Loaded(R"({"rules":[{"after":2,"times":3,"fault":{"status":500}}]})");
  EXPECT_EQ(Fired(rules, 8), "..xxx...");
}

TEST(FaultRules, TheFirstRuleThatFiresWins) {
  FaultRules rules =
      Loaded(R"({"rules":[{"times":1,"fault":{"status":500}},{"fault":{"status":503}}]})");
  EXPECT_EQ(rules.Decide(kScheduler, Bind())->status, 500);
  EXPECT_EQ(rules.Decide(kScheduler, Bind())->status, 503);
}

TEST(FaultRules, ChanceFollowsTheSeed) {
  const std::string json = R"({"rules":[{"probability":0.3,"fault":{"status":500}}]})";
  FaultRules one = Loaded(json, 7);
  FaultRules two = Loaded(json, 7);
  FaultRules other = Loaded(json, 8);
  const std::string fired = Fired(one, 1000);
  EXPECT_EQ(fired, Fired(two, 1000));
  EXPECT_NE(fired, Fired(other, 1000));
  EXPECT_NEAR(std::count(fired.begin(), fired.end(), 'x'), 300, 60);
  FaultRules never = Loaded(R"({"rules":[{"probability":0,"fault":{"status":500}}]})");
  EXPECT_EQ(Fired(never, 100), std::string(100, '.'));
}

TEST(FaultRules, DescribeShowsRulesAndCounts) {
  FaultRules rules = Loaded(
      R"({"rules":[{"match":{"verb":"create"},"after":1,"fault":{"latency":"1.5s","stall":true}}]})");
  Fired(rules, 3);
  EXPECT_EQ(nlohmann::json::parse(rules.Describe()), nlohmann::json::parse(R"({"rules":[
      {"match":{"verb":"create"},"probability":1.0,"after":1,"fault":{"latency":"1.5s",
       "stall":true},"matched":3,"fired":2}]})"));
  rules.Clear();
  EXPECT_TRUE(rules.empty());
}

struct BadRow {
  const char* name;
  const char* json;
  const char* want;
};

class BadRules : public ::testing::TestWithParam<BadRow> {};

// Place and cure; the rules in force stay.
TEST_P(BadRules, AreRefused) {
  FaultRules rules = Loaded(R"({"rules":[{"fault":{"status":500}}]})");
  const Result<void> loaded = rules.Load(GetParam().json);
  ASSERT_FALSE(loaded.ok());
  EXPECT_THAT(loaded.error().message, HasSubstr(GetParam().want));
  EXPECT_TRUE(rules.Decide(kScheduler, Bind()));
}

INSTANTIATE_TEST_SUITE_P(
    Rows, BadRules,
    ::testing::Values(
        BadRow{"not_json", "{\"rules\":[}", "not JSON"},
        BadRow{"no_rules", "{}", "rules: must be a list"},
        BadRow{"not_an_object", "[]", "must be an object"},
        BadRow{"unknown_top", R"({"rules":[],"rule":1})",
               "rule: there is no such field; the fields here are rules"},
        BadRow{"unknown_in_rule", R"({"rules":[{"fault":{"stall":true},"probabilty":1}]})",
               "rules[0].probabilty: there is no such field; the fields here are match, "
               "probability, times, after, fault"},
        BadRow{"unknown_in_match", R"({"rules":[{"match":{"kind":"Pod"},"fault":{"stall":true}}]})",
               "rules[0].match.kind: there is no such field"},
        BadRow{"unknown_in_fault",
               R"({"rules":[{"fault":{"stall":true}},{"fault":{"delay":"1s"}}]})",
               "rules[1].fault.delay: there is no such field"},
        BadRow{"twice", R"({"rules":[{"after":1,"after":2,"fault":{"stall":true}}]})",
               "\"after\" stands twice"},
        BadRow{"verb", R"({"rules":[{"match":{"verb":"bind"},"fault":{"stall":true}}]})",
               "rules[0].match.verb: there is no verb \"bind\"; use get,"},
        BadRow{"star", R"({"rules":[{"match":{"path":"/api/*/pods"},"fault":{"stall":true}}]})",
               "rules[0].match.path: a * stands at the end only"},
        BadRow{"probability", R"({"rules":[{"probability":10,"fault":{"stall":true}}]})",
               "rules[0].probability: must be a number from 0 to 1, is 10"},
        BadRow{"times", R"({"rules":[{"times":0,"fault":{"stall":true}}]})", "rules[0].times"},
        BadRow{"no_fault", R"({"rules":[{}]})", "rules[0].fault: is missing"},
        BadRow{"empty_fault", R"({"rules":[{"fault":{}}]})", "the fault does nothing"},
        BadRow{"duration", R"({"rules":[{"fault":{"latency":"200"}}]})",
               "rules[0].fault.latency: time: missing unit in duration \"200\"; write for example"},
        BadRow{"negative", R"({"rules":[{"fault":{"latency":"-1s"}}]})", "more than zero"},
        BadRow{"number", R"({"rules":[{"fault":{"status":"500"}}]})",
               "rules[0].fault.status: must be a whole number, is \"500\""},
        BadRow{"status", R"({"rules":[{"fault":{"status":200}}]})", "must be 400 to 599, is 200"},
        BadRow{"two_ends", R"({"rules":[{"fault":{"status":500,"reset":true}}]})",
               "only one of status, reset and stall"},
        BadRow{"applied_alone", R"({"rules":[{"fault":{"latency":"1s","applied":true}}]})",
               "rules[0].fault.applied: needs status, reset or stall"},
        BadRow{"retry_alone", R"({"rules":[{"fault":{"reset":true,"retryAfter":1}}]})",
               "rules[0].fault.retryAfter: needs status"},
        BadRow{"no_answer_to_shape", R"({"rules":[{"fault":{"reset":true,"staleList":true}}]})",
               "there is no real answer"}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace ks::apiserver
