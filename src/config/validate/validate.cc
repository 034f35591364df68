// SPDX-License-Identifier: Apache-2.0
#include "config/validate/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "api/selector.h"
#include "base/clock.h"
#include "config/args_type.h"
#include "config/print/print.h"
#include "config/print/print_args.h"
#include "config/print/print_json.h"
#include "config/validate/validate_report.h"

namespace ks::config {
namespace {

constexpr std::string_view kNotAPercentage = "not in valid range [0-100]";
constexpr std::array<std::string_view, 4> kRemovedPlugins = {"AzureDiskLimits", "CinderLimits",
                                                             "EBSLimits", "GCEPDLimits"};
constexpr std::string_view kRemovedDetail =
    "was invalid in version \"v1\" (KubeSchedulerConfiguration is version "
    "\"kubescheduler.config.k8s.io/v1\")";
constexpr std::string_view kRemovedHint =
    "this plugin is gone, NodeVolumeLimits does its work: remove the entry";

bool IsRemoved(std::string_view plugin) {
  return std::find(kRemovedPlugins.begin(), kRemovedPlugins.end(), plugin) != kRemovedPlugins.end();
}

bool IsPercentage(int32_t value) { return value >= 0 && value <= 100; }

void ValidateLeaderElection(const LeaderElection& election, Report& report) {
  if (!election.leader_elect) return;
  const std::string path = "leaderElection";
  const std::pair<const char*, Duration> times[] = {
      {".leaseDuration", election.lease_duration},
      {".renewDeadline", election.renew_deadline},
      {".retryPeriod", election.retry_period},
  };
  for (const auto& [field, time] : times) {
    if (time > Duration::zero()) continue;
    report.InvalidText(path + field, FormatDuration(time), "must be greater than zero");
  }
  if (election.lease_duration <= election.renew_deadline) {
    // The value shown is the renew deadline (trap T4).
    report.InvalidText(path + ".leaseDuration", FormatDuration(election.renew_deadline),
                       "must be greater than `RenewDeadline`");
    report.Hint("leaseDuration is " + FormatDuration(election.lease_duration) +
                ", the value in the message is renewDeadline");
  }
  if (election.resource_lock.empty()) report.Required(path + ".resourceLock");
  if (election.resource_namespace.empty()) report.Required(path + ".resourceNamespace");
  if (election.resource_name.empty()) report.Required(path + ".resourceName");
  if (election.resource_lock != "leases") {
    report.InvalidText(path + ".resourceLock", election.resource_lock,
                       "resourceLock value must be \"leases\"");
  }
}

// Upstream's order among points is random; ours is that of the declaration.
void ValidatePluginNames(const Plugins& plugins, const std::string& path, Report& report) {
  for (const PluginSection& section : PluginSections()) {
    if (section.section == &Plugins::multi_point ||
        section.section == &Plugins::placement_generate ||
        section.section == &Plugins::placement_score) {
      continue;
    }
    const std::vector<PluginRef>& enabled = (plugins.*section.section).enabled;
    for (size_t i = 0; i < enabled.size(); ++i) {
      if (!IsRemoved(enabled[i].name)) continue;
      report.InvalidText(Indexed(fmt::format("{}.{}.enabled", path, section.field), i),
                         enabled[i].name, kRemovedDetail);
      report.Hint(std::string(kRemovedHint));
    }
  }
}

void ValidatePluginConfig(const std::vector<PluginConfig>& entries, const std::string& path,
                          const FeatureGates& gates, Report& report) {
  std::set<std::string_view> seen;
  for (size_t i = 0; i < entries.size(); ++i) {
    const PluginConfig& entry = entries[i];
    const std::string at = Indexed(path, i);
    if (!seen.insert(entry.name).second) report.DuplicateText(at, entry.name);
    if (IsRemoved(entry.name)) {
      report.InvalidText(at, entry.name, kRemovedDetail);
      report.Hint(std::string(kRemovedHint));
    } else if (entry.name == "NodeResourcesFitArgs") {
      report.Invalid(at + ".args", GoArgsJson(entry.args), "has to match plugin args");
      report.Hint("the plugin is called NodeResourcesFit");
    } else if (const ArgsType* type = ArgsTypeOf(entry.args);
               type != nullptr && !type->checked_by_factory) {
      type->check(entry.args, at + ".args", gates, report);
    }
  }
}

void ValidateProfiles(const std::vector<Profile>& profiles, const FeatureGates& gates,
                      Report& report) {
  std::set<std::string_view> names;
  for (size_t i = 0; i < profiles.size(); ++i) {
    const Profile& profile = profiles[i];
    const std::string path = Indexed("profiles", i);
    if (profile.name().empty()) {
      report.Required(path + ".schedulerName");
      if (!profile.scheduler_name) report.Hint("with several profiles each needs a name");
    }
    if (profile.percentage_of_nodes_to_score &&
        !IsPercentage(*profile.percentage_of_nodes_to_score)) {
      report.InvalidNumber(path + ".percentageOfNodesToScore",
                           *profile.percentage_of_nodes_to_score, kNotAPercentage);
    }
    ValidatePluginNames(profile.plugins, path + ".plugins", report);
    ValidatePluginConfig(profile.plugin_config, path + ".pluginConfig", gates, report);
    if (names.insert(profile.name()).second) continue;
    report.Duplicate(path + ".schedulerName", "{}");
    if (!profile.name().empty()) {
      report.Hint(fmt::format("another profile is called \"{}\" already", profile.name()));
    }
  }
}

const PluginArgs* FindArgs(const Profile& profile, std::string_view plugin) {
  for (const PluginConfig& entry : profile.plugin_config) {
    if (entry.name == plugin) return &entry.args;
  }
  return nullptr;
}

// 3.6.
void ValidateCommonQueueSort(const std::vector<Profile>& profiles, Report& report) {
  if (profiles.empty()) return;
  const PluginSet& first = profiles[0].plugins.queue_sort;
  if (first.enabled.size() > 1) {
    report.InvalidNumber("profiles[0].plugins.queueSort.Enabled",
                         static_cast<int64_t>(first.enabled.size()),
                         "only one queue sort plugin can be enabled");
    report.At("profiles[0].plugins.queueSort.enabled");
  }
  const std::string plugin = first.enabled.empty() ? "" : first.enabled[0].name;
  const PluginArgs* args = FindArgs(profiles[0], plugin);
  for (size_t i = 1; i < profiles.size(); ++i) {
    const std::string path = Indexed("profiles", i);
    if (profiles[i].plugins.queue_sort != first) {
      report.Invalid(path + ".plugins.queueSort", PluginSetJson(profiles[i].plugins.queue_sort),
                     "must be the same for all profiles");
      report.Hint("state the queueSort of profile 0 in every profile");
    }
    const std::vector<PluginConfig>& entries = profiles[i].plugin_config;
    for (size_t j = 0; j < entries.size(); ++j) {
      if (entries[j].name != plugin || std::holds_alternative<std::monostate>(entries[j].args) ||
          (args != nullptr && *args == entries[j].args)) {
        continue;
      }
      report.Invalid(path + ".pluginConfig.args", GoArgsJson(entries[j].args),
                     "queueSort must be the same for all profiles");
      report.At(Indexed(path + ".pluginConfig", j) + ".args");
    }
  }
}

bool IsExtendedResourceName(const std::string& name) {
  return name.find('/') != std::string::npos && name.find("kubernetes.io/") == std::string::npos &&
         !name.starts_with("requests.") && api::LabelKeyProblems("requests." + name).empty();
}

void ValidateExtenders(const std::vector<Extender>& extenders, Report& report) {
  std::set<std::string_view> resources;
  size_t binders = 0;
  for (size_t i = 0; i < extenders.size(); ++i) {
    const Extender& extender = extenders[i];
    const std::string path = Indexed("extenders", i);
    if (!extender.prioritize_verb.empty() && extender.weight <= 0) {
      report.InvalidNumber(path + ".weight", extender.weight,
                           "must have a positive weight applied to it");
    }
    if (!extender.bind_verb.empty()) ++binders;
    for (size_t j = 0; j < extender.managed_resources.size(); ++j) {
      const std::string& name = extender.managed_resources[j].name;
      const std::string at = Indexed(path + ".managedResources", j) + ".name";
      // Resource names have a type of their own upstream, so they are shown as JSON here.
      const std::vector<std::string> problems = api::LabelKeyProblems(name);
      for (const std::string& problem : problems) report.Invalid(at, JsonString(name), problem);
      if (problems.empty() && !IsExtendedResourceName(name)) {
        report.InvalidText(at, name, "is an invalid extended resource name");
      }
      if (!resources.insert(name).second) {
        report.InvalidText(at, name, "duplicate extender managed resource name");
      }
    }
  }
  if (binders > 1) {
    report.InvalidText("extenders", fmt::format("found {} extenders implementing bind", binders),
                       "only one extender can implement bind");
  }
}

}  // namespace

std::string Aggregate(const std::vector<Finding>& findings) {
  std::vector<std::string> texts;
  texts.reserve(findings.size());
  for (const Finding& finding : findings) texts.push_back(finding.message);
  return api::JoinProblems(texts);
}

std::vector<Finding> ValidateNodeResourcesFitArgs(const NodeResourcesFitArgs& args) {
  Report report;
  ArgsTypeOf(args)->check(args, "", FeatureGates(), report);
  return report.Take();
}

std::optional<Faults> Validate(const Configuration& configuration, const FeatureGates& gates) {
  Report report;
  if (configuration.client_connection.burst < 0) {
    report.InvalidNumber("clientConnection.burst", configuration.client_connection.burst,
                         "must be non-negative");
  }
  ValidateLeaderElection(configuration.leader_election, report);
  if (configuration.parallelism <= 0) {
    report.InvalidNumber("parallelism", configuration.parallelism,
                         "should be an integer value greater than zero");
  }
  ValidateProfiles(configuration.profiles, gates, report);
  ValidateCommonQueueSort(configuration.profiles, report);
  if (!IsPercentage(configuration.percentage_of_nodes_to_score)) {
    report.InvalidNumber("percentageOfNodesToScore", configuration.percentage_of_nodes_to_score,
                         kNotAPercentage);
  }
  if (configuration.pod_initial_backoff_seconds <= 0) {
    report.InvalidNumber("podInitialBackoffSeconds", configuration.pod_initial_backoff_seconds,
                         "must be greater than 0");
  }
  if (configuration.pod_max_backoff_seconds < configuration.pod_initial_backoff_seconds) {
    report.InvalidNumber("podMaxBackoffSeconds", configuration.pod_max_backoff_seconds,
                         "must be greater than or equal to PodInitialBackoffSeconds");
  }
  ValidateExtenders(configuration.extenders, report);
  std::vector<Finding> findings = report.Take();
  if (findings.empty()) return std::nullopt;
  std::string text = Aggregate(findings);
  return Faults{std::move(text), std::move(findings)};
}

}  // namespace ks::config
