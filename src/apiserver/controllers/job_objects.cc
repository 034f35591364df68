// SPDX-License-Identifier: Apache-2.0
#include "apiserver/controllers/job_objects.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <utility>

#include "apiserver/store/json_fields.h"

namespace ks::apiserver::jobs {
namespace {

constexpr const char* kIndex = "batch.kubernetes.io/job-completion-index";
constexpr const char* kIndexVariable = "JOB_COMPLETION_INDEX";

// A member by path; null: something on the way is missing.
const Json* Member(const Json& object, std::initializer_list<std::string_view> path) {
  const Json* found = &object;
  for (const std::string_view key : path) {
    found = Find(*found, key);
    if (found == nullptr) return nullptr;
  }
  return found;
}

std::optional<int64_t> NumberIn(const Json& object, std::initializer_list<std::string_view> path) {
  const Json* found = Member(object, path);
  if (found == nullptr || !found->is_number_integer()) return std::nullopt;
  return found->get<int64_t>();
}

std::string TextIn(const Json& object, std::initializer_list<std::string_view> path) {
  const Json* found = Member(object, path);
  return found == nullptr || !found->is_string() ? "" : found->get<std::string>();
}

std::optional<int64_t> ReadNumber(std::string_view text) {
  int64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Json OwnerReference(const Json& job) {
  return {{"apiVersion", "batch/v1"},
          {"kind", "Job"},
          {"name", TextIn(job, {"metadata", "name"})},
          {"uid", TextIn(job, {"metadata", "uid"})},
          {"controller", true},
          {"blockOwnerDeletion", true}};
}

// Ten characters that stand for a Job and what of it is meant, of those that names are made of.
std::string Digest(const Job& job, std::string_view what) {
  constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  uint64_t hash = 14695981039346656037U;
  for (const std::string_view part : {std::string_view(job.uid), what}) {
    for (const char c : part) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  }
  std::string digest;
  for (int i = 0; i < 10; ++i, hash /= kLetters.size()) digest += kLetters[hash % kLetters.size()];
  return digest;
}

std::string TemplateName(const Job& job) {
  constexpr size_t kMostLabel = 63;
  constexpr std::string_view kSuffix = "-pgt-0";
  return job.name.substr(0, kMostLabel - kSuffix.size()) + std::string(kSuffix);
}

void ReadStatus(const Json& json, Job& job) {
  job.succeeded = NumberIn(json, {"status", "succeeded"}).value_or(0);
  job.failed = NumberIn(json, {"status", "failed"}).value_or(0);
  job.completed = ReadIndexes(TextIn(json, {"status", "completedIndexes"}));
  job.finished = HasCondition(json, "Complete") || HasCondition(json, "Failed");
}

void AddIndexVariable(Json& spec) {
  for (const char* list : {"initContainers", "containers"}) {
    const auto containers = spec.find(list);
    if (containers == spec.end() || !containers->is_array()) continue;
    for (Json& container : *containers) {
      Json& env = container["env"];
      if (!env.is_array()) env = Json::array();
      const bool there = std::any_of(env.begin(), env.end(), [](const Json& variable) {
        return Text(variable, "name") == kIndexVariable;
      });
      if (there) continue;
      env.push_back({{"name", kIndexVariable},
                     {"valueFrom",
                      {{"fieldRef",
                        {{"apiVersion", "v1"},
                         {"fieldPath", "metadata.labels['" + std::string(kIndex) + "']"}}}}}});
    }
  }
}

// What the groups of a Workload and a PodGroup have in common.
Json GroupFields(const Json& json) {
  const Job job = ReadJob(json);
  Json fields = Json::object();
  if (job.gang) {
    fields["schedulingPolicy"]["gang"]["minCount"] = *job.gang;
  } else {
    fields["schedulingPolicy"]["basic"] = Json::object();
  }
  for (const char* key : {"schedulingConstraints", "disruptionMode", "resourceClaims"}) {
    const Json* found = Member(json, {"spec", "scheduling", key});
    if (found != nullptr) fields[key] = *found;
  }
  const std::string priority = TextIn(json, {"spec", "template", "spec", "priorityClassName"});
  if (!priority.empty()) fields["priorityClassName"] = priority;
  return fields;
}

}  // namespace

Job ReadJob(const Json& json) {
  Job job{.ns = TextIn(json, {"metadata", "namespace"}),
          .name = TextIn(json, {"metadata", "name"}),
          .uid = TextIn(json, {"metadata", "uid"}),
          .parallelism = NumberIn(json, {"spec", "parallelism"}).value_or(1),
          .completions = NumberIn(json, {"spec", "completions"}),
          .backoff_limit = NumberIn(json, {"spec", "backoffLimit"}).value_or(6),
          .indexed = TextIn(json, {"spec", "completionMode"}) == "Indexed",
          .gang = {},
          .completed = {}};
  const Json* suspended = Member(json, {"spec", "suspend"});
  job.suspended = suspended != nullptr && *suspended == true;
  job.terminating = Member(json, {"metadata", "deletionTimestamp"}) != nullptr;
  job.own_group = Member(json, {"spec", "template", "spec", "schedulingGroup"}) != nullptr;
  if (Member(json, {"spec", "scheduling", "schedulingPolicy", "gang"}) != nullptr) {
    job.gang = NumberIn(json, {"spec", "scheduling", "schedulingPolicy", "gang", "minCount"})
                   .value_or(std::max<int64_t>(job.parallelism, 1));
  }
  ReadStatus(json, job);
  return job;
}

Pod ReadPod(const Json& json) {
  Pod pod;
  if (const Json* owners = Member(json, {"metadata", "ownerReferences"})) {
    for (const Json& owner : *owners) {
      const Json* controls = Find(owner, "controller");
      const bool mine = controls != nullptr && *controls == true && Text(owner, "kind") == "Job" &&
                        Text(owner, "apiVersion") == "batch/v1";
      if (mine) pod.job = Text(owner, "uid");
    }
  }
  const std::string phase = TextIn(json, {"status", "phase"});
  const bool terminating = Member(json, {"metadata", "deletionTimestamp"}) != nullptr;
  if (phase == "Succeeded") {
    pod.phase = Pod::Phase::kSucceeded;
  } else if (phase == "Failed" || terminating) {
    pod.phase = Pod::Phase::kFailed;
  }
  if (const Json* conditions = Member(json, {"status", "conditions"})) {
    pod.ready = std::any_of(conditions->begin(), conditions->end(), [](const Json& condition) {
      return Text(condition, "type") == "Ready" && Text(condition, "status") == "True";
    });
  }
  if (const Json* finalizers = Member(json, {"metadata", "finalizers"})) {
    pod.tracked = std::find(finalizers->begin(), finalizers->end(), kTracking) != finalizers->end();
  }
  pod.index = ReadNumber(TextIn(json, {"metadata", "annotations", kIndex}));
  return pod;
}

std::string IndexesText(const std::set<int64_t>& indexes) {
  std::string text;
  for (auto it = indexes.begin(); it != indexes.end();) {
    const int64_t first = *it;
    int64_t last = first;
    for (++it; it != indexes.end() && *it == last + 1; ++it) ++last;
    if (!text.empty()) text += ",";
    text += std::to_string(first);
    if (last != first) text += (last == first + 1 ? "," : "-") + std::to_string(last);
  }
  return text;
}

std::set<int64_t> ReadIndexes(std::string_view text) {
  std::set<int64_t> indexes;
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t dash = part.find('-');
    const std::optional<int64_t> first = ReadNumber(part.substr(0, dash));
    const std::optional<int64_t> last =
        dash == std::string_view::npos ? first : ReadNumber(part.substr(dash + 1));
    constexpr int64_t kMost = 100'000;  // what the API server lets pass
    if (!first || !last || *first < 0 || *last > kMost) continue;
    for (int64_t i = *first; i <= *last; ++i) indexes.insert(i);
  }
  return indexes;
}

Json NewPod(const Json& job, std::optional<int64_t> index, const std::string& group) {
  const std::string name = TextIn(job, {"metadata", "name"});
  Json metadata = Json::object();
  for (const char* key : {"labels", "annotations"}) {
    const Json* found = Member(job, {"spec", "template", "metadata", key});
    if (found != nullptr) metadata[key] = *found;
  }
  const std::string stem = index ? name + "-" + std::to_string(*index) : name;
  metadata["generateName"] = stem + "-";
  metadata["ownerReferences"] = Json::array({OwnerReference(job)});
  metadata["finalizers"] = Json::array({kTracking});
  const Json* found = Member(job, {"spec", "template", "spec"});
  Json spec = found == nullptr ? Json::object() : *found;
  if (index) {
    metadata["annotations"][kIndex] = std::to_string(*index);
    metadata["labels"][kIndex] = std::to_string(*index);
    if (Text(spec, "hostname").empty()) spec["hostname"] = stem;
    AddIndexVariable(spec);
  }
  if (!group.empty()) spec["schedulingGroup"] = {{"podGroupName", group}};
  return {{"metadata", std::move(metadata)}, {"spec", std::move(spec)}};
}

std::string WorkloadName(const Job& job) { return job.name + "-" + Digest(job, "workload"); }

std::string GroupName(const Job& job) {
  return WorkloadName(job) + "-" + TemplateName(job) + "-" + Digest(job, "group");
}

Json NewWorkload(const Json& json) {
  const Job job = ReadJob(json);
  Json group = GroupFields(json);
  group["name"] = TemplateName(job);
  return {{"metadata",
           {{"name", WorkloadName(job)}, {"ownerReferences", Json::array({OwnerReference(json)})}}},
          {"spec",
           {{"controllerRef", {{"apiGroup", "batch"}, {"kind", "Job"}, {"name", job.name}}},
            {"podGroupTemplates", Json::array({std::move(group)})}}}};
}

Json NewGroup(const Json& json, const StoredObject& workload) {
  const Job job = ReadJob(json);
  Json spec = GroupFields(json);
  spec["workloadRef"] = {{"workloadName", workload.name}, {"templateName", TemplateName(job)}};
  const Json owner{{"apiVersion", "scheduling.k8s.io/v1beta1"},
                   {"kind", "Workload"},
                   {"name", workload.name},
                   {"uid", workload.uid}};
  return {
      {"metadata",
       {{"name", GroupName(job)}, {"ownerReferences", Json::array({OwnerReference(json), owner})}}},
      {"spec", std::move(spec)}};
}

void SetCondition(Json& status, std::string_view type, bool value, std::string_view reason,
                  std::string_view message, const std::string& now) {
  Json& conditions = status["conditions"];
  if (!conditions.is_array()) conditions = Json::array();
  Json said{{"type", type},         {"status", value ? "True" : "False"},
            {"reason", reason},     {"message", message},
            {"lastProbeTime", now}, {"lastTransitionTime", now}};
  const auto found = std::find_if(conditions.begin(), conditions.end(),
                                  [&](const Json& each) { return Text(each, "type") == type; });
  if (found == conditions.end()) {
    conditions.push_back(std::move(said));
  } else if (Text(*found, "status") != (value ? "True" : "False")) {
    *found = std::move(said);
  }
}

bool HasCondition(const Json& job, std::string_view type) {
  const Json* conditions = Member(job, {"status", "conditions"});
  return conditions != nullptr &&
         std::any_of(conditions->begin(), conditions->end(), [&](const Json& condition) {
           return Text(condition, "type") == type && Text(condition, "status") == "True";
         });
}

}  // namespace ks::apiserver::jobs
