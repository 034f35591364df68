// SPDX-License-Identifier: Apache-2.0
#pragma once
// KubeSchedulerConfiguration v1 as the program uses it, after defaulting. Not for reading files:
// that is load.h.
//
// Upstream: docs/spec/config.md.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ks::config {

struct PluginRef {
  std::string name;
  std::optional<int32_t> weight;  // absent or 0: 1
};

struct PluginSet {
  std::vector<PluginRef> enabled;
  std::vector<PluginRef> disabled;  // "*" stands for all
};

// Sections of profiles[].plugins.
struct Plugins {
  PluginSet multi_point;
  PluginSet pre_enqueue, queue_sort, pre_filter, filter, post_filter, pre_score, score, reserve,
      permit, pre_bind, bind, post_bind;
  PluginSet placement_generate, placement_score, pod_group_post_filter;
};

struct PluginConfig {
  std::string name;
  std::string args_json;  // JSON text; empty: no arguments
};

struct Profile {
  std::string scheduler_name = "default-scheduler";
  std::optional<int32_t> percentage_of_nodes_to_score;  // a set 0 counts as set
  Plugins plugins;                                      // already merged with the defaults
  std::vector<PluginConfig> plugin_config;
};

struct ClientConnection {
  std::string kubeconfig;
  std::string accept_content_types;
  std::string content_type = "application/vnd.kubernetes.protobuf";
  double qps = 50;
  int32_t burst = 100;
};

struct Configuration {
  std::vector<Profile> profiles;
  ClientConnection client_connection;
  int32_t parallelism = 16;
  int32_t percentage_of_nodes_to_score = 0;
  int64_t pod_initial_backoff_seconds = 1;
  int64_t pod_max_backoff_seconds = 10;
};

// The default multiPoint list with weights (docs/spec/framework.md section 6), restricted to
// plugins that exist in this build; the order is upstream's.
Plugins DefaultPlugins();

// One default profile, everything else at its default.
Configuration DefaultConfiguration();

}  // namespace ks::config
