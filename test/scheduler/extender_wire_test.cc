// SPDX-License-Identifier: Apache-2.0
// Facts about answers were asked of the real kube-scheduler with an extender that gives them.
#include "scheduler/extenders/extender_wire.h"

#include <gtest/gtest.h>

#include "testing/builders.h"

namespace ks::scheduler {
namespace {

using testing::MakeNode;
using testing::MakePod;

api::PodPtr RawPod(const std::string& name, const std::string& node = "",
                   std::string raw = R"({"metadata":{},"spec":{}})") {
  auto pod = std::make_shared<api::Pod>(*MakePod().Name(name).Node(node).Obj());
  pod->raw = std::make_shared<const std::string>(std::move(raw));
  return pod;
}

api::NodePtr RawNode(const std::string& name) {
  auto node = std::make_shared<api::Node>(*MakeNode().Name(name).Obj());
  node->raw = std::make_shared<const std::string>(R"({"metadata":{"name":")" + name + R"("}})");
  return node;
}

TEST(ExtenderRequest, Filter) {
  const api::PodPtr pod = RawPod("p");
  const std::vector<api::NodePtr> nodes = {RawNode("n1"), RawNode("n2")};
  EXPECT_EQ(*FilterRequestBody(*pod, nodes, true),
            R"({"Pod":{"metadata":{},"spec":{}},"Nodes":null,"NodeNames":["n1","n2"]})");
  EXPECT_EQ(*FilterRequestBody(*pod, nodes, false),
            R"({"Pod":{"metadata":{},"spec":{}},"Nodes":{"metadata":{},"items":[)"
            R"({"metadata":{"name":"n1"}},{"metadata":{"name":"n2"}}]},"NodeNames":null})");
  const std::vector<api::NodePtr> bare = {MakeNode().Name("n3").Obj()};
  EXPECT_TRUE(FilterRequestBody(*pod, bare, true).ok());
  EXPECT_EQ(FilterRequestBody(*pod, bare, false).error().message,
            "the whole object of node n3 is not at hand yet, so no extender can be asked; trying "
            "again");
  EXPECT_FALSE(FilterRequestBody(*MakePod().Name("p").Obj(), nodes, true).ok());
}

// What the next extender is asked after one that named a node twice.
TEST(ExtenderRequest, FilterOfANodeNamedTwice) {
  const api::PodPtr pod = RawPod("p");
  const api::NodePtr node = RawNode("n1");
  const std::vector<api::NodePtr> nodes = {node, RawNode("n2"), node};
  EXPECT_EQ(*FilterRequestBody(*pod, nodes, true),
            R"({"Pod":{"metadata":{},"spec":{}},"Nodes":null,"NodeNames":["n1","n2","n1"]})");
  EXPECT_EQ(*FilterRequestBody(*pod, nodes, false),
            R"({"Pod":{"metadata":{},"spec":{}},"Nodes":{"metadata":{},"items":[)"
            R"({"metadata":{"name":"n1"}},{"metadata":{"name":"n2"}},{"metadata":{"name":"n1"}}]})"
            R"(,"NodeNames":null})");
}

TEST(ExtenderRequest, Bind) {
  EXPECT_EQ(BindRequestBody(*MakePod().Name("p").Namespace("default").Obj(), "n2"),
            R"({"PodName":"p","PodNamespace":"default","PodUID":"uid-p","Node":"n2"})");
}

TEST(ExtenderRequest, Preempt) {
  const api::PodPtr pod = RawPod("p");
  const framework::VictimsByNode victims = {
      {"n1",
       {.pods = {RawPod("v", "n1"), RawPod("w", "n1", R"({"spec":{"nodeName":"n1"}})")},
        .pdb_violations = 1}}};
  EXPECT_EQ(*PreemptRequestBody(*pod, victims, true),
            R"({"Pod":{"metadata":{},"spec":{}},"NodeNameToVictims":null,"NodeNameToMetaVictims":)"
            R"({"n1":{"Pods":[{"UID":"uid-v"},{"UID":"uid-w"}],"NumPDBViolations":1}}})");
  // A victim whose binding the API does not show yet has its node all the same.
  EXPECT_EQ(*PreemptRequestBody(*pod, victims, false),
            R"({"Pod":{"metadata":{},"spec":{}},"NodeNameToVictims":{"n1":{"Pods":[)"
            R"({"metadata":{},"spec":{"nodeName":"n1"}},{"spec":{"nodeName":"n1"}}],)"
            R"("NumPDBViolations":1}},"NodeNameToMetaVictims":null})");
}

constexpr char kUrl[] = "http://h:1/filter";

struct FaultCase {
  const char* name;
  framework::ExtenderReply reply;
  const char* error;
};

class FilterFault : public ::testing::TestWithParam<FaultCase> {};

TEST_P(FilterFault, HasUpstreamsText) {
  const auto answer = ReadFilterAnswer(GetParam().reply, "filter", kUrl);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().message, GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    Wire, FilterFault,
    ::testing::Values(
        FaultCase{"Status500",
                  {.status = 500},
                  "failed filter with extender at URL http://h:1/filter, code 500"},
        FaultCase{"Status204",
                  {.status = 204},
                  "failed filter with extender at URL http://h:1/filter, code 204"},
        FaultCase{"Status302",
                  {.status = 302},
                  "failed filter with extender at URL http://h:1/filter, code 302"},
        FaultCase{"NoAnswer",
                  {.error = "Post \"http://h:1/filter\": boom"},
                  "Post \"http://h:1/filter\": boom"},
        FaultCase{"Empty", {.status = 200, .body = ""}, "EOF"},
        FaultCase{"Blank", {.status = 200, .body = " \n"}, "EOF"},
        FaultCase{"Cut", {.status = 200, .body = R"({"NodeNames":["n0")"}, "unexpected EOF"},
        FaultCase{"NoJson",
                  {.status = 200, .body = "hello"},
                  "invalid character 'h' looking for beginning of value"},
        FaultCase{"ByteOrderMark",
                  {.status = 200, .body = "\xEF\xBB\xBF{\"NodeNames\":[]}"},
                  "invalid character 'ï' looking for beginning of value"},
        FaultCase{"List",
                  {.status = 200, .body = "[]"},
                  "json: cannot unmarshal array into Go value of type v1.ExtenderFilterResult"},
        FaultCase{"WrongType",
                  {.status = 200, .body = R"({"NodeNames":5})"},
                  "json: cannot unmarshal number into Go struct field "
                  "ExtenderFilterResult.NodeNames of type []string"},
        FaultCase{"ErrorText", {.status = 200, .body = R"({"error":"boom"})"}, "boom"}),
    [](const auto& row) { return row.param.name; });

framework::ExtenderReply Ok(std::string body) { return {.status = 200, .body = std::move(body)}; }

TEST(FilterAnswer, Fields) {
  const auto answer = ReadFilterAnswer(
      Ok(R"({"nodenames":["a"],"NODES":{"metadata":{},"items":[{"metadata":{"name":"x"}}]},)"
         R"("FailedNodes":{"b":"no dev"},"failednodes":{"c":"other"},)"
         R"("FailedAndUnresolvableNodes":{"d":"never"},"unknown":1} trailing)"),
      "filter", kUrl);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(*answer->node_names, std::vector<std::string>{"a"});
  ASSERT_EQ(answer->nodes->size(), 1u);
  EXPECT_EQ(answer->nodes->front()->meta.name, "x");
  EXPECT_EQ(*answer->nodes->front()->raw, R"({"metadata":{"name":"x"}})");
  EXPECT_EQ(answer->failed, (std::map<std::string, std::string>{{"b", "no dev"}}));
  EXPECT_EQ(answer->unresolvable, (std::map<std::string, std::string>{{"d", "never"}}));
}

TEST(FilterAnswer, NothingSaidIsNothingLeft) {
  for (const char* body : {"{}", "null", R"({"NodeNames":null,"Nodes":null,"Error":""})"}) {
    SCOPED_TRACE(body);
    const auto answer = ReadFilterAnswer(Ok(body), "filter", kUrl);
    ASSERT_TRUE(answer.ok());
    EXPECT_FALSE(answer->node_names);
    EXPECT_FALSE(answer->nodes);
  }
}

TEST(PrioritizeAnswer, HostsAndScores) {
  const auto priorities =
      ReadPrioritizeAnswer(Ok(R"([{"Host":"a","Score":7},{"host":"b"}])"), "prioritize", kUrl);
  ASSERT_TRUE(priorities.ok());
  ASSERT_EQ(priorities->size(), 2u);
  EXPECT_EQ((*priorities)[0].score, 7);
  EXPECT_EQ((*priorities)[1].host, "b");
  EXPECT_TRUE(ReadPrioritizeAnswer(Ok("null"), "prioritize", kUrl)->empty());
  EXPECT_FALSE(ReadPrioritizeAnswer(Ok("{}"), "prioritize", kUrl).ok());
  EXPECT_EQ(ReadPrioritizeAnswer(Ok(R"([{"Score":1.5}])"), "prioritize", kUrl).error().message,
            "json: cannot unmarshal number 1.5 into Go struct field HostPriority.Score of type "
            "int64");
}

TEST(BindAnswer, ErrorOrNone) {
  EXPECT_TRUE(ReadBindAnswer(Ok("{}"), "bind", kUrl).ok());
  EXPECT_EQ(ReadBindAnswer(Ok(R"({"Error":"taken"})"), "bind", kUrl).error().message, "taken");
  EXPECT_EQ(ReadBindAnswer(Ok(""), "bind", kUrl).error().message, "EOF");
}

TEST(PreemptAnswer, VictimsByUid) {
  const auto victims =
      ReadPreemptAnswer(Ok(R"({"NodeNameToMetaVictims":{"n1":{"Pods":[{"UID":"a"},{"UID":"b"}],)"
                           R"("NumPDBViolations":2},"n2":{"Pods":null},"n3":null}})"),
                        "preempt", kUrl);
  ASSERT_TRUE(victims.ok());
  EXPECT_EQ(victims->at("n1").uids, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(victims->at("n1").pdb_violations, 2);
  EXPECT_TRUE(victims->at("n2").uids.empty());
  EXPECT_TRUE(victims->contains("n3"));
  EXPECT_TRUE(ReadPreemptAnswer(Ok("{}"), "preempt", kUrl)->empty());
  EXPECT_FALSE(ReadPreemptAnswer(Ok(R"({"NodeNameToMetaVictims":[]})"), "preempt", kUrl).ok());
}

}  // namespace
}  // namespace ks::scheduler
