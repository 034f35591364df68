// SPDX-License-Identifier: Apache-2.0
// Jobs: defaults, the labels and the selector that the server makes, checks.
#include <algorithm>

#include "apiserver/registry/strategy.h"
#include "apiserver/registry/strategy_groups.h"
#include "apiserver/registry/strategy_parts.h"

namespace ks::apiserver {
namespace {

constexpr const char* kUidLabel = "batch.kubernetes.io/controller-uid";
constexpr int64_t kMostIndexed = 100'000;

Json& ObjectIn(Json& object, const char* key) {
  Json& found = object[key];
  if (found.is_null()) found = Json::object();
  return found;
}

bool IsIndexed(const Json& spec) { return TextAt(spec, "completionMode") == "Indexed"; }

void CheckNumbers(const Json& spec, Causes& causes) {
  for (const char* key : {"parallelism", "completions", "activeDeadlineSeconds", "backoffLimit",
                          "ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes"}) {
    CheckNotNegative("spec", spec, key, causes);
  }
}

void CheckMode(const std::string& name, const Json& spec, Causes& causes) {
  causes.OneOf("spec.completionMode", TextAt(spec, "completionMode"), {"NonIndexed", "Indexed"});
  if (!IsIndexed(spec)) {
    for (const char* key : {"backoffLimitPerIndex", "maxFailedIndexes"}) {
      if (At(spec, key).is_null()) continue;
      causes.Invalid(Path("spec", key), At(spec, key), "requires indexed completion mode");
    }
    return;
  }
  if (At(spec, "completions").is_null()) {
    causes.Required("spec.completions", "when completion mode is Indexed");
  }
  const int64_t parallelism = NumberAt(spec, "parallelism").value_or(0);
  if (parallelism > kMostIndexed) {
    causes.Invalid("spec.parallelism", parallelism,
                   "must be less than or equal to 100000 when completion mode is Indexed");
  }
  const int64_t last = std::max<int64_t>(NumberAt(spec, "completions").value_or(1) - 1, 0);
  const std::string pod = name + "-" + std::to_string(last);
  if (!LabelErrors(pod).empty()) {
    causes.Invalid("metadata.name", name,
                   "will not able to create pod with invalid DNS label: " + pod);
  }
}

void CheckJobTemplate(const Json& spec, Causes& causes) {
  const Json& pod_template = At(spec, "template");
  const Json& selector = At(spec, "selector");
  const bool selects =
      selector.is_object() && SelectsLabels(selector, At(At(pod_template, "metadata"), "labels"));
  CheckPodTemplate(pod_template, selects, causes);
  const std::string policy = TextAt(At(pod_template, "spec"), "restartPolicy");
  if (policy != "OnFailure" && policy != "Never") {
    causes.Required("spec.template.spec.restartPolicy", R"(valid values: "OnFailure", "Never")");
  }
}

void CheckSelector(const Json& object, const Json& spec, Causes& causes) {
  const Json& selector = At(spec, "selector");
  if (!selector.is_object()) return causes.Required("spec.selector");
  CheckLabelSelector("spec.selector", selector, causes);
  if (At(spec, "manualSelector") == true) return;
  const Json generated{{"matchLabels", {{kUidLabel, TextAt(At(object, "metadata"), "uid")}}}};
  if (selector != generated) {
    causes.Invalid("spec.selector", selector, "`selector` not auto-generated");
  }
}

void CheckScheduling(const Json& spec, Causes& causes) {
  const Json& policy = At(At(spec, "scheduling"), "schedulingPolicy");
  if (policy.is_null()) return;
  const std::string field = "spec.scheduling.schedulingPolicy";
  CheckUnion(field, policy, {"basic", "gang"}, causes);
  const auto least = NumberAt(At(policy, "gang"), "minCount");
  if (!least) return;
  const int64_t parallelism = NumberAt(spec, "parallelism").value_or(1);
  if (*least < 1) {
    causes.Invalid(field + ".gang.minCount", *least, "must be greater than or equal to 1");
  } else if (*least > parallelism) {
    causes.Invalid(field + ".gang.minCount", *least,
                   "must not be greater than parallelism (" + std::to_string(parallelism) + ")");
  }
}

// What of a suspended Job's template may still change is taken out.
Json FixedTemplate(const Json& job, const Json& before) {
  Json fixed = At(At(job, "spec"), "template");
  const bool waits =
      At(At(before, "spec"), "suspend") == true && At(At(before, "status"), "startTime").is_null();
  if (!waits || !fixed.is_object()) return fixed;
  for (const char* key : {"labels", "annotations"}) {
    if (Json* metadata = FindObject(fixed, "metadata")) metadata->erase(key);
  }
  for (const char* key : {"nodeSelector", "affinity", "tolerations", "schedulingGates"}) {
    if (Json* spec = FindObject(fixed, "spec")) spec->erase(key);
  }
  return fixed;
}

void CheckCompletionsKept(const Json& old_spec, const Json& spec, Causes& causes) {
  const Json& completions = At(spec, "completions");
  if (At(old_spec, "completions") == completions) return;
  if (!IsIndexed(spec)) {
    causes.Invalid("spec.completions", completions, "field is immutable");
  } else if (completions != At(spec, "parallelism")) {
    causes.Invalid("spec.completions", completions,
                   "can only be modified in tandem with spec.parallelism");
  }
}

}  // namespace

void SetJobDefaults(Json& job) {
  Json* spec = FindObject(job, "spec");
  if (spec == nullptr) return;
  if (At(*spec, "parallelism").is_null()) {
    SetDefault(*spec, "completions", 1);
    (*spec)["parallelism"] = 1;
  }
  SetDefault(*spec, "backoffLimit", At(*spec, "backoffLimitPerIndex").is_null() ? 6 : INT32_MAX);
  SetDefault(*spec, "completionMode", "NonIndexed");
  SetDefault(*spec, "suspend", false);
  SetDefault(*spec, "podReplacementPolicy",
             At(*spec, "podFailurePolicy").is_null() ? "TerminatingOrFailed" : "Failed");
  SetDefault(*spec, "manualSelector", false);
  Json* pod_template = Find(*spec, "template");
  Json* pod_spec = pod_template == nullptr ? nullptr : FindObject(*pod_template, "spec");
  if (pod_spec != nullptr) SetPodSpecDefaults(*pod_spec);
}

void FinishNew(const KindInfo& kind, Json& object) {
  Json* spec = kind.kind == "Job" ? FindObject(object, "spec") : nullptr;
  if (spec == nullptr) return;
  Json& metadata = ObjectIn(object, "metadata");
  Json& labels = ObjectIn(ObjectIn(ObjectIn(*spec, "template"), "metadata"), "labels");
  if (At(*spec, "manualSelector") != true && labels.is_object()) {
    const std::string uid = TextAt(metadata, "uid");
    ObjectIn(ObjectIn(*spec, "selector"), "matchLabels")[kUidLabel] = uid;
    labels[kUidLabel] = uid;
    labels["controller-uid"] = uid;
    labels["batch.kubernetes.io/job-name"] = TextAt(metadata, "name");
    labels["job-name"] = TextAt(metadata, "name");
  }
  if (!labels.empty()) SetDefault(metadata, "labels", labels);
}

void CheckJob(const Json& job, Causes& causes) {
  const Json& spec = At(job, "spec");
  CheckNumbers(spec, causes);
  CheckMode(TextAt(At(job, "metadata"), "name"), spec, causes);
  CheckSelector(job, spec, causes);
  CheckJobTemplate(spec, causes);
  CheckScheduling(spec, causes);
}

void CheckJobUpdate(const Json& before, const Json& job, Causes& causes) {
  const Json& old_spec = At(before, "spec");
  const Json& spec = At(job, "spec");
  CheckCompletionsKept(old_spec, spec, causes);
  if (At(old_spec, "selector") != At(spec, "selector")) {
    causes.Invalid("spec.selector", At(spec, "selector"), "field is immutable");
  }
  if (FixedTemplate(before, before) != FixedTemplate(job, before)) {
    causes.Invalid("spec.template", At(spec, "template"), "field is immutable");
  }
  for (const char* key : {"completionMode", "podFailurePolicy", "backoffLimitPerIndex",
                          "successPolicy", "managedBy"}) {
    if (At(old_spec, key) == At(spec, key)) continue;
    causes.Invalid(Path("spec", key), At(spec, key), "field is immutable");
  }
  // Only how many pods a gang needs may change.
  const auto fixed = [](const Json& of) {
    Json scheduling = At(of, "scheduling");
    Json* policy = Find(scheduling, "schedulingPolicy");
    Json* gang = policy == nullptr ? nullptr : Find(*policy, "gang");
    if (gang != nullptr && gang->is_object()) gang->erase("minCount");
    return scheduling;
  };
  const Json old_scheduling = fixed(old_spec);
  if (old_scheduling == fixed(spec)) return;
  causes.Invalid(
      "spec.scheduling", nullptr,
      old_scheduling.is_null() ? "field cannot be set once created" : "field is immutable");
}

}  // namespace ks::apiserver
