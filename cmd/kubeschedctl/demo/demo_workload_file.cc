// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "api/decode/decoder.h"
#include "config/text/document.h"
#include "config/text/json_document.h"
#include "config/text/nearest_name.h"
#include "config/text/yaml_document.h"
#include "kubeschedctl/demo/demo_workload.h"
#include "kubeschedctl/text/input.h"

namespace ks::ctl {
namespace {

using config::Document;
using config::Finding;
using config::Value;
using Json = nlohmann::json;

constexpr std::array<std::string_view, 4> kEntryFields = {"count", "name", "expect", "pod"};
constexpr int64_t kMostCopies = 1'000'000;
constexpr size_t kLongestName = 253;

// What an entry says besides its pod.
struct Entry {
  const Value* pod = nullptr;
  std::optional<int64_t> count{};
  std::string name{};
  bool placeable = true;
};

// The kinds besides pods.
struct ObjectKind {
  std::string_view kind;
  std::string_view plural;
  std::string_view version;
};
constexpr ObjectKind kPodGroupKind = {"PodGroup", "podgroups", "scheduling.k8s.io/v1beta1"};
constexpr ObjectKind kCompositeKind = {"CompositePodGroup", "compositepodgroups",
                                       "scheduling.k8s.io/v1alpha3"};
constexpr ObjectKind kJobKind = {"Job", "jobs", "batch/v1"};
constexpr std::array<ObjectKind, 5> kObjectKinds = {
    {{"ResourceClaim", "resourceclaims", "resource.k8s.io/v1"},
     {"ResourceClaimTemplate", "resourceclaimtemplates", "resource.k8s.io/v1"},
     kPodGroupKind,
     kCompositeKind,
     kJobKind}};

class WorkloadReader {
 public:
  WorkloadReader(std::string name, const WorkloadFileOptions& options)
      : name_(std::move(name)), options_(options) {}

  Result<PlannedWorkload> Read(std::string_view text);

 private:
  Error Refusal(const Value& value, const std::string& path, const std::string& cause,
                const std::string& cure = {}) const;
  Result<void> ReadValue(const Value& value, const std::string& path, bool listed);
  Result<void> ReadEntry(const Value& value, const std::string& path);
  Result<void> ReadEntryField(const config::Member& member, const std::string& path, Entry& entry);
  Result<void> AddPods(const Entry& entry, const std::string& path);
  Result<Json> ObjectJson(const Value& value, const std::string& path, std::string_view kind,
                          std::string_view version) const;
  Result<void> AddObject(const Value& value, const std::string& path, const ObjectKind& kind);
  Result<void> AddPodsOfJob(const Value& value, const std::string& path, Json& job);
  Result<Amount> CheckPod(const Value& value, const std::string& path, const Json& pod);

  const std::string name_;
  const WorkloadFileOptions& options_;
  config::Syntax syntax_ = config::Syntax::kYaml;
  api::Decoder decoder_;
  std::set<std::string> names_;
  std::set<std::string> gates_;
  PlannedWorkload planned_;
};

Error WorkloadReader::Refusal(const Value& value, const std::string& path, const std::string& cause,
                              const std::string& cure) const {
  return Error{
      config::Render({.path = path, .message = cause, .place = value.place, .hint = cure}, name_)};
}

bool IsList(const Value* kind) {
  return kind != nullptr && (kind->text == "List" || kind->text == "PodList");
}

Result<void> WorkloadReader::ReadValue(const Value& value, const std::string& path, bool listed) {
  const Value* kind = value.Find("kind");
  const Value* items = value.IsList() ? &value : value.Find("items");
  if (!listed && (value.IsList() || IsList(kind))) {
    if (items == nullptr || !items->IsList()) {
      return Refusal(value, path, "a List without items");
    }
    const std::string prefix = value.IsList() ? path : path.empty() ? "items" : path + ".items";
    for (size_t i = 0; i < items->items.size(); ++i) {
      Result<void> read = ReadValue(items->items[i], fmt::format("{}[{}]", prefix, i), true);
      if (!read.ok()) return read;
    }
    return {};
  }
  if (!value.IsMapping()) {
    return Refusal(value, path, fmt::format("is of type {}", KindName(value.kind)),
                   "a Pod, or an entry with pod, count, name and expect");
  }
  if (kind == nullptr) return ReadEntry(value, path);
  for (const ObjectKind& known : kObjectKinds) {
    if (kind->text == known.kind) return AddObject(value, path, known);
  }
  return AddPods({.pod = &value}, path);
}

Result<void> WorkloadReader::ReadEntryField(const config::Member& member, const std::string& path,
                                            Entry& entry) {
  const Value& value = member.value;
  if (member.key == "pod") {
    if (!value.IsMapping()) return Refusal(value, path, "is not a Pod");
    entry.pod = &value;
    return {};
  }
  if (member.key == "count") {
    int64_t count = 0;
    const char* end = value.text.data() + value.text.size();
    const auto parsed = std::from_chars(value.text.data(), end, count);
    if (value.kind != Value::Kind::kNumber || parsed.ec != std::errc() || parsed.ptr != end ||
        count < 1 || count > kMostCopies) {
      return Refusal(value, path, fmt::format("is not a whole number from 1 to {}", kMostCopies));
    }
    entry.count = count;
    return {};
  }
  if (member.key == "name") {
    if (!value.IsString() || value.text.empty()) {
      return Refusal(value, path, "is not a name", "quote names that look like numbers");
    }
    entry.name = value.text;
    return {};
  }
  if (member.key == "expect") {
    if (value.text != "bound" && value.text != "pending") {
      return Refusal(value, path, "is neither bound nor pending");
    }
    entry.placeable = value.text == "bound";
    return {};
  }
  Finding finding{.path = path, .message = "unknown field", .place = member.place};
  const std::string nearest = config::NearestName(member.key, kEntryFields);
  finding.hint = nearest.empty() ? "an entry has pod, count, name and expect; a Pod has a kind"
                                 : "did you mean \"" + nearest + "\"?";
  return Error{config::Render(finding, name_)};
}

Result<void> WorkloadReader::ReadEntry(const Value& value, const std::string& path) {
  Entry entry;
  const std::string prefix = path.empty() ? "" : path + ".";
  std::set<std::string> seen;
  for (const config::Member& member : value.members) {
    if (!seen.insert(member.key).second) {
      return Refusal(member.value, prefix + member.key, "is there twice");
    }
    if (Result<void> read = ReadEntryField(member, prefix + member.key, entry); !read.ok()) {
      return read;
    }
  }
  if (entry.pod == nullptr) {
    return Refusal(value, path, "no pod", "add pod: with its spec, or kind: Pod");
  }
  return AddPods(entry, prefix + "pod");
}

// An object as it is sent.
Result<Json> WorkloadReader::ObjectJson(const Value& value, const std::string& path,
                                        std::string_view kind, std::string_view version) const {
  Json object = Json::parse(config::CompactJson(value, syntax_), nullptr, false);
  if (object.is_discarded()) return Refusal(value, path, "cannot be written as JSON");
  const Json own_kind = object.value("/kind"_json_pointer, Json(kind));
  if (own_kind != kind) {
    return Refusal(value, path, fmt::format("kind {} instead of \"{}\"", own_kind.dump(), kind),
                   "only pods, ResourceClaims, ResourceClaimTemplates, PodGroups, "
                   "CompositePodGroups and Jobs can be listed; create other objects beforehand");
  }
  const Json own_version = object.value("/apiVersion"_json_pointer, Json(version));
  if (own_version != version) {
    return Refusal(value, path,
                   fmt::format("apiVersion {} instead of \"{}\"", own_version.dump(), version));
  }
  object["apiVersion"] = version;
  object["kind"] = kind;
  Json& metadata = object["metadata"];
  if (metadata.is_null()) metadata = Json::object();
  if (!metadata.is_object()) return Refusal(value, path + ".metadata", "is not an object");
  const Json ns = metadata.value("namespace", Json(options_.ns));
  if (ns != Json(options_.ns)) {
    return Refusal(value, path + ".metadata.namespace",
                   fmt::format("{} instead of \"{}\"", ns.dump(), options_.ns),
                   "leave it out or give --namespace");
  }
  Json& labels = metadata["labels"];
  if (labels.is_null()) labels = Json::object();
  if (!labels.is_object()) return Refusal(value, path + ".metadata.labels", "is not an object");
  labels[kOwnerLabel] = options_.owner;
  return object;
}

Result<void> WorkloadReader::AddObject(const Value& value, const std::string& path,
                                       const ObjectKind& kind) {
  Result<Json> object = ObjectJson(value, path, kind.kind, kind.version);
  if (!object.ok()) return object.error();
  const Json name = object->value("/metadata/name"_json_pointer, Json());
  if (!name.is_string() || name.get_ref<const std::string&>().empty()) {
    return Refusal(value, path, fmt::format("the {} has no name", kind.kind), "add metadata.name");
  }
  const bool is_job = kind.kind == kJobKind.kind;
  if (is_job) {
    if (Result<void> added = AddPodsOfJob(value, path, *object); !added.ok()) return added;
  }
  planned_.objects.push_back(
      {.name = name.get<std::string>(),
       .path = fmt::format("/apis/{}/namespaces/{}/{}", kind.version, options_.ns, kind.plural),
       .body = object->dump(-1, ' ', false, Json::error_handler_t::replace)});
  const bool composite = kind.kind == kCompositeKind.kind;
  if (composite || is_job || kind.kind == kPodGroupKind.kind) {
    gates_.insert("GenericWorkload");
    const bool constrained =
        object->contains("/spec/schedulingConstraints"_json_pointer) ||
        object->contains("/spec/scheduling/schedulingConstraints"_json_pointer);
    if (constrained || composite) gates_.insert("TopologyAwareWorkloadScheduling");
    if (composite) gates_.insert("CompositePodGroup");
  }
  return {};
}

// The pods that a Job begins with, which the job controller makes; they get the owner's label.
Result<void> WorkloadReader::AddPodsOfJob(const Value& value, const std::string& path, Json& job) {
  const Json::json_pointer at("/spec/template");
  if (!job.contains(at) || !job.at(at).is_object()) {
    return Refusal(value, path, "the Job has no template", "add spec.template");
  }
  Json& pod = job.at(at);
  pod["metadata"]["labels"][kOwnerLabel] = options_.owner;
  const Result<Amount> amount = CheckPod(value, path + ".spec.template", pod);
  if (!amount.ok()) return amount.error();
  const auto number = [&job](const char* pointer, int64_t fallback) {
    const Json found = job.value(Json::json_pointer(pointer), Json());
    return found.is_number_integer() ? found.get<int64_t>() : fallback;
  };
  const int64_t parallelism = number("/spec/parallelism", 1);
  const int64_t count = std::min(parallelism, number("/spec/completions", parallelism));
  if (count < 1 || count > kMostCopies || job.value("/spec/suspend"_json_pointer, Json()) == true) {
    return Refusal(value, path, "the Job makes no pods, or too many");
  }
  for (int64_t i = 0; i < count; ++i) {
    const std::string name =
        fmt::format("{} (Job) {}", job.value("/metadata/name"_json_pointer, ""), i);
    planned_.pods.push_back({.name = name, .body = {}, .amount = *amount});
  }
  return {};
}

Result<Amount> WorkloadReader::CheckPod(const Value& value, const std::string& path,
                                        const Json& pod) {
  std::string text = pod.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.reserve(text.size() + api::kJsonPadding);
  const Result<api::PodPtr> decoded = decoder_.Object<api::Pod>(text);
  if (!decoded.ok()) return Refusal(value, path, decoded.error().message);
  if (!(*decoded)->node_name.empty()) {
    return Refusal(value, path + ".spec.nodeName", "the pod has a node already",
                   "leave nodeName out: placing it is what is shown");
  }
  if ((*decoded)->spec->containers.empty()) {
    return Refusal(value, path + ".spec.containers", "a pod needs a container");
  }
  return AmountOf(**decoded);
}

Result<void> WorkloadReader::AddPods(const Entry& entry, const std::string& path) {
  Result<Json> pod = ObjectJson(*entry.pod, path, "Pod", "v1");
  if (!pod.ok()) return pod.error();
  const Result<Amount> amount = CheckPod(*entry.pod, path, *pod);
  if (!amount.ok()) return amount.error();
  Json& name = (*pod)["metadata"]["name"];
  if (!entry.name.empty()) name = entry.name;
  if (!name.is_string() || name.get<std::string>().empty()) {
    return Refusal(*entry.pod, path, "the pod has no name", "add metadata.name");
  }
  const std::string prefix = name.get<std::string>();
  for (int64_t i = 0; i < entry.count.value_or(1); ++i) {
    const std::string full = entry.count ? fmt::format("{}-{:05}", prefix, i) : prefix;
    if (full.size() > kLongestName) return Refusal(*entry.pod, path, "the name is too long");
    if (!names_.insert(full).second) {
      return Refusal(*entry.pod, path, "a pod " + full + " is there already",
                     "each needs a name of its own");
    }
    name = full;
    planned_.pods.push_back({.name = full,
                             .body = pod->dump(-1, ' ', false, Json::error_handler_t::replace),
                             .placeable = entry.placeable,
                             .amount = *amount});
  }
  return {};
}

Result<PlannedWorkload> WorkloadReader::Read(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  std::vector<Document> documents;
  if (first != std::string_view::npos && text[first] == '{') {
    auto parsed = config::ParseJsonDocument(text);
    if (const auto* fault = std::get_if<Finding>(&parsed)) {
      return Error{config::Render(*fault, name_)};
    }
    documents.push_back(std::get<0>(std::move(parsed)));
  } else {
    auto parsed = config::ParseYamlStream(text);
    if (const auto* fault = std::get_if<Finding>(&parsed)) {
      return Error{config::Render(*fault, name_)};
    }
    documents = std::get<0>(std::move(parsed));
  }
  for (size_t i = 0; i < documents.size(); ++i) {
    const Document& document = documents[i];
    if (!document.duplicates.empty()) {
      const config::DuplicateKey& twice = document.duplicates.front();
      return Error{config::Render(
          {.path = twice.path, .message = "is there twice", .place = twice.place}, name_)};
    }
    if (document.root.IsNull()) continue;
    syntax_ = document.syntax;
    if (Result<void> read = ReadValue(document.root, "", false); !read.ok()) return read.error();
  }
  if (planned_.pods.empty()) return Error{name_ + ": no pods"};
  planned_.gates.assign(gates_.begin(), gates_.end());
  return std::move(planned_);
}

}  // namespace

Result<PlannedWorkload> ParseWorkload(const std::string& name, std::string_view text,
                                      const WorkloadFileOptions& options) {
  return WorkloadReader(name, options).Read(text);
}

Result<PlannedWorkload> ReadWorkload(const std::string& path, const WorkloadFileOptions& options) {
  const Result<std::string> text = ReadInput(path);
  if (!text.ok()) return text.error();
  return ParseWorkload(path == "-" ? "standard input" : path, *text, options);
}

}  // namespace ks::ctl
