// SPDX-License-Identifier: Apache-2.0
#include "kubesched/endpoints/metrics_identity.h"

#include <sys/utsname.h>

#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <variant>

#include "config/text/yaml_document.h"
#include "daemon/reference_version.h"

namespace ks::daemon {
namespace {

using metrics::Stability;

std::string Platform() {
  utsname name{};
  uname(&name);
  std::string machine = name.machine;
  if (machine == "x86_64") machine = "amd64";
  if (machine == "aarch64") machine = "arm64";
  return "linux/" + machine;
}

// "scheduler_x,label" -> {"v1,v2"}.
void Allow(const std::string& key, const std::string& values, metrics::Selection* selection) {
  const size_t comma = key.find(',');
  auto& allowed = selection->allowed[key.substr(0, comma)][key.substr(comma + 1)];
  std::istringstream stream(values);
  for (std::string value; std::getline(stream, value, ',');) allowed.insert(value);
}

Result<void> ReadManifest(const std::string& file, metrics::Selection* selection) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  const auto parsed = config::ParseYamlDocument(text.str());
  if (!stream || std::holds_alternative<config::Finding>(parsed)) {
    return Error{"allow list manifest " + file + " changed while kubesched started: start again"};
  }
  for (const config::Member& member : std::get<config::Document>(parsed).root.members) {
    Allow(member.key, member.value.text, selection);
  }
  return {};
}

}  // namespace

void ShowIdentity(metrics::Registry& registry, const config::GateFlags& gates) {
  const std::string version = kReferenceVersion;
  registry
      .AddGauge({.name = "kubernetes_build_info",
                 .stability = Stability::kBeta,
                 .help = "Build identity; always 1."})
      .Add({{"major", "1"},
            {"minor", "37"},
            {"git_version", "v" + version},
            {"git_commit", "kubesched-v" KS_VERSION},
            {"git_tree_state", ""},
            {"build_date", ""},
            {"go_version", ""},
            {"compiler", "gcc-" + std::to_string(__GNUC__)},
            {"platform", Platform()}})
      .Set(1);
  registry.AddGauge({.name = "kubesched_build_info", .help = "kubesched's own version; always 1."})
      .Add({{"version", KS_VERSION}, {"reference", "v" + version}})
      .Set(1);
  const config::GateReport report = config::ReportGates(gates);
  registry.AddGauge({.name = "version_info", .help = "Compatibility versions; always 1."})
      .Add({{"component", "kube"},
            {"binary", version},
            {"emulation", report.emulated},
            {"min_compat", report.min_compatibility}})
      .Set(1);
  auto& features = registry.AddGauge({.name = "kubernetes_feature_enabled",
                                      .stability = Stability::kBeta,
                                      .help = "State of each feature gate."});
  for (const config::GateState& gate : report.gates) {
    features.Add({{"name", std::string(gate.name)}, {"stage", std::string(gate.stage)}})
        .Set(gate.on ? 1 : 0);
  }
}

Result<metrics::Selection> SelectionOf(const MetricsOptions& options) {
  metrics::Selection selection;
  selection.disabled.insert(options.disabled.begin(), options.disabled.end());
  selection.show_hidden = !options.show_hidden_for_version.empty();
  for (const auto& [key, values] : options.allow_labels) Allow(key, values, &selection);
  if (options.allow_labels.empty() && !options.allow_labels_manifest.empty()) {
    if (Result<void> read = ReadManifest(options.allow_labels_manifest, &selection); !read.ok()) {
      return read.error();
    }
  }
  return selection;
}

}  // namespace ks::daemon
