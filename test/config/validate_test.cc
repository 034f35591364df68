// SPDX-License-Identifier: Apache-2.0
// Expected texts are kube-scheduler's: docs/spec/config.md 3.1 to 3.8 and 6.
#include "config/validate/validate.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "config/read/defaults.h"

namespace ks::config {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr char kNameRule[] =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr char kRemoved[] =
    "was invalid in version \"v1\" (KubeSchedulerConfiguration is version "
    "\"kubescheduler.config.k8s.io/v1\")";

// What is changed before defaults are filled in.
using Change = std::function<void(Configuration& configuration)>;

std::optional<Faults> FaultsOf(const Change& change) {
  Configuration configuration;
  configuration.profiles.resize(1);
  change(configuration);
  SetDefaults(&configuration, {});
  return Validate(configuration, {});
}

Profile Named(std::string name) { return {.scheduler_name = std::move(name)}; }

Profile Sorting(std::string name, std::vector<std::string> enabled) {
  Profile profile = Named(std::move(name));
  for (std::string& plugin : enabled) {
    profile.plugins.queue_sort.enabled.push_back({std::move(plugin)});
  }
  return profile;
}

struct Row {
  const char* name;
  Change change;
  std::string text;  // empty: valid
};

class ValidateTest : public ::testing::TestWithParam<Row> {};

TEST_P(ValidateTest, GivesUpstreamsText) {
  const std::optional<Faults> faults = FaultsOf(GetParam().change);
  EXPECT_EQ(faults ? faults->text : "", GetParam().text);
  EXPECT_EQ(faults.has_value(), !GetParam().text.empty());
}

const std::vector<Row>& ScalarRows() {
  static const std::vector<Row> rows = {
      {"Defaults", [](Configuration&) {}, ""},
      {"Parallelism", [](Configuration& c) { c.parallelism = 0; },
       "parallelism: Invalid value: 0: should be an integer value greater than zero"},
      {"PercentageLow", [](Configuration& c) { c.percentage_of_nodes_to_score = -1; },
       "percentageOfNodesToScore: Invalid value: -1: not in valid range [0-100]"},
      {"PercentageHigh", [](Configuration& c) { c.percentage_of_nodes_to_score = 101; },
       "percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]"},
      {"PercentageFull", [](Configuration& c) { c.percentage_of_nodes_to_score = 100; }, ""},
      {"InitialBackoff", [](Configuration& c) { c.pod_initial_backoff_seconds = 0; },
       "podInitialBackoffSeconds: Invalid value: 0: must be greater than 0"},
      {"MaxBackoff", [](Configuration& c) { c.pod_initial_backoff_seconds = 20; },
       "podMaxBackoffSeconds: Invalid value: 10: must be greater than or equal to "
       "PodInitialBackoffSeconds"},
      {"Burst", [](Configuration& c) { c.client_connection.burst = -1; },
       "clientConnection.burst: Invalid value: -1: must be non-negative"},
      {"NegativeQps", [](Configuration& c) { c.client_connection.qps = -1; }, ""},
      {"LeaseTooShort", [](Configuration& c) { c.leader_election.lease_duration = seconds(5); },
       "leaderElection.leaseDuration: Invalid value: \"10s\": must be greater than "
       "`RenewDeadline`"},
      {"NegativeTimes",
       [](Configuration& c) {
         c.leader_election.lease_duration = -seconds(1);
         c.leader_election.renew_deadline = -milliseconds(1500);
         c.leader_election.retry_period = -seconds(90);
       },
       "[leaderElection.leaseDuration: Invalid value: \"-1s\": must be greater than zero, "
       "leaderElection.renewDeadline: Invalid value: \"-1.5s\": must be greater than zero, "
       "leaderElection.retryPeriod: Invalid value: \"-1m30s\": must be greater than zero]"},
      {"ResourceLock", [](Configuration& c) { c.leader_election.resource_lock = "endpoints"; },
       "leaderElection.resourceLock: Invalid value: \"endpoints\": resourceLock value must be "
       "\"leases\""},
      {"NotElecting",
       [](Configuration& c) {
         c.leader_election = {
             .leader_elect = false, .lease_duration = -seconds(1), .resource_lock = "x"};
       },
       ""},
      {"RetryBeyondDeadline",
       [](Configuration& c) {
         c.leader_election.renew_deadline = seconds(2);
         c.leader_election.retry_period = seconds(5);
       },
       ""},
  };
  return rows;
}

const std::vector<Row>& ProfileRows() {
  static const std::vector<Row> rows = {
      {"EmptyName", [](Configuration& c) { c.profiles = {Named("")}; },
       "profiles[0].schedulerName: Required value"},
      {"TwoWithoutNames", [](Configuration& c) { c.profiles.resize(2); },
       "[profiles[0].schedulerName: Required value, profiles[1].schedulerName: Required value, "
       "profiles[1].schedulerName: Duplicate value: {}]"},
      {"SameName",
       [](Configuration& c) {
         c.profiles = {Named("a"), Named("a")};
       },
       "profiles[1].schedulerName: Duplicate value: {}"},
      {"AnyName", [](Configuration& c) { c.profiles = {Named("a b")}; }, ""},
      {"ProfilePercentage",
       [](Configuration& c) {
         c.profiles = {Named("a"), Named("b"), Named("c")};
         c.profiles[0].percentage_of_nodes_to_score = 101;
         c.profiles[1].percentage_of_nodes_to_score = -1;
         c.profiles[2].percentage_of_nodes_to_score = 0;
       },
       "[profiles[0].percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100], "
       "profiles[1].percentageOfNodesToScore: Invalid value: -1: not in valid range [0-100]]"},
      {"RemovedPlugins",
       [](Configuration& c) {
         c.profiles[0].plugins.score.enabled = {{"EBSLimits"}, {"X"}, {"CinderLimits"}};
         c.profiles[0].plugins.pod_group_post_filter.enabled = {{"AzureDiskLimits"}};
       },
       std::string("[profiles[0].plugins.score.enabled[0]: Invalid value: \"EBSLimits\": ") +
           kRemoved +
           ", profiles[0].plugins.score.enabled[2]: Invalid value: \"CinderLimits\": " + kRemoved +
           ", profiles[0].plugins.podGroupPostFilter.enabled[0]: Invalid value: "
           "\"AzureDiskLimits\": " +
           kRemoved + "]"},
      {"RemovedPluginsElsewhere",
       [](Configuration& c) {
         c.profiles[0].plugins.multi_point.enabled = {{"EBSLimits"}};
         c.profiles[0].plugins.placement_generate.enabled = {{"EBSLimits"}};
         c.profiles[0].plugins.placement_score.enabled = {{"EBSLimits"}};
         c.profiles[0].plugins.filter.disabled = {{"EBSLimits"}};
       },
       ""},
      {"RepeatedEntry",
       [](Configuration& c) {
         c.profiles[0].plugin_config = {
             {"GCEPDLimits", {}},
             {"GCEPDLimits", {}},
             {"DefaultPreemption", DefaultPreemptionArgs{10, -1}},
             {"DefaultPreemption", DefaultPreemptionArgs{10, -2}},
         };
       },
       std::string("[profiles[0].pluginConfig[0]: Invalid value: \"GCEPDLimits\": ") + kRemoved +
           ", profiles[0].pluginConfig[1]: Duplicate value: \"GCEPDLimits\", "
           "profiles[0].pluginConfig[1]: Invalid value: \"GCEPDLimits\": " +
           kRemoved +
           ", profiles[0].pluginConfig[2].args.minCandidateNodesAbsolute: Invalid value: -1: not "
           "in valid range [0, inf), profiles[0].pluginConfig[3]: Duplicate value: "
           "\"DefaultPreemption\", profiles[0].pluginConfig[3].args.minCandidateNodesAbsolute: "
           "Invalid value: -2: not in valid range [0, inf)]"},
      {"FitUnderTheWrongName",
       [](Configuration& c) {
         c.profiles = {Named("a"), Named("b"), Named("c")};
         c.profiles[0].plugin_config = {{"NodeResourcesFitArgs", {}}};
         c.profiles[1].plugin_config = {{"NodeResourcesFitArgs", RawArgs{R"({"a":1,"b":"<"})"}}};
         c.profiles[2].plugin_config = {{"NodeResourcesFitArgs", RawArgs{"5"}}};
       },
       "[profiles[0].pluginConfig[0].args: Invalid value: null: has to match plugin args, "
       "profiles[1].pluginConfig[0].args: Invalid value: {\"a\":1,\"b\":\"\\u003c\"}: has to match "
       "plugin args, profiles[2].pluginConfig[0].args: Invalid value: 5: has to match plugin "
       "args]"},
  };
  return rows;
}

const std::vector<Row>& QueueSortRows() {
  static const std::vector<Row> rows = {
      {"TwoInTheFirst",
       [](Configuration& c) {
         c.profiles = {Sorting("a", {"A", "B"}), Named("x")};
         c.profiles[0].plugins.queue_sort.enabled[1].weight = 2;
       },
       "[profiles[0].plugins.queueSort.Enabled: Invalid value: 2: only one queue sort plugin can "
       "be enabled, profiles[1].plugins.queueSort: Invalid value: "
       "{\"Enabled\":null,\"Disabled\":null}: must be the same for all profiles]"},
      {"StatedOnce",
       [](Configuration& c) {
         c.profiles = {Named("a"), Sorting("b", {"PrioritySort"})};
       },
       "profiles[1].plugins.queueSort: Invalid value: "
       "{\"Enabled\":[{\"Name\":\"PrioritySort\",\"Weight\":0}],\"Disabled\":null}: must be the "
       "same for all profiles"},
      {"DisabledCountsToo",
       [](Configuration& c) {
         c.profiles = {Named("a"), Named("b")};
         c.profiles[0].plugins.queue_sort.disabled = {{"Foo", 3}};
         c.profiles[1].plugins.queue_sort.disabled = {{"Goo"}};
       },
       "profiles[1].plugins.queueSort: Invalid value: "
       "{\"Enabled\":null,\"Disabled\":[{\"Name\":\"Goo\",\"Weight\":0}]}: must be the same for "
       "all profiles"},
      {"DisabledWeightsDoNot",
       [](Configuration& c) {
         c.profiles = {Named("a"), Named("b")};
         c.profiles[0].plugins.queue_sort.disabled = {{"Foo", 3}};
         c.profiles[1].plugins.queue_sort.disabled = {{"Foo"}};
       },
       ""},
      {"OtherArguments",
       [](Configuration& c) {
         c.profiles = {Sorting("a", {"Q"}), Sorting("b", {"Q"})};
         c.profiles[0].plugin_config = {{"Q", RawArgs{R"({"x":1})"}}, {"P", RawArgs{"1"}}};
         c.profiles[1].plugin_config = {{"P", RawArgs{"2"}}, {"Q", RawArgs{R"({"x":2})"}}};
       },
       "profiles[1].pluginConfig.args: Invalid value: {\"x\":2}: queueSort must be the same for "
       "all profiles"},
      {"NoArguments",
       [](Configuration& c) {
         c.profiles = {Sorting("a", {"Q"}), Sorting("b", {"Q"})};
         c.profiles[0].plugin_config = {{"Q", RawArgs{R"({"x":1})"}}};
         c.profiles[1].plugin_config = {{"Q", {}}};
       },
       ""},
      // Trap T18.
      {"EntryWithoutName",
       [](Configuration& c) {
         c.profiles = {Named("a"), Named("b")};
         c.profiles[1].plugin_config = {{"", RawArgs{R"({"x":3})"}}};
       },
       "profiles[1].pluginConfig.args: Invalid value: {\"x\":3}: queueSort must be the same for "
       "all profiles"},
      {"FirstOfRepeatedCounts",
       [](Configuration& c) {
         c.profiles = {Named("a"), Named("b")};
         c.profiles[0].plugin_config = {{"", RawArgs{"1"}}, {"", RawArgs{"3"}}};
         c.profiles[1].plugin_config = {{"", RawArgs{"3"}}};
       },
       "[profiles[0].pluginConfig[1]: Duplicate value: \"\", profiles[1].pluginConfig.args: "
       "Invalid value: 3: queueSort must be the same for all profiles]"},
  };
  return rows;
}

const std::vector<Row>& ExtenderRows() {
  static const std::vector<Row> rows = {
      {"Empty", [](Configuration& c) { c.extenders.resize(1); }, ""},
      {"NoWeight", [](Configuration& c) { c.extenders = {{.prioritize_verb = "p"}}; },
       "extenders[0].weight: Invalid value: 0: must have a positive weight applied to it"},
      {"WeightWithoutVerb", [](Configuration& c) { c.extenders = {{.weight = -1}}; }, ""},
      {"TwoBinders",
       [](Configuration& c) {
         c.extenders = {{.bind_verb = "a"}, {.bind_verb = "b"}};
       },
       "extenders: Invalid value: \"found 2 extenders implementing bind\": only one extender can "
       "implement bind"},
      {"ManagedResources",
       [](Configuration& c) {
         c.extenders = {{.managed_resources = {{"cpu"}, {"example.com/a"}, {"example.com/a"}}}};
       },
       "[extenders[0].managedResources[0].name: Invalid value: \"cpu\": is an invalid extended "
       "resource name, extenders[0].managedResources[2].name: Invalid value: \"example.com/a\": "
       "duplicate extender managed resource name]"},
      {"ManagedResourcesOfOthers",
       [](Configuration& c) {
         c.extenders = {{.managed_resources = {{"requests.example.com/a"},
                                               {"x.kubernetes.io/a"},
                                               {"example.com/"},
                                               {"a b"}}},
                        {.managed_resources = {{"a b"}}}};
       },
       std::string("[extenders[0].managedResources[0].name: Invalid value: "
                   "\"requests.example.com/a\": is an invalid extended resource name, "
                   "extenders[0].managedResources[1].name: Invalid value: \"x.kubernetes.io/a\": "
                   "is an invalid extended resource name, extenders[0].managedResources[2].name: "
                   "Invalid value: \"example.com/\": name part must be non-empty, "
                   "extenders[0].managedResources[2].name: Invalid value: \"example.com/\": ") +
           kNameRule +
           ", extenders[0].managedResources[3].name: Invalid value: \"a b\": " + kNameRule +
           ", extenders[1].managedResources[0].name: Invalid value: \"a b\": " + kNameRule +
           ", extenders[1].managedResources[0].name: Invalid value: \"a b\": duplicate extender "
           "managed resource name]"},
      // Shown as JSON the first time and quoted as Go does the second.
      {"ManagedResourceWithOddCharacters",
       [](Configuration& c) {
         c.extenders = {{.managed_resources = {{"<\x01"}, {"<\x01"}}}};
       },
       std::string("[extenders[0].managedResources[0].name: Invalid value: \"\\u003c\\u0001\": ") +
           kNameRule +
           ", extenders[0].managedResources[1].name: Invalid value: \"\\u003c\\u0001\": " +
           kNameRule +
           ", extenders[0].managedResources[1].name: Invalid value: \"<\\x01\": duplicate extender "
           "managed resource name]"},
      {"ManagedResourceOfLongPrefix",
       [](Configuration& c) {
         c.extenders = {{.managed_resources = {{std::string(244, 'a') + "/x"},
                                               {std::string(245, 'a') + "/x"}}}};
       },
       "extenders[0].managedResources[1].name: Invalid value: \"" + std::string(245, 'a') +
           "/x\": is an invalid extended resource name"},
      // The order of 3.8.
      {"Everything",
       [](Configuration& c) {
         c.client_connection.burst = -1;
         c.leader_election.lease_duration = seconds(5);
         c.leader_election.resource_lock = "x";
         c.parallelism = 0;
         c.percentage_of_nodes_to_score = 200;
         c.pod_initial_backoff_seconds = 0;
         c.pod_max_backoff_seconds = -1;
         c.extenders = {{.prioritize_verb = "x"}};
         c.profiles = {Named("")};
       },
       "[clientConnection.burst: Invalid value: -1: must be non-negative, "
       "leaderElection.leaseDuration: Invalid value: \"10s\": must be greater than "
       "`RenewDeadline`, leaderElection.resourceLock: Invalid value: \"x\": resourceLock value "
       "must be \"leases\", parallelism: Invalid value: 0: should be an integer value greater than "
       "zero, profiles[0].schedulerName: Required value, percentageOfNodesToScore: Invalid value: "
       "200: not in valid range [0-100], podInitialBackoffSeconds: Invalid value: 0: must be "
       "greater than 0, podMaxBackoffSeconds: Invalid value: -1: must be greater than or equal to "
       "PodInitialBackoffSeconds, extenders[0].weight: Invalid value: 0: must have a positive "
       "weight applied to it]"},
  };
  return rows;
}

const auto kRowName = [](const auto& row) { return std::string(row.param.name); };
INSTANTIATE_TEST_SUITE_P(Scalars, ValidateTest, ::testing::ValuesIn(ScalarRows()), kRowName);
INSTANTIATE_TEST_SUITE_P(Profiles, ValidateTest, ::testing::ValuesIn(ProfileRows()), kRowName);
INSTANTIATE_TEST_SUITE_P(QueueSorts, ValidateTest, ::testing::ValuesIn(QueueSortRows()), kRowName);
INSTANTIATE_TEST_SUITE_P(Extenders, ValidateTest, ::testing::ValuesIn(ExtenderRows()), kRowName);

// Flags can make these empty after defaults were filled in (8.3).
TEST(Validate, EmptyElectionNames) {
  Configuration configuration;
  SetDefaults(&configuration, {});
  configuration.leader_election.resource_lock = "";
  configuration.leader_election.resource_name = "";
  configuration.leader_election.resource_namespace = "";
  const std::optional<Faults> faults = Validate(configuration, {});
  ASSERT_TRUE(faults.has_value());
  EXPECT_EQ(faults->text,
            "[leaderElection.resourceLock: Required value, leaderElection.resourceNamespace: "
            "Required value, leaderElection.resourceName: Required value, "
            "leaderElection.resourceLock: Invalid value: \"\": resourceLock value must be "
            "\"leases\"]");
}

// Paths name fields of the file even where upstream's texts do not.
TEST(Validate, PathsOfFindings) {
  const std::optional<Faults> faults = FaultsOf([](Configuration& c) {
    c.profiles = {Sorting("a", {"A", "B"}), Sorting("b", {"A", "B"})};
    c.profiles[0].plugin_config = {{"A", RawArgs{"1"}}};
    c.profiles[1].plugin_config = {{"X", {}}, {"A", RawArgs{"2"}}};
  });
  ASSERT_TRUE(faults.has_value());
  ASSERT_EQ(faults->findings.size(), 2U);
  EXPECT_EQ(faults->findings[0].path, "profiles[0].plugins.queueSort.enabled");
  EXPECT_EQ(faults->findings[1].path, "profiles[1].pluginConfig[1].args");
}

TEST(Validate, HintsOfFindings) {
  const std::optional<Faults> faults = FaultsOf([](Configuration& c) {
    c.profiles = {{}, Sorting("b", {"A"})};
    c.profiles[1].plugin_config = {
        {"PodTopologySpread", PodTopologySpreadArgs{.defaulting_type = "list"}}};
    c.leader_election.lease_duration = seconds(5);
  });
  ASSERT_TRUE(faults.has_value());
  std::vector<std::string> hints;
  for (const Finding& finding : faults->findings) hints.push_back(finding.hint);
  EXPECT_EQ(hints, (std::vector<std::string>{
                       "leaseDuration is 5s, the value in the message is renewDeadline",
                       "with several profiles each needs a name", "did you mean \"List\"?",
                       "state the queueSort of profile 0 in every profile"}));
}

TEST(Aggregate, ListsATextOnce) {
  EXPECT_EQ(Aggregate({}), "");
  EXPECT_EQ(Aggregate({{.message = "a"}, {.message = "a"}}), "a");
  EXPECT_EQ(Aggregate({{.message = "a"}, {.message = "b"}, {.message = "a"}}), "[a, b]");
}

}  // namespace
}  // namespace ks::config
