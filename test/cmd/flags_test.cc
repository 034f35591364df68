// SPDX-License-Identifier: Apache-2.0
#include "kubesched/flags/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

namespace ks {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Texts of docs/spec/config.md 8.2, each seen with kube-scheduler v1.37.1.
struct RefusedCase {
  std::string name;
  std::vector<std::string> arguments;
  std::string want;  // behind "Error: "
};

class RefusedFlags : public ::testing::TestWithParam<RefusedCase> {};

TEST_P(RefusedFlags, HaveUpstreamsTextBehindTheUsage) {
  const RefusedCase& c = GetParam();
  const ParsedFlags parsed = ParseFlags(c.arguments);
  EXPECT_FALSE(parsed.run);
  EXPECT_EQ(parsed.exit_code, 1);
  EXPECT_TRUE(parsed.standard_output.empty());
  EXPECT_THAT(parsed.standard_error, StartsWith("Usage:\n  kubesched [flags]\n\nMisc flags:\n\n"));
  EXPECT_THAT(parsed.standard_error, HasSubstr("\n\nError: " + c.want + "\n"));
}

INSTANTIATE_TEST_SUITE_P(
    Names, RefusedFlags,
    ::testing::Values(
        RefusedCase{"unknown", {"--foo"}, "unknown flag: --foo"},
        RefusedCase{"unknown_as_given", {"--foo_bar=1"}, "unknown flag: --foo_bar"},
        RefusedCase{"short_one", {"-x"}, "unknown shorthand flag: 'x' in -x"},
        RefusedCase{"short_in_a_word", {"-xv"}, "unknown shorthand flag: 'x' in -xv"},
        RefusedCase{"help_does_not_hide", {"--help", "--foo"}, "unknown flag: --foo"},
        RefusedCase{"first_wins", {"--secure-port=1", "--foo", "--bar"}, "unknown flag: --foo"},
        RefusedCase{"no_name", {"--=x"}, "bad flag syntax: --=x"},
        RefusedCase{"three_dashes", {"---x"}, "bad flag syntax: ---x"},
        RefusedCase{"no_value", {"--secure-port"}, "flag needs an argument: --secure-port"},
        RefusedCase{
            "no_value_as_given", {"--secure_port"}, "flag needs an argument: --secure_port"},
        RefusedCase{"no_short_value", {"-v"}, "flag needs an argument: 'v' in -v"},
        RefusedCase{"removed",
                    {"--policy-config-file=x"},
                    "unknown flag: --policy-config-file\n--policy-config-file: scheduling policies "
                    "were removed: \"kubeschedctl convert FILE\" turns a policy into a --config "
                    "file"},
        RefusedCase{"nearly_right",
                    {"--kubekonfig=x"},
                    "unknown flag: --kubekonfig\nDid you mean --kubeconfig?"}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Numbers, RefusedFlags,
    ::testing::Values(
        RefusedCase{"port",
                    {"--secure-port=abc"},
                    "invalid argument \"abc\" for \"--secure-port\" flag: strconv.ParseInt: "
                    "parsing \"abc\": invalid syntax"},
        RefusedCase{"port_range",
                    {"--secure-port=99999999999999999999"},
                    "invalid argument \"99999999999999999999\" for \"--secure-port\" flag: "
                    "strconv.ParseInt: parsing \"99999999999999999999\": value out of range"},
        RefusedCase{"port_dash",
                    {"--secure-port", "--foo"},
                    "invalid argument \"--foo\" for \"--secure-port\" flag: strconv.ParseInt: "
                    "parsing \"--foo\": invalid syntax"},
        RefusedCase{"burst",
                    {"--kube-api-burst=3000000000"},
                    "invalid argument \"3000000000\" for \"--kube-api-burst\" flag: "
                    "strconv.ParseInt: parsing \"3000000000\": value out of range"},
        RefusedCase{"qps",
                    {"--kube-api-qps=x"},
                    "invalid argument \"x\" for \"--kube-api-qps\" flag: strconv.ParseFloat: "
                    "parsing \"x\": invalid syntax"},
        RefusedCase{"qps_range",
                    {"--kube-api-qps=1e50"},
                    "invalid argument \"1e50\" for \"--kube-api-qps\" flag: strconv.ParseFloat: "
                    "parsing \"1e50\": value out of range"},
        RefusedCase{"curves",
                    {"--tls-curve-preferences=1,b"},
                    "invalid argument \"1,b\" for \"--tls-curve-preferences\" flag: "
                    "strconv.ParseInt: parsing \"b\": invalid syntax"},
        RefusedCase{"level",
                    {"-v=foo"},
                    "invalid argument \"foo\" for \"-v, --v\" flag: strconv.ParseUint: parsing "
                    "\"foo\": invalid syntax"},
        RefusedCase{"level_glued",
                    {"-vx"},
                    "invalid argument \"x\" for \"-v, --v\" flag: strconv.ParseUint: parsing "
                    "\"x\": invalid syntax"},
        RefusedCase{"level_empty",
                    {"-v="},
                    "invalid argument \"=\" for \"-v, --v\" flag: strconv.ParseUint: parsing "
                    "\"=\": invalid syntax"},
        RefusedCase{"level_range",
                    {"-v=4294967296"},
                    "invalid argument \"4294967296\" for \"-v, --v\" flag: strconv.ParseUint: "
                    "parsing \"4294967296\": value out of range"},
        RefusedCase{"level_hex",
                    {"-v=0x4"},
                    "invalid argument \"0x4\" for \"-v, --v\" flag: strconv.ParseUint: parsing "
                    "\"0x4\": invalid syntax"},
        RefusedCase{"bool",
                    {"--leader-elect=maybe"},
                    "invalid argument \"maybe\" for \"--leader-elect\" flag: strconv.ParseBool: "
                    "parsing \"maybe\": invalid syntax"},
        RefusedCase{"help",
                    {"--help=maybe"},
                    "invalid argument \"maybe\" for \"-h, --help\" flag: strconv.ParseBool: "
                    "parsing \"maybe\": invalid syntax"},
        RefusedCase{"duration",
                    {"--leader-elect-lease-duration=5"},
                    "invalid argument \"5\" for \"--leader-elect-lease-duration\" flag: time: "
                    "missing unit in duration \"5\""}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Others, RefusedFlags,
    ::testing::Values(
        RefusedCase{"address",
                    {"--bind-address=foo"},
                    "invalid argument \"foo\" for \"--bind-address\" flag: failed to parse IP: "
                    "\"foo\""},
        RefusedCase{"module",
                    {"--vmodule=foo"},
                    "invalid argument \"foo\" for \"--vmodule\" flag: \"foo\" does not have the "
                    "pattern=N format"},
        RefusedCase{"module_level",
                    {"--vmodule=foo=x"},
                    "invalid argument \"foo=x\" for \"--vmodule\" flag: parsing verbosity in "
                    "\"foo=x\": strconv.ParseUint: parsing \"x\": invalid syntax"},
        RefusedCase{"sni",
                    {"--tls-sni-cert-key=foo"},
                    "invalid argument \"foo\" for \"--tls-sni-cert-key\" flag: expected comma "
                    "separated certificate and key file paths"},
        RefusedCase{"sni_nothing",
                    {"--tls-sni-cert-key=:"},
                    "invalid argument \":\" for \"--tls-sni-cert-key\" flag: empty names list is "
                    "not allowed"},
        RefusedCase{"sni_names",
                    {"--tls-sni-cert-key=a,b:"},
                    "invalid argument \"a,b:\" for \"--tls-sni-cert-key\" flag: empty names list "
                    "is not allowed"},
        RefusedCase{"labels",
                    {"--allow-metric-labels=foo"},
                    "invalid argument \"foo\" for \"--allow-metric-labels\" flag: foo must be "
                    "formatted as key=value"},
        RefusedCase{"quantity",
                    {"--log-text-info-buffer-size=x"},
                    "invalid argument \"x\" for \"--log-text-info-buffer-size\" flag: quantities "
                    "must match the regular expression "
                    "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
        RefusedCase{"quote",
                    {"--tls-cipher-suites=a\"b"},
                    "invalid argument \"a\\\"b\" for \"--tls-cipher-suites\" flag: parse error on "
                    "line 1, column 2: bare \" in non-quoted-field"},
        RefusedCase{"open_quote",
                    {"--tls-cipher-suites=\"a"},
                    "invalid argument \"\\\"a\" for \"--tls-cipher-suites\" flag: parse error on "
                    "line 1, column 3: extraneous or missing \" in quoted-field"},
        RefusedCase{"version_base",
                    {"--version=v1.2.3"},
                    "invalid argument \"v1.2.3\" for \"--version\" flag: version \"v1.2.3\" must "
                    "match major/minor/patch of default version \"v1.37.1\""},
        RefusedCase{"version_word",
                    {"--version=foo"},
                    "invalid argument \"foo\" for \"--version\" flag: strconv.ParseBool: parsing "
                    "\"foo\": invalid syntax"}),
    [](const auto& row) { return row.param.name; });

TEST(Flags, ArgumentsAreRefusedWithoutTheUsage) {
  const auto error = [](const std::vector<std::string>& arguments) {
    return ParseFlags(arguments).standard_error;
  };
  const std::string start = "Error: \"kubesched\" does not take any arguments, got ";
  EXPECT_EQ(error({"foo"}), start + "[\"foo\"]\n");
  EXPECT_EQ(error({"--", "a", "b"}), start + "[\"a\" \"b\"]\n");
  EXPECT_EQ(error({"-"}), start + "[\"-\"]\n");
  EXPECT_EQ(error({"--leader-elect", "false"}), start + "[\"false\"]\n");
  EXPECT_TRUE(ParseFlags({"", "--"}).run);
}

TEST(Flags, Defaults) {
  const ParsedFlags parsed = ParseFlags({});
  ASSERT_TRUE(parsed.run) << parsed.standard_error;
  EXPECT_EQ(parsed.options.serving.secure_port, 10259);
  EXPECT_EQ(parsed.options.serving.bind_address, "0.0.0.0");
  EXPECT_EQ(parsed.options.logging.verbosity, 0);
  EXPECT_TRUE(parsed.options.leader_election.leader_elect);
  EXPECT_TRUE(parsed.options.given.empty());
  EXPECT_EQ(parsed.options.values.size(), 70U);
}

TEST(Flags, AKubeadmManifestIsAccepted) {
  const ParsedFlags parsed = ParseFlags(
      {"--authentication-kubeconfig=/etc/kubernetes/scheduler.conf",
       "--authorization-kubeconfig=/etc/kubernetes/scheduler.conf", "--bind-address=127.0.0.1",
       "--kubeconfig=/etc/kubernetes/scheduler.conf", "--leader-elect=true"});
  ASSERT_TRUE(parsed.run) << parsed.standard_error;
  EXPECT_EQ(parsed.options.authentication.kubeconfig, "/etc/kubernetes/scheduler.conf");
  EXPECT_EQ(parsed.options.authorization.kubeconfig, "/etc/kubernetes/scheduler.conf");
  EXPECT_EQ(parsed.options.serving.bind_address, "127.0.0.1");
  EXPECT_TRUE(parsed.options.Given("leader-elect"));
  EXPECT_FALSE(parsed.options.Given("leader-elect-retry-period"));
}

TEST(Flags, EveryFormOfAValueIsRead) {
  const ParsedFlags parsed = ParseFlags({"--kubeconfig",
                                         "/etc/k",
                                         "--master=https://h:6443",
                                         "--config",
                                         "--odd",
                                         "-v",
                                         "4",
                                         "--secure-port=0x10",
                                         "--leader_elect=F",
                                         "--leader-elect-lease-duration=1m2.5s",
                                         "--kube-api-qps=+12.5",
                                         "--emulated-version=kube=1.36",
                                         "--emulated-version",
                                         "a,b",
                                         "--authorization-always-allow-paths=/a,/b*",
                                         "--tls-curve-preferences=23,29",
                                         "--allow-metric-labels=m,l=a",
                                         "--allow-metric-labels=\"n,l=b=c\"",
                                         "--config=/last",
                                         "--vmodule=a*=1,b=2",
                                         "--feature-gates=A=true",
                                         "--feature-gates=B=false"});
  ASSERT_TRUE(parsed.run) << parsed.standard_error;
  const Options& options = parsed.options;
  EXPECT_EQ(options.deprecated.kubeconfig, "/etc/k");
  EXPECT_EQ(options.master, "https://h:6443");
  EXPECT_EQ(options.config_file, "/last");
  EXPECT_EQ(options.logging.verbosity, 4);
  EXPECT_EQ(options.serving.secure_port, 16);
  EXPECT_FALSE(options.leader_election.leader_elect);
  EXPECT_EQ(options.leader_election.lease_duration, std::chrono::milliseconds(62500));
  EXPECT_EQ(options.deprecated.qps, 12.5F);
  EXPECT_THAT(options.gates.emulated_version, ElementsAre("kube=1.36", "a", "b"));
  EXPECT_THAT(options.gates.feature_gates, ElementsAre("A=true", "B=false"));
  EXPECT_THAT(options.authorization.always_allow_paths, ElementsAre("/a", "/b*"));
  EXPECT_THAT(options.serving.curve_preferences, ElementsAre(23, 29));
  EXPECT_EQ(options.metrics.allow_labels.at("m,l"), "a");
  EXPECT_EQ(options.metrics.allow_labels.at("n,l"), "b=c");
  ASSERT_EQ(options.logging.modules.size(), 2U);
  EXPECT_EQ(options.logging.modules[0].pattern, "a*");
}

TEST(Flags, TheLogShowsThemAsUpstream) {
  const ParsedFlags parsed = ParseFlags(
      {"--tls-sni-cert-key=a,b:c,d", "--tls-sni-cert-key=e,f", "-v3", "--allow-metric-labels=n,l=b",
       "--tls-cipher-suites=X,\"a,b\"", "--log-flush-frequency=90s", "--kube-api-qps=12.50",
       "--feature-gates=A=true, B = false,", "--feature-gates= kube : C=true"});
  ASSERT_TRUE(parsed.run) << parsed.standard_error;
  const std::map<std::string, std::string> values(parsed.options.values.begin(),
                                                  parsed.options.values.end());
  const std::pair<const char*, const char*> wanted[] = {
      {"tls-sni-cert-key", "[a,b:c,d;e,f]"},
      {"v", "3"},
      {"allow-metric-labels", "[\"n,l=b\"]"},
      {"tls-cipher-suites", "[X,\"a,b\"]"},
      {"log-flush-frequency", "1m30s"},
      {"kube-api-qps", "12.5"},
      {"requestheader-username-headers", "[x-remote-user]"},
      {"pod-max-in-unschedulable-pods-duration", "5m0s"},
      {"help", "false"},
      {"version", "false"},
      {"bind-address", "0.0.0.0"},
      {"tls-curve-preferences", "[]"},
      {"vmodule", ""},
      {"feature-gates", ":A=true,:B = false,kube:C=true"},
  };
  for (const auto& [name, value] : wanted) EXPECT_EQ(values.at(name), value) << name;
}

TEST(Flags, HelpHasUpstreamsLayout) {
  const ParsedFlags parsed = ParseFlags({"--help", "argument"});
  EXPECT_FALSE(parsed.run);
  EXPECT_EQ(parsed.exit_code, 0);
  const std::string& help = parsed.standard_output;
  size_t last = 0;
  for (const char* section :
       {"Misc", "Secure serving", "Authentication", "Authorization", "Deprecated",
        "Leader election", "Feature gate", "Metrics", "Logs", "Global"}) {
    const size_t at = help.find("\n\n" + std::string(section) + " flags:\n\n");
    ASSERT_NE(at, std::string::npos) << section;
    EXPECT_GT(at, last);
    last = at;
  }
  for (const char* line :
       {"\n      --write-config-to string   ", "\n      --bind-address ip                        ",
        "\n      --leader-elect                             ", " (default 10259)\n",
        "\n  -v, --v Level                              ", " (default \"leases\")\n",
        "\n      --version version[=true]   ", "\n  -h, --help                     ",
        " (default [/healthz,/readyz,/livez])\n", " (default 5m0s)\n", " (default [])\n",
        "          kube:AllAlpha=true|false (ALPHA - default=false)\n"}) {
    EXPECT_THAT(help, HasSubstr(line));
  }
}

TEST(Flags, VersionIsOursWithUpstreamsBesideIt) {
  EXPECT_EQ(ParseFlags({}).version, ParsedFlags::Version::kNone);
  EXPECT_EQ(ParseFlags({"--version"}).version, ParsedFlags::Version::kText);
  EXPECT_EQ(ParseFlags({"--version=false"}).version, ParsedFlags::Version::kNone);
  EXPECT_EQ(ParseFlags({"--version=raw"}).version, ParsedFlags::Version::kRaw);
  EXPECT_EQ(ParseFlags({"--version=v1.37.1-custom"}).version, ParsedFlags::Version::kNone);
  EXPECT_EQ(VersionText(ParsedFlags::Version::kText),
            "kubesched v" KS_VERSION " (compatible with Kubernetes v1.37.1)\n");
  const std::string raw = VersionText(ParsedFlags::Version::kRaw);
  const std::regex parts(
      R"re(^version\.Info\{Major:"(\d+)", Minor:"(\d+)", GitVersion:"v\1\.\2\.)re");
  EXPECT_TRUE(std::regex_search(raw, parts)) << raw;
  EXPECT_THAT(raw, HasSubstr("GitVersion:\"v" KS_VERSION "\""));
}

}  // namespace
}  // namespace ks
