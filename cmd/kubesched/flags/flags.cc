// SPDX-License-Identifier: Apache-2.0
#include "kubesched/flags/flags.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <optional>

#include "api/quantity.h"
#include "base/text.h"
#include "config/text/nearest_name.h"
#include "daemon/reference_version.h"
#include "kubesched/flags/flag_set.h"
#include "kubesched/flags/go_values.h"

namespace ks {
namespace {

using flags::Flag;
using flags::FlagSet;
using flags::Quote;

const std::string& UpstreamVersion() {
  static const std::string version = std::string("v") + daemon::kReferenceVersion;
  return version;
}

// Flags of older releases, and what took their place.
struct RemovedFlag {
  std::string_view name;
  std::string_view instead;
};
constexpr std::string_view kPolicyCure =
    "scheduling policies were removed: "
    "\"kubeschedctl convert FILE\" turns a policy into a --config file";
constexpr std::string_view kKlogCure = "log files were removed: logs go to standard error";
constexpr RemovedFlag kRemovedFlags[] = {
    {"address", "use --bind-address"},
    {"algorithm-provider", "use profiles in the --config file"},
    {"alsologtostderr", kKlogCure},
    {"failure-domains", "use the topology keys of the pods' constraints"},
    {"hard-pod-affinity-symmetric-weight",
     "use hardPodAffinityWeight of the InterPodAffinity plugin in the --config file"},
    {"lock-object-name", "use --leader-elect-resource-name"},
    {"lock-object-namespace", "use --leader-elect-resource-namespace"},
    {"log-backtrace-at", kKlogCure},
    {"log-dir", kKlogCure},
    {"log-file", kKlogCure},
    {"log-file-max-size", kKlogCure},
    {"logtostderr", kKlogCure},
    {"one-output", kKlogCure},
    {"policy-config-file", kPolicyCure},
    {"policy-configmap", kPolicyCure},
    {"policy-configmap-namespace", kPolicyCure},
    {"port", "use --secure-port: there is no plain HTTP server any more"},
    {"scheduler-name", "use schedulerName of a profile in the --config file"},
    {"skip-headers", kKlogCure},
    {"skip-log-headers", kKlogCure},
    {"stderrthreshold", kKlogCure},
    {"use-legacy-policy-config", kPolicyCure},
};

bool IsAddress(const std::string& text) {
  in6_addr unused{};
  return inet_pton(AF_INET, text.c_str(), &unused) == 1 ||
         inet_pton(AF_INET6, text.c_str(), &unused) == 1;
}

std::string Join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) text += (i == 0 ? "" : separator.data()) + parts[i];
  return text;
}

Result<void> AppendSniPair(std::vector<std::string>* pairs, const std::string& text) {
  const size_t colon = text.find(':');
  if (colon != std::string::npos && colon + 1 == text.size()) {
    return Error{"empty names list is not allowed"};
  }
  const std::string files = text.substr(0, colon);
  if (std::count(files.begin(), files.end(), ',') != 1) {
    return Error{"expected comma separated certificate and key file paths"};
  }
  pairs->push_back(text);
  return {};
}

Result<std::vector<ModuleLevel>> ParseModules(const std::string& text) {
  std::vector<ModuleLevel> modules;
  size_t start = 0;
  while (start <= text.size()) {
    const size_t end = std::min(text.find(',', start), text.size());
    const std::string item = text.substr(start, end - start);
    start = end + 1;
    if (item.empty()) continue;
    const size_t equals = item.find('=');
    if (equals == std::string::npos || equals == 0 ||
        item.find('=', equals + 1) != std::string::npos) {
      return Error{Quote(item) + " does not have the pattern=N format"};
    }
    auto level = flags::ParseUint(item.substr(equals + 1), 10, 31);
    if (!level.ok()) {
      return Error{"parsing verbosity in " + Quote(item) + ": " + level.error().message};
    }
    modules.push_back(
        {.pattern = item.substr(0, equals), .level = static_cast<int>(level.value())});
  }
  return modules;
}

std::string ModulesText(const std::vector<ModuleLevel>& modules) {
  std::vector<std::string> parts;
  for (const ModuleLevel& module : modules) {
    parts.push_back(module.pattern + "=" + std::to_string(module.level));
  }
  return Join(parts, ",");
}

// "component:name=value,…".
std::string GatesText(const std::vector<std::string>& values) {
  std::vector<std::string> parts;
  const std::string all = Join(values, ",");
  for (const std::string_view item : SplitTrimmed(all, ',')) {
    if (item.empty()) continue;
    const size_t colon = item.find(':');
    const bool named = colon != std::string_view::npos;
    std::string part(Trimmed(named ? item.substr(0, colon) : ""));
    parts.push_back(part.append(":").append(Trimmed(named ? item.substr(colon + 1) : item)));
  }
  return Join(parts, ",");
}

// Declares the flags, section by section, on `options`.
class Declaration {
 public:
  Declaration(FlagSet& set, Options& options, ParsedFlags::Version* version, bool* help)
      : set_(set), options_(options), version_(version), help_(help) {
    Misc();
    Serving();
    Authentication();
    Authorization();
    Deprecated();
    LeaderElection();
    FeatureGates();
    Metrics();
    Logs();
    OwnFlags();
    Global();
  }

 private:
  void Misc();
  void Serving();
  void ServingTls();
  void Authentication();
  void RequestHeaders();
  void Authorization();
  void Deprecated();
  void LeaderElection();
  void FeatureGates();
  void Metrics();
  void Logs();
  void OwnFlags();
  void Global();
  void Quantity(std::string name, std::string* value, std::string usage);
  Result<void> SetVersion(const std::string& text);

  FlagSet& set_;
  Options& options_;
  ParsedFlags::Version* version_;
  std::string version_text_ = "false";
  bool* help_;
};

void Declaration::Misc() {
  set_.Section("Misc");
  set_.String("config", &options_.config_file, "KubeSchedulerConfiguration v1 file, YAML or JSON.");
  set_.String("master", &options_.master,
              "URL of the API server, instead of the one in the kubeconfig.");
  set_.String("write-config-to", &options_.write_config_to,
              "Check everything, write the effective configuration to this file and exit.");
}

void Declaration::Serving() {
  ServingOptions& serving = options_.serving;
  set_.Section("Secure serving");
  set_.Add({.name = "bind-address",
            .usage = "IP address of the HTTPS server. Empty, 0.0.0.0 or ::: all addresses.",
            .type = "ip",
            .default_text = serving.bind_address,
            .set = [&serving](const std::string& text) -> Result<void> {
              const std::string trimmed(Trimmed(text));
              if (!trimmed.empty() && !IsAddress(trimmed)) {
                return Error{"failed to parse IP: " + Quote(text)};
              }
              serving.bind_address = trimmed;
              return {};
            },
            .text = [&serving] { return serving.bind_address; }});
  set_.Int("secure-port", &serving.secure_port, "Port of the HTTPS server; 0: no server.");
  set_.String("cert-dir", &serving.cert_dir,
              "Folder of the generated serving pair kube-scheduler.crt and kube-scheduler.key, "
              "which is reused by later starts. Empty: kept in memory. Ignored with "
              "--tls-cert-file.");
  set_.Bool("disable-http2-serving", &serving.disable_http2,
            "No effect: the server speaks HTTP/1.1 only.");
  set_.Int("http2-max-streams-per-connection", &serving.http2_max_streams,
           "No effect: the server speaks HTTP/1.1 only.");
  set_.Bool("permit-address-sharing", &serving.permit_address_sharing,
            "Bind with SO_REUSEADDR. The server always does.");
  set_.Bool("permit-port-sharing", &serving.permit_port_sharing,
            "Bind with SO_REUSEPORT, so that several processes can share address and port.");
  ServingTls();
}

void Declaration::ServingTls() {
  ServingOptions& serving = options_.serving;
  set_.String("tls-cert-file", &serving.tls_cert_file,
              "Serving certificate, followed by its CA if there is one. Without it a self-signed "
              "pair is made.");
  set_.String("tls-private-key-file", &serving.tls_private_key_file, "Key of --tls-cert-file.");
  set_.Strings("tls-cipher-suites", &serving.cipher_suites,
               "Cipher suites for TLS 1.2 and older, by their IANA names.");
  set_.Int32s("tls-curve-preferences", &serving.curve_preferences,
              "Key exchange groups by their TLS numbers, e.g. 23 (P-256), 24, 25, 29 (X25519).");
  set_.String("tls-min-version", &serving.tls_min_version,
              "Oldest TLS version: VersionTLS10, VersionTLS11, VersionTLS12 (the default) or "
              "VersionTLS13.");
  std::vector<std::string>& pairs = serving.sni_cert_keys;
  set_.Add({.name = "tls-sni-cert-key",
            .usage = "Further serving pair as certificate,key[:name,…], for clients that ask for "
                     "one of its names. Repeatable.",
            .type = "namedCertKey",
            .default_text = "[]",
            .set = [&pairs](const std::string& text) { return AppendSniPair(&pairs, text); },
            .text = [&pairs] { return "[" + Join(pairs, ";") + "]"; }});
}

void Declaration::Authentication() {
  AuthenticationOptions& authentication = options_.authentication;
  set_.Section("Authentication");
  set_.String("authentication-kubeconfig", &authentication.kubeconfig,
              "kubeconfig of the API server that is asked about callers' tokens. Empty: callers "
              "are anonymous.");
  set_.Bool("authentication-skip-lookup", &authentication.skip_lookup,
            "Do not read missing client CAs from the cluster.");
  set_.Time("authentication-token-webhook-cache-ttl", &authentication.token_cache_ttl,
            "How long the answer about a token is kept.");
  set_.Bool("authentication-tolerate-lookup-failure", &authentication.tolerate_lookup_failure,
            "Go on when the client CAs cannot be read from the cluster.");
  set_.String("client-ca-file", &authentication.client_ca_file,
              "CAs whose client certificates name their callers.");
  RequestHeaders();
}

void Declaration::RequestHeaders() {
  AuthenticationOptions& authentication = options_.authentication;
  set_.Strings("requestheader-allowed-names", &authentication.allowed_names,
               "Common names of front proxies that may name the caller; empty: any whose "
               "certificate --requestheader-client-ca-file signed.");
  set_.String("requestheader-client-ca-file", &authentication.request_header_ca_file,
              "CAs of front proxies that name the caller in headers.");
  set_.Strings("requestheader-extra-headers-prefix", &authentication.extra_header_prefixes,
               "Prefixes of headers with further attributes of the caller.");
  set_.Strings("requestheader-group-headers", &authentication.group_headers,
               "Headers with the caller's groups.");
  set_.Strings("requestheader-uid-headers", &authentication.uid_headers,
               "Headers with the caller's UID. Needs the feature gate RemoteRequestHeaderUID.");
  set_.Strings("requestheader-username-headers", &authentication.username_headers,
               "Headers with the caller's name.");
}

void Declaration::Authorization() {
  AuthorizationOptions& authorization = options_.authorization;
  set_.Section("Authorization");
  set_.Strings("authorization-always-allow-paths", &authorization.always_allow_paths,
               "Paths of the HTTPS server that everybody may read; a trailing * stands for any "
               "rest.");
  set_.String("authorization-kubeconfig", &authorization.kubeconfig,
              "kubeconfig of the API server that is asked what callers may do. Empty: all paths "
              "but the always allowed ones are forbidden.");
  set_.Time("authorization-webhook-cache-authorized-ttl", &authorization.authorized_ttl,
            "How long a permission is kept.");
  set_.Time("authorization-webhook-cache-unauthorized-ttl", &authorization.unauthorized_ttl,
            "How long a refusal is kept.");
}

void Declaration::Deprecated() {
  DeprecatedOptions& deprecated = options_.deprecated;
  set_.Section("Deprecated");
  const auto usage = [](const std::string& text) {
    return "DEPRECATED: " + text + " Ignored with --config.";
  };
  set_.Bool("contention-profiling", &deprecated.contention_profiling,
            usage("no effect: there is no profile of lock contention."));
  set_.Int32("kube-api-burst", &deprecated.burst,
             usage("requests to the API server beyond --kube-api-qps at once."));
  set_.String("kube-api-content-type", &deprecated.content_type,
              usage("content type of requests to the API server."));
  set_.Float32("kube-api-qps", &deprecated.qps, usage("requests to the API server a second."));
  set_.String("kubeconfig", &deprecated.kubeconfig,
              usage("kubeconfig file with the API server and the credentials."));
  set_.Time("pod-max-in-unschedulable-pods-duration", &options_.pod_max_in_unschedulable,
            "DEPRECATED: longest stay of a pod among the unschedulable pods before it is tried "
            "again.");
  set_.Bool("profiling", &deprecated.profiling,
            usage("serve a CPU profile of the process at /debug/pprof/profile."));
}

void Declaration::LeaderElection() {
  config::LeaderElection& election = options_.leader_election;
  set_.Section("Leader election");
  set_.Bool("leader-elect", &election.leader_elect,
            "Schedule only while holding a lease, so that several replicas can run.");
  set_.Time("leader-elect-lease-duration", &election.lease_duration,
            "Age at which an unrenewed lease may be taken over.");
  set_.Time("leader-elect-renew-deadline", &election.renew_deadline,
            "How long the leader tries to renew before it gives up. Less than the lease duration.");
  set_.Time("leader-elect-retry-period", &election.retry_period,
            "Time between two attempts to acquire or renew.");
  set_.String("leader-elect-resource-lock", &election.resource_lock,
              "Kind of the object that is the lock: 'leases'.");
  set_.String("leader-elect-resource-name", &election.resource_name, "Name of that object.");
  set_.String("leader-elect-resource-namespace", &election.resource_namespace,
              "Namespace of that object.");
}

void Declaration::FeatureGates() {
  config::GateFlags& gates = options_.gates;
  set_.Section("Feature gate");
  const auto versions = [](const char* what, const char* newest) {
    return std::string(what) + "\nOptions are: kube=1.34..1.37(default:" + newest +
           ")\nIf the component is not specified, defaults to \"kube\"";
  };
  set_.Strings("emulated-version", &gates.emulated_version,
               versions("Version (major.minor) whose features and defaults to take.", "1.37"));
  set_.Strings(
      "min-compatibility-version", &gates.min_compatibility_version,
      versions("Oldest version (major.minor) of the other components of the control plane.",
               "1.36"));
  std::string usage =
      "Feature gates as [component:]name=value,…; repeatable. If the component is not specified, "
      "defaults to \"kube\".";
  for (const std::string& line : config::FeatureGateHelp()) usage += "\n" + line;
  set_.Add({.name = "feature-gates",
            .usage = std::move(usage),
            .type = "colonSeparatedMultimapStringString",
            .set = [&gates](const std::string& text) -> Result<void> {
              gates.feature_gates.push_back(text);
              return {};
            },
            .text = [&gates] { return GatesText(gates.feature_gates); }});
}

void Declaration::Metrics() {
  MetricsOptions& metrics = options_.metrics;
  set_.Section("Metrics");
  set_.Map("allow-metric-labels", &metrics.allow_labels,
           "Values a metric's label may take, as metric,label=value,…; others become "
           "\"unexpected\".");
  set_.String("allow-metric-labels-manifest", &metrics.allow_labels_manifest,
              "YAML file of the same: one \"metric,label\": \"value,value\" a line.");
  set_.Strings("disabled-metrics", &metrics.disabled, "Full names of metrics to switch off.");
  set_.String("show-hidden-metrics-for-version", &metrics.show_hidden_for_version,
              "Show the metrics that were hidden since this version; only the previous minor "
              "version is allowed.");
}

void Declaration::Quantity(std::string name, std::string* value, std::string usage) {
  set_.Add({.name = std::move(name),
            .usage = std::move(usage),
            .type = "quantity",
            .set = [value](const std::string& text) -> Result<void> {
              const auto parsed = api::Quantity::Parse(text);
              if (!parsed.ok()) return parsed.error();
              *value = text;
              return {};
            },
            .text = [value] { return *value; }});
}

void Declaration::Logs() {
  LoggingOptions& logs = options_.logging;
  set_.Section("Logs");
  set_.Time("log-flush-frequency", &logs.flush_frequency, "Longest time between two flushes.");
  Quantity("log-json-info-buffer-size", &logs.json_info_buffer_size,
           "[Alpha] Buffer for info messages with --log-json-split-stream.");
  Quantity("log-text-info-buffer-size", &logs.text_info_buffer_size,
           "[Alpha] Buffer for info messages with --log-text-split-stream.");
  set_.Bool("log-json-split-stream", &logs.json_split_stream,
            "[Alpha] JSON format: info messages to stdout, errors to stderr.");
  set_.Bool("log-text-split-stream", &logs.text_split_stream,
            "[Alpha] Text format: info messages to stdout, errors to stderr.");
  set_.String("logging-format", &logs.format,
              "Format of the log: \"json\" (gated by LoggingBetaOptions) or \"text\".");
  set_.Add({.name = "v",
            .usage = "Verbosity of the log.",
            .shorthand = 'v',
            .type = "Level",
            .set = [&logs](const std::string& text) -> Result<void> {
              const auto level = flags::ParseUint(text, 10, 31);
              if (!level.ok()) return level.error();
              logs.verbosity = static_cast<int>(level.value());
              return {};
            },
            .text = [&logs] { return std::to_string(logs.verbosity); }});
  set_.Add({.name = "vmodule",
            .usage = "Verbosity by source file, e.g. scheduler=4,node_*=5: names of files of "
                     "kubesched without their ending (text format only).",
            .type = "pattern=N,...",
            .set = [&logs](const std::string& text) -> Result<void> {
              auto modules = ParseModules(text);
              if (!modules.ok()) return modules.error();
              logs.modules = std::move(modules).value();
              return {};
            },
            .text = [&logs] { return ModulesText(logs.modules); }});
}

Result<void> Declaration::SetVersion(const std::string& text) {
  using Version = ParsedFlags::Version;
  version_text_ = text;
  if (text == "raw") {
    *version_ = Version::kRaw;
    return {};
  }
  if (text.starts_with('v')) {
    // A version to report; it may only add to the name of upstream's.
    if (text == UpstreamVersion() || text.starts_with(UpstreamVersion() + "-") ||
        text.starts_with(UpstreamVersion() + "+")) {
      *version_ = Version::kNone;
      return {};
    }
    return Error{"version " + Quote(text) + " must match major/minor/patch of default version " +
                 Quote(UpstreamVersion())};
  }
  const auto on = flags::ParseBool(text);
  if (!on.ok()) return on.error();
  *version_ = on.value() ? Version::kText : Version::kNone;
  version_text_ = on.value() ? "true" : "false";
  return {};
}

// What kube-scheduler does not have.
void Declaration::OwnFlags() {
  set_.Section("Kubesched");
  set_.Bool("exit-on-lost-lease", &options_.exit_on_lost_lease,
            "End the process with exit code 1 when the lease is lost, as kube-scheduler does. Off: "
            "the process forgets all it has decided and stands by again. Either way it writes "
            "nothing any more.");
  set_.Bool("remember-verdicts", &options_.plugins.remember_verdicts,
            "Remember what plugins that look at one node only said of it, until it changes. Off: "
            "they are asked each time; the decisions are the same, and take longer.");
  set_.Int32("decisions-kept", &options_.decisions_kept,
             "How many of the last decisions /debug/kubesched/decisions shows, with their scores "
             "and reasons. 0: none are kept.");
  set_.String("decision-log", &options_.outputs.decision_log,
              "File to which every decision is appended as a line of JSON, for audits. Empty: "
              "none.");
  set_.Int32("decision-log-max-megabytes", &options_.outputs.decision_log_megabytes,
             "Size at which the file of --decision-log becomes FILE.1, replacing the former one.");
  set_.String(
      "record", &options_.outputs.record,
      "Folder, which must exist, that gets a recording of everything that the scheduler is "
      "told and decides, a file each time it begins anew, for kubeschedctl replay. It holds "
      "pods and nodes whole. Empty: none.");
  set_.Strings(
      "plugin-library", &options_.plugins.libraries,
      "Shared object with plugins (include/kubesched/plugin.h), which profiles can then "
      "name: FILE, or FILE=NAME to give its only plugin another name. Can be repeated. Its "
      "code runs in the scheduler, so that root or the user of the scheduler must own the "
      "file and nobody else may write it. A change of it is taken up as one of --config "
      "is.");
  set_.String(
      "tracing-config-file", &options_.outputs.tracing_config_file,
      "File with a TracingConfiguration (apiserver.config.k8s.io/v1): where traces of pods go, and "
      "of how many. The endpoint is that of a collector that takes OTLP over HTTP, host:port or a "
      "URL; by default http://localhost:4318/v1/traces. Empty: nothing is traced.");
}

void Declaration::Global() {
  set_.Section("Global");
  set_.Add({.name = "help",
            .usage = "help for kubesched",
            .shorthand = 'h',
            .no_value = "true",
            .set = [help = help_](const std::string& text) -> Result<void> {
              const auto on = flags::ParseBool(text);
              if (!on.ok()) return on.error();
              *help = on.value();
              return {};
            },
            .text = [help = help_] { return std::string(*help ? "true" : "false"); }});
  set_.Add({.name = "version",
            .usage = "Print the version and exit; =raw: with details.",
            .type = "version",
            .no_value = "true",
            .set = [this](const std::string& text) { return SetVersion(text); },
            .text = [this] { return version_text_; }});
}

// A line on what to do about an unknown flag; empty: nothing is known.
std::string Cure(const FlagSet& set, const std::string& unknown) {
  std::string name = unknown;
  std::replace(name.begin(), name.end(), '_', '-');
  for (const RemovedFlag& removed : kRemovedFlags) {
    if (removed.name == name) return "--" + name + ": " + std::string(removed.instead) + "\n";
  }
  const std::string nearest = config::NearestName(name, set.Names());
  return nearest.empty() ? "" : "Did you mean --" + nearest + "?\n";
}

ParsedFlags Failed(std::string text) {
  return {.run = false, .exit_code = 1, .standard_error = std::move(text)};
}

std::string Usage(const FlagSet& set) { return "Usage:\n  kubesched [flags]\n" + set.Help(); }

constexpr std::string_view kAbout =
    "kubesched is a scheduler for Kubernetes: it decides on which node each pod of a cluster runs\n"
    "and binds it there. It takes the place of kube-scheduler and reads the same flags and the\n"
    "same configuration files.\n\n";

}  // namespace

bool Options::Given(std::string_view flag) const {
  return std::binary_search(given.begin(), given.end(), flag, std::less<>());
}

ParsedFlags ParseFlags(const std::vector<std::string>& arguments) {
  ParsedFlags parsed;
  FlagSet set;
  bool help = false;
  const Declaration declaration(set, parsed.options, &parsed.version, &help);
  std::vector<std::string> rest;
  if (const auto error = set.Parse(arguments, &rest)) {
    return Failed(Usage(set) + "\nError: " + error->text + "\n" + Cure(set, error->unknown));
  }
  if (help) {
    return {.run = false, .standard_output = std::string(kAbout) + Usage(set)};
  }
  if (std::any_of(rest.begin(), rest.end(), [](const auto& text) { return !text.empty(); })) {
    std::vector<std::string> quoted;
    for (const std::string& argument : rest) quoted.push_back(Quote(argument));
    return Failed("Error: \"kubesched\" does not take any arguments, got [" + Join(quoted, " ") +
                  "]\n");
  }
  parsed.options.values = set.Values();
  for (const std::string_view name : set.Names()) {
    if (set.Given(name)) parsed.options.given.emplace_back(name);
  }
  std::sort(parsed.options.given.begin(), parsed.options.given.end());
  return parsed;
}

std::string VersionText(ParsedFlags::Version kind) {
  const std::string version = "v" KS_VERSION;
  if (kind == ParsedFlags::Version::kRaw) {
    const size_t dot = version.find('.');
    return "version.Info{Major:\"" + version.substr(1, dot - 1) + "\", Minor:\"" +
           version.substr(dot + 1, version.find('.', dot + 1) - dot - 1) + "\", GitVersion:\"" +
           version + "\", Compatible:\"" + UpstreamVersion() + "\", Compiler:\"" + __VERSION__ +
           "\", Platform:\"linux\"}\n";
  }
  return "kubesched " + version + " (compatible with Kubernetes " + UpstreamVersion() + ")\n";
}

}  // namespace ks
