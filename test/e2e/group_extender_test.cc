// SPDX-License-Identifier: Apache-2.0
// Pod groups whose members extenders manage, beside kube-scheduler: the same questions about each
// member, the same nodes, the same conditions and messages. One group after the other, all of them
// gangs of all their members: only with these kube-scheduler repeats itself
// (group_placement_test.cc).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "e2e/cluster.h"
#include "e2e/recording_extender.h"

namespace ks::e2e {
namespace {

constexpr char kGroups[] = "/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups";
constexpr char kGates[] = "--feature-gates=GenericWorkload=true";
const std::chrono::seconds kPatience(60);

std::string Without(std::string text, const std::string& word) {
  for (size_t at = text.find(word); at != text.npos; at = text.find(word, at)) {
    text.replace(at, word.size(), "URL");
  }
  return text;
}

bool HasWholeNodes(const json& body) { return body["Nodes"].is_object(); }

std::vector<std::string> NodesAskedAbout(const json& body) {
  const bool whole = HasWholeNodes(body);
  std::vector<std::string> nodes;
  for (const json& node : whole ? body["Nodes"]["items"] : body["NodeNames"]) {
    nodes.push_back(whole ? node["metadata"]["name"] : node);
  }
  return nodes;
}

// The search begins anywhere.
json SortedNodes(const json& body) {
  std::vector<std::string> nodes = NodesAskedAbout(body);
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

json FilterAnswer(const std::string& pod, const std::vector<std::string>& nodes, const json& body) {
  const bool whole = HasWholeNodes(body);
  json kept = json::array();
  json failed = json::object();
  json never = json::object();
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (pod.ends_with("-unwanted")) {
      (nodes[i] == "n1" ? never : failed)[nodes[i]] = "no unit on " + nodes[i];
    } else if (pod.ends_with("-picky") && nodes[i] != "n1") {
      failed[nodes[i]] = "no unit";
    } else {
      kept.push_back(whole ? body["Nodes"]["items"][i] : json(nodes[i]));
    }
  }
  json answer = {{"FailedNodes", failed}, {"FailedAndUnresolvableNodes", never}};
  if (whole) {
    answer["Nodes"]["items"] = kept;
  } else {
    answer["NodeNames"] = kept;
  }
  return answer;
}

// Another node for each member, in turn.
json ScoresAnswer(const std::string& pod, const std::vector<std::string>& nodes) {
  json scores = json::array();
  for (const std::string& node : nodes) {
    const int turn = (node.back() - '0' + pod[1] - '0') % 4;
    scores.push_back({{"Host", node}, {"Score", 3 * turn}});
  }
  return scores;
}

// Hangs on the names of pods and nodes alone.
std::optional<std::string> AnswerByNames(const RecordingExtender::Question& question) {
  const auto& [verb, pod, body] = question;
  if (pod.ends_with("-failing")) return std::nullopt;
  const std::vector<std::string> nodes = NodesAskedAbout(body);
  return (verb == "filter" ? FilterAnswer(pod, nodes, body) : ScoresAnswer(pod, nodes)).dump();
}

std::string Configuration(const std::string& kubeconfig, const std::string& url) {
  std::string text = SchedulerConfiguration(kubeconfig, /*parallelism=*/1) + "extenders:\n";
  const auto extender = [&](const std::string& name, const std::string& more) {
    text += "- {urlPrefix: \"" + url + "/" + name + "\", filterVerb: filter, " + more +
            "managedResources: [{name: example.com/" + name + ", ignoredByScheduler: true}]}\n";
  };
  extender("names", "prioritizeVerb: prioritize, weight: 5, nodeCacheCapable: true, ");
  extender("whole", "prioritizeVerb: prioritize, weight: 5, ");
  extender("ignorable", "nodeCacheCapable: true, ignorable: true, ");
  return text;
}

// What came of groups and members.
struct SeenOutcome {
  std::map<std::string, std::string> of{};
  RecordingExtender::Requests requests{};
};

struct PlannedGang {
  std::string name;
  std::vector<std::string> pods;  // names, each behind a number
  std::string resource;           // that members ask for; empty: none
  std::string cpu = "100m";
  bool preempts = false;
};

// n0 to n3 differ in room. Members are tried in the order of their names.
const PlannedGang kGangs[] = {
    {.name = "scored", .pods = {"", "", "", "", ""}, .resource = "names", .cpu = "300m"},
    {.name = "crowded", .pods = {"", "", "", ""}, .resource = "names", .cpu = "1500m"},
    {.name = "whole", .pods = {"", "", ""}, .resource = "whole", .cpu = "300m"},
    {.name = "refused", .pods = {"", "-unwanted", ""}, .resource = "names"},
    {.name = "picky", .pods = {"-picky", "", "-picky"}, .resource = "names", .cpu = "900m"},
    {.name = "broken", .pods = {"", "-failing", ""}, .resource = "names"},
    {.name = "brokenwhole", .pods = {"-failing", ""}, .resource = "whole"},
    {.name = "shrugged", .pods = {"-failing", "", "-picky"}, .resource = "ignorable"},
    {.name = "mixed", .pods = {"", ""}, .resource = "", .cpu = "200m"},
    {.name = "important", .pods = {"", ""}, .resource = "names", .cpu = "2500m", .preempts = true},
};

class GangsWithExtenders {
 public:
  explicit GangsWithExtenders(Cluster& cluster) : cluster_(cluster) {
    for (int i = 0; i < 4; ++i) {
      cluster_.CreateNode(
          NodeManifest("n" + std::to_string(i), {{"cpu", std::to_string(2600 + 400 * i) + "m"},
                                                 {"memory", std::to_string(8000 + 700 * i) + "Mi"},
                                                 {"pods", "110"}}));
    }
    cluster_.Create("/apis/scheduling.k8s.io/v1/priorityclasses",
                    {{"apiVersion", "scheduling.k8s.io/v1"},
                     {"kind", "PriorityClass"},
                     {"metadata", {{"name", "important"}}},
                     {"value", 1000}});
  }

  void Run(const PlannedGang& gang, SeenOutcome* outcome) {
    Live live{gang.name, {}};
    json group = {{"apiVersion", "scheduling.k8s.io/v1beta1"},
                  {"kind", "PodGroup"},
                  {"metadata", {{"name", gang.name}}}};
    group["spec"]["schedulingPolicy"]["gang"] = {{"minCount", gang.pods.size()}};
    if (gang.preempts) group["spec"]["priorityClassName"] = "important";
    cluster_.Create(kGroups, group);
    for (size_t i = 0; i < gang.pods.size(); ++i) {
      live.pods.push_back("p" + std::to_string(i) + "-" + gang.name + gang.pods[i]);
      json pod = PodManifest(live.pods.back(), {{"cpu", gang.cpu}, {"memory", "100Mi"}});
      if (!gang.resource.empty()) {
        for (const char* of : {"requests", "limits"}) {
          pod["spec"]["containers"][0]["resources"][of]["example.com/" + gang.resource] = "1";
        }
      }
      pod["spec"]["terminationGracePeriodSeconds"] = 0;  // nobody ends victims
      if (gang.preempts) pod["spec"]["priorityClassName"] = "important";
      pod["spec"]["schedulingGroup"] = {{"podGroupName", gang.name}};
      cluster_.CreatePod(pod);
    }
    ASSERT_NO_FATAL_FAILURE(Await(live, gang.preempts, outcome));
    if (!scheduled_) Remove(live);
  }

 private:
  struct Live {
    std::string name;
    std::vector<std::string> pods;
  };

  void Await(const Live& live, bool until_scheduled, SeenOutcome* outcome) {
    json condition;
    const auto said = [&] {
      const json conditions = cluster_.Get(std::string(kGroups) + "/" + live.name)["status"].value(
          "conditions", json::array());
      if (conditions.empty()) return false;
      condition = conditions[0];
      return !until_scheduled || condition["status"] == "True";
    };
    ASSERT_TRUE(cluster_.WaitUntil(said, kPatience)) << live.name << condition.dump();
    scheduled_ = condition["status"] == "True";
    outcome->of[live.name] = condition["status"].get<std::string>() + " " +
                             condition["reason"].get<std::string>() + ": " +
                             condition.value("message", "");
    for (const std::string& pod : live.pods) {
      const auto settled = [&](const PodView::Pods& pods) {
        const auto it = pods.find("default/" + pod);
        return it != pods.end() &&
               (scheduled_ ? !it->second->node_name.empty()
                           : it->second->FindCondition("PodScheduled") != nullptr);
      };
      ASSERT_TRUE(cluster_.view().WaitFor(settled, kPatience)) << pod;
      const api::PodPtr seen = cluster_.view().pods()["default/" + pod];
      outcome->of[pod] =
          scheduled_ ? seen->node_name.str() : seen->FindCondition("PodScheduled")->message;
    }
  }
  void Remove(const Live& gone) {
    for (const std::string& pod : gone.pods) {
      cluster_.Delete("/api/v1/namespaces/default/pods/" + pod + "?gracePeriodSeconds=0");
    }
    const std::string path = std::string(kGroups) + "/" + gone.name;
    cluster_.MergePatch(path, {{"metadata", {{"finalizers", nullptr}}}});
    cluster_.Delete(path);
  }

  Cluster& cluster_;
  bool scheduled_ = false;  // the last one
};

void Decide(bool kubesched, SeenOutcome* outcome) {
  const auto cluster = Cluster::Start(
      {.apiserver_args = {kGates, "--runtime-config=scheduling.k8s.io/v1beta1=true"}});
  ASSERT_NE(cluster, nullptr);
  RecordingExtender extenders(SortedNodes, AnswerByNames);
  GangsWithExtenders gangs(*cluster);
  const std::string configuration =
      Configuration(cluster->plane().SchedulerKubeconfig(), extenders.url());
  const pid_t scheduler = kubesched ? cluster->StartKubesched(configuration, kGates)
                                    : cluster->StartKubeScheduler(configuration, kGates);
  for (const PlannedGang& gang : kGangs) {
    ASSERT_NO_FATAL_FAILURE(gangs.Run(gang, outcome)) << gang.name;
  }
  for (const auto& [key, pod] : cluster->view().pods()) outcome->of["at the end"] += key + " ";
  cluster->StopScheduler(scheduler);
  EXPECT_TRUE(cluster->view().moved().empty());
  outcome->requests = extenders.requests();
  for (auto& [what, text] : outcome->of) text = Without(text, extenders.url());
}

TEST(GroupExtender, EqualsKubeScheduler) {
  std::string why;
  if (!testing::ControlPlane::Available(&why, {37, "pod groups in scheduling.k8s.io/v1beta1"})) {
    GTEST_SKIP() << why;
  }
  SeenOutcome theirs;
  SeenOutcome ours;
  ASSERT_NO_FATAL_FAILURE(Decide(/*kubesched=*/false, &theirs));
  ASSERT_NO_FATAL_FAILURE(Decide(/*kubesched=*/true, &ours));
  EXPECT_EQ(theirs.of, ours.of);
  EXPECT_EQ(theirs.requests, ours.requests);
  // That the comparison is about something.
  EXPECT_EQ(ours.of["scored"], "True Scheduled: ");
  EXPECT_EQ(ours.of["broken"],
            "False SchedulerError: failed to schedule other pod from a pod group: failed filter "
            "with extender at URL URL/names/filter, code 500");
  EXPECT_THAT(ours.of["p1-refused-unwanted"], ::testing::HasSubstr("1 no unit on n1"));
  EXPECT_EQ(ours.of["shrugged"], "True Scheduled: ");
  EXPECT_EQ(ours.requests.count("/whole/prioritize p1-whole"), 1U);
}

}  // namespace
}  // namespace ks::e2e
