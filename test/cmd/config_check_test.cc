// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/config/config_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "client/http/transport.h"
#include "testing/temp_dir.h"

namespace ks::ctl {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kHead =
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";
// A profile of few plugins.
constexpr const char* kFew =
    "profiles:\n- plugins:\n    multiPoint:\n      disabled: [{name: \"*\"}]\n"
    "      enabled: [{name: PrioritySort}, {name: NodeResourcesFit}, {name: DefaultBinder}]\n";

class CheckConfig : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { client::InitializeClientProcess(); }

  std::vector<CheckedFile> CheckAll(const std::string& text, const std::string& key = "",
                                    bool elsewhere = false) {
    auto checked = CheckFile(
        dir_.Write("f.yaml", text),
        {.gates = gates_, .master = "https://127.0.0.1", .elsewhere = elsewhere, .key = key});
    if (checked.ok()) return std::move(checked).value();
    return {{.file = "", .error = checked.error().message}};
  }
  CheckedFile Check(const std::string& body) { return CheckAll(kHead + body).at(0); }
  std::string file() const { return dir_.path() + "/f.yaml"; }

  testing::TempDir dir_;
  const config::FeatureGates gates_;
};

// "LINE PATH (HINT)" for each.
std::string Shown(const std::vector<config::Finding>& findings) {
  std::string text;
  for (const config::Finding& finding : findings) {
    text += std::to_string(finding.place.line) + " " + finding.path;
    text += (finding.hint.empty() ? "" : " (" + finding.hint + ")") + "\n";
  }
  return text;
}

TEST_F(CheckConfig, AGoodFileIsOk) {
  const CheckedFile checked = Check(kFew);
  EXPECT_TRUE(checked.valid()) << checked.error;
  EXPECT_THAT(CheckText(checked), StartsWith(file() + ": ok\n"));
}

TEST_F(CheckConfig, EveryFaultHasItsPlaceAndCure) {
  const CheckedFile checked = Check("parallelism: 0\npercentageOfNodesToScore: 200\n");
  EXPECT_EQ(CheckText(checked),
            file() +
                ": refused: [parallelism: Invalid value: 0: should be an integer value greater "
                "than zero, percentageOfNodesToScore: Invalid value: 200: not in valid range "
                "[0-100]]\n" +
                config::Render(checked.errors[0], file()) + "\n" +
                config::Render(checked.errors[1], file()) + "\n");
  EXPECT_EQ(checked.errors[0].place.line, 3);
  EXPECT_EQ(checked.errors[1].place.line, 4);
  const CheckedFile unknown = Check("paralelism: 5\n");
  EXPECT_EQ(unknown.error, "strict decoding error: unknown field \"paralelism\"");
  EXPECT_THAT(CheckText(unknown), HasSubstr(file() + ":3:1: "));
  EXPECT_THAT(CheckText(unknown), HasSubstr("did you mean \"parallelism\"?"));
}

TEST_F(CheckConfig, ProfilesAreBuilt) {
  const CheckedFile checked = Check(
      "profiles:\n- plugins:\n    filter:\n      enabled:\n      - name: NodeName\n"
      "      - name: NodeNam\n");
  EXPECT_THAT(checked.error, HasSubstr("FilterPlugin \"NodeNam\" does not exist"));
  ASSERT_EQ(checked.errors.size(), 1u);
  const config::Finding& finding = checked.errors[0];
  EXPECT_EQ(finding.path, "profiles[0].plugins.filter.enabled[1].name");
  EXPECT_EQ(finding.message, checked.error);
  EXPECT_EQ(finding.place.line, 8);
  EXPECT_EQ(finding.hint, "did you mean \"NodeName\"?");
}

TEST_F(CheckConfig, FindsTheArgumentThatIsWrong) {
  const CheckedFile checked = Check(
      "profiles:\n- pluginConfig:\n  - {name: Foo}\n  - name: NodeResourcesFit\n    args:\n"
      "      scoringStrategy:\n        type: Foo\n");
  ASSERT_EQ(checked.errors.size(), 1u);
  EXPECT_EQ(checked.errors[0].path, "profiles[0].pluginConfig[1].args.scoringStrategy.type");
  EXPECT_EQ(checked.errors[0].place.line, 9);
}

TEST_F(CheckConfig, ExtendersAreBuilt) {
  const CheckedFile checked =
      Check(std::string(kFew) + "extenders:\n- enableHTTPS: true\n  tlsConfig: {caFile: /no/ca}\n");
  EXPECT_EQ(checked.error, "couldn't build extenders: open /no/ca: no such file or directory");
  ASSERT_EQ(checked.errors.size(), 1u);
  EXPECT_EQ(checked.errors[0].path, "extenders[0].tlsConfig.caFile");
  EXPECT_EQ(checked.errors[0].place.line, 10);
}

TEST_F(CheckConfig, FaultsOfAllStepsAreToldAtOnce) {
  const CheckedFile checked = Check(
      "profiles:\n"
      "- schedulerName: a\n"
      "  plugins:\n"
      "    score: {enabled: [{name: NodeResourceFit, weight: 5}]}\n"
      "    filter: {enabled: [{name: NodeResorcesFit}]}\n"
      "    multiPoint: {enabled: [{name: ImageLocality}, {name: Foo}]}\n"
      "  pluginConfig:\n"
      "  - name: InterPodAffinity\n"
      "    args: {hardPodAffinityWeight: 101}\n"
      "  - name: NodeResourcesFit\n"
      "    args:\n"
      "      scoringStrategy:\n"
      "        type: mostAllocated\n"
      "        resources: [{name: cpu, weight: 500}]\n"
      "clientConnection: {kubeconfig: /no/such}\n");
  EXPECT_EQ(checked.error,
            "profiles[0].pluginConfig[0].args.hardPodAffinityWeight: Invalid value: 101: not in "
            "valid range [0, 100]");
  EXPECT_EQ(Shown(checked.errors),
            "6 profiles[0].plugins.score.enabled[0].name (did you mean \"NodeResourcesFit\"?)\n"
            "7 profiles[0].plugins.filter.enabled[0].name (did you mean \"NodeResourcesFit\"?)\n"
            "8 profiles[0].plugins.multiPoint.enabled[1].name\n"
            "11 profiles[0].pluginConfig[0].args.hardPodAffinityWeight\n"
            "15 profiles[0].pluginConfig[1].args.scoringStrategy.type (did you mean "
            "\"MostAllocated\"?)\n"
            "16 profiles[0].pluginConfig[1].args.scoringStrategy.resources[0].weight\n"
            "17 clientConnection.kubeconfig\n");
}

// What only follows from a fault is not told beside it.
TEST_F(CheckConfig, FollowUpsAreLeftOut) {
  const std::pair<const char*, const char*> rows[] = {
      {"leaderElection: {leaseDuratoin: 1m, renewDeadline: 30s}\n",
       "3 leaderElection.leaseDuratoin (did you mean \"leaseDuration\"?)\n"},
      {"parallelism: x\npercentageOfNodesToScore: 101\n",
       "3 parallelism (an integer is needed here, without quotes)\n4 percentageOfNodesToScore\n"},
      {"profiles:\n- plugins: {queueSort: {enabled: [{nam: X}], disabled: [{name: '*'}]}}\n",
       "4 profiles[0].plugins.queueSort.enabled[0].nam (did you mean \"name\"?)\n"},
      {"profiles: [{schedulerName: a}, {schedulerName: a}]\n",
       "3 profiles[1].schedulerName "
       "(another profile is called \"a\" "
       "already)\n"},
      {"profiles:\n- plugins: {filter: {enabled: [{name: EBSLimits}]}}\n",
       "4 profiles[0].plugins.filter.enabled[0] (this plugin is gone, NodeVolumeLimits does its "
       "work: remove the entry)\n"},
      {"profiles:\n- pluginConfig:\n  - {name: NodeAffinity, args: {}}\n"
       "  - {name: NodeAffinity, args: {}}\n",
       "6 profiles[0].pluginConfig[1]\n"},
  };
  for (const auto& [body, want] : rows) {
    EXPECT_EQ(Shown(Check(body).errors), want) << body;
  }
}

TEST_F(CheckConfig, ElectionIsCheckedAsFarAsTheDaemonChecksIt) {
  const CheckedFile refused = Check(
      "leaderElection: {leaderElect: true, leaseDuration: 15s, renewDeadline: 10s, retryPeriod: "
      "9s}\n");
  EXPECT_EQ(refused.error,
            "couldn't create leader elector: renewDeadline must be greater than "
            "retryPeriod*JitterFactor");
  EXPECT_EQ(Shown(refused.errors), "3 leaderElection.renewDeadline\n");
  const CheckedFile brief = Check(
      "leaderElection: {leaderElect: true, leaseDuration: 500ms, renewDeadline: 400ms, "
      "retryPeriod: 100ms}\n");
  EXPECT_EQ(brief.error, "");
  EXPECT_EQ(Shown(brief.warnings), "3 leaderElection.leaseDuration (give it at least 1s)\n");
}

TEST_F(CheckConfig, FilesElsewhereAreNotLookedAt) {
  const std::string body = std::string(kHead) + kFew +
                           "clientConnection: {kubeconfig: /no/such}\n"
                           "extenders: [{tlsConfig: {caFile: /no/ca}}]\n";
  EXPECT_EQ(CheckAll(body).at(0).error, "stat /no/such: no such file or directory");
  EXPECT_EQ(CheckAll(body).at(0).errors.size(), 2u);
  EXPECT_EQ(CheckAll(body, "", true).at(0).error, "");
}

TEST_F(CheckConfig, ReadsAConfigMapAmongOtherObjects) {
  const std::string manifest =
      "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\n---\n"
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ks, namespace: kube-system}\ndata:\n"
      "  note: text\n"
      "  good.yaml: |\n    apiVersion: kubescheduler.config.k8s.io/v1\n"
      "    kind: KubeSchedulerConfiguration\n"
      "  bad.yaml: |\n    apiVersion: kubescheduler.config.k8s.io/v1\n"
      "    kind: KubeSchedulerConfiguration\n    paralelism: 5\n";
  const std::vector<CheckedFile> checked = CheckAll(manifest);
  ASSERT_EQ(checked.size(), 2u);
  EXPECT_EQ(CheckText(checked[0]), file() + ": key good.yaml of ConfigMap kube-system/ks: ok\n");
  EXPECT_EQ(CheckText(checked[1]),
            file() +
                ": key bad.yaml of ConfigMap kube-system/ks: refused: strict decoding error: "
                "unknown field \"paralelism\"\n" +
                file() +
                ":16:5: paralelism: unknown field \"paralelism\" (did you mean "
                "\"parallelism\"?)\n");
  EXPECT_THAT(CheckJson(checked), HasSubstr("\"object\": \"ConfigMap kube-system/ks\",\n      "
                                            "\"key\": \"good.yaml\""));
  EXPECT_EQ(CheckAll(manifest, "bad.yaml").size(), 1u);
  EXPECT_EQ(CheckAll(manifest, "x").at(0).error,
            file() +
                ": no configuration under the key \"x\": there is key good.yaml of ConfigMap "
                "kube-system/ks, key bad.yaml of ConfigMap kube-system/ks");
}

TEST_F(CheckConfig, AMissingFileIsNamed) {
  const auto checked = CheckFile("/no/such.yaml", {.gates = gates_});
  ASSERT_TRUE(checked.ok());
  EXPECT_EQ(checked->at(0).error, "open /no/such.yaml: no such file or directory");
}

TEST_F(CheckConfig, WarningsDoNotRefuse) {
  CheckedFile checked{.file = "f"};
  checked.warnings = {
      {.path = "a.b", .message = "m", .place = {.line = 3, .column = 5}, .hint = "h"},
      {.path = "a", .message = "a: m", .place = {}, .hint = ""}};
  EXPECT_EQ(CheckText(checked), "f: ok\nf:3:5: warning: a.b: m (h)\nf: warning: a: m\n");
}

TEST_F(CheckConfig, Json) {
  CheckedFile refused{.file = "f", .error = "e"};
  refused.errors = {{.path = "p", .message = "m", .place = {.line = 1, .column = 2}, .hint = "h"}};
  refused.warnings = {{.path = "q", .message = "w", .place = {}, .hint = ""}};
  const auto document = nlohmann::json::parse(CheckJson({refused, {.file = "g"}}));
  EXPECT_EQ(document.dump(),
            R"({"files":[{"error":"e","file":"f","findings":[{"column":2,"hint":"h","line":1,)"
            R"("message":"m","path":"p","severity":"error"},{"message":"w","path":"q",)"
            R"("severity":"warning"}],"valid":false},)"
            R"({"error":"","file":"g","findings":[],"valid":true}]})");
}

}  // namespace
}  // namespace ks::ctl
