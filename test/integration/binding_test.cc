// SPDX-License-Identifier: Apache-2.0
// Bindings of the production client under faults of the server, over real sockets (docs/spec/api.md
// 9.1): whatever happens to requests and answers, a pod is bound once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/pod.h"
#include "integration/cluster.h"

namespace ks::integration {
namespace {

using ::testing::_;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

// Nodes, pods, and a writer that knows the pods from a watch.
class Binding {
 public:
  explicit Binding(int pods) {
    for (const std::string& name : Numbered("n", 4)) server_.CreateNode(name);
    for (const std::string& name : Numbered("p", pods)) server_.CreatePod(name);
    mirror_ = std::make_unique<Mirror<api::Pod>>(cluster_, "pods");
    mirror_->WaitFor(Numbered("p", pods));
    events_ = cluster_.NewRest();
    writer_ = std::make_unique<client::Writer>(cluster_.rest(), *events_, client::WriterOptions{});
  }

  Server& server() { return server_; }
  client::Writer& writer() { return *writer_; }
  // Binds and waits: empty, or the error.
  std::string Bind(const std::string& pod, const std::string& node) {
    Results results;
    writer_->Bind(mirror_->Find(pod), node, results.Expect(pod));
    return results.Wait(1)[pod];
  }
  api::PodPtr Pod(const std::string& name) { return mirror_->Find(name); }

 private:
  Server server_;
  Client cluster_{server_};
  std::unique_ptr<Mirror<api::Pod>> mirror_;
  std::unique_ptr<client::RestClient> events_;
  std::unique_ptr<client::Writer> writer_;
};

std::string OnBind(const std::string& fault, int times = 1) {
  return R"({"rules":[{"match":{"verb":"create","resource":"pods","subresource":"binding"},"times":)" +
         std::to_string(times) + R"(,"fault":)" + fault + "}]}";
}

struct BindRow {
  const char* name;
  const char* fault;
  bool asks;  // the client had to look who won
};

class BindFaults : public ::testing::TestWithParam<BindRow> {};

// The connection is one that was used before, as a scheduler's are.
TEST_P(BindFaults, TheClientGetsOver) {
  Binding cluster(2);
  ASSERT_EQ(cluster.Bind("p0", "n0"), "");
  cluster.server().Faults(OnBind(GetParam().fault));
  EXPECT_EQ(cluster.Bind("p1", "n1"), "");
  EXPECT_THAT(cluster.server().FaultCounts(), HasSubstr("\"fired\": 1"));
  EXPECT_THAT(cluster.server().Bindings(),
              ElementsAre(Pair("p0", ElementsAre("n0")), Pair("p1", ElementsAre("n1"))));
  EXPECT_EQ(cluster.writer().Stats().binds_resolved_by_get, GetParam().asks ? 1U : 0U);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, BindFaults,
    ::testing::Values(BindRow{"reset_before", R"({"reset":true})", false},
                      BindRow{"reset_after", R"({"reset":true,"applied":true})", true},
                      BindRow{"internal_before", R"({"status":500})", false},
                      BindRow{"internal_after", R"({"status":500,"applied":true})", true},
                      BindRow{"unavailable_before", R"({"status":503})", false},
                      BindRow{"unavailable_after", R"({"status":503,"applied":true})", true},
                      BindRow{"too_many", R"({"status":429,"retryAfter":1})", false},
                      BindRow{"late", R"({"latency":"30ms"})", false},
                      BindRow{"slow", R"({"bytesPerSecond":5000})", false}),
    [](const auto& row) { return row.param.name; });

struct RefusedRow {
  const char* name;
  const char* fault;
  bool bound;
};

class BindRefused : public ::testing::TestWithParam<RefusedRow> {};

// What the client cannot mend it reports, and a later try settles it.
TEST_P(BindRefused, IsReported) {
  Binding cluster(1);
  cluster.server().Faults(OnBind(GetParam().fault, 5));
  EXPECT_NE(cluster.Bind("p0", "n1"), "");
  EXPECT_THAT(cluster.server().Bindings(), SizeIs(GetParam().bound ? 1 : 0));
  cluster.server().Faults(R"({"rules":[]})");
  const std::string again = cluster.Bind("p0", "n2");
  EXPECT_THAT(again,
              GetParam().bound ? HasSubstr("is already assigned to node \"n1\"") : HasSubstr(""));
  EXPECT_THAT(cluster.server().Bindings(),
              ElementsAre(Pair("p0", ElementsAre(GetParam().bound ? "n1" : "n2"))));
}

INSTANTIATE_TEST_SUITE_P(Rows, BindRefused,
                         ::testing::Values(RefusedRow{"forbidden", R"({"status":403})", false},
                                           RefusedRow{"conflict", R"({"status":409})", false},
                                           RefusedRow{"internal", R"({"status":500})", false},
                                           RefusedRow{"not_found", R"({"status":404})", false}),
                         [](const auto& row) { return row.param.name; });

// Somebody else's binding is not mistaken for ours after a lost answer.
TEST(Binding, AnothersBindingIsAConflict) {
  Binding cluster(2);
  ASSERT_EQ(cluster.Bind("p0", "n0"), "");
  cluster.server().Faults(OnBind(R"({"reset":true})"));
  cluster.server().Run([](apiserver::Service& service) {
    const auto bound = apiserver::BindPod(
        service.registry(), "default", "p1",
        {{"metadata", {{"name", "p1"}}}, {"target", {{"kind", "Node"}, {"name", "n3"}}}}, false);
    EXPECT_TRUE(bound.ok());
  });
  EXPECT_THAT(cluster.Bind("p1", "n1"), HasSubstr("already assigned to node"));
  EXPECT_THAT(cluster.server().Bindings()["p1"], ElementsAre("n3"));
}

TEST(Binding, FailsWhileTheServerIsGoneAndWorksAfterwards) {
  Binding cluster(1);
  cluster.server().Stop();
  EXPECT_THAT(cluster.Bind("p0", "n0"), HasSubstr("connection refused"));
  cluster.server().Start();
  EXPECT_EQ(cluster.Bind("p0", "n0"), "");
  EXPECT_THAT(cluster.server().Bindings(), ElementsAre(Pair("p0", ElementsAre("n0"))));
}

// A storm: many bindings at a time, many of them hit. Everything that is reported as done is done,
// and nothing is done twice.
TEST(Binding, AStormOfFaults) {
  constexpr int kPods = 200;
  Binding cluster(kPods);
  cluster.server().Faults(R"({"rules":[
      {"match":{"subresource":"binding"},"probability":0.05,"fault":{"reset":true}},
      {"match":{"subresource":"binding"},"probability":0.05,"fault":{"reset":true,"applied":true}},
      {"match":{"subresource":"binding"},"probability":0.1,"fault":{"status":500,"applied":true}},
      {"match":{"subresource":"binding"},"probability":0.1,"fault":{"status":503}},
      {"match":{"subresource":"binding"},"probability":0.1,"fault":{"latency":"5ms"}},
      {"match":{"subresource":"binding"},"probability":0.1,"fault":{"bytesPerSecond":50000}},
      {"match":{"verb":"watch"},"fault":{"cutWatch":"30ms"}}]})");
  Results results;
  std::map<std::string, std::string> wanted;
  int index = 0;
  for (const std::string& pod : Numbered("p", kPods)) {
    wanted[pod] = "n" + std::to_string(++index % 4);
    cluster.writer().Bind(cluster.Pod(pod), wanted[pod], results.Expect(pod));
  }
  const std::map<std::string, std::string> errors = results.Wait(kPods);
  const std::map<std::string, std::vector<std::string>> bindings = cluster.server().Bindings();
  int failed = 0;
  for (const auto& [pod, error] : errors) {
    const auto found = bindings.find(pod);
    if (error.empty()) {
      ASSERT_NE(found, bindings.end()) << pod << " " << cluster.server().FaultCounts();
    } else {
      ++failed;
    }
    if (found != bindings.end()) {
      EXPECT_THAT(found->second, ElementsAre(wanted[pod])) << pod;
    }
  }
  // A reset on a connection's first request is not repeated: a few are left to the scheduler.
  EXPECT_LT(failed, kPods / 4);
}

}  // namespace
}  // namespace ks::integration
