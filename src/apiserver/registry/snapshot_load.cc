// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "api/json/json_split.h"
#include "apiserver/body/body.h"
#include "apiserver/registry/snapshot.h"
#include "apiserver/registry/strategy.h"
#include "apiserver/store/event_forms.h"
#include "apiserver/store/json_fields.h"

namespace ks::apiserver {
namespace {

constexpr int kMostNestedLists = 8;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kList = "List";

// An object that is not decoded yet. Lifetime: the view is a part of the text.
struct Item {
  std::string place;  // "document 2: items[3]"; empty: the whole text
  std::string_view json;
  std::string_view api_version;
  std::string_view kind;
  std::string_view items;  // of a list: the array; else empty
};

Error At(const std::string& place, const std::string& cause) {
  return Error{place.empty() ? cause : place + ": " + cause};
}

bool StartsAsJson(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

// "---" and "..." alone or before a blank; inside of documents such lines are indented.
bool EndsDocument(std::string_view line) {
  if (!line.starts_with("---") && !line.starts_with("...")) return false;
  return line.size() == 3 || line[3] == ' ' || line[3] == '\t' || line[3] == '\r';
}

std::vector<std::string_view> YamlDocuments(std::string_view text) {
  std::vector<std::string_view> documents;
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    if (EndsDocument(text.substr(at, end - at))) {
      documents.push_back(text.substr(begin, at - begin));
      begin = at + 3;  // what stands behind the dashes belongs to the next one
    }
    at = end + 1;
  }
  documents.push_back(text.substr(std::min(begin, text.size())));
  return documents;
}

std::string Title(const KindInfo& kind, const std::string& ns, const std::string& name) {
  return kind.kind + " " + (ns.empty() ? name : ns + "/" + name);
}

class Loader {
 public:
  explicit Loader(Registry& registry) : registry_(registry), by_kind_(AllKinds().size()) {}

  Result<Loaded> Load(std::string_view text);

 private:
  Result<void> ReadYaml(std::string_view text);
  Result<void> ReadJson(std::string_view text, const std::string& place);
  Result<void> ReadValue(const api::JsonSplitter& splitter, Item item, int depth);
  Result<void> ReadItems(const api::JsonSplitter& splitter, const Item& list, int depth);
  Result<void> Put(const KindInfo& kind, const Item& item);
  Result<Json> Decode(const KindInfo& kind, const Item& item);
  Result<void> Complete(const KindInfo& kind, const std::string& title, Json& object);
  Result<void> EnsureNamespace(const std::string& ns);
  std::string LeftOut() const;

  Registry& registry_;
  std::vector<std::vector<Item>> by_kind_;     // indexed by KindIndex
  std::deque<std::string> converted_;          // JSON of YAML documents
  std::map<std::string, std::string> places_;  // "Pod ns/name" -> where it stands
  std::map<std::string, size_t> left_out_;     // "apps/v1 Deployment" -> how many
  std::set<std::string> namespaces_;           // known to exist
  std::string unknown_;                        // the first unknown field and where it was
  size_t unknown_fields_ = 0;
  bool saw_list_ = false;
  size_t objects_ = 0;
};

Result<Loaded> Loader::Load(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  Result<void> read = StartsAsJson(text) ? ReadJson(text, "") : ReadYaml(text);
  if (!read.ok()) return read.error();
  bool empty = left_out_.empty();
  // Pods are admitted by their priority classes.
  for (const bool classes : {true, false}) {
    for (const KindInfo& kind : AllKinds()) {
      if ((kind.kind == "PriorityClass") != classes) continue;
      for (const Item& item : by_kind_[KindIndex(kind)]) {
        if (Result<void> put = Put(kind, item); !put.ok()) return put.error();
        empty = false;
      }
    }
  }
  if (empty && !saw_list_) return Error{"holds no Kubernetes objects"};
  return Loaded{.objects = objects_, .left_out = LeftOut()};
}

Result<void> Loader::ReadYaml(std::string_view text) {
  size_t number = 0;
  for (const std::string_view document : YamlDocuments(text)) {
    Outcome<Json> decoded = DecodeBody("application/yaml", document);
    const bool nothing = decoded.ok() && decoded->is_null();
    if (nothing) continue;
    ++number;
    const std::string place = number == 1 ? "" : "document " + std::to_string(number);
    if (!decoded.ok()) return At(place, decoded.failure().message);
    converted_.push_back(decoded->dump(-1, ' ', false, Json::error_handler_t::replace));
    decoded = Json();
    if (Result<void> read = ReadJson(converted_.back(), place); !read.ok()) return read;
  }
  return {};
}

// Documents of YAML have their place already.
Result<void> Loader::ReadJson(std::string_view text, const std::string& place) {
  const api::JsonSplitter splitter(text);
  const auto values = splitter.Values();
  if (!values.ok()) return At(place, values.error().message);
  for (size_t i = 0; i < values->size(); ++i) {
    Item item{.place = place, .json = (*values)[i], .api_version = {}, .kind = {}, .items = {}};
    if (i > 0) item.place = "document " + std::to_string(i + 1);
    if (Result<void> read = ReadValue(splitter, std::move(item), 0); !read.ok()) return read;
  }
  return {};
}

// `item` has a place and its text, and perhaps what its list says about it.
Result<void> Loader::ReadValue(const api::JsonSplitter& splitter, Item item, int depth) {
  if (item.json.front() != '{') return At(item.place, "must be an object");
  const auto members = splitter.Members(item.json);
  if (!members.ok()) return At(item.place, members.error().message);
  for (const api::JsonMember& member : *members) {
    if (member.key == "kind") item.kind = api::PlainJsonText(member.value);
    if (member.key == "apiVersion") item.api_version = api::PlainJsonText(member.value);
    if (member.key == "items" && member.value.front() == '[') item.items = member.value;
  }
  if (item.kind.empty()) return At(item.place, "kind: is missing: no Kubernetes object");
  if (item.api_version.empty()) {
    return At(item.place, "apiVersion: is missing: no Kubernetes object");
  }
  if (item.kind.ends_with(kList)) return ReadItems(splitter, item, depth);
  if (const KindInfo* kind = FindKind(item.api_version, item.kind); kind != nullptr) {
    by_kind_[KindIndex(StorageKind(*kind))].push_back(std::move(item));
  } else {
    ++left_out_[std::string(item.api_version) + " " + std::string(item.kind)];
  }
  return {};
}

Result<void> Loader::ReadItems(const api::JsonSplitter& splitter, const Item& list, int depth) {
  saw_list_ = true;
  if (list.items.empty()) return {};
  if (depth == kMostNestedLists) return At(list.place, "lists are nested too deeply");
  const auto elements = splitter.Elements(list.items);
  if (!elements.ok()) return At(list.place, elements.error().message);
  std::string prefix = list.place;
  if (!prefix.empty()) prefix += depth == 0 ? ": " : ".";
  prefix += "items[";
  // PodList -> Pod, for what an API server answers: its items do not say their kind.
  const std::string_view kind = list.kind.substr(0, list.kind.size() - kList.size());
  for (size_t i = 0; i < elements->size(); ++i) {
    Item item{.place = prefix + std::to_string(i) + "]",
              .json = (*elements)[i],
              .api_version = kind.empty() ? std::string_view() : list.api_version,
              .kind = kind,
              .items = {}};
    if (Result<void> read = ReadValue(splitter, std::move(item), depth + 1); !read.ok()) {
      return read;
    }
  }
  return {};
}

Result<void> Loader::Put(const KindInfo& kind, const Item& item) {
  Result<Json> decoded = Decode(kind, item);
  if (!decoded.ok()) return decoded.error();
  Json& object = *decoded;
  Json& metadata = object["metadata"];
  const std::string name = Text(metadata, "name");
  const std::string ns = Text(metadata, "namespace");
  const std::string title = Title(kind, ns, name);
  const auto [earlier, inserted] = places_.try_emplace(title + " " + kind.group, item.place);
  if (!inserted) {
    const std::string& first = earlier->second;
    return At(item.place,
              title + ": is there twice; the first one: " + (first.empty() ? "document 1" : first));
  }
  if (kind.namespaced) {
    const Result<void> made = EnsureNamespace(ns);
    if (!made.ok()) return At(item.place, made.error().message);
  }
  if (Result<void> completed = Complete(kind, title, object); !completed.ok()) {
    return At(item.place, title + ": " + completed.error().message);
  }
  registry_.store().Put(kind, std::move(object));
  ++objects_;
  return {};
}

// The object with kind, apiVersion, metadata.name and, where it belongs, metadata.namespace.
Result<Json> Loader::Decode(const KindInfo& kind, const Item& item) {
  Json object = Json::parse(item.json, nullptr, false);
  if (object.is_discarded() || !object.is_object()) return At(item.place, "invalid JSON");
  Json& metadata = object["metadata"];
  if (!metadata.is_object() || Text(metadata, "name").empty()) {
    return At(item.place, kind.kind + ": metadata.name: is missing");
  }
  if (!kind.namespaced) {
    metadata.erase("namespace");
  } else if (Text(metadata, "namespace").empty()) {
    metadata["namespace"] = "default";
  }
  if (kind.kind == "Event" && item.api_version != kind.api_version()) ToCoreEvent(object);
  object["apiVersion"] = kind.api_version();
  object["kind"] = kind.kind;
  return object;
}

// What a server would have added. An object with a uid comes from a server: it was admitted there,
// and its status is kept as it is.
Result<void> Loader::Complete(const KindInfo& kind, const std::string& title, Json& object) {
  const bool served = Find(object, "metadata", "uid") != nullptr;
  std::vector<std::string> unknown;
  const auto unfit =
      FitObject(kind.api_version(), kind.kind, object, FieldValidation::kWarn, &unknown);
  if (unfit) return Error{unfit->message};
  if (unknown_fields_ == 0 && !unknown.empty()) unknown_ = unknown.front() + " of " + title;
  unknown_fields_ += unknown.size();
  std::optional<Json> status;
  if (const Json* found = Find(object, "status")) status = *found;
  SetDefaults(kind, object);
  if (status && !served && object["status"].is_object()) {
    object["status"].update(*status);
  } else if (status) {
    object["status"] = std::move(*status);
  }
  if (!served) {
    if (const auto refused = Admit(kind, registry_, object)) return Error{refused->message};
  }
  Json& metadata = object["metadata"];
  metadata.erase("resourceVersion");
  if (!served) metadata["uid"] = registry_.NewUid();
  if (Find(metadata, "creationTimestamp") == nullptr) {
    metadata["creationTimestamp"] = registry_.Now();
  }
  if (kind.has_spec_generation) metadata.emplace("generation", 1);
  std::string faults;
  for (const Cause& cause : CheckNew(kind, object)) {
    faults += (faults.empty() ? "" : "; ") + cause.field + ": " + cause.message;
  }
  if (!faults.empty()) return Error{faults};
  return {};
}

// Dumps of single kinds have no namespaces.
Result<void> Loader::EnsureNamespace(const std::string& ns) {
  static const KindInfo& namespaces = *FindResource("", "v1", "namespaces");
  if (!namespaces_.insert(ns).second) return {};
  if (registry_.store().Find(namespaces, "", ns) != nullptr) return {};
  const auto created = registry_.Create(namespaces, "", {{"metadata", {{"name", ns}}}});
  if (!created.ok()) return Error{created.failure().message};
  return {};
}

std::string Loader::LeftOut() const {
  std::string text;
  for (const auto& [kind, count] : left_out_) {
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + kind;
  }
  if (unknown_fields_ == 0) return text;
  text += (text.empty() ? "" : ", ") + std::to_string(unknown_fields_) + " unknown field" +
          (unknown_fields_ > 1 ? "s, the first one: " : ": ") + unknown_;
  return text;
}

}  // namespace

Result<Loaded> LoadSnapshot(Registry& registry, std::string_view text) {
  return Loader(registry).Load(text);
}

}  // namespace ks::apiserver
