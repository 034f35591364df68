// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/config_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "kubeschedctl/effective.h"
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
  CheckedFile Check(const std::string& body) {
    return CheckFile(dir_.Write("f.yaml", kHead + body), config::FeatureGates());
  }
  std::string file() const { return dir_.path() + "/f.yaml"; }

  testing::TempDir dir_;
};

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
  EXPECT_EQ(checked.errors[0].place.line, 8);
}

TEST_F(CheckConfig, AMissingFileIsNamed) {
  const CheckedFile checked = CheckFile("/no/such.yaml", config::FeatureGates());
  EXPECT_EQ(checked.error, "open /no/such.yaml: no such file or directory");
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
