// SPDX-License-Identifier: Apache-2.0
#include "config/load.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <string>

namespace ks::config {
namespace {

constexpr const char* kHead =
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";

Result<Configuration> Flat(LoadResult result) {
  if (auto* faults = std::get_if<Faults>(&result)) return Error{faults->text};
  return std::get<Loaded>(result).configuration;
}

Result<Configuration> Parse(const std::string& body) {
  return Flat(ParseConfiguration(kHead + body));
}

struct GoodCase {
  std::string name;
  std::string body;
  std::function<void(const Configuration&)> check;
};

TEST(LoadConfiguration, Accepts) {
  const GoodCase cases[] = {
      {"E1", "",
       [](const Configuration& c) {
         EXPECT_EQ(c.parallelism, 16);
         EXPECT_EQ(c.percentage_of_nodes_to_score, 0);
         EXPECT_EQ(c.pod_initial_backoff_seconds, 1);
         EXPECT_EQ(c.pod_max_backoff_seconds, 10);
         ASSERT_EQ(c.profiles.size(), 1u);
         EXPECT_EQ(c.profiles[0].name(), "default-scheduler");
         EXPECT_FALSE(c.profiles[0].percentage_of_nodes_to_score.has_value());
         EXPECT_FALSE(c.profiles[0].plugins.multi_point.enabled.empty());
         EXPECT_EQ(c.client_connection.qps, 50);
         EXPECT_EQ(c.client_connection.burst, 100);
       }},
      {"E18", "parallelism: 5.0\n", [](const Configuration& c) { EXPECT_EQ(c.parallelism, 5); }},
      {"hexadecimal", "parallelism: 0x10\n",
       [](const Configuration& c) { EXPECT_EQ(c.parallelism, 16); }},
      {"digit groups", "parallelism: 1_6\n",
       [](const Configuration& c) { EXPECT_EQ(c.parallelism, 16); }},
      {"exponent", "parallelism: 1e1\n",
       [](const Configuration& c) { EXPECT_EQ(c.parallelism, 10); }},
      {"E20", "leaderElection: {leaderElect: no}\n", [](const Configuration&) {}},
      {"nothing about leaders", "leaderElection:\n", [](const Configuration&) {}},
      {"E29", "profiles: [{schedulerName: 2020-01-01}]\n",
       [](const Configuration& c) { EXPECT_EQ(c.profiles[0].name(), "2020-01-01"); }},
      {"quoted number is a name", "profiles: [{schedulerName: '12'}]\n",
       [](const Configuration& c) { EXPECT_EQ(c.profiles[0].name(), "12"); }},
      {"two profiles",
       "profiles:\n- schedulerName: a\n  percentageOfNodesToScore: 0\n- schedulerName: b\n",
       [](const Configuration& c) {
         ASSERT_EQ(c.profiles.size(), 2u);
         EXPECT_EQ(c.profiles[0].name(), "a");
         EXPECT_EQ(c.profiles[0].percentage_of_nodes_to_score, 0);
         EXPECT_EQ(c.profiles[1].name(), "b");
         EXPECT_FALSE(c.profiles[1].percentage_of_nodes_to_score.has_value());
         EXPECT_FALSE(c.profiles[1].plugins.multi_point.enabled.empty());
       }},
      {"an empty profile and no profile", "profiles: [null]\nextenders: null\n",
       [](const Configuration& c) {
         ASSERT_EQ(c.profiles.size(), 1u);
         EXPECT_EQ(c.profiles[0].name(), "default-scheduler");
       }},
      {"empty list of profiles", "profiles: []\n",
       [](const Configuration& c) { EXPECT_EQ(c.profiles.size(), 1u); }},
      {"client connection",
       "clientConnection:\n  kubeconfig: /etc/k.conf\n  qps: 5000\n  burst: 6000\n  contentType: "
       "application/json\n  acceptContentTypes: application/json\n",
       [](const Configuration& c) {
         EXPECT_EQ(c.client_connection.kubeconfig, "/etc/k.conf");
         EXPECT_EQ(c.client_connection.qps, 5000);
         EXPECT_EQ(c.client_connection.burst, 6000);
         EXPECT_EQ(c.client_connection.content_type, "application/json");
         EXPECT_EQ(c.client_connection.accept_content_types, "application/json");
       }},
      {"zero and empty mean the default", "clientConnection: {qps: 0, burst: 0, contentType: ''}\n",
       [](const Configuration& c) {
         EXPECT_EQ(c.client_connection.qps, 50);
         EXPECT_EQ(c.client_connection.burst, 100);
         EXPECT_EQ(c.client_connection.content_type, "application/vnd.kubernetes.protobuf");
       }},
      {"no limit", "clientConnection: {qps: -1.5}\n",
       [](const Configuration& c) { EXPECT_EQ(c.client_connection.qps, -1.5); }},
      {"back-off", "podInitialBackoffSeconds: 3\npodMaxBackoffSeconds: 3\n",
       [](const Configuration& c) {
         EXPECT_EQ(c.pod_initial_backoff_seconds, 3);
         EXPECT_EQ(c.pod_max_backoff_seconds, 3);
       }},
      {"anchors", "profiles: [{schedulerName: &n x}]\nclientConnection: {kubeconfig: *n}\n",
       [](const Configuration& c) { EXPECT_EQ(c.client_connection.kubeconfig, "x"); }},
  };
  for (const GoodCase& test : cases) {
    SCOPED_TRACE(test.name);
    const Result<Configuration> loaded = Parse(test.body);
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    test.check(*loaded);
  }
}

struct BadCase {
  std::string name;
  std::string body;
  std::string want;
};

TEST(LoadConfiguration, RefusesTypes) {
  const BadCase cases[] = {
      {"E16", "parallelism: \"5\"\n",
       "ks.yaml:3:14: parallelism: must be an integer, not the string \"5\""},
      {"E17", "parallelism: 5.5\n",
       "ks.yaml:3:14: parallelism: must be an integer, not the number 5.5"},
      {"E19 all of them", "percentageOfNodesToScore: x\nparallelism: y\nfoo: z\n",
       "ks.yaml:3:27: percentageOfNodesToScore: must be an integer, not the string \"x\"\n"
       "ks.yaml:4:14: parallelism: must be an integer, not the boolean y (unquoted, it is a "
       "boolean in YAML 1.1)\n"
       "ks.yaml:5:1: unknown field \"foo\""},
      {"E21", "leaderElection: {leaderElect: \"no\"}\n",
       "ks.yaml:3:31: leaderElection.leaderElect: must be true or false, not the string \"no\""},
      {"E28", "profiles: [{schedulerName: 123}]\n",
       "ks.yaml:3:28: profiles[0].schedulerName: must be a string (put it into quotes), not the "
       "number 123"},
      {"32 bits", "parallelism: 2147483648\n",
       "ks.yaml:3:14: parallelism: must be an integer of 32 bits, not the number 2147483648"},
      {"64 bits", "podMaxBackoffSeconds: 9223372036854775808\n",
       "ks.yaml:3:23: podMaxBackoffSeconds: must be an integer, not the number "
       "9223372036854775808"},
      {"32-bit float", "clientConnection: {qps: 1e39}\n",
       "ks.yaml:3:25: clientConnection.qps: must be a number of 32-bit float range, not the number "
       "1e39"},
      {"infinity", "clientConnection: {qps: .inf}\n",
       "ks.yaml:3:25: clientConnection.qps: must be a number of 32-bit float range, not the number "
       ".inf"},
      {"a list for a mapping", "clientConnection: [1]\n",
       "ks.yaml:3:19: clientConnection: must be a mapping, not a list"},
      {"a mapping for a list", "profiles: {a: 1}\n",
       "ks.yaml:3:11: profiles: must be a list, not a mapping"},
      {"a mapping for a number", "parallelism: {a: 1}\n",
       "ks.yaml:3:14: parallelism: must be an integer, not a mapping"},
      {"profile is a text", "profiles: [x]\n",
       "ks.yaml:3:12: profiles[0]: must be a mapping, not the string \"x\""},
      {"tag", "parallelism: !!int \"5\"\n",
       "ks.yaml:3:14: parallelism: the tag tag:yaml.org,2002:int is not supported; write the plain "
       "value"},
  };
  for (const BadCase& test : cases) {
    SCOPED_TRACE(test.name);
    const Result<Configuration> loaded = Parse(test.body);
    ASSERT_FALSE(loaded.ok());
    EXPECT_EQ(loaded.error().message, test.want);
  }
}

TEST(LoadConfiguration, RefusesNames) {
  const BadCase cases[] = {
      {"E12", "foo: bar\n", "ks.yaml:3:1: unknown field \"foo\""},
      {"E14", "Parallelism: 5\n",
       "ks.yaml:3:1: unknown field \"Parallelism\"; did you mean \"parallelism\"?"},
      {"E15", "parallelism: 5\nparallelism: 6\n",
       "ks.yaml:4:1: parallelism: key \"parallelism\" already set in line 3"},
      {"E13 shortened", "foo: 1\nleaderElection: {bar: 2}\nprofiles: [{baz: 3}]\n",
       "ks.yaml:3:1: unknown field \"foo\"\n"
       "ks.yaml:4:18: unknown field \"leaderElection.bar\"\n"
       "ks.yaml:5:13: unknown field \"profiles[0].baz\""},
      {"slip in a profile", "profiles:\n- schedulername: x\n",
       "ks.yaml:4:3: unknown field \"profiles[0].schedulername\"; did "
       "you mean \"schedulerName\"?"},
      {"later fields",
       "extenders: []\nenableProfiling: false\nprofiles: [{plugins: {}, pluginConfig: []}]\n",
       "ks.yaml:3:1: extenders: not supported by this version of kubesched yet; remove the field\n"
       "ks.yaml:4:1: enableProfiling: not supported by this version of kubesched yet; remove the "
       "field\n"
       "ks.yaml:5:13: profiles[0].plugins: not supported by this version of kubesched yet; remove "
       "the field\n"
       "ks.yaml:5:26: profiles[0].pluginConfig: not supported by this version of kubesched yet; "
       "remove the field"},
      {"leader election", "leaderElection:\n  leaderElect: true\n  leaseDuration: 15s\n",
       "ks.yaml:4:16: leaderElection.leaderElect: leader election is not supported by this version "
       "of kubesched yet: set it to false and run one instance\n"
       "ks.yaml:5:3: leaderElection.leaseDuration: not supported by this version of kubesched yet; "
       "remove the field"},
      {"merge key", "clientConnection: {<<: {qps: 1}}\n",
       "ks.yaml:3:20: clientConnection.<<: merge keys are not supported by this version of "
       "kubesched yet"},
      {"a list as key", "? [a]\n: 1\n", "ks.yaml:3:3: a key must be a plain text"},
  };
  for (const BadCase& test : cases) {
    SCOPED_TRACE(test.name);
    const Result<Configuration> loaded = Parse(test.body);
    ASSERT_FALSE(loaded.ok());
    EXPECT_EQ(loaded.error().message, test.want);
  }
}

TEST(LoadConfiguration, RefusesValues) {
  const BadCase cases[] = {
      {"E25", "profiles: [{schedulerName: \"\"}]\n",
       "ks.yaml:3:28: profiles[0].schedulerName: Required value"},
      {"E26", "profiles: [{},{}]\n",
       "ks.yaml:3:12: profiles[0].schedulerName: Required value: with several profiles each needs "
       "a name\n"
       "ks.yaml:3:15: profiles[1].schedulerName: Required value: with several profiles each needs "
       "a name"},
      {"E27", "profiles: [{schedulerName: a},{schedulerName: a}]\n",
       "ks.yaml:3:31: profiles[1].schedulerName: Duplicate value: \"a\""},
      {"E30", "podInitialBackoffSeconds: 20\n",
       "ks.yaml:3:27: podMaxBackoffSeconds: Invalid value: 10: must be greater than or equal to "
       "PodInitialBackoffSeconds"},
      {"E57 shortened",
       "parallelism: 0\npercentageOfNodesToScore: 200\nprofiles: [{schedulerName: \"\"}]\n",
       "ks.yaml:3:14: parallelism: Invalid value: 0: should be an integer value greater than zero\n"
       "ks.yaml:4:27: percentageOfNodesToScore: Invalid value: 200: not in valid range [0-100]\n"
       "ks.yaml:5:28: profiles[0].schedulerName: Required value"},
      {"percentage of a profile", "profiles: [{percentageOfNodesToScore: -1}]\n",
       "ks.yaml:3:39: profiles[0].percentageOfNodesToScore: Invalid value: -1: not in valid range "
       "[0-100]"},
      {"back-off zero", "podInitialBackoffSeconds: 0\n",
       "ks.yaml:3:27: podInitialBackoffSeconds: Invalid value: 0: must be greater than 0"},
      {"burst", "clientConnection: {burst: -1}\n",
       "ks.yaml:3:27: clientConnection.burst: Invalid value: -1: must be non-negative"},
  };
  for (const BadCase& test : cases) {
    SCOPED_TRACE(test.name);
    const Result<Configuration> loaded = Parse(test.body);
    ASSERT_FALSE(loaded.ok());
    EXPECT_EQ(loaded.error().message, test.want);
  }
}

TEST(LoadConfiguration, RefusesOtherFiles) {
  const std::string hint =
      "; kubesched reads apiVersion: kubescheduler.config.k8s.io/v1, kind: "
      "KubeSchedulerConfiguration";
  const std::string scheme = " in scheme \"pkg/runtime/scheme.go:111\"";
  const BadCase cases[] = {
      {"E2", "", "ks.yaml: Object 'Kind' is missing in ''"},
      {"E3", "~\n", "ks.yaml: Object 'Kind' is missing in '~\n'"},
      {"E4", "kind: KubeSchedulerConfiguration\n",
       "ks.yaml: Object 'apiVersion' is missing in 'kind: KubeSchedulerConfiguration\n'"},
      {"E5", "apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\n",
       "ks.yaml: no kind \"KubeSchedulerConfiguration\" is registered for version "
       "\"kubescheduler.config.k8s.io/v1beta3\"" +
           scheme + hint},
      {"E6", "apiVersion: v1\nkind: Policy\npredicates: []\n",
       "ks.yaml: no kind \"Policy\" is registered for version \"v1\"" + scheme + hint},
      {"a list", "- a\n",
       "ks.yaml: couldn't get version/kind: the file must hold a mapping of fields"},
      {"kind is a number", "apiVersion: a\nkind: 5\n",
       "ks.yaml:2:7: kind: must be a string (put it into quotes), not the number 5"},
      {"a tab", "a:\n\t- b\n", "ks.yaml:2:"},
      {"E10", "{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration}",
       "ks.yaml: couldn't get version/kind; json parse error: "},
      {"cut JSON", "{\"kind\": ", "ks.yaml: couldn't get version/kind; json parse error: "},
      {"deep nesting", std::string(100000, '['), "ks.yaml:"},
      {"alias to nothing", "a: *x\n", "ks.yaml:1:"},
  };
  for (const BadCase& test : cases) {
    SCOPED_TRACE(test.name);
    const Result<Configuration> loaded = Flat(ParseConfiguration(test.body));
    ASSERT_FALSE(loaded.ok());
    EXPECT_TRUE(loaded.error().message.starts_with(test.want)) << loaded.error().message;
  }
}

TEST(LoadConfiguration, Json) {
  const std::string head =
      "\n{\"apiVersion\": \"kubescheduler.config.k8s.io/v1\", \"kind\": "
      "\"KubeSchedulerConfiguration\"";
  const Result<Configuration> good = Flat(ParseConfiguration(
      head + ",\n\t\"parallelism\": 8, \"profiles\": [{\"schedulerName\": \"a\\u0062\"}]}\n"));
  ASSERT_TRUE(good.ok()) << good.error().message;
  EXPECT_EQ(good->parallelism, 8);
  EXPECT_EQ(good->profiles[0].name(), "ab");

  const Result<Configuration> fraction =
      Flat(ParseConfiguration(head + ", \"parallelism\": 16.0}"));
  ASSERT_FALSE(fraction.ok());
  EXPECT_NE(fraction.error().message.find("parallelism: must be an integer, not the number 16.0"),
            std::string::npos)
      << fraction.error().message;

  const Result<Configuration> twice =
      Flat(ParseConfiguration(head + ", \"parallelism\": 1, \"parallelism\": 2}"));
  ASSERT_FALSE(twice.ok());
  EXPECT_NE(twice.error().message.find("key \"parallelism\" already set in line 2"),
            std::string::npos)
      << twice.error().message;

  // E11: flow style behind a comment is YAML.
  EXPECT_TRUE(Flat(ParseConfiguration("# c\n{apiVersion: kubescheduler.config.k8s.io/v1, kind: "
                                      "KubeSchedulerConfiguration}"))
                  .ok());
}

TEST(LoadConfiguration, Files) {
  EXPECT_EQ(Flat(LoadConfiguration("/nonexistent.yaml")).error().message,
            "open /nonexistent.yaml: no such file or directory");
  EXPECT_EQ(Flat(LoadConfiguration("/etc")).error().message, "read /etc: is a directory");
  const std::string file = testing::TempDir() + "/ks-config.yaml";
  std::ofstream(file) << kHead << "parallelism: 3\n";
  EXPECT_EQ(Flat(LoadConfiguration(file)).value().parallelism, 3);
}

}  // namespace
}  // namespace ks::config
