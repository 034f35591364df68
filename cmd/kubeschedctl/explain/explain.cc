// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/explain/explain.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <memory>
#include <utility>
#include <variant>

#include "config/read/defaults.h"
#include "framework/pod_requests.h"
#include "inspect/cut_requests.h"
#include "inspect/explain.h"
#include "inspect/explain_devices.h"
#include "inspect/explain_group.h"
#include "inspect/explain_json.h"
#include "inspect/explain_volumes.h"
#include "inspect/offline_cluster.h"
#include "inspect/suggest.h"
#include "kubeschedctl/config/effective.h"
#include "kubeschedctl/config/known_plugins.h"
#include "kubeschedctl/explain/explain_table.h"
#include "kubeschedctl/explain/group_table.h"
#include "kubeschedctl/text/input.h"

namespace ks::ctl {
namespace {

using inspect::OfflineCluster;

// The configuration that the scheduler would run with.
Result<config::Configuration> LoadConfiguration(const std::string& file,
                                                const config::FeatureGates& gates,
                                                const ExplainSinks& sinks) {
  if (file.empty()) return config::DefaultConfiguration(gates);
  config::LoadResult loaded = LoadForScheduler(file, gates);
  if (const auto* faults = std::get_if<config::Faults>(&loaded)) {
    return FaultsError(*faults, file);
  }
  auto& read = std::get<config::Loaded>(loaded);
  for (const config::Finding& warning : read.warnings) {
    sinks.warn("warning: " + config::Render(warning, file));
  }
  if (!read.configuration.extenders.empty()) {
    sinks.warn("warning: " + file + ": extenders are not asked: their verdicts and scores are " +
               "missing");
  }
  return std::move(read.configuration);
}

// Why the pod cannot be explained.
Error NotPending(const std::string& key, const api::PodPtr& pod) {
  if (pod == nullptr) {
    return Error{"no pod " + key + " in the dump, or it is Succeeded or Failed; name it as " +
                 "NAMESPACE/POD (default/ may be left out)"};
  }
  if (!pod->node_name.empty()) {
    return Error{"pod " + key + " is not pending: it is on node " + pod->node_name.str()};
  }
  if (pod->meta.deletion_timestamp) {
    return Error{"pod " + key + " is not pending: it is being deleted"};
  }
  return Error{"pod " + key + " belongs to another scheduler: no profile is named " +
               pod->spec->scheduler_name.str() + "; give its configuration with --config"};
}

Result<std::vector<api::PodPtr>> PodsAskedFor(const OfflineCluster& cluster,
                                              const std::string& name) {
  if (name.empty()) return cluster.pending();
  const std::string key = name.find('/') == std::string::npos ? "default/" + name : name;
  const api::PodPtr pod = cluster.FindPod(key);
  const auto& pending = cluster.pending();
  if (pod == nullptr || std::find(pending.begin(), pending.end(), pod) == pending.end()) {
    return NotPending(key, pod);
  }
  return std::vector<api::PodPtr>{pod};
}

// The dump's groups of pods. Lifetime: the copy is kept.
class DumpedGroups {
 public:
  // Without the gate GenericWorkload there are none, and nothing is copied.
  static Result<DumpedGroups> Of(const OfflineCluster& cluster, const config::FeatureGates& gates,
                                 inspect::ExplainPreemption preemption) {
    DumpedGroups groups;
    if (!gates.Enabled(config::Gate::kGenericWorkload)) return groups;
    auto copy = cluster.Copy();
    if (const auto* refusal = std::get_if<inspect::Refusal>(&copy)) return Error{refusal->text};
    groups.copy_ = std::make_unique<const inspect::ClusterCopy>(
        std::get<inspect::ClusterCopy>(std::move(copy)));
    groups.explainer_ = std::make_unique<inspect::GroupExplainer>(*groups.copy_, preemption);
    return groups;
  }

  // Null: there are none.
  inspect::GroupExplainer* explainer() const { return explainer_.get(); }

  Result<std::string> Record(const framework::PodGroupKey& group, bool json) const {
    if (explainer_ == nullptr) {
      return Error{"groups of pods need --feature-gates GenericWorkload=true"};
    }
    const auto explained = explainer_->Explain(group);
    if (const auto* refusal = std::get_if<inspect::Refusal>(&explained)) {
      return Error{refusal->text};
    }
    const auto& explanation = *std::get<const inspect::GroupExplanation*>(explained);
    return json ? inspect::GroupExplanationJson(explanation) + "\n" : GroupTable(explanation);
  }

 private:
  std::unique_ptr<const inspect::ClusterCopy> copy_;
  std::unique_ptr<inspect::GroupExplainer> explainer_;
};

inspect::ExplainPreemption PreemptionOf(const ExplainQuestion& question) {
  return question.preemption ? inspect::ExplainPreemption::kYes : inspect::ExplainPreemption::kNo;
}

std::vector<inspect::Suggestion> SuggestionsFor(const OfflineCluster& cluster,
                                                const api::PodPtr& pod,
                                                const inspect::Explanation& explanation) {
  const auto copy = cluster.Copy();
  const auto* whole = std::get_if<inspect::ClusterCopy>(&copy);
  if (whole == nullptr) return {};
  auto found = inspect::Suggest(*whole, pod, explanation);
  return found.ok() ? std::move(found).value() : std::vector<inspect::Suggestion>();
}

std::string Record(const OfflineCluster& cluster, const api::PodPtr& pod,
                   const ExplainQuestion& question, inspect::GroupExplainer* groups) {
  inspect::Explanation explanation =
      inspect::Explain(*cluster.ProfileFor(*pod), pod, PreemptionOf(question));
  if (question.suggest) explanation.suggestions = SuggestionsFor(cluster, pod, explanation);
  explanation.notes = inspect::NotesOnCutRequests(*pod);
  inspect::ExplainVolumes(*pod, cluster.snapshot(), cluster.storage(), question.node, &explanation);
  inspect::ExplainDevices(*pod, cluster.snapshot(), cluster.devices(),
                          cluster.ProfileFor(*pod)->handle().gates(), question.node, &explanation);
  if (groups != nullptr) inspect::ExplainGroupOf(*pod, *groups, &explanation);
  if (!question.json) {
    return ExplanationTable(explanation, ShortagesIn(cluster.snapshot(), *pod), question.node);
  }
  if (!question.node.empty()) {
    std::erase_if(explanation.nodes, [&](const auto& node) { return node.name != question.node; });
  }
  return inspect::ExplanationJson(explanation) + "\n";
}

// Those that have pending members, behind these.
Result<void> RecordGroups(const DumpedGroups& groups, bool json, const ExplainSinks& sinks) {
  if (groups.explainer() == nullptr) return {};
  for (const framework::PodGroupKey& root : groups.explainer()->WaitingRoots()) {
    const auto record = groups.Record(root, json);
    if (!record.ok()) return record.error();
    if (!json) sinks.out("\n");
    sinks.out(*record);
  }
  return {};
}

}  // namespace

Result<inspect::ClusterDump> ReadDump(const std::vector<std::string>& files) {
  if (std::count(files.begin(), files.end(), "-") > 1) {
    return Error{"--dump: standard input (-) can be read only once"};
  }
  inspect::ClusterDumpReader reader;
  for (const std::string& file : files) {
    Result<std::string> text = ReadInput(file);
    if (!text.ok() && errno == ENOENT && files.size() > 1) {
      return Error{text.error().message + " (the name of a pod stands before --dump)"};
    }
    if (!text.ok()) return text.error();
    Result<void> read = reader.Read(file == "-" ? "standard input" : file, std::move(text).value());
    if (!read.ok()) return read.error();
  }
  return reader.Take();
}

Result<void> ExplainDump(inspect::ClusterDump dump, const ExplainQuestion& question,
                         const ExplainSinks& sinks) {
  const auto gates = MakeGates(question.feature_gates);
  if (!gates.ok()) return gates.error();
  framework::SetRequestGates(*gates);
  auto configuration = LoadConfiguration(question.config_file, *gates, sinks);
  if (!configuration.ok()) return configuration.error();
  const framework::Registry& registry = KnownPlugins();
  auto made =
      OfflineCluster::Make(std::move(dump), std::move(configuration).value(), registry, &*gates);
  if (!made.ok()) return made.error();
  const OfflineCluster& cluster = **made;
  if (!question.node.empty() && cluster.snapshot().Find(question.node) == nullptr) {
    return Error{"no node " + question.node + " in the dump"};
  }
  const auto groups = DumpedGroups::Of(cluster, *gates, PreemptionOf(question));
  if (!groups.ok()) return groups.error();
  if (const auto group = inspect::ParseGroupName(question.pod)) {
    const auto record = groups->Record(*group, question.json);
    if (!record.ok()) return record.error();
    sinks.out(*record);
    return {};
  }
  const auto pods = PodsAskedFor(cluster, question.pod);
  if (!pods.ok()) return pods.error();
  if (pods->empty()) sinks.warn("no pending pods in the dump");
  for (const api::PodPtr& pod : *pods) {
    if (!question.json && pod != pods->front()) sinks.out("\n");
    sinks.out(Record(cluster, pod, question, groups->explainer()));
  }
  return question.pod.empty() ? RecordGroups(*groups, question.json, sinks) : Result<void>();
}

}  // namespace ks::ctl
