// SPDX-License-Identifier: Apache-2.0
#include "apiserver/service/service.h"

#include <gtest/gtest.h>

#include "apiserver/service_harness.h"

namespace ks::apiserver {
namespace {

using std::string_literals::operator""s;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(Service, APodsLifeThroughHttpVerbs) {
  ServiceHarness server;
  const auto watch = server.Watch(kPods + "?watch=true"s);
  EXPECT_TRUE(ServiceHarness::Frames(*watch).empty());

  const Answered created = server.Ask("POST", kPods, ServiceHarness::Pod("a"));
  ASSERT_EQ(created.status, 201) << created.body;
  const Json& metadata = created.body["metadata"];
  EXPECT_EQ(created.body["kind"], "Pod");
  EXPECT_EQ(created.body["apiVersion"], "v1");
  EXPECT_EQ(metadata["namespace"], "default");
  EXPECT_EQ(metadata["uid"].get<std::string>().size(), 36U);
  EXPECT_EQ(metadata["generation"], 1);
  EXPECT_EQ(metadata["creationTimestamp"], "2026-01-02T03:04:05Z");
  const std::string version = metadata["resourceVersion"];

  const Answered got = server.Ask("GET", kPods + "/a"s);
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.body, created.body);

  const Answered list = server.Ask("GET", kPods);
  EXPECT_EQ(list.body["kind"], "PodList");
  EXPECT_EQ(list.body["metadata"]["resourceVersion"], version);
  ASSERT_EQ(list.body["items"].size(), 1U);
  EXPECT_EQ(list.body["items"][0], created.body);

  Json changed = got.body;
  changed["metadata"]["labels"]["x"] = "y";
  const Answered updated = server.Ask("PUT", kPods + "/a"s, changed);
  ASSERT_EQ(updated.status, 200) << updated.body;
  EXPECT_EQ(updated.body["metadata"]["labels"]["x"], "y");
  EXPECT_NE(updated.body["metadata"]["resourceVersion"], version);

  const Answered deleted = server.Ask("DELETE", kPods + "/a"s);
  EXPECT_EQ(deleted.status, 200) << deleted.body;
  EXPECT_EQ(server.Ask("GET", kPods + "/a"s).status, 404);

  const std::vector<Json> frames = ServiceHarness::Frames(*watch);
  ASSERT_EQ(frames.size(), 4U);
  EXPECT_EQ(frames[0]["type"], "ADDED");
  EXPECT_EQ(frames[0]["object"], created.body);
  EXPECT_EQ(frames[1]["type"], "MODIFIED");
  EXPECT_EQ(frames[1]["object"], updated.body);
  EXPECT_EQ(frames[2]["type"], "MODIFIED");  // terminating
  EXPECT_EQ(frames[3]["type"], "DELETED");
  EXPECT_EQ(frames[3]["object"], deleted.body);
}

TEST(Service, ANodesLifeThroughHttpVerbs) {
  ServiceHarness server;
  ASSERT_EQ(server.Ask("POST", kNodes, ServiceHarness::Node("n1")).status, 201);
  ASSERT_EQ(server.Ask("POST", kNodes, ServiceHarness::Node("n1")).status, 409);
  const Answered list = server.Ask("GET", kNodes);
  ASSERT_EQ(list.body["items"].size(), 1U);
  EXPECT_FALSE(list.body["items"][0]["metadata"].contains("namespace"));
  EXPECT_EQ(server.Ask("DELETE", kNodes + "/n1"s).status, 200);
  EXPECT_EQ(server.Ask("GET", kNodes).body["items"].size(), 0U);
}

struct Row {
  std::string name;
  std::string method;
  std::string target;
  int want_code = 0;
  std::string want_message;  // of the Status; empty: a text
};

class Dispatch : public ::testing::TestWithParam<Row> {};

TEST_P(Dispatch, AnswersAsUpstream) {
  ServiceHarness server;
  const Row& row = GetParam();
  const ApiResponse answer = server.Raw(row.method, row.target, row.method == "GET" ? "" : "{}");
  EXPECT_EQ(answer.status, row.want_code);
  if (row.want_message.empty()) {
    EXPECT_EQ(answer.content_type, "text/plain; charset=utf-8");
    EXPECT_EQ(answer.body, "404 page not found\n");
    return;
  }
  const Json status = Json::parse(answer.body);
  EXPECT_EQ(status["message"], row.want_message);
  EXPECT_EQ(status["details"], Json::object());
}

constexpr const char* kNoPath = "the server could not find the requested resource";
constexpr const char* kNoMethod = "the server does not allow this method on the requested resource";

INSTANTIATE_TEST_SUITE_P(
    Upstream, Dispatch,
    ::testing::Values(
        Row{"NoResource", "GET", "/api/v1/nopes", 404, kNoPath},
        Row{"NoVersion", "GET", "/api/v2/pods", 404, kNoPath},
        Row{"NoVersionOfGroup", "GET", "/apis/apps/v2/x", 404, kNoPath},
        Row{"NoGroup", "GET", "/apis/nope/v1/nopes", 404, ""},
        Row{"PostToNoGroup", "POST", "/apis/nope/v1/nopes", 404, ""},
        Row{"NoPath", "GET", "/nope", 404, ""},
        Row{"PodWithoutNamespace", "GET", "/api/v1/pods/x", 404, kNoPath},
        Row{"NodeInNamespace", "GET", "/api/v1/namespaces/default/nodes", 404, kNoPath},
        Row{"NoSubresource", "GET", "/api/v1/namespaces/default/pods/x/foo", 404, kNoPath},
        Row{"GetBinding", "GET", "/api/v1/namespaces/default/pods/x/binding", 405, kNoMethod},
        Row{"GetBindings", "GET", "/api/v1/namespaces/default/bindings", 405, kNoMethod},
        Row{"GetReviews", "GET", "/apis/authentication.k8s.io/v1/tokenreviews", 405, kNoMethod},
        Row{"PostToObject", "POST", "/api/v1/namespaces/default/pods/x", 405, kNoMethod},
        Row{"PostToStatus", "POST", "/api/v1/namespaces/default/pods/x/status", 405, kNoMethod},
        Row{"PostToAll", "POST", "/api/v1/pods", 405, kNoMethod},
        Row{"PutToCollection", "PUT", "/api/v1/namespaces/default/pods", 405, kNoMethod},
        Row{"PatchToCollection", "PATCH", "/api/v1/namespaces/default/pods", 405, kNoMethod},
        Row{"DeleteStatus", "DELETE", "/api/v1/namespaces/default/pods/x/status", 405, kNoMethod},
        Row{"DeleteAll", "DELETE", "/api/v1/pods", 405, kNoMethod},
        Row{"DeleteNamespaces", "DELETE", "/api/v1/namespaces", 405, kNoMethod},
        Row{"Options", "OPTIONS", "/api/v1/namespaces/default/pods", 405, kNoMethod},
        Row{"Head", "HEAD", "/api/v1/namespaces/default/pods/x", 405, kNoMethod}),
    [](const auto& row) { return row.param.name; });

class Deny final : public Authorizer {
 public:
  explicit Deny(std::string reason) : reason_(std::move(reason)) {}
  Decision Authorize(const UserInfo&, const RequestInfo&) const override {
    return {.allowed = false, .reason = reason_};
  }

 private:
  std::string reason_;
};

struct DeniedRow {
  std::string name;
  std::string method;
  std::string target;
  std::string want;
};

class Denials : public ::testing::TestWithParam<DeniedRow> {};

TEST_P(Denials, HaveUpstreamsWords) {
  ServiceHarness server;
  server.service_.SetAuthorizer(std::make_unique<Deny>(""));
  const Answered answer = server.Ask(GetParam().method, GetParam().target);
  EXPECT_EQ(answer.status, 403);
  EXPECT_EQ(answer.body["reason"], "Forbidden");
  EXPECT_EQ(answer.body["message"], GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Upstream, Denials,
    ::testing::Values(
        DeniedRow{
            "One", "GET", "/api/v1/namespaces/default/pods/x",
            "pods \"x\" is forbidden: User \"admin\" cannot get resource \"pods\" in API group "
            "\"\" in the namespace \"default\""},
        DeniedRow{"All", "GET", "/api/v1/nodes",
                  "nodes is forbidden: User \"admin\" cannot list resource \"nodes\" in API group "
                  "\"\" at the cluster scope"},
        DeniedRow{
            "Group", "PUT", "/apis/coordination.k8s.io/v1/namespaces/a/leases/l",
            "leases.coordination.k8s.io \"l\" is forbidden: User \"admin\" cannot update "
            "resource \"leases\" in API group \"coordination.k8s.io\" in the namespace \"a\""},
        DeniedRow{"Subresource", "POST", "/api/v1/namespaces/a/pods/p/binding",
                  "pods \"p\" is forbidden: User \"admin\" cannot create resource \"pods/binding\" "
                  "in API group \"\" in the namespace \"a\""},
        DeniedRow{"Path", "GET", "/metrics",
                  "forbidden: User \"admin\" cannot get path \"/metrics\""}),
    [](const auto& row) { return row.param.name; });

TEST(Service, DenialsNameTheReason) {
  ServiceHarness server;
  server.service_.SetAuthorizer(std::make_unique<Deny>("because"));
  EXPECT_EQ(server.Ask("GET", "/nope").body["message"],
            "forbidden: User \"admin\" cannot get path \"/nope\": because");
}

TEST(Service, OnlyJsonIsServed) {
  ServiceHarness server;
  ApiRequest request;
  request.user = {"admin", {"system:masters", "system:authenticated"}};
  request.target = kNodes;
  for (const char* accept :
       {"", "*/*", "application/json", "application/vnd.kubernetes.protobuf, */*",
        "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"}) {
    request.accept = accept;
    EXPECT_EQ(server.service_.Handle(request).status, 200) << accept;
  }
  request.accept = "text/plain";
  const ApiResponse answer = server.service_.Handle(request);
  EXPECT_EQ(answer.status, 406);
  EXPECT_EQ(Json::parse(answer.body)["reason"], "NotAcceptable");
}

constexpr const char* kEvents = "/api/v1/namespaces/default/events";

Json Event(const std::string& name) {
  return {{"metadata", {{"name", name}}},
          {"involvedObject", {{"kind", "Pod"}, {"namespace", "default"}, {"name", "p"}}},
          {"reason", "r"},
          {"type", "Normal"}};
}

TEST(Service, EventsGoAfterTheirTimeUnlessRenewed) {
  ServiceHarness server({.event_ttl = minutes(10)});
  ASSERT_EQ(server.Ask("POST", kEvents, Event("a")).status, 201);
  ASSERT_EQ(server.Ask("POST", kEvents, Event("b")).status, 201);
  EXPECT_EQ(server.service_.NextDue(), server.clock_.Now() + minutes(10));
  server.clock_.Advance(minutes(6));
  const Answered renewed =
      server.Ask("PATCH", kEvents + "/a"s, R"({"count":2})", "application/merge-patch+json");
  ASSERT_EQ(renewed.status, 200) << renewed.body;
  server.clock_.Advance(minutes(4));
  server.service_.Step();
  EXPECT_EQ(server.Ask("GET", kEvents + "/b"s).status, 404);
  EXPECT_EQ(server.Ask("GET", kEvents + "/a"s).status, 200);
  server.clock_.Advance(minutes(6));
  server.service_.Step();
  EXPECT_EQ(server.Ask("GET", kEvents + "/a"s).status, 404);
  EXPECT_FALSE(server.service_.NextDue().has_value());
}

TEST(Service, BudgetsFollowPods) {
  ServiceHarness server;
  const std::string budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
  const Json budget = Json::parse(
      R"({"metadata":{"name":"b"},"spec":{"minAvailable":0,"selector":{"matchLabels":{"a":"b"}}}})");
  ASSERT_EQ(server.Ask("POST", budgets, budget).status, 201);
  const auto watch = server.Watch(
      budgets + "?watch=1&resourceVersion=" + std::to_string(server.service_.store().version()));
  Json pod = ServiceHarness::Pod("p");
  pod["metadata"]["labels"]["a"] = "b";
  ASSERT_EQ(server.Ask("POST", kPods, pod).status, 201);
  // Asked for, they are up to date at once …
  EXPECT_EQ(server.Ask("GET", budgets + "/b").body["status"]["expectedPods"], 1);
  ServiceHarness::Frames(*watch);
  // … watched, after a moment.
  pod["metadata"]["name"] = "q";
  ASSERT_EQ(server.Ask("POST", kPods, pod).status, 201);
  server.service_.Step();
  EXPECT_TRUE(ServiceHarness::Frames(*watch).empty());
  ASSERT_TRUE(server.service_.NextDue().has_value());
  server.clock_.Advance(*server.service_.NextDue() - server.clock_.Now());
  server.service_.Step();
  const std::vector<Json> frames = ServiceHarness::Frames(*watch);
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0]["object"]["status"]["expectedPods"], 2);
  EXPECT_FALSE(server.service_.NextDue().has_value());
}

// Answers each ConfigMap "ping-N" with a "pong-N", once a second has passed.
class Ponger final : public Controller {
 public:
  explicit Ponger(Service& service)
      : service_(service), next_(service.store().NextSequence(Maps())) {}
  void Step() override {
    while (const Change* change = service_.store().At(Maps(), next_)) {
      ++next_;
      const bool ping = change->object->name.starts_with("ping");
      if (ping && change->type == Change::Type::kAdded) due_ = service_.clock().Now() + seconds(1);
      if (ping) pending_ = "pong" + change->object->name.substr(4);
    }
    if (!due_.has_value() || *due_ > service_.clock().Now()) return;
    due_.reset();
    const Outcome<ObjectPtr> made =
        service_.registry().Create(Maps(), "default", Json{{"metadata", {{"name", pending_}}}});
    EXPECT_TRUE(made.ok());
  }
  std::optional<TimePoint> NextDue() const override { return due_; }

 private:
  static const KindInfo& Maps() { return *FindKind("v1", "ConfigMap"); }

  Service& service_;
  uint64_t next_;
  std::optional<TimePoint> due_;
  std::string pending_;
};

TEST(Service, ControllersStepAfterWritesAndInTime) {
  ServiceHarness server;
  const std::string maps = "/api/v1/namespaces/default/configmaps";
  server.service_.AddController(std::make_unique<Ponger>(server.service_));
  server.service_.Step();
  ASSERT_EQ(server.Ask("POST", maps, R"({"metadata":{"name":"ping-1"}})").status, 201);
  EXPECT_EQ(server.service_.NextDue(), server.clock_.Now());  // it has not seen this
  server.service_.Step();
  EXPECT_EQ(server.service_.NextDue(), server.clock_.Now() + seconds(1));
  server.clock_.Advance(seconds(1));
  server.service_.Step();
  EXPECT_EQ(server.Ask("GET", maps + "/pong-1").status, 200);
  EXPECT_FALSE(server.service_.NextDue().has_value());
}

TEST(Service, TheSameRequestsGiveTheSameBytes) {
  const auto run = [](uint64_t seed) {
    ServiceHarness server({.seed = seed});
    std::string all;
    for (int i = 0; i < 5; ++i) {
      Json pod = ServiceHarness::Pod("");
      pod["metadata"]["generateName"] = "p-";
      all += server.Raw("POST", kPods, pod.dump()).body;
    }
    return all + server.Raw("GET", kPods).body;
  };
  EXPECT_EQ(run(7), run(7));
  EXPECT_NE(run(7), run(8));
}

}  // namespace
}  // namespace ks::apiserver
