// SPDX-License-Identifier: Apache-2.0
// From manifests to pods.

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "api/decode/decoder.h"
#include "api/json/json_split.h"
#include "config/print/print_json.h"
#include "config/text/document.h"
#include "config/text/yaml_document.h"
#include "inspect/simulate.h"
#include "inspect/workload_templates.h"

namespace ks::inspect {
namespace {

using framework::PodGroupKey;

constexpr int kMostNestedLists = 8;
constexpr std::string_view kHashLabel = "pod-template-hash";
constexpr std::string_view kHash = "simulated";
constexpr std::string_view kKinds =
    "Pod, Deployment, ReplicaSet, StatefulSet, ReplicationController and Job";

// What of a manifest matters. Lifetime: views are parts of the text; empty: not there.
struct Manifest {
  std::string place;  // "document 2: items[3]"
  std::string_view json;
  std::string_view kind;
  std::string_view metadata;
  std::string_view name;
  std::string_view ns;
  std::string_view spec;
  std::string_view items;

  std::string Title() const {
    return std::string(kind) + " " + (ns.empty() ? "default" : std::string(ns)) + "/" +
           std::string(name);
  }
};

struct WorkloadSpec {
  std::string_view replicas;
  std::string_view parallelism;
  std::string_view completions;
  std::string_view selector;
  std::string_view pod_metadata;
  std::string_view pod_spec;
};

class Reader {
 public:
  Reader(std::string text, int64_t replicas)
      : text_(std::move(text)), splitter_(text_), replicas_(replicas) {}

  Result<SimulatedPods> Read() {
    const auto values = splitter_.Values();
    if (!values.ok()) return values.error();
    for (size_t i = 0; i < values->size(); ++i) {
      Manifest manifest{.json = (*values)[i]};
      if (i > 0) manifest.place = "document " + std::to_string(i + 1) + ": ";
      if (Result<void> read = ReadValue(std::move(manifest), 0); !read.ok()) return read.error();
    }
    if (out_.sources.empty()) return Error{"no manifest in the text"};
    if (Result<void> made = MakeGroups(); !made.ok()) return made.error();
    for (api::PodPtr& pod : out_.pods) {
      if (!pod->spec->resource_claims.empty()) pod = WithClaims(*pod);
    }
    return std::move(out_);
  }

 private:
  static Error At(const Manifest& manifest, const std::string& cause) {
    const bool named = !manifest.kind.empty();
    return Error{manifest.place + (named ? manifest.Title() + ": " : "") + cause};
  }

  Result<void> ReadValue(Manifest manifest, int depth) {
    if (manifest.json.front() != '{') return At(manifest, "must be an object");
    const auto members = splitter_.Members(manifest.json);
    if (!members.ok()) return members.error();
    for (const api::JsonMember& member : *members) {
      if (member.key == "kind") manifest.kind = api::PlainJsonText(member.value);
      if (member.key == "metadata" && member.value.front() == '{') manifest.metadata = member.value;
      if (member.key == "spec" && member.value.front() == '{') manifest.spec = member.value;
      if (member.key == "items" && member.value.front() == '[') manifest.items = member.value;
    }
    if (manifest.kind.ends_with("List")) return ReadItems(manifest, depth);
    if (!manifest.metadata.empty()) {
      const auto fields = splitter_.Members(manifest.metadata);
      if (!fields.ok()) return fields.error();
      for (const api::JsonMember& field : *fields) {
        if (field.key == "name") manifest.name = api::PlainJsonText(field.value);
        if (field.key == "generateName" && manifest.name.empty()) {
          manifest.name = api::PlainJsonText(field.value);
        }
        if (field.key == "namespace") manifest.ns = api::PlainJsonText(field.value);
      }
    }
    if (manifest.kind.empty()) return At(manifest, "kind: is missing: no Kubernetes object");
    if (manifest.name.empty()) return At(manifest, "metadata.name: is missing");
    return ReadObject(manifest);
  }

  Result<void> ReadItems(const Manifest& list, int depth) {
    if (list.items.empty()) return {};
    if (depth == kMostNestedLists) return Error{list.place + "lists are nested too deeply"};
    const auto elements = splitter_.Elements(list.items);
    if (!elements.ok()) return elements.error();
    for (size_t i = 0; i < elements->size(); ++i) {
      Manifest item{.place = list.place + "items[" + std::to_string(i) + "]: ",
                    .json = (*elements)[i]};
      Result<void> read = ReadValue(std::move(item), depth + 1);
      if (!read.ok()) return read;
    }
    return {};
  }

  Result<void> ReadObject(const Manifest& manifest) {
    if (manifest.kind == "Pod") {
      const auto pod = DecodePod(manifest, manifest.metadata, manifest.spec);
      if (!pod.ok()) return pod.error();
      return AddPods(manifest, **pod, 1);
    }
    if (manifest.kind == "ResourceClaim") return ReadClaim(manifest);
    if (manifest.kind == "ResourceClaimTemplate") return ReadTemplate(manifest);
    if (manifest.kind == "PodGroup") return ReadGroup<api::PodGroup>(manifest);
    if (manifest.kind == "CompositePodGroup") return ReadGroup<api::CompositePodGroup>(manifest);
    if (manifest.kind == "Workload") return ReadTemplates(manifest);
    const bool known = manifest.kind == "Deployment" || manifest.kind == "ReplicaSet" ||
                       manifest.kind == "StatefulSet" || manifest.kind == "ReplicationController" ||
                       manifest.kind == "Job";
    if (!known) {
      return At(manifest,
                "is of a kind that cannot be simulated; these can: " + std::string(kKinds));
    }
    return ReadWorkload(manifest);
  }

  Result<void> ReadClaim(const Manifest& manifest) {
    return AddClaim(manifest, manifest.spec, &out_.claims);
  }

  Result<void> ReadTemplate(const Manifest& manifest) {
    const auto members = splitter_.Members(manifest.spec.empty() ? "{}" : manifest.spec);
    if (!members.ok()) return members.error();
    std::string_view spec;
    for (const api::JsonMember& member : *members) {
      if (member.key == "spec" && member.value.front() == '{') spec = member.value;
    }
    return AddClaim(manifest, spec, &templates_);
  }

  template <class T>
  Result<void> ReadGroup(const Manifest& manifest) {
    const PodGroupKey key{NamespaceOf(manifest), std::string(manifest.name),
                          std::is_same_v<T, api::CompositePodGroup>};
    const auto group = Group<T>(key, manifest.spec);
    if (!group.ok()) return At(manifest, group.error().message);
    groups_.insert(key.Text());
    out_.groups.push_back(Added<T>(*group));
    return {};
  }

  static Symbol NamespaceOf(const Manifest& manifest) {
    return Symbol(manifest.ns.empty() ? "default" : manifest.ns);
  }

  template <class T>
  Result<std::shared_ptr<T>> Group(const PodGroupKey& key, std::string_view spec) {
    const auto decoded = Decoded<T>("", spec);
    if (!decoded.ok()) return decoded.error();
    auto group = std::make_shared<T>(**decoded);
    group->meta.name = key.name;
    group->meta.ns = key.ns;
    group->meta.uid = "simulated " + key.Text();
    group->meta.resource_version = "1";
    return group;
  }

  template <class T>
  static cache::GroupDeltas Added(std::shared_ptr<T> group) {
    std::vector<api::Delta<T>> added(1);
    added.front().type = api::Delta<T>::Type::kUpsert;
    added.front().object = std::move(group);
    return added;
  }

  Result<void> ReadTemplates(const Manifest& manifest) {
    const Result<void> read =
        workloads_.Read(splitter_, NamespaceOf(manifest), manifest.name, manifest.spec);
    return read.ok() ? read : At(manifest, read.error().message);
  }

  // Those that pods name and no manifest has, as creators of the Workloads would.
  Result<void> MakeGroups() {
    for (const api::PodPtr& pod : out_.pods) {
      const auto& name = pod->spec->scheduling_group;
      if (!name || !workloads_.Any(pod->meta.ns)) continue;
      const PodGroupKey key{pod->meta.ns, *name, false};
      if (!groups_.insert(key.Text()).second) continue;
      const auto chosen = workloads_.Of(key.ns, key.name);
      if (!chosen.ok()) {
        out_.made_groups.push_back({.key = key, .why_none = chosen.error().message});
      } else if (Result<void> made = Make<api::PodGroup>(key, *chosen); !made.ok()) {
        return made;
      }
    }
    return {};
  }

  // With the composites above it, of which there is one a template.
  template <class T>
  Result<void> Make(const PodGroupKey& key, size_t number) {
    const GroupTemplate& from = workloads_.at(number);
    const auto group = Group<T>(key, from.spec);
    if (!group.ok()) {
      return Error{"Workload " + from.ns.str() + "/" + from.workload + ": template " + from.name +
                   ": " + group.error().message};
    }
    std::optional<PodGroupKey> above;
    if (from.parent) above = {from.ns, workloads_.at(*from.parent).Stem(), true};
    (*group)->spec.parent_composite_pod_group_name = above ? above->name : "";
    out_.made_groups.push_back({.key = key, .object = Added<T>(*group), .why_none = {}});
    if (!above || !groups_.insert(above->Text()).second) return {};
    return Make<api::CompositePodGroup>(*above, *from.parent);
  }

  // As the API server would.
  static void SetDefaults(api::ExactDeviceRequest& request) {
    if (request.allocation_mode.empty()) request.allocation_mode = api::kExactCountMode;
    const bool counts = request.allocation_mode == api::kExactCountMode;
    if (counts && request.count == 0) request.count = 1;
  }

  Result<void> AddClaim(const Manifest& manifest, std::string_view spec,
                        std::vector<api::ResourceClaimPtr>* claims) {
    const auto decoded = Decoded<api::ResourceClaim>("", spec);
    if (!decoded.ok()) return At(manifest, decoded.error().message);
    auto claim = std::make_shared<api::ResourceClaim>(**decoded);
    claim->meta.name = manifest.name;
    claim->meta.ns = Symbol(manifest.ns.empty() ? "default" : manifest.ns);
    claim->meta.uid = "simulated " + manifest.Title();
    claim->meta.resource_version = "1";
    for (api::DeviceRequest& request : claim->requests) {
      if (request.exactly) SetDefaults(*request.exactly);
      for (api::ExactDeviceRequest& alternative : request.first_available) SetDefaults(alternative);
    }
    claims->push_back(std::move(claim));
    return {};
  }

  // With a claim of its own for each template that it names.
  api::PodPtr WithClaims(const api::Pod& pod) {
    auto with = std::make_shared<api::Pod>(pod);
    for (const api::PodResourceClaim& entry : pod.spec->resource_claims) {
      const auto found = std::find_if(templates_.begin(), templates_.end(), [&](const auto& one) {
        return one->meta.ns == pod.meta.ns && one->meta.name == entry.resource_claim_template_name;
      });
      if (found == templates_.end()) continue;
      auto claim = std::make_shared<api::ResourceClaim>(**found);
      claim->meta.name = pod.meta.name + "-" + entry.name;
      claim->meta.uid = pod.meta.uid + "-" + entry.name;
      claim->meta.owner_references.Mutable() = {{.api_version = "v1",
                                                 .kind = "Pod",
                                                 .name = pod.meta.name,
                                                 .uid = pod.meta.uid,
                                                 .controller = true}};
      with->status.claims.Mutable().resource_claims.push_back(
          {.name = entry.name, .resource_claim_name = claim->meta.name});
      out_.claims.push_back(std::move(claim));
    }
    return with;
  }

  Result<void> ReadWorkload(const Manifest& manifest) {
    if (manifest.spec.empty()) return At(manifest, "spec: is missing");
    WorkloadSpec spec;
    std::string_view pod_template;
    const auto members = splitter_.Members(manifest.spec);
    if (!members.ok()) return members.error();
    for (const api::JsonMember& member : *members) {
      if (member.key == "replicas") spec.replicas = member.value;
      if (member.key == "parallelism") spec.parallelism = member.value;
      if (member.key == "completions") spec.completions = member.value;
      if (member.key == "selector" && member.value.front() == '{') spec.selector = member.value;
      if (member.key == "template" && member.value.front() == '{') pod_template = member.value;
    }
    if (pod_template.empty()) return At(manifest, "spec.template: is missing");
    const auto parts = splitter_.Members(pod_template);
    if (!parts.ok()) return parts.error();
    for (const api::JsonMember& part : *parts) {
      if (part.key == "metadata" && part.value.front() == '{') spec.pod_metadata = part.value;
      if (part.key == "spec" && part.value.front() == '{') spec.pod_spec = part.value;
    }
    const auto count = Replicas(manifest, spec);
    if (!count.ok()) return count.error();
    auto pod = DecodePod(manifest, spec.pod_metadata, spec.pod_spec);
    if (!pod.ok()) return pod.error();
    if (Result<void> owned = AddOwner(manifest, spec, pod->get()); !owned.ok()) return owned;
    return AddPods(manifest, **pod, static_cast<size_t>(*count));
  }

  Result<int64_t> Replicas(const Manifest& manifest, const WorkloadSpec& spec) const {
    if (replicas_ >= 0) return replicas_;
    if (manifest.kind != "Job") return Number(manifest, "spec.replicas", spec.replicas);
    auto parallelism = Number(manifest, "spec.parallelism", spec.parallelism);
    if (!parallelism.ok() || spec.completions.empty()) return parallelism;
    auto completions = Number(manifest, "spec.completions", spec.completions);
    if (!completions.ok()) return completions;
    return std::min(*parallelism, *completions);
  }

  // 1 when it is not there.
  static Result<int64_t> Number(const Manifest& manifest, const std::string& path,
                                std::string_view json) {
    int64_t number = 1;
    if (json.empty() || json == "null") return number;
    const auto [end, error] = std::from_chars(json.data(), json.data() + json.size(), number);
    if (error != std::errc() || end != json.data() + json.size() || number < 0) {
      return At(manifest, path + ": must be a number that is not negative");
    }
    return number;
  }

  Result<std::shared_ptr<api::Pod>> DecodePod(const Manifest& manifest, std::string_view metadata,
                                              std::string_view spec) {
    if (spec.empty()) return At(manifest, "the pod's spec is missing");
    const auto decoded = Decoded<api::Pod>(metadata, spec);
    if (!decoded.ok()) return At(manifest, decoded.error().message);
    auto pod = std::make_shared<api::Pod>(**decoded);
    pod->meta.ns = Symbol(manifest.ns.empty() ? "default" : manifest.ns);
    pod->meta.owner_references = {};
    if (pod->spec->scheduler_name.empty()) {
      auto named = std::make_shared<api::PodSpec>(*pod->spec);
      named->scheduler_name = Symbol("default-scheduler");
      pod->spec = std::move(named);
    }
    return pod;
  }

  template <class T>
  Result<std::shared_ptr<const T>> Decoded(std::string_view metadata, std::string_view spec) {
    std::string json = "{\"metadata\":";
    json += metadata.empty() ? "{}" : metadata;
    json += ",\"spec\":";
    json += spec.empty() ? "{}" : spec;
    json += "}";
    json.reserve(json.size() + api::kJsonPadding);
    return decoder_.Object<T>(json);
  }

  // The controller that would make the pods, so that default spreading finds it.
  Result<void> AddOwner(const Manifest& manifest, const WorkloadSpec& spec, api::Pod* pod) {
    if (manifest.kind == "StatefulSet") return Own<api::StatefulSet>(manifest, spec.selector, pod);
    if (manifest.kind == "ReplicaSet") return Own<api::ReplicaSet>(manifest, spec.selector, pod);
    if (manifest.kind == "ReplicationController") {
      return Own<api::ReplicationController>(manifest, spec.selector, pod);
    }
    if (manifest.kind != "Deployment") return {};
    pod->meta.labels.Set(Symbol(kHashLabel), Symbol(kHash));
    const auto selector = WithHash(spec.selector);
    if (!selector.ok()) return selector.error();
    return Own<api::ReplicaSet>(manifest, *selector, pod);
  }

  // A Deployment's selector as that of its newest ReplicaSet.
  Result<std::string> WithHash(std::string_view selector) {
    if (selector.empty()) return std::string();
    const auto members = splitter_.Members(selector);
    if (!members.ok()) return members.error();
    std::string labels = "\"" + std::string(kHashLabel) + "\":\"" + std::string(kHash) + "\"";
    std::string rest;
    for (const api::JsonMember& member : *members) {
      if (member.key == "matchLabels" && member.value.front() == '{') {
        const auto pairs = splitter_.Members(member.value);
        if (!pairs.ok()) return pairs.error();
        for (const api::JsonMember& pair : *pairs) {
          labels += ",\"" + std::string(pair.key) + "\":" + std::string(pair.value);
        }
      } else {
        rest += ",\"" + std::string(member.key) + "\":" + std::string(member.value);
      }
    }
    return "{\"matchLabels\":{" + labels + "}" + rest + "}";
  }

  template <class T>
  Result<void> Own(const Manifest& manifest, std::string_view selector, api::Pod* pod) {
    const std::string spec =
        selector.empty() ? "{}" : "{\"selector\":" + std::string(selector) + "}";
    const auto decoded = Decoded<T>("", spec);
    if (!decoded.ok()) return At(manifest, decoded.error().message);
    auto owner = std::make_shared<T>(**decoded);
    owner->meta.name = manifest.name;
    owner->meta.ns = pod->meta.ns;
    owner->meta.uid = "simulated " + manifest.Title();
    const bool replica_set = std::is_same_v<T, api::ReplicaSet>;
    const bool core = std::is_same_v<T, api::ReplicationController>;
    pod->meta.owner_references.Mutable() = {
        {.api_version = core ? "v1" : "apps/v1",
         .kind = replica_set ? "ReplicaSet" : std::string(manifest.kind),
         .name = owner->meta.name,
         .uid = owner->meta.uid,
         .controller = true}};
    out_.owners.push_back(std::vector<api::Delta<T>>{
        {api::Delta<T>::Type::kUpsert, std::shared_ptr<const T>(std::move(owner)), {}}});
    return {};
  }

  Result<void> AddPods(const Manifest& manifest, const api::Pod& pod, size_t count) {
    if (out_.pods.size() + count > kMostSimulatedPods) {
      return At(manifest, "more than " + std::to_string(kMostSimulatedPods) +
                              " pods in all; ask for fewer replicas");
    }
    out_.sources.push_back({.title = manifest.Title(), .begin = out_.pods.size(), .count = count});
    for (size_t i = 0; i < count; ++i) {
      auto replica = std::make_shared<api::Pod>(pod);
      replica->meta.name = manifest.name;
      if (manifest.kind != "Pod") replica->meta.name += "-" + std::to_string(i);
      replica->meta.uid = "simulated-" + std::to_string(out_.pods.size());
      replica->status = {};
      replica->meta.deletion_timestamp.reset();
      out_.pods.push_back(std::move(replica));
    }
    return {};
  }

  const std::string text_;
  const api::JsonSplitter splitter_;
  const int64_t replicas_;
  api::Decoder decoder_;
  std::vector<api::ResourceClaimPtr> templates_;  // as claims
  WorkloadTemplates workloads_;
  std::set<std::string> groups_;  // that are in the text or made: PodGroupKey::Text
  SimulatedPods out_;
};

// YAML as JSON documents; JSON stays as it is.
Result<std::string> AsJson(std::string text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return Error{"the text is empty; a manifest is wanted"};
  if (text[first] == '{') return text;
  const auto parsed = config::ParseYamlStream(text);
  if (const auto* fault = std::get_if<config::Finding>(&parsed)) {
    return Error{config::Render(*fault, "manifest")};
  }
  std::string json;
  for (const config::Document& document : std::get<0>(parsed)) {
    if (!document.root.IsNull()) json += config::CompactJson(document.root, document.syntax) + "\n";
  }
  return json;
}

}  // namespace

Result<SimulatedPods> ReadManifests(std::string text, int64_t replicas) {
  auto json = AsJson(std::move(text));
  if (!json.ok()) return json.error();
  return Reader(std::move(json).value(), replicas).Read();
}

}  // namespace ks::inspect
