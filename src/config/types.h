// SPDX-License-Identifier: Apache-2.0
#pragma once
// KubeSchedulerConfiguration v1 as the program uses it. Not for reading files: that is load.h; not
// for completing a partial one: defaults.h.
//
// Upstream: docs/spec/config.md sections 3, 5 and 6.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "config/plugin_args.h"

namespace ks::config {

inline constexpr std::string_view kGroup = "kubescheduler.config.k8s.io";
inline constexpr std::string_view kApiVersion = "kubescheduler.config.k8s.io/v1";
inline constexpr std::string_view kKind = "KubeSchedulerConfiguration";

struct PluginRef {
  std::string name;
  int32_t weight = 0;  // 0: not stated; counts as 1 where the plugin scores
  bool operator==(const PluginRef&) const = default;
};

struct PluginSet {
  std::vector<PluginRef> enabled;
  std::vector<PluginRef> disabled;  // "*" stands for all; weights are dropped
  bool operator==(const PluginSet&) const = default;
};

// Sections of profiles[].plugins.
struct Plugins {
  PluginSet multi_point;
  PluginSet pre_enqueue, queue_sort, pre_filter, filter, post_filter, pre_score, score, reserve,
      permit, pre_bind, bind, post_bind;
  PluginSet placement_generate, placement_score, pod_group_post_filter;
  bool operator==(const Plugins&) const = default;
};

struct PluginSection {
  std::string_view field;       // "preEnqueue"
  std::string_view go_name;     // "PreEnqueue"
  PluginSet Plugins::*section;  // the member
};

// All sixteen sections, in upstream's declaration order.
std::span<const PluginSection> PluginSections();

struct PluginConfig {
  std::string name;
  PluginArgs args;
  bool operator==(const PluginConfig&) const = default;
};

struct Profile {
  std::optional<std::string> scheduler_name;            // never absent once validated
  std::optional<int32_t> percentage_of_nodes_to_score;  // a set 0 counts as set
  Plugins plugins;  // once defaulted: merged with the default set, not expanded to the points
  std::vector<PluginConfig> plugin_config;
  bool operator==(const Profile&) const = default;

  const std::string& name() const {
    static const std::string none;
    return scheduler_name ? *scheduler_name : none;
  }
};

struct LeaderElection {
  bool leader_elect = true;
  Duration lease_duration = std::chrono::seconds(15);
  Duration renew_deadline = std::chrono::seconds(10);
  Duration retry_period = std::chrono::seconds(2);
  std::string resource_lock = "leases";
  std::string resource_name = "kube-scheduler";
  std::string resource_namespace = "kube-system";
  bool operator==(const LeaderElection&) const = default;
};

inline constexpr std::string_view kProtobufType = "application/vnd.kubernetes.protobuf";
inline constexpr std::string_view kJsonType = "application/json";

struct ClientConnection {
  std::string kubeconfig;            // empty: in-cluster
  std::string accept_content_types;  // empty: content_type
  std::string content_type{kProtobufType};
  float qps = 50;  // requests per second; negative: no limit
  int32_t burst = 100;
  bool operator==(const ClientConnection&) const = default;
};

// Whether lists and watches may come as protobuf; else they come as JSON.
bool AcceptsProtobuf(const ClientConnection& connection);

struct ExtenderTls {
  bool insecure = false;
  std::string server_name;
  std::string cert_file, key_file, ca_file;
  std::string cert_data, key_data, ca_data;  // decoded bytes; win over the files
  bool operator==(const ExtenderTls&) const = default;
};

struct ExtenderManagedResource {
  std::string name;
  bool ignored_by_scheduler = false;
  bool operator==(const ExtenderManagedResource&) const = default;
};

struct Extender {
  std::string url_prefix;
  // The same without user and password, for logs: "http://name:secret@host/x" as "http://host/x".
  std::string ShownUrl() const;
  std::string filter_verb, preempt_verb, prioritize_verb, bind_verb;  // empty: not offered
  int64_t weight = 0;
  bool enable_https = false;
  std::optional<ExtenderTls> tls_config;
  Duration http_timeout = std::chrono::seconds(5);
  bool node_cache_capable = false;
  std::vector<ExtenderManagedResource> managed_resources;
  bool ignorable = false;
  bool operator==(const Extender&) const = default;
};

struct Configuration {
  int32_t parallelism = 16;
  LeaderElection leader_election;
  ClientConnection client_connection;
  bool enable_profiling = true;
  std::optional<bool> enable_contention_profiling;  // never absent once defaulted
  int32_t percentage_of_nodes_to_score = 0;         // 0: adaptive
  int64_t pod_initial_backoff_seconds = 1;
  int64_t pod_max_backoff_seconds = 10;
  std::vector<Profile> profiles;
  std::vector<Extender> extenders;
  bool delay_cache_until_active = false;
  bool operator==(const Configuration&) const = default;
};

}  // namespace ks::config
