// SPDX-License-Identifier: Apache-2.0
#include "inspect/cluster_dump.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>

#include "api/decode/decoder.h"
#include "api/json/json_split.h"
#include "base/string_map.h"
#include "config/text/document.h"
#include "config/text/yaml_document.h"

namespace ks::inspect {
namespace {

constexpr int kMostNestedLists = 8;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kNoObjects = "holds no Kubernetes objects";

// An object that is not decoded yet. Lifetime: views are parts of the text.
struct Item {
  std::string place;  // "FILE: document 2: items[3]"
  std::string_view json;
  std::string_view api_version;
  std::string_view kind;
  std::string_view ns;
  std::string_view name;
  std::string_view items;  // of a list: the array; else empty

  // "FILE: items[3]: Pod default/p"
  std::string Title() const {
    std::string title = place + ": " + std::string(kind);
    if (name.empty()) return title;
    title += ' ';
    if (!ns.empty()) title += std::string(ns) + "/";
    return title += name;
  }
};

Error At(const std::string& place, std::string_view cause) {
  return Error{place + ": " + std::string(cause)};
}

bool StartsAsJson(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

// v1alpha3 of PodGroup looks like v1beta1.
bool IsVersion(std::string_view api_version, const api::KindInfo& kind) {
  return api_version.empty() || api_version == kind.ApiVersion() ||
         (kind.kind == "PodGroup" && api_version == "scheduling.k8s.io/v1alpha3");
}

// Kinds of other groups may have the same names.
bool IsKind(const Item& item, const api::KindInfo& kind, std::string_view suffix = "") {
  return item.kind.starts_with(kind.kind) && item.kind.substr(kind.kind.size()) == suffix &&
         IsVersion(item.api_version, kind);
}

// Calls `visit` with a null pointer to each type that a dump may hold.
template <class Visit>
void ForEachKind(const Visit& visit) {
  visit(static_cast<const api::Pod*>(nullptr));
  visit(static_cast<const api::Node*>(nullptr));
  api::OptionalKindTypes::ForEach(visit);
}

// `List`, or the answer of an API server, such as `PodList`, whose items do not say their kind.
bool IsList(const Item& item) {
  bool is_list = item.kind == "List" && (item.api_version.empty() || item.api_version == "v1");
  ForEachKind([&]<class T>(const T*) { is_list |= IsKind(item, api::kKindOf<T>, "List"); });
  return is_list;
}

// PodList -> Pod; empty for List.
std::string_view ItemKind(std::string_view list_kind) {
  return list_kind.substr(0, list_kind.size() - std::string_view("List").size());
}

}  // namespace

struct ClusterDumpReader::Impl {
  Result<void> ReadYaml(const std::string& name, std::string_view text);
  Result<void> ReadDocuments(const std::string& name, std::string text);
  Result<void> ReadValue(const api::JsonSplitter& splitter, Item item, int depth);
  Result<void> ReadItems(const api::JsonSplitter& splitter, const Item& list, int depth);
  Result<void> ReadKnown(const Item& item);
  template <class T>
  Result<void> Decode(const Item& item);
  Result<void> NoteIdentity(const Item& item, const std::string& key);
  std::shared_ptr<const api::PodSpec> WithSchedulerName(
      const std::shared_ptr<const api::PodSpec>& spec);

  const Symbol default_namespace{"default"};
  const Symbol default_scheduler{"default-scheduler"};
  api::Decoder decoder;
  ClusterDump dump;
  StringMap<std::string> places;    // "Pod ns/name" -> where it stands
  StringMap<std::string> pod_uids;  // uid -> "ns/name"
  // Specs that lack a scheduler name, with it. The keys keep the originals, so that no other spec
  // gets their address.
  std::unordered_map<std::shared_ptr<const api::PodSpec>, std::shared_ptr<const api::PodSpec>>
      completed;
};

ClusterDumpReader::ClusterDumpReader() : impl_(std::make_unique<Impl>()) {}
ClusterDumpReader::~ClusterDumpReader() = default;

ClusterDump ClusterDumpReader::Take() { return std::move(impl_->dump); }

Result<void> ClusterDumpReader::Read(const std::string& name, std::string text) {
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  return StartsAsJson(text) ? impl_->ReadDocuments(name, std::move(text))
                            : impl_->ReadYaml(name, text);
}

Result<void> ClusterDumpReader::Impl::ReadYaml(const std::string& name, std::string_view text) {
  const auto parsed = config::ParseYamlStream(text);
  if (const auto* fault = std::get_if<config::Finding>(&parsed)) {
    return Error{config::Render(*fault, name)};
  }
  std::string json;
  for (const config::Document& document : std::get<0>(parsed)) {
    if (!document.duplicates.empty()) {
      const config::DuplicateKey& twice = document.duplicates.front();
      return Error{config::Render(
          {.path = twice.path, .message = "is there twice", .place = twice.place}, name)};
    }
    if (!document.root.IsNull()) json += config::CompactJson(document.root, document.syntax) + "\n";
  }
  return ReadDocuments(name, std::move(json));
}

Result<void> ClusterDumpReader::Impl::ReadDocuments(const std::string& name, std::string text) {
  text.reserve(text.size() + api::kJsonPadding);  // the Decoder may read behind the end
  const api::JsonSplitter splitter(text);
  const auto values = splitter.Values();
  if (!values.ok()) return At(name, values.error().message);
  if (values->empty()) return At(name, kNoObjects);
  for (size_t i = 0; i < values->size(); ++i) {
    Item item{.place = name, .json = (*values)[i]};
    if (i > 0) item.place += ": document " + std::to_string(i + 1);
    if (Result<void> read = ReadValue(splitter, std::move(item), 0); !read.ok()) return read;
  }
  return {};
}

// `item` has a place and its text, and perhaps what its list says about it.
Result<void> ClusterDumpReader::Impl::ReadValue(const api::JsonSplitter& splitter, Item item,
                                                int depth) {
  if (item.json.front() != '{') return At(item.place, "must be an object");
  const auto members = splitter.Members(item.json);
  if (!members.ok()) return At(item.place, members.error().message);
  std::string_view metadata;
  int kinds = 0;
  for (const api::JsonMember& member : *members) {
    if (member.key == "kind") {
      item.kind = api::PlainJsonText(member.value);
      ++kinds;
    }
    if (member.key == "apiVersion") item.api_version = api::PlainJsonText(member.value);
    if (member.key == "items" && member.value.front() == '[') item.items = member.value;
    if (member.key == "metadata" && member.value.front() == '{') metadata = member.value;
  }
  if (kinds > 1) return At(item.place, "kind: is there twice");
  if (item.kind.empty()) return At(item.place, "kind: is missing: no Kubernetes object");
  if (IsList(item)) return ReadItems(splitter, item, depth);
  if (!metadata.empty()) {
    const auto fields = splitter.Members(metadata);
    if (!fields.ok()) return At(item.place, fields.error().message);
    for (const api::JsonMember& field : *fields) {
      if (field.key == "name") item.name = api::PlainJsonText(field.value);
      if (field.key == "namespace") item.ns = api::PlainJsonText(field.value);
    }
  }
  return ReadKnown(item);
}

Result<void> ClusterDumpReader::Impl::ReadItems(const api::JsonSplitter& splitter, const Item& list,
                                                int depth) {
  if (list.items.empty()) return {};
  if (depth == kMostNestedLists) return At(list.place, "lists are nested too deeply");
  const auto elements = splitter.Elements(list.items);
  if (!elements.ok()) return At(list.place, elements.error().message);
  const std::string prefix = list.place + (depth == 0 ? ": items[" : ".items[");
  for (size_t i = 0; i < elements->size(); ++i) {
    Item item{.place = prefix + std::to_string(i) + "]", .json = (*elements)[i]};
    item.kind = ItemKind(list.kind);
    if (!item.kind.empty()) item.api_version = list.api_version;
    Result<void> read = ReadValue(splitter, std::move(item), depth + 1);
    if (!read.ok()) return read;
  }
  return {};
}

Result<void> ClusterDumpReader::Impl::ReadKnown(const Item& item) {
  Result<void> read;
  ForEachKind([&]<class T>(const T*) {
    if (IsKind(item, api::kKindOf<T>)) read = Decode<T>(item);
  });
  return read;
}

template <class T>
Result<void> ClusterDumpReader::Impl::Decode(const Item& item) {
  const bool namespaced = api::kKindOf<T>.namespaced;
  Result<std::shared_ptr<const T>> decoded = decoder.Object<T>(item.json);
  if (!decoded.ok()) return At(item.Title(), decoded.error().message);
  std::shared_ptr<const T> object = std::move(decoded).value();
  if (object == nullptr) return At(item.Title(), "kind: is there twice");
  if (object->meta.name.empty()) return At(item.Title(), "metadata.name: is missing");
  if (object->meta.uid.empty() || object->meta.resource_version.empty() ||
      object->meta.ns.empty() == namespaced) {
    auto completed_object = std::make_shared<T>(*object);
    api::ObjectMeta& meta = completed_object->meta;
    if (!namespaced) meta.ns = Symbol();
    if (namespaced && meta.ns.empty()) meta.ns = default_namespace;
    if (meta.uid.empty()) meta.uid = meta.Key();
    // A claim without one is passed over by the scheduler.
    if (meta.resource_version.empty()) meta.resource_version = "1";
    object = std::move(completed_object);
  }
  if (Result<void> noted = NoteIdentity(item, object->meta.Key()); !noted.ok()) return noted;
  if constexpr (std::is_same_v<T, api::Pod>) {
    const auto [other, inserted] = pod_uids.try_emplace(object->meta.uid, object->meta.Key());
    if (!inserted) {
      return At(item.Title(), "metadata.uid: is also that of Pod " + other->second);
    }
    if (object->IsTerminal()) return {};
    if (object->spec->scheduler_name.empty()) {
      auto pod = std::make_shared<api::Pod>(*object);
      pod->spec = WithSchedulerName(object->spec);
      object = std::move(pod);
    }
  }
  dump.Of<T>().push_back(std::move(object));
  return {};
}

Result<void> ClusterDumpReader::Impl::NoteIdentity(const Item& item, const std::string& key) {
  const auto [earlier, inserted] =
      places.try_emplace(std::string(item.kind) + " " + key, item.place);
  if (inserted) return {};
  return At(item.place, earlier->first + ": is there twice; the first one: " + earlier->second);
}

// Pods that shared a spec still do.
std::shared_ptr<const api::PodSpec> ClusterDumpReader::Impl::WithSchedulerName(
    const std::shared_ptr<const api::PodSpec>& spec) {
  std::shared_ptr<const api::PodSpec>& known = completed[spec];
  if (known == nullptr) {
    auto named = std::make_shared<api::PodSpec>(*spec);
    named->scheduler_name = default_scheduler;
    known = std::move(named);
  }
  return known;
}

}  // namespace ks::inspect
