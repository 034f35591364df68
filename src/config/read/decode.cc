// SPDX-License-Identifier: Apache-2.0
#include "config/read/decode.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "config/args_type.h"
#include "config/read/decode_args.h"
#include "config/read/decode_fields.h"
#include "config/read/routing.h"
#include "config/text/document.h"

namespace ks::config {
namespace {

constexpr size_t kMostStrictErrors = 100;  // that upstream lists
constexpr size_t kMostFindings = 1000;     // of one kind

void DecodeLeaderElection(Decoder& d, const Value& value, LeaderElection& target) {
  d.Struct(
      value, "LeaderElectionConfiguration", "v1alpha1.LeaderElectionConfiguration",
      {{"leaderElect", [&](const Value& v) { d.Bool(v, target.leader_elect); }},
       {"leaseDuration", [&](const Value& v) { d.Time(v, target.lease_duration); }},
       {"renewDeadline", [&](const Value& v) { d.Time(v, target.renew_deadline); }},
       {"retryPeriod", [&](const Value& v) { d.Time(v, target.retry_period); }},
       {"resourceLock", [&](const Value& v) { d.String(v, target.resource_lock); }},
       {"resourceName", [&](const Value& v) { d.String(v, target.resource_name); }},
       {"resourceNamespace", [&](const Value& v) { d.String(v, target.resource_namespace); }}});
}

void DecodeClientConnection(Decoder& d, const Value& value, ClientConnection& target) {
  d.Struct(
      value, "ClientConnectionConfiguration", "v1alpha1.ClientConnectionConfiguration",
      {{"kubeconfig", [&](const Value& v) { d.String(v, target.kubeconfig); }},
       {"acceptContentTypes", [&](const Value& v) { d.String(v, target.accept_content_types); }},
       {"contentType", [&](const Value& v) { d.String(v, target.content_type); }},
       {"qps", [&](const Value& v) { d.Float32(v, target.qps); }},
       {"burst", [&](const Value& v) { d.Int32(v, target.burst); }}});
}

void DecodeRefs(Decoder& d, const Value& value, std::vector<PluginRef>& target) {
  d.List(value, "v1.Plugin", target, [&](const Value& item, PluginRef& ref) {
    d.Struct(item, "Plugin", "v1.Plugin",
             {{"name", [&](const Value& v) { d.String(v, ref.name); }},
              {"weight", [&](const Value& v) { d.Int32(v, ref.weight); }}});
  });
}

void DecodePluginSet(Decoder& d, const Value& value, PluginSet& target) {
  d.Struct(value, "PluginSet", "v1.PluginSet",
           {{"enabled", [&](const Value& v) { DecodeRefs(d, v, target.enabled); }},
            {"disabled", [&](const Value& v) { DecodeRefs(d, v, target.disabled); }}});
  for (PluginRef& ref : target.disabled) ref.weight = 0;
}

void DecodePlugins(Decoder& d, const Value& value, Plugins& target) {
  std::vector<Field> fields;
  for (const PluginSection& section : PluginSections()) {
    PluginSet& set = target.*section.section;
    fields.push_back({section.field, [&](const Value& v) { DecodePluginSet(d, v, set); }});
  }
  d.Struct(value, "Plugins", "v1.Plugins", fields);
}

void DecodeTls(Decoder& d, const Value& value, ExtenderTls& target) {
  d.Struct(value, "ExtenderTLSConfig", "v1.ExtenderTLSConfig",
           {{"insecure", [&](const Value& v) { d.Bool(v, target.insecure); }},
            {"serverName", [&](const Value& v) { d.String(v, target.server_name); }},
            {"certFile", [&](const Value& v) { d.String(v, target.cert_file); }},
            {"keyFile", [&](const Value& v) { d.String(v, target.key_file); }},
            {"caFile", [&](const Value& v) { d.String(v, target.ca_file); }},
            {"certData", [&](const Value& v) { d.Bytes(v, target.cert_data); }},
            {"keyData", [&](const Value& v) { d.Bytes(v, target.key_data); }},
            {"caData", [&](const Value& v) { d.Bytes(v, target.ca_data); }}});
}

void DecodeManagedResource(Decoder& d, const Value& value, ExtenderManagedResource& target) {
  d.Struct(
      value, "ExtenderManagedResource", "v1.ExtenderManagedResource",
      {{"name", [&](const Value& v) { d.String(v, target.name); }},
       {"ignoredByScheduler", [&](const Value& v) { d.Bool(v, target.ignored_by_scheduler); }}});
}

void DecodeExtender(Decoder& d, const Value& value, Extender& target) {
  const auto tls = [&](const Value& v, ExtenderTls& out) { DecodeTls(d, v, out); };
  const auto resource = [&](const Value& v, ExtenderManagedResource& out) {
    DecodeManagedResource(d, v, out);
  };
  d.Struct(value, "Extender", "v1.Extender",
           {{"urlPrefix", [&](const Value& v) { d.String(v, target.url_prefix); }},
            {"filterVerb", [&](const Value& v) { d.String(v, target.filter_verb); }},
            {"preemptVerb", [&](const Value& v) { d.String(v, target.preempt_verb); }},
            {"prioritizeVerb", [&](const Value& v) { d.String(v, target.prioritize_verb); }},
            {"bindVerb", [&](const Value& v) { d.String(v, target.bind_verb); }},
            {"weight", [&](const Value& v) { d.Int64(v, target.weight); }},
            {"enableHTTPS", [&](const Value& v) { d.Bool(v, target.enable_https); }},
            {"tlsConfig", [&](const Value& v) { d.Optional(v, target.tls_config, tls); }},
            {"httpTimeout", [&](const Value& v) { d.Time(v, target.http_timeout); }},
            {"nodeCacheCapable", [&](const Value& v) { d.Bool(v, target.node_cache_capable); }},
            {"managedResources",
             [&](const Value& v) {
               d.List(v, "v1.ExtenderManagedResource", target.managed_resources, resource);
             }},
            {"ignorable", [&](const Value& v) { d.Bool(v, target.ignorable); }}});
}

// The outer document; the arguments of plugins come later, because their errors do.
class ConfigurationDecoder {
 public:
  // Arguments of one entry of pluginConfig; null: none given.
  using ArgsOfProfile = std::vector<const Value*>;

  ConfigurationDecoder(Decoder& decoder, Configuration& target) : d_(decoder), target_(target) {}

  void Run(const Value& root) {
    constexpr std::string_view kDebugging = "DebuggingConfiguration";
    const auto boolean = [&](const Value& v, bool& out) { d_.Bool(v, out); };
    d_.Struct(
        root, kKind, "",
        {{"apiVersion", {}},
         {"kind", {}},
         {"parallelism", [&](const Value& v) { d_.Int32(v, target_.parallelism); }},
         {"leaderElection",
          [&](const Value& v) { DecodeLeaderElection(d_, v, target_.leader_election); }},
         {"clientConnection",
          [&](const Value& v) { DecodeClientConnection(d_, v, target_.client_connection); }},
         {"enableProfiling", [&](const Value& v) { d_.Bool(v, target_.enable_profiling); },
          kDebugging},
         {"enableContentionProfiling",
          [&](const Value& v) { d_.Optional(v, target_.enable_contention_profiling, boolean); },
          kDebugging},
         {"percentageOfNodesToScore",
          [&](const Value& v) { d_.Int32(v, target_.percentage_of_nodes_to_score); }},
         {"podInitialBackoffSeconds",
          [&](const Value& v) { d_.Int64(v, target_.pod_initial_backoff_seconds); }},
         {"podMaxBackoffSeconds",
          [&](const Value& v) { d_.Int64(v, target_.pod_max_backoff_seconds); }},
         {"profiles", [&](const Value& v) { DecodeProfiles(v); }},
         {"extenders", [&](const Value& v) { DecodeExtenders(v); }},
         {"delayCacheUntilActive",
          [&](const Value& v) { d_.Bool(v, target_.delay_cache_until_active); }}});
  }

  // Indexed like profiles and their plugin_config. Valid as long as the document.
  const std::vector<ArgsOfProfile>& args() const { return args_; }

 private:
  void DecodeExtenders(const Value& value) {
    d_.List(value, "v1.Extender", target_.extenders,
            [&](const Value& item, Extender& extender) { DecodeExtender(d_, item, extender); });
  }

  void DecodeProfiles(const Value& value) {
    args_.clear();
    d_.List(value, "v1.KubeSchedulerProfile", target_.profiles,
            [&](const Value& item, Profile& profile) {
              args_.emplace_back();
              DecodeProfile(item, profile);
            });
  }

  void DecodeProfile(const Value& value, Profile& profile) {
    const auto string = [&](const Value& v, std::string& out) { d_.String(v, out); };
    const auto int32 = [&](const Value& v, int32_t& out) { d_.Int32(v, out); };
    d_.Struct(
        value, "KubeSchedulerProfile", "v1.KubeSchedulerProfile",
        {{"schedulerName", [&](const Value& v) { d_.Optional(v, profile.scheduler_name, string); }},
         {"percentageOfNodesToScore",
          [&](const Value& v) { d_.Optional(v, profile.percentage_of_nodes_to_score, int32); }},
         {"plugins", [&](const Value& v) { DecodePlugins(d_, v, profile.plugins); }},
         {"pluginConfig", [&](const Value& v) { DecodePluginConfig(v, profile.plugin_config); }}});
  }

  void DecodePluginConfig(const Value& value, std::vector<PluginConfig>& target) {
    ArgsOfProfile& args = args_.back();
    args.clear();
    d_.List(value, "v1.PluginConfig", target, [&](const Value& item, PluginConfig& entry) {
      args.push_back(nullptr);
      d_.Struct(item, "PluginConfig", "v1.PluginConfig",
                {{"name", [&](const Value& v) { d_.String(v, entry.name); }},
                 {"args", [&](const Value& v) { args.back() = &v; }}});
    });
  }

  Decoder& d_;
  Configuration& target_;
  std::vector<ArgsOfProfile> args_;
};

// All of one file's faults, in upstream's precedence.
class FaultList {
 public:
  void AddFatal(const std::string& text) {
    if (!fatal_) fatal_ = text;
  }
  void AddStrict(std::string text) { strict_.push_back(std::move(text)); }
  void AddFindings(const std::vector<Finding>& findings) {
    findings_.insert(findings_.end(), findings.begin(), findings.end());
  }

  bool empty() const { return !fatal_ && strict_.empty(); }

  // By place in the file.
  Faults Take() {
    std::ranges::stable_sort(findings_, [](const Finding& a, const Finding& b) {
      return std::pair(a.place.line, a.place.column) < std::pair(b.place.line, b.place.column);
    });
    return {.text = fatal_ ? *fatal_ : "strict decoding error: " + Joined(strict_),
            .findings = std::move(findings_)};
  }

  static std::string Joined(const std::vector<std::string>& texts) {
    std::string joined;
    for (const std::string& text : texts) joined += (joined.empty() ? "" : ", ") + text;
    return joined;
  }

 private:
  std::optional<std::string> fatal_;
  std::vector<std::string> strict_;
  std::vector<Finding> findings_;
};

void AddDuplicates(const std::vector<DuplicateKey>& duplicates, FaultList& faults) {
  if (duplicates.empty()) return;
  std::string text = "yaml: unmarshal errors:";
  std::vector<Finding> findings;
  for (const DuplicateKey& duplicate : duplicates) {
    text += "\n  " + duplicate.text;
    if (findings.size() >= kMostFindings) continue;
    // Without "line 4: ", which is the place.
    const size_t key = duplicate.text.find(": ") + 2;
    findings.push_back({.path = duplicate.path,
                        .message = duplicate.text.substr(key),
                        .place = duplicate.place,
                        .hint = "keep one of them"});
  }
  faults.AddStrict(std::move(text));
  faults.AddFindings(findings);
}

void AddErrors(const Decoder& decoder, FaultList& faults) {
  if (!decoder.type_errors().empty()) faults.AddFatal(decoder.type_errors().front().message);
  for (size_t i = 0; i < decoder.strict_errors().size() && i < kMostStrictErrors; ++i) {
    faults.AddStrict(decoder.strict_errors()[i].message);
  }
  faults.AddFindings(decoder.type_errors());
  faults.AddFindings(decoder.strict_errors());
}

void DecodeArgsOfProfiles(const std::vector<ConfigurationDecoder::ArgsOfProfile>& args,
                          Syntax syntax, Decoding& decoded, FaultList& faults) {
  std::vector<Profile>& profiles = decoded.configuration.profiles;
  for (size_t i = 0; i < profiles.size() && i < args.size(); ++i) {
    std::vector<PluginConfig>& entries = profiles[i].plugin_config;
    for (size_t j = 0; j < entries.size() && j < args[i].size(); ++j) {
      const std::string at =
          "profiles[" + std::to_string(i) + "].pluginConfig[" + std::to_string(j) + "]";
      DecodedArgs result =
          DecodePluginArgs(entries[j].name, args[i][j], syntax, at + ".args", decoded.source);
      entries[j].args = std::move(result.args);
      const std::string prefix = "decoding ." + at + ": ";
      if (result.fatal) faults.AddFatal(prefix + *result.fatal);
      if (!result.strict.empty()) {
        if (result.strict.size() > kMostStrictErrors) result.strict.resize(kMostStrictErrors);
        faults.AddStrict(prefix + "strict decoding error: decoding args for plugin " +
                         entries[j].name +
                         ": strict decoding error: " + FaultList::Joined(result.strict));
      }
      faults.AddFindings(result.findings);
    }
  }
}

// A file that holds the arguments of a plugin.
Faults DecodeOtherKind(const Document& document, const std::string& kind) {
  FaultList faults;
  SourceMap source;
  Decoder decoder(document.syntax, "", source);
  PluginArgs args;
  if (const ArgsType* type = FindArgsKind(kind)) type->decode(decoder, document.root, args);
  AddDuplicates(document.duplicates, faults);
  AddErrors(decoder, faults);
  if (!faults.empty()) return faults.Take();
  const std::string text = "couldn't decode as KubeSchedulerConfiguration, got " +
                           std::string(kApiVersion) + ", Kind=" + kind + ": ";
  return {.text = text,
          .findings = {{.path = "kind",
                        .message = text,
                        .place = source.Find("kind"),
                        .hint = "arguments of plugins belong to profiles[].pluginConfig[].args of "
                                "a KubeSchedulerConfiguration"}}};
}

Faults SingleFault(Finding finding) {
  std::string text = finding.message;
  return {.text = std::move(text), .findings = {std::move(finding)}};
}

}  // namespace

Decoding DecodeConfiguration(std::string_view text) {
  Decoding decoded;
  std::variant<Document, Finding> parsed = ParseDocument(text);
  if (Finding* error = std::get_if<Finding>(&parsed)) {
    decoded.faults = SingleFault(std::move(*error));
    return decoded;
  }
  const Document& document = std::get<Document>(parsed);
  std::variant<std::string, Finding> kind = KindOf(document.root, document.syntax, text, "");
  if (Finding* error = std::get_if<Finding>(&kind)) {
    decoded.faults = SingleFault(std::move(*error));
    return decoded;
  }
  if (std::get<std::string>(kind) != kKind) {
    decoded.faults = DecodeOtherKind(document, std::get<std::string>(kind));
    return decoded;
  }
  decoded.understood = true;
  FaultList faults;
  Decoder decoder(document.syntax, "", decoded.source);
  ConfigurationDecoder configuration(decoder, decoded.configuration);
  configuration.Run(document.root);
  AddDuplicates(document.duplicates, faults);
  AddErrors(decoder, faults);
  DecodeArgsOfProfiles(configuration.args(), document.syntax, decoded, faults);
  if (!faults.empty()) decoded.faults = faults.Take();
  return decoded;
}

}  // namespace ks::config
