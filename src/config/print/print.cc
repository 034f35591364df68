// SPDX-License-Identifier: Apache-2.0
#include "config/print/print.h"

#include <nlohmann/json.hpp>
#include <string_view>

#include "base/clock.h"
#include "config/print/print_args.h"
#include "config/print/print_json.h"
#include "config/text/yaml_writer.h"
#include "golang/base64.h"
#include "golang/print_number.h"

namespace ks::config {
namespace {

void AppendTextIfAny(std::string_view key, std::string_view text, JsonBuilder& out) {
  if (!text.empty()) out.Key(key).Text(text);
}

void AppendIfTrue(std::string_view key, bool value, JsonBuilder& out) {
  if (value) out.Key(key).Bool(true);
}

void AppendBytesIfAny(std::string_view key, std::string_view bytes, JsonBuilder& out) {
  if (bytes.empty()) return;
  out.Key(key).Text(golang::EncodeBase64(bytes));
}

void AppendRefs(std::string_view key, const std::vector<PluginRef>& refs, JsonBuilder& out) {
  if (refs.empty()) return;
  out.Key(key).BeginArray();
  for (const PluginRef& ref : refs) {
    out.BeginObject().Key("name").Text(ref.name).Key("weight").Number(ref.weight).EndObject();
  }
  out.EndArray();
}

void AppendPlugins(const Plugins& plugins, JsonBuilder& out) {
  out.Key("plugins").BeginObject();
  for (const PluginSection& section : PluginSections()) {
    const PluginSet& set = plugins.*section.section;
    out.Key(section.field).BeginObject();
    AppendRefs("enabled", set.enabled, out);
    AppendRefs("disabled", set.disabled, out);
    out.EndObject();
  }
  out.EndObject();
}

void AppendProfile(const Profile& profile, JsonBuilder& out) {
  out.BeginObject();
  if (profile.scheduler_name) out.Key("schedulerName").Text(*profile.scheduler_name);
  if (profile.percentage_of_nodes_to_score) {
    out.Key("percentageOfNodesToScore").Number(*profile.percentage_of_nodes_to_score);
  }
  AppendPlugins(profile.plugins, out);
  if (!profile.plugin_config.empty()) {
    out.Key("pluginConfig").BeginArray();
    for (const PluginConfig& entry : profile.plugin_config) {
      out.BeginObject().Key("name").Text(entry.name).Key("args");
      AppendArgs(entry.args, out);
      out.EndObject();
    }
    out.EndArray();
  }
  out.EndObject();
}

void AppendTls(const ExtenderTls& tls, JsonBuilder& out) {
  out.Key("tlsConfig").BeginObject();
  AppendIfTrue("insecure", tls.insecure, out);
  AppendTextIfAny("serverName", tls.server_name, out);
  AppendTextIfAny("certFile", tls.cert_file, out);
  AppendTextIfAny("keyFile", tls.key_file, out);
  AppendTextIfAny("caFile", tls.ca_file, out);
  AppendBytesIfAny("certData", tls.cert_data, out);
  AppendBytesIfAny("keyData", tls.key_data, out);
  AppendBytesIfAny("caData", tls.ca_data, out);
  out.EndObject();
}

void AppendManagedResources(const std::vector<ExtenderManagedResource>& resources,
                            JsonBuilder& out) {
  if (resources.empty()) return;
  out.Key("managedResources").BeginArray();
  for (const ExtenderManagedResource& resource : resources) {
    out.BeginObject().Key("name").Text(resource.name);
    AppendIfTrue("ignoredByScheduler", resource.ignored_by_scheduler, out);
    out.EndObject();
  }
  out.EndArray();
}

void AppendExtender(const Extender& extender, JsonBuilder& out) {
  out.BeginObject().Key("urlPrefix").Text(extender.url_prefix);
  AppendTextIfAny("filterVerb", extender.filter_verb, out);
  AppendTextIfAny("preemptVerb", extender.preempt_verb, out);
  AppendTextIfAny("prioritizeVerb", extender.prioritize_verb, out);
  if (extender.weight != 0) out.Key("weight").Number(extender.weight);
  AppendTextIfAny("bindVerb", extender.bind_verb, out);
  AppendIfTrue("enableHTTPS", extender.enable_https, out);
  if (extender.tls_config) AppendTls(*extender.tls_config, out);
  out.Key("httpTimeout").Text(FormatDuration(extender.http_timeout));
  AppendIfTrue("nodeCacheCapable", extender.node_cache_capable, out);
  AppendManagedResources(extender.managed_resources, out);
  AppendIfTrue("ignorable", extender.ignorable, out);
  out.EndObject();
}

void AppendLeaderElection(const LeaderElection& election, JsonBuilder& out) {
  out.Key("leaderElection").BeginObject();
  out.Key("leaderElect").Bool(election.leader_elect);
  out.Key("leaseDuration").Text(FormatDuration(election.lease_duration));
  out.Key("renewDeadline").Text(FormatDuration(election.renew_deadline));
  out.Key("retryPeriod").Text(FormatDuration(election.retry_period));
  out.Key("resourceLock").Text(election.resource_lock);
  out.Key("resourceName").Text(election.resource_name);
  out.Key("resourceNamespace").Text(election.resource_namespace);
  out.EndObject();
}

void AppendClientConnection(const ClientConnection& client, JsonBuilder& out) {
  out.Key("clientConnection").BeginObject();
  out.Key("kubeconfig").Text(client.kubeconfig);
  out.Key("acceptContentTypes").Text(client.accept_content_types);
  out.Key("contentType").Text(client.content_type);
  out.Key("qps").Json(golang::JsonFloatText(client.qps));
  out.Key("burst").Number(client.burst);
  out.EndObject();
}

void AppendConfiguration(const Configuration& configuration, JsonBuilder& out) {
  out.BeginObject().Key("kind").Text(kKind).Key("apiVersion").Text(kApiVersion);
  out.Key("parallelism").Number(configuration.parallelism);
  AppendLeaderElection(configuration.leader_election, out);
  AppendClientConnection(configuration.client_connection, out);
  out.Key("enableProfiling").Bool(configuration.enable_profiling);
  if (configuration.enable_contention_profiling) {
    out.Key("enableContentionProfiling").Bool(*configuration.enable_contention_profiling);
  }
  out.Key("percentageOfNodesToScore").Number(configuration.percentage_of_nodes_to_score);
  out.Key("podInitialBackoffSeconds").Number(configuration.pod_initial_backoff_seconds);
  out.Key("podMaxBackoffSeconds").Number(configuration.pod_max_backoff_seconds);
  if (!configuration.profiles.empty()) {
    out.Key("profiles").BeginArray();
    for (const Profile& profile : configuration.profiles) AppendProfile(profile, out);
    out.EndArray();
  }
  if (!configuration.extenders.empty()) {
    out.Key("extenders").BeginArray();
    for (const Extender& extender : configuration.extenders) AppendExtender(extender, out);
    out.EndArray();
  }
  AppendIfTrue("delayCacheUntilActive", configuration.delay_cache_until_active, out);
  out.EndObject();
}

}  // namespace

std::string WriteYaml(const Configuration& configuration) {
  JsonBuilder out;
  AppendConfiguration(configuration, out);
  // The text is ours, so only arguments that are no JSON could make it unreadable.
  return WriteYamlDocument(nlohmann::json::parse(out.Take(), nullptr, /*allow_exceptions=*/false));
}

std::string WriteConfigz(const Configuration& configuration) {
  JsonBuilder out;
  out.BeginObject().Key("componentconfig");
  AppendConfiguration(configuration, out);
  out.EndObject();
  return out.Take();
}

std::string PluginSetJson(const PluginSet& set) {
  JsonBuilder out;
  out.BeginObject();
  for (const auto& [key, refs] :
       {std::pair("Enabled", &set.enabled), {"Disabled", &set.disabled}}) {
    out.Key(key);
    if (refs->empty()) {
      out.Null();
      continue;
    }
    out.BeginArray();
    for (const PluginRef& ref : *refs) {
      out.BeginObject().Key("Name").Text(ref.name).Key("Weight").Number(ref.weight).EndObject();
    }
    out.EndArray();
  }
  out.EndObject();
  return out.Take();
}

std::string ExpandedPluginsJson(const Plugins& expanded) {
  JsonBuilder out;
  out.BeginObject();
  for (const PluginSection& section : PluginSections()) {
    out.Key(section.go_name).Json(PluginSetJson(expanded.*section.section));
  }
  out.EndObject();
  return out.Take();
}

}  // namespace ks::config
