// SPDX-License-Identifier: Apache-2.0
#include "kubesched/flags/validate_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "base/logging.h"
#include "testing/temp_dir.h"

namespace ks {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Texts of docs/spec/config.md 8.5 and 8.6, each seen with kube-scheduler v1.37.1.
struct Case {
  std::string name;
  std::vector<std::string> arguments;
  std::string want;  // empty: accepted
};

config::FeatureGates GatesOf(const Options& options) {
  auto gates = config::FeatureGates::Make(options.gates, nullptr);
  EXPECT_TRUE(gates.ok()) << gates.error().message;
  return gates.value();
}

class Logging : public ::testing::TestWithParam<Case> {};

TEST_P(Logging, HasUpstreamsText) {
  const ParsedFlags parsed = ParseFlags(GetParam().arguments);
  ASSERT_TRUE(parsed.run) << parsed.standard_error;
  const Result<void> applied = ApplyLogging(parsed.options.logging, GatesOf(parsed.options));
  log::SetFormat(log::Format::kText);
  log::SetVerbosity(0);
  log::SetModuleLevels({});
  EXPECT_EQ(applied.ok() ? "" : applied.error().message, GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, Logging,
    ::testing::Values(
        Case{"json", {"--logging-format=json", "--vmodule="}, ""},
        Case{"unknown",
             {"--logging-format=foo"},
             "format: Invalid value: \"foo\": Unsupported log format"},
        Case{"gate",
             {"--logging-format=json", "--feature-gates=LoggingBetaOptions=false"},
             "format: Forbidden: Log format json is disabled, see LoggingBetaOptions feature"},
        Case{"vmodule",
             {"--logging-format=json", "--vmodule=a=1", "--log-flush-frequency=-1s"},
             "[flushFrequency: Invalid value: \"-1s\": Must be greater than zero, vmodule: "
             "Forbidden: Only supported for text log format]"},
        Case{"flush",
             {"--log-flush-frequency=0s"},
             "flushFrequency: Invalid value: \"0s\": Must be greater than zero"},
        Case{"no_buffer", {"--log-text-info-buffer-size=0", "--log-json-split-stream=false"}, ""},
        Case{
            "alpha",
            {"--log-text-split-stream", "--log-json-split-stream", "--log-json-info-buffer-size=1"},
            "[options.text.splitStream: Forbidden: Feature LoggingAlphaOptions is disabled, "
            "options.json.splitStream: Forbidden: Feature LoggingAlphaOptions is disabled, "
            "options.json.infoBufferSize: Forbidden: Feature LoggingAlphaOptions is disabled]"},
        Case{"alpha_on",
             {"--log-text-split-stream", "--feature-gates=LoggingAlphaOptions=true"},
             "options.text.splitStream: Forbidden: not supported by this version of kubesched"}),
    [](const auto& row) { return row.param.name; });

class Validation : public ::testing::TestWithParam<Case> {};

TEST_P(Validation, HasUpstreamsText) {
  const ParsedFlags parsed = ParseFlags(GetParam().arguments);
  ASSERT_TRUE(parsed.run) << parsed.standard_error;
  std::vector<std::string> warnings;
  config::LateGateFindings late;
  const auto gates = config::FeatureGates::Make(parsed.options.gates, nullptr, &late);
  ASSERT_TRUE(gates.ok()) << gates.error().message;
  const Result<void> valid = ValidateOptions(parsed.options, gates.value(), late, &warnings);
  EXPECT_EQ(valid.ok() ? "" : valid.error().message, GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, Validation,
    ::testing::Values(
        Case{"defaults", {}, ""},
        Case{"port_low",
             {"--secure-port=-1"},
             "--secure-port -1 must be between 0 and 65535, inclusive. 0 for turning off secure "
             "port"},
        Case{"port_high",
             {"--secure-port=65536"},
             "--secure-port 65536 must be between 1 and 65535, inclusive. It cannot be turned off "
             "with 0"},
        Case{"blank_headers",
             {"--requestheader-username-headers=a,,", "--requestheader-group-headers=,",
              "--requestheader-extra-headers-prefix= ", "--requestheader-allowed-names=,",
              "--requestheader-uid-headers=X-Remote-Uid,"},
             "[empty value in \"requestheader-username-headers\", empty value in "
             "\"requestheader-group-headers\", empty value in "
             "\"requestheader-extra-headers-prefix\", empty value in "
             "\"requestheader-allowed-names\", empty value in \"requestheader-uid-headers\"]"},
        Case{"uid_headers",
             {"--requestheader-uid-headers=a"},
             "--requestheader-uid-headers is set without specifying the standard X-Remote-Uid "
             "header - API aggregation will not work"},
        Case{"uid_gate",
             {"--requestheader-uid-headers=X-Remote-Uid",
              "--feature-gates=RemoteRequestHeaderUID=false"},
             "--requestheader-uid-headers requires the \"RemoteRequestHeaderUID\" feature to be "
             "enabled"},
        Case{"hidden_metrics",
             {"--show-hidden-metrics-for-version=1.35"},
             "metrics.showHiddenMetricsForVersion: Invalid value: \"1.35\": must be omitted or "
             "have the value '1.36'; only the previous minor version is allowed"},
        Case{"labels",
             {"--allow-metric-labels=foo=bar"},
             "metrics.allowListMapping: Invalid value: {\"foo\":\"bar\"}: must have keys with "
             "format `metricName,labelName` where metricName matches "
             "\"[a-zA-Z_:][a-zA-Z0-9_:]*\" and labelName matches \"[a-zA-Z_][a-zA-Z0-9_]*\""},
        Case{"no_manifest",
             {"--allow-metric-labels-manifest=/nope"},
             "metrics.allowListMappingManifest: Invalid value: \"/nope\": failed to read allow "
             "list manifest: open /nope: no such file or directory"},
        Case{"two",
             {"--secure-port=65536", "--show-hidden-metrics-for-version=1",
              "--emulated-version=1.38"},
             "[emulation version 1.38 is not between [1.34, 1.37.0], --secure-port 65536 must be "
             "between 1 and 65535, inclusive. It cannot be turned off "
             "with 0, metrics.showHiddenMetricsForVersion: Invalid value: \"1\": must be omitted "
             "or have the value '1.36'; only the previous minor version is allowed]"}),
    [](const auto& row) { return row.param.name; });

TEST(ValidateOptions, UnusualHeadersAreOnlyWarnedOf) {
  const ParsedFlags parsed = ParseFlags({"--requestheader-username-headers=a",
                                         "--requestheader-group-headers=X-REMOTE-group",
                                         "--requestheader-extra-headers-prefix=c"});
  std::vector<std::string> warnings;
  EXPECT_TRUE(ValidateOptions(parsed.options, {}, {}, &warnings).ok());
  EXPECT_THAT(
      warnings,
      ElementsAre("--requestheader-username-headers is set without specifying the standard "
                  "X-Remote-User header - API aggregation will not work",
                  "--requestheader-extra-headers-prefix is set without specifying the standard "
                  "X-Remote-Extra- header prefix - API aggregation will not work"));
}

TEST(ValidateOptions, TheManifestMustBeFlat) {
  const testing::TempDir folder;
  const std::string file = folder.path() + "/m.yaml";
  const auto judge = [&file](const std::string& text) {
    std::ofstream(file) << text;
    const ParsedFlags parsed = ParseFlags({"--allow-metric-labels-manifest=" + file});
    std::vector<std::string> warnings;
    const Result<void> valid = ValidateOptions(parsed.options, {}, {}, &warnings);
    return valid.ok() ? "" : valid.error().message;
  };
  EXPECT_EQ(judge("\"m,l\": \"a,b\"\n"), "");
  EXPECT_THAT(judge("allowListMapping:\n  \"m,l\": \"a\"\n"),
              HasSubstr("failed to parse allow list manifest: yaml: unmarshal errors:\n  line 2: "
                        "cannot unmarshal !!map into string"));
  EXPECT_THAT(judge("{"), HasSubstr("failed to parse allow list manifest: "));
}

}  // namespace
}  // namespace ks
