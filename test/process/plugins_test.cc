// SPDX-License-Identifier: Apache-2.0
// kubesched with plugins that it loads, and kubeschedctl with the same, as their user runs them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/file_text.h"
#include "process/embedded_cluster.h"
#include "testing/run_program.h"

namespace ks::daemon {
namespace {

using ::testing::HasSubstr;

constexpr const char* kZoneLabel = "topology.kubernetes.io/zone";
constexpr const char* kProfile =
    "profiles:\n- plugins:\n    multiPoint:\n      enabled: [{name: ZoneOnly, weight: 2}]\n";

std::string ContentOf(const std::string& module) {
  const auto content = ReadFile(std::string(KS_MODULES) + "/" + module + ".so");
  KS_CHECK(content.ok(), content.error().message);
  return *content;
}

class Plugins : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(cluster_.folder() + "/plugins");
    Install(ContentOf("zone_only"));
    cluster_.CreateNode("east", 16, {{kZoneLabel, "east"}});
    configuration_ = cluster_.Configure("config", kFirstUser, kProfile);
  }
  // As a package manager does: a new file in the place of the old one.
  void Install(const std::string& content) const {
    const std::string draft = library() + ".new";
    std::ofstream(draft, std::ios::binary | std::ios::trunc) << content;
    chmod(draft.c_str(), 0644);
    std::filesystem::rename(draft, library());
  }
  std::string library() const { return cluster_.folder() + "/plugins/zone_only.so"; }
  std::unique_ptr<DaemonProcess> Start(const std::vector<std::string>& more = {}) {
    std::vector<std::string> flags = {"--plugin-library=" + library()};
    flags.insert(flags.end(), more.begin(), more.end());
    return cluster_.Start("one", configuration_, flags);
  }
  void CreateLabeledPods(const std::string& prefix, int count, const json& labels) {
    for (int i = 0; i < count; ++i) {
      json pod{{"metadata", {{"name", prefix + std::to_string(i)}, {"labels", labels}}}};
      pod["spec"]["containers"] = json::array({{{"name", "c"}, {"image", "i"}}});
      cluster_.Create("", "v1", "pods", "default", std::move(pod));
    }
  }
  testing::ProgramResult Ctl(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), KS_KUBESCHEDCTL_PATH);
    auto result = testing::RunProgram(arguments, cluster_.folder(),
                                      "ctl-" + std::to_string(++runs_), std::chrono::minutes(2));
    EXPECT_TRUE(result.ok());
    return result.ok() ? *result : testing::ProgramResult();
  }

  EmbeddedCluster cluster_;
  std::string configuration_;
  int runs_ = 0;
};

TEST_F(Plugins, ALoadedPluginDecidesAndIsExchangedWhileItRuns) {
  auto daemon = Start();
  CreateLabeledPods("first-", 10, {{"zone", "east"}});
  ASSERT_TRUE(cluster_.AllBound(10)) << daemon->Log();
  EXPECT_EQ(cluster_.NodesOf("first-"), 1U);
  EXPECT_EQ(cluster_.Bound()["first-0"], "east");
  EXPECT_TRUE(daemon->Says("\"Loaded a plugin library\"")) << daemon->Log();

  // Half a file is refused, and what runs goes on.
  Install(ContentOf("zone_only_2").substr(0, 9000));
  ASSERT_TRUE(Eventually([&] { return daemon->Says("is cut short or damaged: copy it again"); }))
      << daemon->Log();
  CreateLabeledPods("second-", 10, {{"zone", "east"}});
  ASSERT_TRUE(cluster_.AllBound(20)) << daemon->Log();
  EXPECT_EQ(cluster_.NodesOf("second-"), 1U);

  // The second version looks at another label.
  Install(ContentOf("zone_only_2"));
  ASSERT_TRUE(Eventually([&] { return daemon->Says("\"A plugin library was exchanged\""); }))
      << daemon->Log();
  EXPECT_TRUE(daemon->Says("version=\"2\"")) << daemon->Log();
  CreateLabeledPods("third-", 10, {{"area", "east"}});
  CreateLabeledPods("fourth-", 1, {{"zone", "nowhere"}});
  ASSERT_TRUE(cluster_.AllBound(31)) << daemon->Log();
  EXPECT_EQ(cluster_.NodesOf("third-"), 1U);
  EXPECT_EQ(cluster_.Bound()["third-0"], "east");
  EXPECT_EQ(daemon->Stop(), 0) << daemon->Log();
}

TEST_F(Plugins, ALibraryThatOthersCanWriteEndsTheStart) {
  chmod(library().c_str(), 0666);
  auto daemon = Start();
  EXPECT_EQ(daemon->ExitStatus(), 1) << daemon->Log();
  EXPECT_THAT(daemon->Log(), HasSubstr("--plugin-library " + library() +
                                       ": can be written by its group or by others"));
}

TEST_F(Plugins, TheToolKnowsThem) {
  const std::string flag = "--plugin-library=" + library();
  EXPECT_EQ(Ctl({"check-config", configuration_}).exit_status, 1);
  const auto checked = Ctl({"check-config", flag, configuration_});
  EXPECT_EQ(checked.exit_status, 0) << checked.output;
  const auto missing = Ctl({"check-config", flag + ".none", configuration_});
  EXPECT_EQ(missing.exit_status, 2) << missing.output;
  EXPECT_THAT(missing.output, HasSubstr("zone_only.so.none: no such file or directory"));
  const auto same = Ctl({"diff-config", flag, configuration_, configuration_});
  EXPECT_EQ(same.exit_status, 0) << same.output;

  const json node{{"apiVersion", "v1"},
                  {"kind", "Node"},
                  {"metadata", {{"name", "west"}, {"labels", {{kZoneLabel, "west"}}}}},
                  {"status", {{"allocatable", {{"cpu", "4"}, {"memory", "8Gi"}, {"pods", "9"}}}}}};
  json pod{
      {"apiVersion", "v1"},
      {"kind", "Pod"},
      {"metadata",
       {{"name", "p"}, {"namespace", "default"}, {"uid", "u"}, {"labels", {{"zone", "east"}}}}},
      {"spec", {{"schedulerName", "default-scheduler"}}}};
  pod["spec"]["containers"] = json::array({{{"name", "c"}, {"image", "i"}}});
  const std::string dump = cluster_.folder() + "/dump.json";
  std::ofstream(dump) << json{
      {"apiVersion", "v1"}, {"kind", "List"}, {"items", json::array({node, pod})}};
  const auto explained = Ctl({"explain", "--cluster", dump, "--config", configuration_, flag});
  EXPECT_EQ(explained.exit_status, 0) << explained.output;
  EXPECT_THAT(explained.output, HasSubstr("node is in another zone"));
}

TEST_F(Plugins, RecordingsReplayWithThem) {
  const std::string recordings = cluster_.folder() + "/recordings";
  std::filesystem::create_directory(recordings);
  auto daemon = Start({"--record=" + recordings});
  CreateLabeledPods("first-", 10, {{"zone", "east"}});
  ASSERT_TRUE(cluster_.AllBound(10)) << daemon->Log();
  EXPECT_EQ(daemon->Stop(), 0) << daemon->Log();
  const std::string file = std::filesystem::directory_iterator(recordings)->path();
  const auto same = Ctl({"replay", file, "--plugin-library=" + library()});
  EXPECT_EQ(same.exit_status, 0) << same.output;
  EXPECT_THAT(same.output, HasSubstr("recorded and replayed are the same"));
  EXPECT_EQ(Ctl({"replay", file}).exit_status, 2);
}

}  // namespace
}  // namespace ks::daemon
