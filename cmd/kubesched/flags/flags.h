// SPDX-License-Identifier: Apache-2.0
#pragma once
// The daemon's command line: upstream's 62 flags and some of our own as one struct. What the values
// mean together is judged later: validate_options.h, effective_configuration.h.
//
// Differences from upstream, on purpose: descriptions are our own; --version prints kubesched's own
// version; the section Kubesched; an unknown flag is followed by a line with the likely name or
// with what replaced it.
//
// Upstream: docs/spec/config.md sections 8.1, 8.2 and 8.6.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "config/gates/feature_gates.h"
#include "config/types.h"

namespace ks {

struct ServingOptions {
  std::string bind_address = "0.0.0.0";  // empty, 0.0.0.0 and ::: all addresses
  int64_t secure_port = 10259;           // 0: no server
  std::string cert_dir;
  std::string tls_cert_file;
  std::string tls_private_key_file;
  std::vector<std::string> cipher_suites;
  std::vector<int32_t> curve_preferences;
  std::string tls_min_version;
  std::vector<std::string> sni_cert_keys;  // "cert,key" or "cert,key:name,name"
  int64_t http2_max_streams = 0;
  bool disable_http2 = false;
  bool permit_port_sharing = false;
  bool permit_address_sharing = false;
};

struct AuthenticationOptions {
  std::string kubeconfig;
  bool skip_lookup = false;
  bool tolerate_lookup_failure = true;
  Duration token_cache_ttl = std::chrono::seconds(10);
  std::string client_ca_file;
  std::string request_header_ca_file;
  std::vector<std::string> allowed_names;
  std::vector<std::string> username_headers = {"x-remote-user"};
  std::vector<std::string> group_headers = {"x-remote-group"};
  std::vector<std::string> uid_headers;
  std::vector<std::string> extra_header_prefixes = {"x-remote-extra-"};
};

struct AuthorizationOptions {
  std::string kubeconfig;
  std::vector<std::string> always_allow_paths = {"/healthz", "/readyz", "/livez"};
  Duration authorized_ttl = std::chrono::seconds(10);
  Duration unauthorized_ttl = std::chrono::seconds(10);
};

// Applied only without --config.
struct DeprecatedOptions {
  std::string kubeconfig;
  std::string content_type = "application/vnd.kubernetes.protobuf";
  float qps = 50;
  int32_t burst = 100;
  bool profiling = true;
  bool contention_profiling = true;
};

struct MetricsOptions {
  std::string show_hidden_for_version;
  std::vector<std::string> disabled;
  std::map<std::string, std::string> allow_labels;
  std::string allow_labels_manifest;
};

// One item of --vmodule.
struct ModuleLevel {
  std::string pattern;
  int level = 0;
};

struct LoggingOptions {
  std::string format = "text";
  Duration flush_frequency = std::chrono::seconds(5);
  std::string json_info_buffer_size = "0";  // quantities
  std::string text_info_buffer_size = "0";
  bool json_split_stream = false;
  bool text_split_stream = false;
  int verbosity = 0;
  std::vector<ModuleLevel> modules;
};

struct PluginOptions {
  std::vector<std::string> libraries;  // FILE or FILE=NAME
  bool remember_verdicts = true;
};

// What is told of decisions besides metrics and log.
struct OutputOptions {
  std::string decision_log;              // file; empty: none
  int32_t decision_log_megabytes = 100;  // before it is rotated
  std::string record;                    // folder; empty: nothing is recorded
  std::string tracing_config_file;       // empty: nothing is traced
};

struct Options {
  std::string config_file;
  std::string master;
  std::string write_config_to;
  ServingOptions serving;
  AuthenticationOptions authentication;
  AuthorizationOptions authorization;
  DeprecatedOptions deprecated;
  // Longest stay of a pod among the unschedulable ones; also with --config.
  Duration pod_max_in_unschedulable = std::chrono::minutes(5);
  config::LeaderElection leader_election;
  config::GateFlags gates;
  MetricsOptions metrics;
  LoggingOptions logging;
  PluginOptions plugins;
  bool exit_on_lost_lease = false;
  int32_t decisions_kept = 1000;  // 0: none
  OutputOptions outputs;

  // Name and value of all flags, sorted by name, for the log.
  std::vector<std::pair<std::string, std::string>> values;
  std::vector<std::string> given;  // names on the command line, sorted

  // On the command line, with whatever value.
  bool Given(std::string_view flag) const;
};

struct ParsedFlags {
  bool run = true;  // else: print the texts and leave with exit_code
  int exit_code = 0;
  std::string standard_output;
  std::string standard_error;
  // What --version asks for; printed once the feature gates are found in order.
  enum class Version { kNone, kText, kRaw } version = Version::kNone;
  Options options;
};

// `arguments` without the program's name.
ParsedFlags ParseFlags(const std::vector<std::string>& arguments);

// What --version and --version=raw print, with its newline.
std::string VersionText(ParsedFlags::Version kind);

}  // namespace ks
