// SPDX-License-Identifier: Apache-2.0
// Facts of kube-controller-manager v1.37.1 with WorkloadWithJob.
#include "apiserver/controllers/job_controller.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "apiserver/controlled_service.h"
#include "apiserver/controllers/job_objects.h"

namespace ks::apiserver {
namespace {

constexpr Duration kJobMoment = std::chrono::milliseconds(10);

const KindInfo& Jobs() { return *FindResource("batch", "v1", "jobs"); }
const KindInfo& JobGroups() { return *FindResource("scheduling.k8s.io", "v1beta1", "podgroups"); }
const KindInfo& JobWorkloads() {
  return *FindResource("scheduling.k8s.io", "v1beta1", "workloads");
}

class JobControllerTest : public ::testing::Test {
 protected:
  JobControllerTest() { world_.service.AddController(NewJobController(world_.service)); }

  // `spec`: members besides the template.
  static std::string JobJson(const std::string& name, const std::string& spec,
                             const std::string& pod_spec = "") {
    return R"({"metadata":{"name":")" + name + R"("},"spec":{)" + spec + (spec.empty() ? "" : ",") +
           R"("template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}])" +
           pod_spec + "}}}}";
  }
  void Job(const std::string& name, const std::string& spec, const std::string& pod_spec = "") {
    world_.Create(Jobs(), JobJson(name, spec, pod_spec));
    world_.Run(kJobMoment);
  }
  // What a client's merge patch does.
  std::string Patch(const std::string& name, const std::string& patch) {
    const auto written = world_.service.registry().Modify(
        Jobs(), "default", name, Part::kMain, [&](Json& json) -> std::optional<Failure> {
          json.merge_patch(Json::parse(patch));
          return {};
        });
    world_.Run(kJobMoment);
    return written.ok() ? "" : written.failure().message;
  }
  std::vector<Json> Pods() {
    std::vector<Json> pods;
    for (const auto& [key, pod] : world_.service.store().objects(Core("pods"))) {
      pods.push_back(pod->Parse());
    }
    return pods;
  }
  size_t Count(const KindInfo& kind) { return world_.service.store().objects(kind).size(); }
  Json Only(const KindInfo& kind) {
    EXPECT_EQ(Count(kind), 1U);
    const auto& objects = world_.service.store().objects(kind);
    return objects.empty() ? Json() : objects.begin()->second->Parse();
  }
  void End(const Json& pod, const std::string& phase) {
    world_.Edit(Core("pods"), pod["metadata"]["name"], R"({"status":{"phase":")" + phase + "\"}}");
    world_.Run(kJobMoment);
  }
  // Status and reason of a condition.
  std::string Condition(const std::string& job, const std::string& type) {
    for (const Json& condition : world_.At(Jobs(), job, "/status/conditions")) {
      if (condition["type"] != type) continue;
      return condition["status"].get<std::string>() + " " + condition["reason"].get<std::string>();
    }
    return "";
  }
  Json Status(const std::string& job, const std::string& field) {
    return world_.At(Jobs(), job, "/status/" + field);
  }

  ControlledService world_;
};

TEST_F(JobControllerTest, MakesPodsThatBelongToIt) {
  Job("j", R"("parallelism":2)");
  const Json job = world_.Get(Jobs(), "j");
  const std::string uid = job["metadata"]["uid"];
  const std::vector<Json> pods = Pods();
  ASSERT_EQ(pods.size(), 2U);
  for (const Json& pod : pods) {
    EXPECT_TRUE(pod["metadata"]["name"].get<std::string>().starts_with("j-"));
    EXPECT_EQ(pod["metadata"]["labels"], Json({{"batch.kubernetes.io/controller-uid", uid},
                                               {"batch.kubernetes.io/job-name", "j"},
                                               {"controller-uid", uid},
                                               {"job-name", "j"}}));
    EXPECT_EQ(pod["metadata"]["ownerReferences"], Json::array({{{"apiVersion", "batch/v1"},
                                                                {"kind", "Job"},
                                                                {"name", "j"},
                                                                {"uid", uid},
                                                                {"controller", true},
                                                                {"blockOwnerDeletion", true}}}));
    EXPECT_EQ(pod["metadata"]["finalizers"], Json::array({"batch.kubernetes.io/job-tracking"}));
  }
  EXPECT_EQ(Status("j", "active"), 2);
  EXPECT_EQ(Status("j", "ready"), 0);
}

TEST_F(JobControllerTest, CompletesWhenSoManyPodsHaveSucceeded) {
  Job("j", R"("parallelism":2,"completions":3)");
  for (int i = 0; i < 3; ++i) {
    for (const Json& pod : Pods()) {
      if (pod["status"]["phase"] == "Pending") {
        End(pod, "Succeeded");
        break;
      }
    }
  }
  EXPECT_EQ(Count(Core("pods")), 3U);
  EXPECT_EQ(Status("j", "succeeded"), 3);
  EXPECT_EQ(Status("j", "active"), Json());
  EXPECT_EQ(Condition("j", "Complete"), "True CompletionsReached");
  EXPECT_EQ(Condition("j", "SuccessCriteriaMet"), "True CompletionsReached");
  EXPECT_NE(Status("j", "completionTime"), Json());
  for (const Json& pod : Pods()) EXPECT_FALSE(pod["metadata"].contains("finalizers"));
}

TEST_F(JobControllerTest, AnIndexedJobGivesEachPodItsIndex) {
  Job("j", R"("parallelism":2,"completions":3,"completionMode":"Indexed")");
  const std::vector<Json> pods = Pods();
  ASSERT_EQ(pods.size(), 2U);
  const Json& first = pods[0];
  EXPECT_TRUE(first["metadata"]["name"].get<std::string>().starts_with("j-0-"));
  EXPECT_EQ(first["spec"]["hostname"], "j-0");
  EXPECT_EQ(first["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"], "0");
  EXPECT_EQ(first["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"], "0");
  EXPECT_EQ(first["spec"]["containers"][0]["env"][0]["name"], "JOB_COMPLETION_INDEX");
  End(pods[1], "Succeeded");
  EXPECT_EQ(Status("j", "completedIndexes"), "1");
  End(pods[0], "Failed");
  EXPECT_EQ(Status("j", "failed"), 1);
  std::vector<std::string> indexes;
  for (const Json& pod : Pods()) {
    if (pod["status"]["phase"] == "Pending") indexes.push_back(pod["spec"]["hostname"]);
  }
  EXPECT_EQ(indexes, (std::vector<std::string>{"j-0", "j-2"}));
}

TEST_F(JobControllerTest, FailsBeyondItsLimit) {
  Job("j", R"("parallelism":2,"completions":2,"backoffLimit":0)");
  End(Pods()[0], "Failed");
  EXPECT_EQ(Condition("j", "Failed"), "True BackoffLimitExceeded");
  EXPECT_EQ(Condition("j", "FailureTarget"), "True BackoffLimitExceeded");
  EXPECT_EQ(Status("j", "failed"), 2) << "the pod that was deleted counts";
  EXPECT_EQ(Count(Core("pods")), 1U);
}

TEST_F(JobControllerTest, ReplacesAPodThatIsDeleted) {
  Job("j", "");
  const std::string first = Pods().at(0)["metadata"]["name"];
  world_.Delete(Core("pods"), first);
  world_.Run(kJobMoment);
  ASSERT_EQ(Count(Core("pods")), 1U);
  EXPECT_NE(Pods()[0]["metadata"]["name"], first);
  EXPECT_EQ(Status("j", "failed"), 1);
}

TEST_F(JobControllerTest, SuspendsAndResumes) {
  Job("j", R"("parallelism":3,"completions":3,"suspend":true)");
  EXPECT_EQ(Count(Core("pods")), 0U);
  EXPECT_EQ(Condition("j", "Suspended"), "True JobSuspended");
  EXPECT_EQ(Patch("j", R"({"spec":{"suspend":false}})"), "");
  EXPECT_EQ(Count(Core("pods")), 3U);
  EXPECT_EQ(Condition("j", "Suspended"), "False JobResumed");
  EXPECT_EQ(Patch("j", R"({"spec":{"suspend":true}})"), "");
  EXPECT_EQ(Count(Core("pods")), 0U);
  EXPECT_EQ(Status("j", "failed"), Json());
  EXPECT_EQ(Status("j", "startTime"), Json());
}

TEST_F(JobControllerTest, AGangGetsWorkloadAndGroup) {
  Job("j", R"("parallelism":3,"scheduling":{"schedulingPolicy":{"gang":{}}})");
  const Json workload = Only(JobWorkloads());
  const Json group = Only(JobGroups());
  EXPECT_EQ(workload["spec"]["controllerRef"],
            Json({{"apiGroup", "batch"}, {"kind", "Job"}, {"name", "j"}}));
  const Json& planned = workload["spec"]["podGroupTemplates"][0];
  EXPECT_EQ(planned["name"], "j-pgt-0");
  EXPECT_EQ(planned["schedulingPolicy"]["gang"]["minCount"], 3);
  EXPECT_EQ(group["spec"]["schedulingPolicy"]["gang"]["minCount"], 3);
  EXPECT_EQ(group["spec"]["workloadRef"],
            Json({{"templateName", "j-pgt-0"}, {"workloadName", workload["metadata"]["name"]}}));
  EXPECT_EQ(group["metadata"]["ownerReferences"].size(), 2U);
  for (const Json& pod : Pods()) {
    EXPECT_EQ(pod["spec"]["schedulingGroup"]["podGroupName"], group["metadata"]["name"]);
  }
  EXPECT_EQ(Patch("j", R"({"spec":{"parallelism":5}})"), "");
  EXPECT_EQ(Only(JobGroups())["spec"]["schedulingPolicy"]["gang"]["minCount"], 5);
  EXPECT_EQ(
      Only(JobWorkloads())["spec"]["podGroupTemplates"][0]["schedulingPolicy"]["gang"]["minCount"],
      5);
  EXPECT_EQ(Count(Core("pods")), 5U);
  EXPECT_EQ(Patch("j", R"({"spec":{"parallelism":2}})"), "");
  EXPECT_EQ(Count(Core("pods")), 2U);
  world_.Delete(Jobs(), "j");
  world_.Run(kJobMoment);
  EXPECT_EQ(Count(JobWorkloads()), 0U);
  EXPECT_EQ(Count(Core("pods")), 0U);
}

TEST_F(JobControllerTest, AnyOtherJobGetsABasicGroup) {
  Job("j", "");
  EXPECT_EQ(Only(JobGroups())["spec"]["schedulingPolicy"], Json({{"basic", Json::object()}}));
}

TEST_F(JobControllerTest, AJobWithAGroupOfItsOwnGetsNone) {
  Job("j", R"("parallelism":2)", R"(,"schedulingGroup":{"podGroupName":"x"})");
  EXPECT_EQ(Count(JobGroups()), 0U);
  EXPECT_EQ(Count(JobWorkloads()), 0U);
  ASSERT_EQ(Count(Core("pods")), 2U);
  EXPECT_EQ(Pods()[0]["spec"]["schedulingGroup"]["podGroupName"], "x");
}

TEST_F(JobControllerTest, RefusesWhatUpstreamRefuses) {
  struct Case {
    std::string spec;
    std::string why;
  };
  const std::vector<Case> cases = {
      {R"("parallelism":-1)", "spec.parallelism: Invalid value: -1: must be greater than or equal"},
      {R"("completionMode":"Foo")",
       R"(Unsupported value: "Foo": supported values: "NonIndexed", )"},
      {R"("backoffLimitPerIndex":1)", "requires indexed completion mode"},
      {R"("selector":{"matchLabels":{"a":"b"}})", "`selector` not auto-generated"},
      {R"("scheduling":{"schedulingPolicy":{}})", "must specify one of: `basic`, `gang`"},
      {R"("parallelism":3,"scheduling":{"schedulingPolicy":{"gang":{"minCount":5}}})",
       "gang.minCount: Invalid value: 5: must not be greater than parallelism (3)"},
  };
  for (const Case& c : cases) {
    const auto made =
        world_.service.registry().Create(Jobs(), "default", Json::parse(JobJson("bad", c.spec)));
    ASSERT_FALSE(made.ok()) << c.spec;
    EXPECT_NE(made.failure().message.find(c.why), std::string::npos) << made.failure().message;
  }
}

TEST_F(JobControllerTest, KeepsWhatMayNotChange) {
  Job("plain", "");
  Job("indexed", R"("parallelism":3,"completions":3,"completionMode":"Indexed")");
  const auto refuses = [this](const char* job, const char* patch, const char* why) {
    const std::string message = Patch(job, patch);
    EXPECT_NE(message.find(why), std::string::npos) << patch << ": " << message;
  };
  refuses("plain", R"({"spec":{"completions":4}})",
          "spec.completions: Invalid value: 4: field is immutable");
  refuses("indexed", R"({"spec":{"completions":4}})",
          "can only be modified in tandem with spec.parallelism");
  refuses("indexed", R"({"spec":{"completionMode":"NonIndexed"}})", "field is immutable");
  refuses("plain", R"({"spec":{"template":{"spec":{"nodeName":"x"}}}})", "spec.template");
  refuses("plain", R"({"spec":{"scheduling":{"schedulingPolicy":{"basic":{}}}}})",
          "spec.scheduling: Invalid value: null: field cannot be set once created");
  EXPECT_EQ(Patch("indexed", R"({"spec":{"completions":4,"parallelism":4}})"), "");
  EXPECT_EQ(Patch("plain", R"({"spec":{"backoffLimit":3}})"), "");
}

TEST(JobObjects, IndexesAsUpstreamWritesThem) {
  EXPECT_EQ(jobs::IndexesText({0, 1, 2, 5, 7, 8}), "0-2,5,7,8");
  EXPECT_EQ(jobs::ReadIndexes("0-2,5,7,8"), (std::set<int64_t>{0, 1, 2, 5, 7, 8}));
  EXPECT_EQ(jobs::ReadIndexes("x,-1,3-"), (std::set<int64_t>{}));
}

}  // namespace
}  // namespace ks::apiserver
