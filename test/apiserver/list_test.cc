// SPDX-License-Identifier: Apache-2.0
// Lists: docs/spec/api.md sections 6.3 and 6.6; texts of the real server.
#include <gtest/gtest.h>

#include "apiserver/service_harness.h"
#include "apiserver/store/list_token.h"

namespace ks::apiserver {
namespace {

using std::string_literals::operator""s;

constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";

class Lists : public ::testing::Test {
 protected:
  void Make(const std::string& name) {
    ASSERT_EQ(server_.Ask("POST", kMaps, Json{{"metadata", {{"name", name}}}}).status, 201);
  }
  std::string Version() { return std::to_string(server_.service_.store().version()); }
  Answered List(const std::string& query) { return server_.Ask("GET", kMaps + "?"s + query); }
  static std::string Names(const Answered& list) {
    std::string names;
    for (const Json& item : list.body["items"])
      names += item["metadata"]["name"].get<std::string>();
    return names;
  }
  static std::string Continue(const Answered& list) {
    return list.body["metadata"].value("continue", "");
  }

  ServiceHarness server_;
};

TEST_F(Lists, AnEmptyOneIsAList) {
  const Answered list = server_.Ask("GET", "/api/v1/namespaces/nope/pods");
  EXPECT_EQ(list.status, 200);
  EXPECT_EQ(list.body["kind"], "PodList");
  EXPECT_EQ(list.body["apiVersion"], "v1");
  EXPECT_EQ(list.body["metadata"]["resourceVersion"], Version());
  EXPECT_EQ(list.body["items"], Json::array());
}

TEST_F(Lists, PagesShowOneMomentWhateverHappensBetween) {
  for (const char* name : {"a", "b", "c", "d", "e"}) Make(name);
  const std::string version = Version();
  const Answered first = List("limit=2");
  EXPECT_EQ(Names(first), "ab");
  EXPECT_EQ(first.body["metadata"]["remainingItemCount"], 3);
  EXPECT_EQ(first.body["metadata"]["resourceVersion"], version);
  Make("ab");
  Make("bb");
  Make("f");
  EXPECT_EQ(server_.Ask("DELETE", kMaps + "/d"s).status, 200);
  const Answered second = List("limit=2&continue=" + Continue(first));
  EXPECT_EQ(Names(second), "cd");
  EXPECT_EQ(second.body["metadata"]["resourceVersion"], version);
  EXPECT_EQ(second.body["metadata"]["remainingItemCount"], 1);
  const Answered third = List("limit=2&continue=" + Continue(second));
  EXPECT_EQ(Names(third), "e");
  EXPECT_EQ(Continue(third), "");
  EXPECT_FALSE(third.body["metadata"].contains("remainingItemCount"));
}

TEST_F(Lists, AnExpiredTokenSaysHowToGoOn) {
  for (const char* name : {"a", "b", "c"}) Make(name);
  const Answered first = List("limit=1");
  Make("d");
  server_.service_.store().ForgetHistory();
  const Answered expired = List("limit=1&continue=" + Continue(first));
  EXPECT_EQ(expired.status, 410);
  EXPECT_EQ(expired.body["reason"], "Expired");
  EXPECT_EQ(expired.body["message"].get<std::string>().substr(0, 75),
            "The provided continue parameter is too old to display a consistent list res");
  const Answered rest = List("continue=" + Continue(expired));
  EXPECT_EQ(Names(rest), "bcd");
}

TEST_F(Lists, WithSelectorsTheRestIsNotCounted) {
  for (const char* name : {"a", "b", "c"}) Make(name);
  const Answered list = List("limit=1&labelSelector=x!%3Dy");
  EXPECT_NE(Continue(list), "");
  EXPECT_FALSE(list.body["metadata"].contains("remainingItemCount"));
  const Answered last = List("limit=1&fieldSelector=metadata.name%3Dc");
  EXPECT_EQ(Names(last), "c");
  EXPECT_EQ(Continue(last), "");
}

TEST_F(Lists, VersionsAskedFor) {
  Make("a");
  const std::string then = Version();
  Make("b");
  const std::string now = Version();
  EXPECT_EQ(Names(List("resourceVersion=0")), "ab");
  EXPECT_EQ(Names(List("resourceVersion=" + then)), "ab");
  EXPECT_EQ(Names(List("resourceVersionMatch=NotOlderThan&resourceVersion=" + then)), "ab");
  const Answered exact = List("resourceVersionMatch=Exact&resourceVersion=" + then);
  EXPECT_EQ(Names(exact), "a");
  EXPECT_EQ(exact.body["metadata"]["resourceVersion"], then);
  // A limit without a match asks for exactly this version; version 0 has no pages.
  EXPECT_EQ(Names(List("limit=5&resourceVersion=" + then)), "a");
  EXPECT_EQ(Names(List("limit=1&resourceVersion=0")), "ab");
  EXPECT_EQ(Names(List("limit=1&resourceVersionMatch=NotOlderThan&resourceVersion=" + then)), "a");
}

struct BadList {
  std::string name;
  std::string query;
  int want_code = 0;
  std::string want_message;
};

class BadLists : public ::testing::TestWithParam<BadList> {};

TEST_P(BadLists, AreRefusedWithUpstreamsWords) {
  ServiceHarness server;  // at version 7
  const Answered answer = server.Ask("GET", kMaps + "?"s + GetParam().query);
  EXPECT_EQ(answer.status, GetParam().want_code);
  EXPECT_EQ(answer.body["message"], GetParam().want_message);
}

constexpr const char* kListOptions = "ListOptions.meta.k8s.io \"\" is invalid: ";

INSTANTIATE_TEST_SUITE_P(
    Upstream, BadLists,
    ::testing::Values(
        BadList{"Limit", "limit=x", 400, R"(strconv.ParseInt: parsing "x": invalid syntax)"},
        BadList{"Version", "resourceVersion=x", 400,
                "invalid resource version: resourceVersion: Invalid value: \"x\": "
                "strconv.ParseUint: parsing \"x\": invalid syntax"},
        BadList{"Future", "resourceVersion=1000", 504,
                "Timeout: Too large resource version: 1000, current: 7"},
        BadList{"FutureExact", "resourceVersion=1000&resourceVersionMatch=Exact", 504,
                "Timeout: Too large resource version: 1000, current: 7"},
        BadList{"MatchAlone", "resourceVersionMatch=Exact", 422,
                kListOptions + "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden "
                               "unless resourceVersion is provided"s},
        BadList{"ExactZero", "resourceVersion=0&resourceVersionMatch=Exact", 422,
                kListOptions + "resourceVersionMatch: Forbidden: resourceVersionMatch \"exact\" is "
                               "forbidden for resourceVersion \"0\""s},
        BadList{"UnknownMatch", "resourceVersion=1&resourceVersionMatch=Foo", 422,
                kListOptions +
                    "resourceVersionMatch: Unsupported value: \"Foo\": supported values: "
                    "\"Exact\", \"NotOlderThan\", \"\""s},
        BadList{"MatchAndContinue", "resourceVersionMatch=Exact&continue=x", 422,
                kListOptions +
                    "[resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless "
                    "resourceVersion is provided, resourceVersionMatch: Forbidden: "
                    "resourceVersionMatch is forbidden when continue is provided]"s},
        BadList{"InitialEvents", "sendInitialEvents=true", 422,
                kListOptions +
                    "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list"s},
        BadList{"Token", "continue=x", 400,
                "invalid continue token: continue key is not valid: illegal base64 data at input "
                "byte 0"},
        BadList{"TokenWithoutVersion", "continue=" + EncodeListToken({0, "x"}), 400,
                "invalid continue token: continue key is not valid: incorrect encoded start "
                "resourceVersion (version meta.k8s.io/v1)"},
        BadList{"TokenWithoutStart", "continue=" + EncodeListToken({1, ""}), 400,
                "invalid continue token: continue key is not valid: encoded start key empty "
                "(version meta.k8s.io/v1)"},
        BadList{"TokenAndVersion", "resourceVersion=2&continue=" + EncodeListToken({1, "x"}), 400,
                "specifying resource version is not allowed when using continue"},
        BadList{"Field", "fieldSelector=foo%3Dx", 400, "field label not supported: foo"}),
    [](const auto& row) { return row.param.name; });

TEST_F(Lists, TooOldIsExpiredAndTooNewComesWithAHint) {
  Make("a");
  server_.service_.store().ForgetHistory();
  const Answered old = List("resourceVersion=1&resourceVersionMatch=Exact");
  EXPECT_EQ(old.status, 410);
  EXPECT_EQ(old.body["message"], "The resourceVersion for the provided list is too old.");
  const ApiResponse future = server_.Raw("GET", kMaps + "?resourceVersion=1000"s);
  const Json status = Json::parse(future.body);
  EXPECT_EQ(status["reason"], "Timeout");
  EXPECT_EQ(status["details"]["causes"][0]["reason"], "ResourceVersionTooLarge");
  EXPECT_EQ(status["details"]["retryAfterSeconds"], 1);
  ASSERT_EQ(future.headers.size(), 1U);
  EXPECT_EQ(future.headers[0].first, "Retry-After");
}

TEST(ListToken, RoundTrip) {
  const KindInfo& pods = *FindKind("v1", "Pod");
  const ObjectPtr pod =
      Store::Make(pods, Json{{"metadata", {{"namespace", "ns"}, {"name", "p"}}}}, 5);
  const std::string start = StartAfter(pods, *pod);
  const Outcome<ListToken> token = DecodeListToken(EncodeListToken({17, start}));
  ASSERT_TRUE(token.ok());
  EXPECT_EQ(token->version, 17);
  EXPECT_EQ(KeyOfStart(pods, token->start), Store::Key("ns", "p\0"s));
}

}  // namespace
}  // namespace ks::apiserver
