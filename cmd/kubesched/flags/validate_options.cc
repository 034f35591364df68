// SPDX-License-Identifier: Apache-2.0
#include "kubesched/flags/validate_options.h"

#include <algorithm>
#include <regex>
#include <utility>
#include <variant>

#include "api/quantity.h"
#include "base/file_text.h"
#include "base/logging.h"
#include "config/text/yaml_document.h"
#include "kubesched/flags/go_values.h"

namespace ks {
namespace {

using config::Gate;
using flags::Quote;
using Errors = std::vector<std::string>;

constexpr int32_t kMostDecisionsKept = 100'000;  // about 100 MB

bool IsZero(const std::string& quantity) {
  const auto parsed = api::Quantity::Parse(quantity);
  return parsed.ok() && parsed.value() == api::Quantity();
}

void CheckStream(bool split, const std::string& buffer, const std::string& path, bool alpha,
                 Errors* errors) {
  const auto refuse = [&](bool wanted, const char* field) {
    if (!wanted) return;
    errors->push_back("options." + path + "." + field +
                      (alpha ? ": Forbidden: not supported by this version of kubesched"
                             : ": Forbidden: Feature LoggingAlphaOptions is disabled"));
  };
  refuse(split, "splitStream");
  refuse(!IsZero(buffer), "infoBufferSize");
}

bool Has(const std::vector<std::string>& values, std::string_view standard) {
  return std::any_of(values.begin(), values.end(), [standard](const std::string& value) {
    return value.size() == standard.size() &&
           std::equal(value.begin(), value.end(), standard.begin(),
                      [](char a, char b) { return std::tolower(a) == std::tolower(b); });
  });
}

bool HasBlank(const std::vector<std::string>& values) {
  return std::any_of(values.begin(), values.end(), [](const std::string& value) {
    return value.find_first_not_of(" \t\r\n\v\f") == std::string::npos;
  });
}

void CheckServing(const ServingOptions& serving, Errors* errors) {
  const std::string start = "--secure-port " + std::to_string(serving.secure_port);
  if (serving.secure_port < 0) {
    errors->push_back(start +
                      " must be between 0 and 65535, inclusive. 0 for turning off secure port");
  } else if (serving.secure_port > 65535) {
    errors->push_back(start +
                      " must be between 1 and 65535, inclusive. It cannot be turned off with 0");
  }
}

void CheckRequestHeaders(const AuthenticationOptions& options, const config::FeatureGates& gates,
                         Errors* errors, std::vector<std::string>* warnings) {
  const std::pair<const char*, const Errors*> lists[] = {
      {"requestheader-username-headers", &options.username_headers},
      {"requestheader-group-headers", &options.group_headers},
      {"requestheader-extra-headers-prefix", &options.extra_header_prefixes},
      {"requestheader-allowed-names", &options.allowed_names},
      {"requestheader-uid-headers", &options.uid_headers}};
  for (const auto& [name, values] : lists) {
    if (HasBlank(*values)) errors->push_back("empty value in " + Quote(name));
  }
  const auto sentence = [](const char* flag, const char* standard) {
    return std::string("--") + flag + " is set without specifying the standard " + standard +
           " - API aggregation will not work";
  };
  const auto missing = [](const Errors& values, const char* standard) {
    return !values.empty() && !Has(values, standard);
  };
  if (missing(options.username_headers, "X-Remote-User")) {
    warnings->push_back(sentence("requestheader-username-headers", "X-Remote-User header"));
  }
  if (missing(options.group_headers, "X-Remote-Group")) {
    warnings->push_back(sentence("requestheader-group-headers", "X-Remote-Group header"));
  }
  if (missing(options.extra_header_prefixes, "X-Remote-Extra-")) {
    warnings->push_back(
        sentence("requestheader-extra-headers-prefix", "X-Remote-Extra- header prefix"));
  }
  if (options.uid_headers.empty()) return;
  if (!gates.Enabled(Gate::kRemoteRequestHeaderUID)) {
    errors->push_back(
        "--requestheader-uid-headers requires the \"RemoteRequestHeaderUID\" feature to be "
        "enabled");
  } else if (!Has(options.uid_headers, "X-Remote-Uid")) {
    errors->push_back(sentence("requestheader-uid-headers", "X-Remote-Uid header"));
  }
}

bool HasOnlyMetricKeys(const std::map<std::string, std::string>& labels) {
  static const std::regex key("[a-zA-Z_:][a-zA-Z0-9_:]*,[a-zA-Z_][a-zA-Z0-9_]*");
  return std::all_of(labels.begin(), labels.end(),
                     [](const auto& entry) { return std::regex_match(entry.first, key); });
}

std::string JsonText(const std::map<std::string, std::string>& labels) {
  std::string text = "{";
  for (const auto& [key, value] : labels) {
    text += (text.size() > 1 ? "," : "") + Quote(key) + ":" + Quote(value);
  }
  return text + "}";
}

// Empty: the manifest is a flat map of texts.
std::string ManifestFault(const std::string& file) {
  const Result<std::string> text = ReadFile(file);
  if (!text.ok()) return "failed to read allow list manifest: " + text.error().message;
  const std::string failure = "failed to parse allow list manifest: ";
  const auto parsed = config::ParseYamlDocument(*text);
  if (const auto* finding = std::get_if<config::Finding>(&parsed)) {
    return failure + finding->message;
  }
  const config::Value& root = std::get<config::Document>(parsed).root;
  if (root.IsNull()) return "";
  if (!root.IsMapping()) return failure + "it must be a map of texts";
  for (const config::Member& member : root.members) {
    if (!member.value.IsMapping() && !member.value.IsList()) continue;
    return failure + "yaml: unmarshal errors:\n  line " + std::to_string(member.value.place.line) +
           ": cannot unmarshal !!" + (member.value.IsMapping() ? "map" : "seq") + " into string";
  }
  return "";
}

void CheckMetrics(const MetricsOptions& metrics, Errors* errors) {
  const std::string& version = metrics.show_hidden_for_version;
  if (!version.empty() && version != "1.36") {
    errors->push_back("metrics.showHiddenMetricsForVersion: Invalid value: " + Quote(version) +
                      ": must be omitted or have the value '1.36'; only the previous minor version "
                      "is allowed");
  }
  if (!HasOnlyMetricKeys(metrics.allow_labels)) {
    errors->push_back("metrics.allowListMapping: Invalid value: " + JsonText(metrics.allow_labels) +
                      ": must have keys with format `metricName,labelName` where metricName "
                      "matches \"[a-zA-Z_:][a-zA-Z0-9_:]*\" and labelName matches "
                      "\"[a-zA-Z_][a-zA-Z0-9_]*\"");
  }
  const std::string& manifest = metrics.allow_labels_manifest;
  if (manifest.empty()) return;
  if (const std::string fault = ManifestFault(manifest); !fault.empty()) {
    errors->push_back("metrics.allowListMappingManifest: Invalid value: " + Quote(manifest) + ": " +
                      fault);
  }
}

}  // namespace

std::string JoinErrors(const std::vector<std::string>& errors) {
  if (errors.size() == 1) return errors.front();
  std::string text = "[";
  for (const std::string& error : errors) text += (text.size() > 1 ? ", " : "") + error;
  return text + "]";
}

Result<void> ApplyLogging(const LoggingOptions& options, const config::FeatureGates& gates) {
  Errors errors;
  const bool json = options.format == "json";
  if (options.flush_frequency.count() <= 0) {
    errors.push_back(
        "flushFrequency: Invalid value: " + Quote(FormatDuration(options.flush_frequency)) +
        ": Must be greater than zero");
  }
  if (!json && options.format != "text") {
    errors.push_back("format: Invalid value: " + Quote(options.format) +
                     ": Unsupported log format");
  } else if (json && !gates.Enabled(Gate::kLoggingBetaOptions)) {
    errors.emplace_back(
        "format: Forbidden: Log format json is disabled, see LoggingBetaOptions feature");
  }
  if (json && !options.modules.empty()) {
    errors.emplace_back("vmodule: Forbidden: Only supported for text log format");
  }
  const bool alpha = gates.Enabled(Gate::kLoggingAlphaOptions);
  CheckStream(options.text_split_stream, options.text_info_buffer_size, "text", alpha, &errors);
  CheckStream(options.json_split_stream, options.json_info_buffer_size, "json", alpha, &errors);
  if (!errors.empty()) return Error{JoinErrors(errors)};

  log::SetFormat(json ? log::Format::kJson : log::Format::kText);
  log::SetVerbosity(options.verbosity);
  std::vector<log::ModuleLevel> modules;
  for (const ModuleLevel& module : options.modules) {
    modules.push_back({.pattern = module.pattern, .level = module.level});
  }
  log::SetModuleLevels(std::move(modules));
  return {};
}

Result<void> ValidateOptions(const Options& options, const config::FeatureGates& gates,
                             const config::LateGateFindings& late,
                             std::vector<std::string>* warnings) {
  Errors errors = late.errors;
  warnings->insert(warnings->end(), late.warnings.begin(), late.warnings.end());
  CheckServing(options.serving, &errors);
  CheckRequestHeaders(options.authentication, gates, &errors, warnings);
  CheckMetrics(options.metrics, &errors);
  if (options.decisions_kept < 0 || options.decisions_kept > kMostDecisionsKept) {
    errors.push_back("--decisions-kept " + std::to_string(options.decisions_kept) +
                     " must be between 0 and " + std::to_string(kMostDecisionsKept) +
                     ", inclusive. 0 for keeping none");
  }
  if (!options.outputs.decision_log.empty() && options.decisions_kept == 0) {
    errors.push_back("--decision-log needs --decisions-kept above 0");
  }
  if (options.outputs.decision_log_megabytes < 1) {
    errors.push_back("--decision-log-max-megabytes " +
                     std::to_string(options.outputs.decision_log_megabytes) +
                     " must be at least 1");
  }
  if (!errors.empty()) return Error{JoinErrors(errors)};
  return {};
}

}  // namespace ks
