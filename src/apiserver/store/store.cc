// SPDX-License-Identifier: Apache-2.0
#include "apiserver/store/store.h"

#include <algorithm>

#include "apiserver/store/json_fields.h"
#include "apiserver/store/json_write.h"
#include "base/check.h"

namespace ks::apiserver {
namespace {

std::vector<std::pair<std::string, std::string>> LabelsOf(const Json& metadata) {
  std::vector<std::pair<std::string, std::string>> labels;
  const auto it = metadata.find("labels");
  if (it == metadata.end() || !it->is_object()) return labels;
  labels.reserve(it->size());
  for (const auto& [key, value] : it->get_ref<const Json::object_t&>()) {
    labels.emplace_back(key, value.is_string() ? value.get<std::string>() : std::string());
  }
  return labels;
}

// What a field selector compares with: strings as they are, absent ones as "", but absent booleans
// as "false" (kinds.h names only two: spec.unschedulable and spec.hostNetwork).
std::string FieldOf(const Json& object, std::string_view path) {
  const bool boolean = path == "spec.unschedulable" || path == "spec.hostNetwork";
  std::string absent = boolean ? "false" : "";
  // The component that reports an event stands in two places.
  if (path == "source") {
    const auto source = object.find("source");
    if (source != object.end() && source->is_object()) {
      std::string component = Text(*source, "component");
      if (!component.empty()) return component;
    }
    return Text(object, "reportingComponent");
  }
  const Json* at = &object;
  while (!path.empty()) {
    const size_t dot = path.find('.');
    const std::string key(path.substr(0, dot));
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
    if (!at->is_object()) return absent;
    const auto it = at->find(key);
    if (it == at->end() || it->is_null()) return absent;
    at = &*it;
  }
  if (at->is_string()) return at->get<std::string>();
  std::string text;
  AppendJson(*at, &text);
  return text;
}

std::vector<std::string> FieldsOf(const KindInfo& kind, const Json& object) {
  std::vector<std::string> fields;
  fields.reserve(kind.selectable_fields.size());
  for (const std::string& path : kind.selectable_fields) fields.push_back(FieldOf(object, path));
  return fields;
}

// The object's text; `version_offset` becomes the place of the version's digits.
std::string Serialize(const Json& object, size_t* version_offset) {
  std::string text;
  text.reserve(2048);
  text += '{';
  for (const auto& [key, value] : object.get_ref<const Json::object_t&>()) {
    if (text.size() > 1) text += ',';
    AppendJsonString(key, &text);
    text += ':';
    if (key != "metadata") {
      AppendJson(value, &text);
      continue;
    }
    text += '{';
    bool first = true;
    for (const auto& [name, field] : value.get_ref<const Json::object_t&>()) {
      if (!first) text += ',';
      first = false;
      AppendJsonString(name, &text);
      text += ':';
      if (name == "resourceVersion") *version_offset = text.size() + 1;
      AppendJson(field, &text);
    }
    text += '}';
  }
  text += '}';
  text.shrink_to_fit();
  return text;
}

}  // namespace

struct Store::Kind {
  Objects objects;
  std::deque<Change> log;
  uint64_t first_sequence = 0;  // of log.front()
  uint64_t forgotten = 0;       // version of the newest change that left the log
  std::list<std::function<void()>> subscribers;
};

bool Store::KeyLess::operator()(const KeyView& a, const KeyView& b) const {
  // The namespace ends with a '/', which is more than '-' and '.' and less than letters.
  const size_t common = std::min(a.first.size(), b.first.size());
  const int order = std::char_traits<char>::compare(a.first.data(), b.first.data(), common);
  if (order != 0) return order < 0;
  if (a.first.size() == b.first.size()) return a.second < b.second;
  return a.first.size() < b.first.size() ? '/' < b.first[common] : a.first[common] < '/';
}

Store::Store(StoreOptions options) : options_(options) {
  kinds_.reserve(AllKinds().size());
  for (size_t i = 0; i < AllKinds().size(); ++i) kinds_.push_back(std::make_unique<Kind>());
}

Store::~Store() = default;

Store::Kind& Store::Of(const KindInfo& kind) { return *kinds_[KindIndex(StorageKind(kind))]; }

const Store::Kind& Store::Of(const KindInfo& kind) const {
  return *kinds_[KindIndex(StorageKind(kind))];
}

const Store::Objects& Store::objects(const KindInfo& kind) const { return Of(kind).objects; }

ObjectPtr Store::Find(const KindInfo& kind, std::string_view ns, std::string_view name) const {
  const Objects& objects = Of(kind).objects;
  const auto it = objects.find(KeyView(ns, name));
  return it == objects.end() ? nullptr : it->second;
}

bool Store::VisitAt(const KindInfo& kind, uint64_t version, const KeyView& from,
                    const std::function<bool(const ObjectPtr&)>& visit) const {
  const Kind& state = Of(kind);
  if (version < state.forgotten) return false;
  // What every object that changed since was before its first change; null: not there.
  Objects earlier;
  const auto newer =
      std::upper_bound(state.log.begin(), state.log.end(), version,
                       [](uint64_t asked, const Change& change) { return asked < change.version; });
  for (auto it = newer; it != state.log.end(); ++it) {
    earlier.try_emplace(Key(it->object->ns, it->object->name), it->before);
  }
  auto now = state.objects.lower_bound(from);
  auto then = earlier.lower_bound(from);
  const KeyLess less;
  while (now != state.objects.end() || then != earlier.end()) {
    const bool take_then =
        then != earlier.end() && (now == state.objects.end() || !less(now->first, then->first));
    if (take_then && now != state.objects.end() && !less(then->first, now->first)) ++now;
    const ObjectPtr& object = take_then ? (then++)->second : (now++)->second;
    if (object != nullptr && !visit(object)) break;
  }
  return true;
}

ObjectPtr Store::Make(const KindInfo& kind, Json object, uint64_t version) {
  auto stored = std::make_shared<StoredObject>();
  stored->kind = &kind;
  object["apiVersion"] = kind.api_version();
  object["kind"] = kind.kind;
  Json& metadata = object["metadata"];
  if (!metadata.is_object()) metadata = Json::object();
  if (version == 0) {
    metadata.erase("resourceVersion");
  } else {
    metadata["resourceVersion"] = std::to_string(version);
  }
  stored->ns = Text(metadata, "namespace");
  stored->name = Text(metadata, "name");
  stored->uid = Text(metadata, "uid");
  stored->resource_version = version;
  stored->labels = LabelsOf(metadata);
  stored->fields = FieldsOf(kind, object);
  stored->text = Serialize(object, &stored->version_offset);
  return stored;
}

std::string Store::TextAt(const StoredObject& object, uint64_t version) {
  const std::string digits = std::to_string(version);
  const size_t end = object.text.find('"', object.version_offset);
  std::string text;
  text.reserve(object.text.size() + digits.size());
  text.append(object.text, 0, object.version_offset);
  text += digits;
  text.append(object.text, end, std::string::npos);
  return text;
}

ObjectPtr Store::WithVersion(const StoredObject& object, uint64_t version) {
  auto other = std::make_shared<StoredObject>();
  other->kind = object.kind;
  other->ns = object.ns;
  other->name = object.name;
  other->uid = object.uid;
  other->resource_version = version;
  other->labels = object.labels;
  other->fields = object.fields;
  other->text = TextAt(object, version);
  other->version_offset = object.version_offset;
  return other;
}

ObjectPtr Store::Put(const KindInfo& any_kind, Json object) {
  const KindInfo& kind = StorageKind(any_kind);
  return Keep(Make(kind, std::move(object), version_ + 1));
}

ObjectPtr Store::Put(const StoredObject& made) { return Keep(WithVersion(made, version_ + 1)); }

ObjectPtr Store::Keep(ObjectPtr object) {
  Kind& state = Of(*object->kind);
  version_ = object->resource_version;
  ObjectPtr& slot = state.objects[Key(object->ns, object->name)];
  Change change;
  change.type = slot == nullptr ? Change::Type::kAdded : Change::Type::kModified;
  change.version = version_;
  change.object = object;
  change.before = std::exchange(slot, object);
  Append(state, std::move(change));
  return object;
}

ObjectPtr Store::Remove(const KindInfo& any_kind, std::string_view ns, std::string_view name,
                        const StoredObject* last) {
  const KindInfo& kind = StorageKind(any_kind);
  Kind& state = Of(kind);
  const auto it = state.objects.find(KeyView(ns, name));
  KS_CHECK(it != state.objects.end(), "removal of an object that is not there");
  ++version_;
  Change change;
  change.type = Change::Type::kDeleted;
  change.version = version_;
  change.before = std::move(it->second);
  state.objects.erase(it);
  ObjectPtr removed = WithVersion(last != nullptr ? *last : *change.before, version_);
  change.object = removed;
  Append(state, std::move(change));
  return removed;
}

void Store::Append(Kind& state, Change change) {
  state.log.push_back(std::move(change));
  if (state.log.size() > options_.history) {
    state.forgotten = state.log.front().version;
    state.log.pop_front();
    ++state.first_sequence;
  }
  for (const std::function<void()>& woken : state.subscribers) woken();
}

std::optional<uint64_t> Store::SequenceAfter(const KindInfo& kind, uint64_t since) const {
  const Kind& state = Of(kind);
  if (since < state.forgotten) return {};
  const auto newer =
      std::upper_bound(state.log.begin(), state.log.end(), since,
                       [](uint64_t asked, const Change& change) { return asked < change.version; });
  return state.first_sequence + static_cast<uint64_t>(newer - state.log.begin());
}

const Change* Store::At(const KindInfo& kind, uint64_t sequence) const {
  const Kind& state = Of(kind);
  KS_CHECK(sequence >= state.first_sequence, "a change that is forgotten");
  const uint64_t index = sequence - state.first_sequence;
  return index < state.log.size() ? &state.log[index] : nullptr;
}

uint64_t Store::ForgottenVersion(const KindInfo& kind) const { return Of(kind).forgotten; }

uint64_t Store::FirstSequence(const KindInfo& kind) const { return Of(kind).first_sequence; }

uint64_t Store::NextSequence(const KindInfo& kind) const {
  const Kind& state = Of(kind);
  return state.first_sequence + state.log.size();
}

std::shared_ptr<void> Store::Subscribe(const KindInfo& kind, std::function<void()> woken) {
  Kind& state = Of(kind);
  state.subscribers.push_back(std::move(woken));
  const auto it = std::prev(state.subscribers.end());
  // The handle's own memory is what it owns; dropping it ends the subscription.
  return {&*it, [&state, it](void*) { state.subscribers.erase(it); }};
}

void Store::ForgetHistory() {
  for (const std::unique_ptr<Kind>& state : kinds_) {
    state->first_sequence += state->log.size();
    state->log.clear();
    state->forgotten = version_;
  }
}

}  // namespace ks::apiserver
