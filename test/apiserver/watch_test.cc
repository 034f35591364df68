// SPDX-License-Identifier: Apache-2.0
// Watches: docs/spec/api.md sections 5.4, 6.2 and 6.4; frames of the real server.
#include <gtest/gtest.h>

#include "apiserver/service_harness.h"

namespace ks::apiserver {
namespace {

using std::chrono::seconds;
using std::string_literals::operator""s;
using Texts = std::vector<std::string>;

constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";
constexpr const char* kMerge = "application/merge-patch+json";

class Watches : public ::testing::Test {
 protected:
  // At version 7 when nothing was written.
  void Make(const std::string& name, const std::string& label = "") {
    Json map{{"metadata", {{"name", name}}}};
    if (!label.empty()) map["metadata"]["labels"]["a"] = label;
    ASSERT_EQ(server_.Ask("POST", kMaps, map).status, 201);
  }
  void Label(const std::string& name, const std::string& label) {
    const Json patch{{"metadata", {{"labels", {{"a", label}}}}}};
    ASSERT_EQ(server_.Ask("PATCH", kMaps + "/"s + name, patch.dump(), kMerge).status, 200);
  }
  void Remove(const std::string& name) {
    ASSERT_EQ(server_.Ask("DELETE", kMaps + "/"s + name).status, 200);
  }
  std::unique_ptr<WatchStream> Watch(const std::string& query) {
    return server_.Watch(kMaps + "?watch=true&"s + query);
  }
  static Texts Frames(WatchStream& watch) {
    return ServiceHarness::Short(ServiceHarness::Frames(watch));
  }

  ServiceHarness server_;
};

TEST_F(Watches, FromAVersion) {
  Make("a");  // 8
  const auto watch = Watch("resourceVersion=7");
  EXPECT_EQ(Frames(*watch), Texts{"ADDED a@8"});
  Label("a", "x");
  Remove("a");
  EXPECT_EQ(Frames(*watch), (Texts{"MODIFIED a@9", "DELETED a@10"}));
  EXPECT_EQ(Frames(*watch), Texts{});
}

TEST_F(Watches, WithoutAVersionTheStateComesFirst) {
  Make("b");
  Make("a");
  for (const char* query : {"", "resourceVersion=0",
                            "sendInitialEvents=true&"
                            "resourceVersionMatch=NotOlderThan"}) {
    EXPECT_EQ(Frames(*Watch(query)), (Texts{"ADDED a@9", "ADDED b@8"})) << query;
  }
  EXPECT_EQ(Frames(*Watch("sendInitialEvents=false&resourceVersionMatch=NotOlderThan")), Texts{});
}

TEST_F(Watches, ABookmarkMarksTheEndOfTheState) {
  Make("a");
  const auto watch =
      Watch("allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
  Make("b");
  const std::vector<Json> frames = ServiceHarness::Frames(*watch);
  EXPECT_EQ(ServiceHarness::Short(frames), (Texts{"ADDED a@8", "BOOKMARK @8", "ADDED b@9"}));
  EXPECT_EQ(frames[1]["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"], "true");
  EXPECT_EQ(frames[1]["object"]["kind"], "ConfigMap");
  EXPECT_EQ(frames[1]["object"]["apiVersion"], "v1");
  // The same without sendInitialEvents, as upstream assumes it when no version is given.
  EXPECT_EQ(Frames(*Watch("allowWatchBookmarks=true")),
            (Texts{"ADDED a@8", "ADDED b@9", "BOOKMARK @9"}));
  EXPECT_EQ(Frames(*Watch("allowWatchBookmarks=true&resourceVersion=8")), Texts{"ADDED b@9"});
}

TEST_F(Watches, SelectorsTurnChangesIntoComingAndGoing) {
  const auto watch = Watch("resourceVersion=7&labelSelector=a%3Db");
  Make("m", "b");   // 8
  Label("m", "c");  // 9
  Label("m", "d");  // 10
  Label("m", "b");  // 11
  Make("n", "c");   // 12
  Remove("n");      // 13
  Remove("m");      // 14
  const std::vector<Json> frames = ServiceHarness::Frames(*watch);
  EXPECT_EQ(ServiceHarness::Short(frames),
            (Texts{"ADDED m@8", "DELETED m@9", "ADDED m@11", "DELETED m@14"}));
  // The last state that matched, with the version of the change.
  EXPECT_EQ(frames[1]["object"]["metadata"]["labels"]["a"], "b");
}

TEST_F(Watches, ABoundPodLeavesTheWatchOfUnboundOnes) {
  const auto watch = server_.Watch(
      "/api/v1/pods?watch=1&resourceVersion=7&fieldSelector=spec.nodeName%3D%2Cstatus.phase!%3D"
      "Failed");
  ASSERT_EQ(server_.Ask("POST", kPods, ServiceHarness::Pod("p")).status, 201);
  const Json binding{{"metadata", {{"name", "p"}}}, {"target", {{"kind", "Node"}, {"name", "n"}}}};
  ASSERT_EQ(server_.Ask("POST", kPods + "/p/binding"s, binding).status, 201);
  const std::vector<Json> frames = ServiceHarness::Frames(*watch);
  EXPECT_EQ(ServiceHarness::Short(frames), (Texts{"ADDED p@8", "DELETED p@9"}));
  EXPECT_FALSE(frames[1]["object"]["spec"].contains("nodeName"));
}

TEST_F(Watches, ByNameAndNamespace) {
  Make("a");
  Make("b");
  EXPECT_EQ(Frames(*Watch("fieldSelector=metadata.name%3Da")), Texts{"ADDED a@8"});
  EXPECT_EQ(Frames(*server_.Watch("/api/v1/watch/namespaces/default/configmaps/b")),
            Texts{"ADDED b@9"});
  EXPECT_EQ(Frames(*server_.Watch("/api/v1/watch/configmaps")), (Texts{"ADDED a@8", "ADDED b@9"}));
  EXPECT_EQ(Frames(*server_.Watch("/api/v1/namespaces/other/configmaps?watch=1")), Texts{});
  // A name in the path of an ordinary request is a get, whatever it says.
  EXPECT_EQ(server_.Ask("GET", kMaps + "/a?watch=1"s).body["kind"], "ConfigMap");
}

TEST_F(Watches, AFutureVersionWaitsForIt) {
  const auto watch = Watch("resourceVersion=8");
  Make("a");  // 8
  EXPECT_EQ(Frames(*watch), Texts{});
  Make("b");  // 9
  EXPECT_EQ(Frames(*watch), Texts{"ADDED b@9"});
}

TEST_F(Watches, AForgottenVersionIsAnErrorFrame) {
  Make("a");
  server_.service_.store().ForgetHistory();
  const auto watch = Watch("resourceVersion=7");
  std::string text;
  EXPECT_EQ(watch->Read(1000, &text), WatchStream::State::kEnded);
  const std::string want =
      R"({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},)"
      R"x("status":"Failure","message":"too old resource version: 7 (8)",)x"
      R"("reason":"Expired","code":410}})";
  EXPECT_EQ(text, want + '\n');
  EXPECT_EQ(Frames(*Watch("resourceVersion=8")), Texts{});
}

TEST_F(Watches, TheSlowOneEnds) {
  ServiceHarness server({.store = {.history = 4}});
  const auto watch = server.Watch(kMaps + "?watch=1&resourceVersion=7"s);
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(server.Ask("POST", kMaps, Json{{"metadata", {{"generateName", "x"}}}}).status, 201);
  }
  std::string text;
  EXPECT_EQ(watch->Read(1000, &text), WatchStream::State::kEnded);
  EXPECT_EQ(text, "");
}

TEST_F(Watches, EndsAtItsTimeWithABookmarkBefore) {
  const auto watch = Watch("resourceVersion=7&allowWatchBookmarks=true&timeoutSeconds=100");
  std::string text;
  EXPECT_EQ(watch->Read(1000, &text), WatchStream::State::kWaiting);
  const TimePoint start = server_.clock_.Now();
  EXPECT_EQ(watch->NextDue(), start + seconds(60));
  server_.clock_.Advance(seconds(60));
  Make("a");
  EXPECT_EQ(Frames(*watch), (Texts{"ADDED a@8", "BOOKMARK @8"}));
  EXPECT_EQ(watch->NextDue(), start + seconds(98));
  server_.clock_.Advance(seconds(38));
  EXPECT_EQ(Frames(*watch), Texts{"BOOKMARK @8"});
  EXPECT_EQ(watch->NextDue(), start + seconds(100));
  server_.clock_.Advance(seconds(2));
  EXPECT_EQ(watch->Read(1000, &text), WatchStream::State::kEnded);
  EXPECT_EQ(text, "");
}

TEST_F(Watches, WithoutBookmarksOnlyTheEndIsDue) {
  const auto watch = Watch("resourceVersion=7");
  EXPECT_EQ(watch->NextDue(), server_.clock_.Now() + std::chrono::minutes(30));
}

TEST_F(Watches, ReadersAreToldOnceUntilTheyRead) {
  const auto watch = Watch("resourceVersion=7");
  int told = 0;
  watch->OnReady([&told] { ++told; });
  Make("a");
  Make("b");
  EXPECT_EQ(told, 1);
  Frames(*watch);
  Make("c");
  EXPECT_EQ(told, 2);
}

TEST_F(Watches, LongAnswersComeInParts) {
  for (int i = 0; i < 9; ++i) Make("m" + std::to_string(i));
  const auto watch = Watch("");
  std::string text;
  EXPECT_EQ(watch->Read(300, &text), WatchStream::State::kMore);
  EXPECT_EQ(text.back(), '\n');
  EXPECT_LT(text.size(), 800U);
  int reads = 1;
  std::string rest;
  while (true) {
    rest.clear();
    if (watch->Read(300, &rest) == WatchStream::State::kWaiting) break;
    text += rest;
    ++reads;
  }
  EXPECT_GT(reads, 3);
  EXPECT_EQ(ServiceHarness::Split(text + rest).size(), 9U);
}

TEST_F(Watches, AllEndWhenTheServerRestarts) {
  auto first = Watch("");
  const auto second = Watch("resourceVersion=7");
  int told = 0;
  first->OnReady([&] {
    ++told;
    first.reset();  // its reader may drop it at once
  });
  server_.service_.EndWatches();
  EXPECT_EQ(told, 1);
  EXPECT_EQ(first, nullptr);
  Make("a");
  std::string text;
  EXPECT_EQ(second->Read(1000, &text), WatchStream::State::kEnded);
  EXPECT_EQ(text, "");
}

struct BadWatch {
  std::string name;
  std::string query;
  int want_code = 0;
  std::string want_message;
};

class BadWatches : public ::testing::TestWithParam<BadWatch> {};

TEST_P(BadWatches, AreRefusedWithUpstreamsWords) {
  ServiceHarness server;
  const Answered answer = server.Ask("GET", kMaps + "?watch=1&"s + GetParam().query);
  EXPECT_EQ(answer.status, GetParam().want_code);
  EXPECT_EQ(answer.body["message"], GetParam().want_message);
}

constexpr const char* kListOptions = "ListOptions.meta.k8s.io \"\" is invalid: ";

INSTANTIATE_TEST_SUITE_P(
    Upstream, BadWatches,
    ::testing::Values(
        BadWatch{"InitialWithoutMatch", "sendInitialEvents=true", 422,
                 kListOptions +
                     "resourceVersionMatch: Forbidden: sendInitialEvents requires setting "
                     "resourceVersionMatch to NotOlderThan"s},
        BadWatch{
            "InitialExact", "sendInitialEvents=true&resourceVersionMatch=Exact", 422,
            kListOptions +
                "[resourceVersionMatch: Forbidden: sendInitialEvents requires setting "
                "resourceVersionMatch to NotOlderThan, resourceVersionMatch: Unsupported value: "
                "\"Exact\": supported values: \"NotOlderThan\"]"s},
        BadWatch{"MatchAlone", "resourceVersionMatch=NotOlderThan", 422,
                 kListOptions +
                     "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden "
                     "for watch unless sendInitialEvents is provided"s},
        BadWatch{"Version", "resourceVersion=x", 500,
                 "resourceVersion: Invalid value: \"x\": strconv.ParseUint: parsing \"x\": invalid "
                 "syntax"},
        BadWatch{"Timeout", "timeoutSeconds=x", 400,
                 R"(strconv.ParseInt: parsing "x": invalid syntax)"},
        BadWatch{"Field", "fieldSelector=foo%3Dx", 400, "field label not supported: foo"}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace ks::apiserver
