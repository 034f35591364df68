// SPDX-License-Identifier: Apache-2.0
// kubesched --tracing-config-file as its user runs it, beside a strict collector.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "process/embedded_cluster.h"
#include "testing/otlp_decoder.h"
#include "testing/scripted_server.h"

namespace ks::daemon {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using testing::OtlpSpan;

// Takes what it can read, keeps it, and notes what it cannot.
class Collector {
 public:
  std::string endpoint() const { return "127.0.0.1:" + std::to_string(server_.port()); }
  std::vector<OtlpSpan> Spans() {
    MutexLock lock(mutex_);
    return spans_;
  }
  std::vector<std::string> Faults() {
    MutexLock lock(mutex_);
    return faults_;
  }
  std::map<std::string, std::string> Resource() {
    MutexLock lock(mutex_);
    return resource_;
  }
  size_t Roots() {
    size_t roots = 0;
    for (const OtlpSpan& span : Spans()) roots += span.parent.empty() ? 1 : 0;
    return roots;
  }
  // Instead of taking anything; 0: takes it.
  void Answer(int status) { status_ = status; }
  int requests() const { return requests_; }

 private:
  void Serve(testing::ScriptedConnection& connection) {
    while (auto request = connection.Read()) {
      ++requests_;
      if (status_ != 0) {
        connection.Respond(status_, "");
        continue;
      }
      Take(*request);
      connection.Respond(200, "", "Content-Type: application/x-protobuf\r\n");
    }
  }
  void Take(const testing::ScriptedRequest& request) {
    testing::OtlpRequest read = testing::DecodeOtlp(request.body);
    MutexLock lock(mutex_);
    if (request.method != "POST" || request.target != "/v1/traces") {
      faults_.push_back(request.method + " " + request.target);
    }
    if (request.Header("content-type") != "application/x-protobuf") {
      faults_.push_back("content type " + request.Header("content-type"));
    }
    if (!read.fault.empty()) faults_.push_back(read.fault);
    resource_ = std::move(read.resource);
    spans_.insert(spans_.end(), read.spans.begin(), read.spans.end());
  }

  std::atomic<int> status_{0};
  std::atomic<int> requests_{0};
  Mutex mutex_;
  std::vector<OtlpSpan> spans_ KS_GUARDED_BY(mutex_);
  std::vector<std::string> faults_ KS_GUARDED_BY(mutex_);
  std::map<std::string, std::string> resource_ KS_GUARDED_BY(mutex_);
  testing::ScriptedServer server_{
      {}, [this](testing::ScriptedConnection& connection) { Serve(connection); }};
};

class Traced : public ::testing::Test {
 protected:
  std::string Tracing(const std::string& endpoint, int per_million) const {
    const std::string file = cluster_.folder() + "/tracing.yaml";
    std::ofstream(file) << "apiVersion: apiserver.config.k8s.io/v1beta1\n"
                           "kind: TracingConfiguration\n"
                           "endpoint: "
                        << endpoint << "\nsamplingRatePerMillion: " << per_million << "\n";
    return file;
  }
  std::unique_ptr<DaemonProcess> Start(const std::string& tracing) {
    return cluster_.Start("one", cluster_.Configure("one", kFirstUser, ""),
                          {"--tracing-config-file=" + tracing});
  }

  EmbeddedCluster cluster_;
  Collector collector_;
};

TEST_F(Traced, EveryPodHasATraceFromFirstSightToBound) {
  auto daemon = Start(Tracing(collector_.endpoint(), 1'000'000));
  cluster_.CreatePods("pod-", 20);
  ASSERT_TRUE(cluster_.AllBound(20)) << daemon->Log();
  ASSERT_TRUE(Eventually([&] { return collector_.Roots() >= 20; })) << daemon->Log();
  EXPECT_EQ(daemon->Stop(), 0) << daemon->Log();
  EXPECT_THAT(collector_.Faults(), IsEmpty());
  const std::vector<OtlpSpan> spans = collector_.Spans();
  EXPECT_THAT(testing::TraceFaults(spans), IsEmpty());
  EXPECT_EQ(collector_.Resource()["service.name"], "kubesched");
  const auto bound = cluster_.Bound();
  std::map<std::string, std::set<std::string>> names;  // by trace
  for (const OtlpSpan& span : spans) names[span.trace].insert(span.name);
  for (const OtlpSpan& span : spans) {
    if (!span.parent.empty()) continue;
    EXPECT_EQ(span.name, "pod");
    EXPECT_EQ(span.Get("kubesched.result"), "bound");
    EXPECT_EQ(span.Get("k8s.namespace.name"), "default");
    EXPECT_EQ(span.Get("k8s.node.name"), bound.at(span.Get("k8s.pod.name")));
    EXPECT_THAT(names[span.trace],
                IsSupersetOf({"pod", "queue", "attempt", "PreFilter", "Filter", "Reserve", "Permit",
                              "PreBind", "Bind", "POST", "PostBind"}));
  }
  EXPECT_EQ(names.size(), 20U);
  // The binding's own request, below Bind.
  std::map<std::string, std::string> name_of;
  for (const OtlpSpan& span : spans) name_of[span.span] = span.name;
  for (const OtlpSpan& span : spans) {
    if (span.name != "POST") continue;
    EXPECT_EQ(name_of[span.parent], "Bind");
    EXPECT_EQ(span.kind, 3);
    EXPECT_EQ(span.Get("http.response.status_code"), "201");
    EXPECT_THAT(span.Get("url.path"), HasSubstr("/binding"));
  }
}

TEST_F(Traced, ACollectorThatIsGoneCostsNothingButSpans) {
  std::string endpoint;
  {
    Collector gone;
    endpoint = gone.endpoint();
  }
  auto daemon = Start(Tracing(endpoint, 1'000'000));
  cluster_.CreatePods("pod-", 20);
  ASSERT_TRUE(cluster_.AllBound(20)) << daemon->Log();
  EXPECT_EQ(daemon->Stop(), 0) << daemon->Log();
  cluster_.ExpectEachBoundOnce(20);
}

TEST_F(Traced, ACollectorThatIsBusyIsAskedAgain) {
  collector_.Answer(503);
  auto daemon = Start(Tracing(collector_.endpoint(), 1'000'000));
  cluster_.CreatePods("pod-", 5);
  ASSERT_TRUE(cluster_.AllBound(5)) << daemon->Log();
  ASSERT_TRUE(Eventually([&] { return collector_.requests() >= 1; })) << daemon->Log();
  collector_.Answer(0);
  ASSERT_TRUE(Eventually([&] { return collector_.Roots() >= 5; })) << daemon->Log();
  EXPECT_EQ(daemon->Stop(), 0) << daemon->Log();
  EXPECT_THAT(testing::TraceFaults(collector_.Spans()), IsEmpty());
}

TEST_F(Traced, AWrongFileEndsTheStartWithPlaceAndCure) {
  const std::string file = cluster_.folder() + "/wrong.yaml";
  std::ofstream(file) << "apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\n"
                         "samplingRatePerMilion: 5\n";
  auto daemon = Start(file);
  EXPECT_EQ(daemon->ExitStatus(), 1) << daemon->Log();
  EXPECT_THAT(daemon->Log(), HasSubstr(file + ":3:1: "));
  EXPECT_THAT(daemon->Log(), HasSubstr("did you mean \"samplingRatePerMillion\"?"));
}

}  // namespace
}  // namespace ks::daemon
