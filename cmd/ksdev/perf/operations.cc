// SPDX-License-Identifier: Apache-2.0
#include "ksdev/perf/operations.h"

#include <chrono>
#include <map>

namespace ks::ctl::dev::perf {
namespace {

using Json = nlohmann::json;

// What one opcode needs to be read.
struct Source {
  Fields& fields;
  const std::string& folder;
  Parameters* parameters;
};
using Operations = std::vector<Operation>;

std::optional<NodeAllocatable> ReadAllocatable(Source& source) {
  if (!source.fields.Has("nodeAllocatableStrategy")) return std::nullopt;
  const Json tree = source.fields.Tree("nodeAllocatableStrategy");
  Fields fields(tree, nullptr);
  NodeAllocatable read{.allocatable = fields.Map("nodeAllocatable"),
                       .drivers = fields.Tree("csiNodeAllocatable"),
                       .migrated_plugins = fields.Texts("migratedPlugins")};
  if (const Result<void> done = fields.Finish(); !done.ok()) {
    source.fields.Fail("nodeAllocatableStrategy: " + done.error().message);
  }
  return read;
}

void ReadLabels(Source& source, CreateNodes& nodes) {
  if (source.fields.Has("labelNodePrepareStrategy")) {
    const Json tree = source.fields.Tree("labelNodePrepareStrategy");
    Fields fields(tree, nullptr);
    nodes.label_key = fields.RequiredText("labelKey");
    nodes.label_values = fields.Texts("labelValues");
    if (nodes.label_values.empty()) fields.Fail("labelValues: must be set");
    if (const Result<void> done = fields.Finish(); !done.ok()) {
      source.fields.Fail("labelNodePrepareStrategy: " + done.error().message);
    }
  }
  if (source.fields.Has("uniqueNodeLabelStrategy")) {
    const Json tree = source.fields.Tree("uniqueNodeLabelStrategy");
    Fields fields(tree, nullptr);
    nodes.unique_label_key = fields.RequiredText("labelKey");
    if (const Result<void> done = fields.Finish(); !done.ok()) {
      source.fields.Fail("uniqueNodeLabelStrategy: " + done.error().message);
    }
  }
}

Operations ReadCreateNodes(Source& source) {
  CreateNodes nodes{.count = source.fields.Count("count"),
                    .template_path = source.fields.Path("nodeTemplatePath", source.folder),
                    .template_params = source.fields.TemplateParameters("templateParams"),
                    .allocatable = ReadAllocatable(source),
                    .label_key = {},
                    .label_values = {},
                    .unique_label_key = {}};
  ReadLabels(source, nodes);
  return {nodes};
}

Operations ReadCreateNamespaces(Source& source) {
  return {CreateNamespaces{
      .prefix = source.fields.RequiredText("prefix"),
      .count = source.fields.Count("count"),
      .template_path = source.fields.Path("namespaceTemplatePath", source.folder)}};
}

CreatePods PodsOf(Source& source) {
  Fields& fields = source.fields;
  CreatePods pods{.count = fields.Count("count"),
                  .ns = {},
                  .template_path = fields.Path("podTemplatePath", source.folder),
                  .template_params = fields.TemplateParameters("templateParams"),
                  .collect_metrics = fields.Flag("collectMetrics"),
                  .skip_wait = fields.Flag("skipWaitToCompletion"),
                  .steady_state = fields.FlagOrParameter("steadyState"),
                  .duration = fields.Time("duration"),
                  .volume_path = fields.Path("persistentVolumeTemplatePath", source.folder),
                  .claim_path = fields.Path("persistentVolumeClaimTemplatePath", source.folder),
                  .signature_batch = fields.Count("signatureBatchSize")};
  if (fields.Has("namespace")) pods.ns = fields.Text("namespace");
  pods.count *= fields.Multiplier("countMultiplier");
  if (pods.signature_batch == 0) pods.signature_batch = 1;
  if (pods.volume_path.empty() != pods.claim_path.empty()) {
    fields.Fail("of a volume's and its claim's template one is missing");
  }
  if (pods.collect_metrics && pods.skip_wait) {
    fields.Fail("collectMetrics and skipWaitToCompletion exclude each other");
  }
  if (pods.steady_state && pods.skip_wait) {
    fields.Fail("steadyState and skipWaitToCompletion exclude each other");
  }
  if (pods.steady_state && source.parameters != nullptr && pods.duration <= Duration{}) {
    fields.Fail("duration: must be positive in a steady state");
  }
  return pods;
}

Operations ReadCreatePods(Source& source) { return {PodsOf(source)}; }

Operations ReadCreatePodSets(Source& source) {
  const size_t count = source.fields.Count("count");
  const std::string prefix = source.fields.RequiredText("namespacePrefix");
  const Json tree = source.fields.Tree("createPodsOp");
  Fields fields(tree, source.parameters);
  if (const std::string opcode = fields.Text("opcode"); opcode != "createPods") {
    fields.Fail("opcode: must be createPods");
  }
  Source inner{.fields = fields, .folder = source.folder, .parameters = source.parameters};
  CreatePods pods = PodsOf(inner);
  if (const Result<void> done = fields.Finish(); !done.ok()) {
    source.fields.Fail("createPodsOp: " + done.error().message);
  }
  Operations operations;
  for (size_t i = 0; i < count; ++i) {
    pods.ns = prefix + "-" + std::to_string(i);
    operations.emplace_back(pods);
  }
  return operations;
}

Operations ReadCreateAny(Source& source) {
  CreateAny any{.ns = source.fields.Text("namespace"),
                .template_path = source.fields.Path("templatePath", source.folder),
                .template_params = source.fields.TemplateParameters("templateParams"),
                .count = source.fields.Count("count", 1)};
  if (any.template_path.empty()) source.fields.Fail("templatePath: must be set");
  return {any};
}

Operations ReadCreatePodGroups(Source& source) {
  if (!source.fields.Has("namespace")) source.fields.Fail("namespace: must be set");
  return ReadCreateAny(source);
}

Operations ReadUpdateAny(Source& source) {
  UpdateAny any{.ns = source.fields.Text("namespace"),
                .template_path = source.fields.Path("templatePath", source.folder),
                .count = source.fields.Count("count", 1),
                .per_second = source.fields.Whole("updatePerSecond"),
                .subresources = source.fields.Texts("subresources")};
  if (any.template_path.empty()) source.fields.Fail("templatePath: must be set");
  return {any};
}

Operations ReadDeletePods(Source& source) {
  return {DeletePods{.ns = source.fields.RequiredText("namespace"),
                     .labels = source.fields.Map("labelSelector"),
                     .skip_wait = source.fields.Flag("skipWaitToCompletion"),
                     .per_second = source.fields.Whole("deletePodsPerSecond")}};
}

Operations ReadChurn(Source& source) {
  Fields& fields = source.fields;
  constexpr size_t kDefaultIntervalMs = 500;
  const std::string mode = fields.RequiredText("mode");
  const size_t interval_ms = fields.Whole("intervalMilliseconds");
  Churn churn{
      .recreate = mode == "recreate",
      .number = fields.Whole("number"),
      .interval = std::chrono::milliseconds(interval_ms == 0 ? kDefaultIntervalMs : interval_ms),
      .ns = {},
      .template_paths = fields.Paths("templatePaths", source.folder)};
  if (fields.Has("namespace")) churn.ns = fields.Text("namespace");
  if (mode != "recreate" && mode != "create") fields.Fail("mode: must be recreate or create");
  if (churn.recreate && churn.number == 0) fields.Fail("number: must not be 0 in mode recreate");
  if (churn.template_paths.empty()) fields.Fail("templatePaths: must be set");
  return {churn};
}

Operations ReadBarrier(Source& source) {
  const std::string stage = source.fields.Text("stageRequirement");
  if (!stage.empty() && stage != "Scheduled" && stage != "Attempted") {
    source.fields.Fail("stageRequirement: must be Scheduled or Attempted");
  }
  return {Barrier{.namespaces = source.fields.Texts("namespaces"),
                  .labels = source.fields.Map("labelSelector"),
                  .attempted = stage == "Attempted"}};
}

Operations ReadSleep(Source& source) { return {Sleep{.duration = source.fields.Time("duration")}}; }

Operations ReadStartCollecting(Source& source) {
  StartCollecting start{.name = source.fields.Text("name"),
                        .namespaces = source.fields.Texts("namespaces"),
                        .labels = source.fields.Map("labelSelector")};
  if (start.namespaces.empty()) source.fields.Fail("namespaces: must be set");
  return {start};
}

Operations ReadStopCollecting(Source&) { return {StopCollecting{}}; }

Operations ReadAllocateClaims(Source& source) {
  return {AllocateClaims{.ns = source.fields.Text("namespace")}};
}

using Reader = Operations (*)(Source&);

const std::map<std::string, Reader>& Readers() {
  static const auto* readers = new std::map<std::string, Reader>{
      {"allocResourceClaims", ReadAllocateClaims},
      {"barrier", ReadBarrier},
      {"churn", ReadChurn},
      {"createAny", ReadCreateAny},
      {"createNamespaces", ReadCreateNamespaces},
      {"createNodes", ReadCreateNodes},
      {"createPodGroups", ReadCreatePodGroups},
      {"createPodSets", ReadCreatePodSets},
      {"createPods", ReadCreatePods},
      {"deletePods", ReadDeletePods},
      {"sleep", ReadSleep},
      {"startCollectingMetrics", ReadStartCollecting},
      {"stopCollectingMetrics", ReadStopCollecting},
      {"updateAny", ReadUpdateAny},
  };
  return *readers;
}

}  // namespace

Result<std::vector<Operation>> ReadOperation(const Json& item, const std::string& folder,
                                             Parameters* parameters) {
  Fields fields(item, parameters);
  const std::string opcode = fields.RequiredText("opcode");
  const auto reader = Readers().find(opcode);
  if (reader == Readers().end()) {
    return Error{opcode.empty() ? "opcode: must be set" : "unknown opcode \"" + opcode + "\""};
  }
  Source source{.fields = fields, .folder = folder, .parameters = parameters};
  std::vector<Operation> operations = reader->second(source);
  if (const Result<void> done = fields.Finish(); !done.ok()) {
    return Error{opcode + ": " + done.error().message};
  }
  return operations;
}

}  // namespace ks::ctl::dev::perf
