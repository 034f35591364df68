// SPDX-License-Identifier: Apache-2.0
#include "config/load.h"

#include <yaml-cpp/yaml.h>

#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>

#include "config/decoder.h"
#include "config/defaults.h"

namespace ks::config {
namespace {

void DecodeLeaderElection(Decoder& decoder, const YAML::Node& node, const std::string& path) {
  const FieldTable fields = {
      {"leaderElect",
       [&decoder](const YAML::Node& value, const std::string& at) {
         bool leader_elect = false;
         if (decoder.Bool(value, at, leader_elect) && leader_elect) {
           decoder.Fail(value, at,
                        "leader election is not supported by this version of kubesched yet: set it "
                        "to false and run one instance");
         }
       }},
      {"leaseDuration", {}},
      {"renewDeadline", {}},
      {"retryPeriod", {}},
      {"resourceLock", {}},
      {"resourceName", {}},
      {"resourceNamespace", {}},
  };
  decoder.Map(node, path, fields);
}

void DecodeClientConnection(Decoder& decoder, const YAML::Node& node, const std::string& path,
                            ClientConnection& connection) {
  const FieldTable fields = {
      {"kubeconfig", decoder.IntoString(connection.kubeconfig)},
      {"acceptContentTypes", decoder.IntoString(connection.accept_content_types)},
      {"contentType", decoder.IntoString(connection.content_type)},
      {"qps", [&](const YAML::Node& value,
                  const std::string& at) { decoder.Float32(value, at, connection.qps); }},
      {"burst",
       [&](const YAML::Node& value, const std::string& at) {
         if (decoder.Int32(value, at, connection.burst) && connection.burst < 0) {
           decoder.Invalid(value, at, connection.burst, "must be non-negative");
         }
       }},
  };
  decoder.Map(node, path, fields);
  const ClientConnection defaults;
  if (connection.content_type.empty()) {
    connection.content_type = defaults.content_type;
  }
  if (connection.qps == 0) {
    connection.qps = defaults.qps;
  }
  if (connection.burst == 0) {
    connection.burst = defaults.burst;
  }
}

bool DecodePercentage(Decoder& decoder, const YAML::Node& node, const std::string& path,
                      int32_t& percentage) {
  if (!decoder.Int32(node, path, percentage)) {
    return false;
  }
  if (percentage < 0 || percentage > 100) {
    decoder.Invalid(node, path, percentage, "not in valid range [0-100]");
  }
  return true;
}

// Returns whether the profile has a name.
bool DecodeProfile(Decoder& decoder, const YAML::Node& node, const std::string& path,
                   Profile& profile) {
  bool named = false;
  const FieldTable fields = {
      {"schedulerName",
       [&](const YAML::Node& value, const std::string& at) {
         profile.scheduler_name.emplace();
         named = decoder.String(value, at, *profile.scheduler_name);
         if (named && profile.name().empty()) {
           decoder.Fail(value, at, at + ": Required value");
         }
       }},
      {"percentageOfNodesToScore",
       [&](const YAML::Node& value, const std::string& at) {
         int32_t percentage = 0;
         if (DecodePercentage(decoder, value, at, percentage)) {
           profile.percentage_of_nodes_to_score = percentage;
         }
       }},
      {"plugins", {}},
      {"pluginConfig", {}},
  };
  decoder.Map(node, path, fields);
  return named;
}

void DecodeProfiles(Decoder& decoder, const YAML::Node& node, const std::string& path,
                    std::vector<Profile>& profiles) {
  if (!decoder.IsList(node, path) || node.size() == 0) {
    return;
  }
  const Profile defaults = profiles.front();
  profiles.clear();
  std::set<std::string> names;
  for (size_t i = 0; i < node.size(); ++i) {
    const std::string at = path + "[" + std::to_string(i) + "]";
    const YAML::Node item = node[i];
    Profile profile = defaults;
    const bool named = DecodeProfile(decoder, item, at, profile);
    if (!named && node.size() > 1) {
      decoder.Fail(item, at,
                   at + ".schedulerName: Required value: with several profiles each needs a name");
    } else if (!names.insert(profile.name()).second) {
      decoder.Fail(item, at, at + ".schedulerName: Duplicate value: \"" + profile.name() + "\"");
    }
    profiles.push_back(std::move(profile));
  }
}

FieldTable TopFields(Decoder& decoder, Configuration& configuration) {
  const auto backoff = [&decoder](int64_t& target) {
    return [&decoder, &target](const YAML::Node& value, const std::string& at) {
      decoder.Int64(value, at, target);
    };
  };
  return {
      {"apiVersion", [](const YAML::Node&, const std::string&) {}},
      {"kind", [](const YAML::Node&, const std::string&) {}},
      {"parallelism",
       [&](const YAML::Node& value, const std::string& at) {
         if (decoder.Int32(value, at, configuration.parallelism) &&
             configuration.parallelism <= 0) {
           decoder.Invalid(value, at, configuration.parallelism,
                           "should be an integer value greater than zero");
         }
       }},
      {"leaderElection", [&](const YAML::Node& value,
                             const std::string& at) { DecodeLeaderElection(decoder, value, at); }},
      {"clientConnection",
       [&](const YAML::Node& value, const std::string& at) {
         DecodeClientConnection(decoder, value, at, configuration.client_connection);
       }},
      {"percentageOfNodesToScore",
       [&](const YAML::Node& value, const std::string& at) {
         DecodePercentage(decoder, value, at, configuration.percentage_of_nodes_to_score);
       }},
      {"podInitialBackoffSeconds", backoff(configuration.pod_initial_backoff_seconds)},
      {"podMaxBackoffSeconds", backoff(configuration.pod_max_backoff_seconds)},
      {"profiles",
       [&](const YAML::Node& value, const std::string& at) {
         DecodeProfiles(decoder, value, at, configuration.profiles);
       }},
      {"enableProfiling", {}},
      {"enableContentionProfiling", {}},
      {"extenders", {}},
      {"delayCacheUntilActive", {}},
  };
}

// The two back-off fields are compared with each other, whichever comes first in the file.
void CheckBackoff(Decoder& decoder, const YAML::Node& root, const Configuration& configuration) {
  const int64_t initial = configuration.pod_initial_backoff_seconds;
  const int64_t max = configuration.pod_max_backoff_seconds;
  const YAML::Node initial_node = root["podInitialBackoffSeconds"];
  const YAML::Node max_node = root["podMaxBackoffSeconds"];
  if (initial <= 0) {
    decoder.Invalid(initial_node, "podInitialBackoffSeconds", initial, "must be greater than 0");
  }
  if (max < initial) {
    decoder.Invalid(max_node ? max_node : initial_node, "podMaxBackoffSeconds", max,
                    "must be greater than or equal to PodInitialBackoffSeconds");
  }
}

// apiVersion and kind decide whether anything else in the file makes sense.
Result<void> CheckType(Decoder& decoder, const YAML::Node& root, std::string_view text,
                       const std::string& file) {
  std::string version;
  std::string kind;
  if (root.IsMap()) {
    decoder.String(root["kind"], "kind", kind);
    decoder.String(root["apiVersion"], "apiVersion", version);
  } else if (!decoder.IsNull(root)) {
    return Error{file + ": couldn't get version/kind: the file must hold a mapping of fields"};
  }
  if (std::string errors = decoder.Report(); !errors.empty()) {
    return Error{std::move(errors)};
  }
  if (kind.empty() || version.empty()) {
    return Error{file + ": Object '" + (kind.empty() ? "Kind" : "apiVersion") +
                 "' is missing in '" + std::string(text) + "'"};
  }
  if (kind != kKind || version != kApiVersion) {
    return Error{file + ": no kind \"" + kind + "\" is registered for version \"" + version +
                 "\" in scheme \"pkg/runtime/scheme.go:111\"; kubesched reads apiVersion: " +
                 std::string(kApiVersion) + ", kind: " + std::string(kKind)};
  }
  return {};
}

bool StartsAsJson(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n\v\f");
  return first != std::string_view::npos && text[first] == '{';
}

Result<YAML::Node> ParseTree(std::string_view text, Syntax syntax, const std::string& file) {
  try {
    if (syntax == Syntax::kJson) {
      // yaml-cpp reads JSON, but more than that: the syntax is checked first.
      const nlohmann::json checked = nlohmann::json::parse(text);
    }
    return YAML::Load(std::string(text));
  } catch (const nlohmann::json::exception& error) {
    return Error{file + ": couldn't get version/kind; json parse error: " + error.what()};
  } catch (const YAML::Exception& error) {
    return Error{file + ":" + std::to_string(error.mark.line + 1) + ":" +
                 std::to_string(error.mark.column + 1) + ": yaml: " + error.msg};
  }
}

Result<Configuration> Parse(std::string_view text, const std::string& file) {
  const Syntax syntax = StartsAsJson(text) ? Syntax::kJson : Syntax::kYaml;
  const Result<YAML::Node> tree = ParseTree(text, syntax, file);
  if (!tree.ok()) {
    return tree.error();
  }
  const YAML::Node& root = *tree;
  Configuration configuration = DefaultConfiguration();
  try {
    Decoder decoder(file, syntax);
    if (Result<void> type = CheckType(decoder, root, text, file); !type.ok()) {
      return type.error();
    }
    decoder.Map(root, "", TopFields(decoder, configuration));
    CheckBackoff(decoder, root, configuration);
    if (std::string errors = decoder.Report(); !errors.empty()) {
      return Error{std::move(errors)};
    }
  } catch (const YAML::Exception& error) {
    return Error{file + ": " + error.what()};
  }
  return configuration;
}

}  // namespace

LoadResult ParseConfiguration(std::string_view text, const LoadOptions& options) {
  auto parsed = Parse(text, "ks.yaml");
  if (!parsed.ok()) return Faults{parsed.error().message, {}};
  Loaded loaded{.configuration = std::move(parsed).value(), .source = {}, .warnings = {}};
  if (options.overlay) options.overlay(loaded.configuration);
  return loaded;
}

LoadResult LoadConfiguration(const std::string& file, const LoadOptions& options) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  if (stream) {
    text << stream.rdbuf();
  }
  if (!stream || text.fail()) {
    const std::string reason = errno == ENOENT   ? "no such file or directory"
                               : errno == EISDIR ? "is a directory"
                                                 : std::generic_category().message(errno);
    return Faults{(errno == EISDIR ? "read " : "open ") + file + ": " + reason, {}};
  }
  return ParseConfiguration(text.str(), options);
}

}  // namespace ks::config
