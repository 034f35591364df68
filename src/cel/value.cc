// SPDX-License-Identifier: Apache-2.0
#include "cel/value.h"

#include <algorithm>
#include <functional>

namespace ks::cel {

const Text kNoSuchOverloadText = Literal("no such overload");
const Optional kNoneOptional{};

namespace {

template <class T>
Value Pointing(Kind kind, const T* Value::*member, const T* object) {
  Value value(kind, int64_t{0});
  value.*member = object;
  return value;
}

}  // namespace

Value Value::Of(const List* v) { return Pointing(Kind::kList, &Value::list, v); }
Value Value::Of(const Map* v) { return Pointing(Kind::kMap, &Value::map, v); }
Value Value::Of(const Optional* v) { return Pointing(Kind::kOptional, &Value::optional, v); }
Value Value::Of(const Message* v) { return Pointing(Kind::kMessage, &Value::message, v); }
Value Value::Of(const Device* v) { return Pointing(Kind::kDevice, &Value::device, v); }
Value Value::Of(const api::Quantity* v) { return Pointing(Kind::kQuantity, &Value::quantity, v); }
Value Value::Of(const Semver* v) { return Pointing(Kind::kSemver, &Value::semver, v); }
Value Value::Of(const golang::Url* v) { return Pointing(Kind::kUrl, &Value::url, v); }
Value Value::Of(const Ip* v) { return Pointing(Kind::kIp, &Value::ip, v); }
Value Value::Of(const Cidr* v) { return Pointing(Kind::kCidr, &Value::cidr, v); }
Value Value::Of(const Format* v) { return Pointing(Kind::kFormat, &Value::format, v); }

Value Unwrapped(Value value) {
  while (value.is(Kind::kOptional) && value.optional->present) value = value.optional->value;
  return value;
}

List* List::Make(Arena& arena, size_t capacity) {
  List* list = arena.New<List>();
  list->items = arena.Array<Value>(capacity);
  list->capacity = capacity;
  return list;
}

void List::Append(Arena& arena, Value value) {
  if (size == capacity) {
    capacity = std::max<size_t>(capacity * 2, 8);
    Value* larger = arena.Array<Value>(capacity);
    std::copy_n(items, size, larger);
    items = larger;
  }
  new (items + size++) Value(value);
}

Map* Map::Make(Arena& arena, size_t capacity) {
  Map* map = arena.New<Map>();
  map->entries = arena.Array<Entry>(capacity);
  map->capacity = capacity;
  return map;
}

const Value* Map::Find(const Value& key) const {
  if (bucket_count == 0) {
    const auto* found =
        std::find_if(begin(), end(), [&](const Entry& e) { return SameKey(e.key, key); });
    return found == end() ? nullptr : &found->value;
  }
  for (size_t i = HashKey(key) % bucket_count; buckets[i] != 0; i = (i + 1) % bucket_count) {
    const Entry& entry = entries[buckets[i] - 1];
    if (SameKey(entry.key, key)) return &entry.value;
  }
  return nullptr;
}

void Map::Index(Arena& arena, size_t count) {
  bucket_count = count;
  buckets = arena.Array<uint32_t>(count);
  FillIndex();
}

void Map::FillIndex() {
  std::fill_n(buckets, bucket_count, 0);
  for (size_t e = 0; e < size; ++e) {
    size_t i = HashKey(entries[e].key) % bucket_count;
    while (buckets[i] != 0) i = (i + 1) % bucket_count;
    buckets[i] = static_cast<uint32_t>(e + 1);
  }
}

void Map::Remove(const Value& key) {
  const Value* const found = Find(key);
  if (found == nullptr) return;
  Entry* const last = entries + size;
  Entry* const removed =
      std::find_if(entries, last, [&](const Entry& entry) { return &entry.value == found; });
  std::copy(removed + 1, last, removed);
  --size;
  if (size < kIndexFrom) bucket_count = 0;
  if (bucket_count != 0) FillIndex();
}

void Map::Insert(Arena& arena, Value key, Value value) {
  if (size == capacity) {
    capacity = std::max<size_t>(capacity * 2, 8);
    Entry* larger = arena.Array<Entry>(capacity);
    std::copy_n(entries, size, larger);
    entries = larger;
  }
  new (entries + size++) Entry{key, value};
  if (size < kIndexFrom) return;
  if (size * 2 > bucket_count) return Index(arena, size * 4);
  size_t i = HashKey(key) % bucket_count;
  while (buckets[i] != 0) i = (i + 1) % bucket_count;
  buckets[i] = static_cast<uint32_t>(size);
}

uint32_t CountCodePoints(std::string_view text) {
  return static_cast<uint32_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

const Text* RefText(Arena& arena, std::string_view text) {
  return arena.New<Text>(text.data(), static_cast<uint32_t>(text.size()), CountCodePoints(text));
}

const Text* MakeText(Arena& arena, std::string_view text) {
  return RefText(arena, arena.Copy(text));
}

Value MakeString(Arena& arena, std::string_view text) {
  return Value::String(MakeText(arena, text));
}

Value MakeBytes(Arena& arena, std::string_view bytes) {
  return Value::Bytes(MakeText(arena, bytes));
}

Value MakeError(Arena& arena, std::string_view message) {
  return Value::Error(MakeText(arena, message));
}

Value MakeSome(Arena& arena, Value value) { return Value::Of(arena.New<Optional>(true, value)); }

std::string_view RuntimeTypeName(const Value& value) {
  switch (value.kind) {
    case Kind::kNull:
      return "null_type";
    case Kind::kBool:
      return "bool";
    case Kind::kInt:
      return "int";
    case Kind::kUint:
      return "uint";
    case Kind::kDouble:
      return "double";
    case Kind::kString:
      return "string";
    case Kind::kBytes:
      return "bytes";
    case Kind::kDuration:
      return "google.protobuf.Duration";
    case Kind::kTimestamp:
      return "google.protobuf.Timestamp";
    case Kind::kType:
      return "type";
    case Kind::kList:
      return "list";
    case Kind::kMap:
      return "map";
    case Kind::kOptional:
      return "optional_type";
    case Kind::kMessage:
      return value.message->type_name;
    case Kind::kDevice:
      return "kubernetes.DRADevice";
    case Kind::kQuantity:
      return "kubernetes.Quantity";
    case Kind::kSemver:
      return "kubernetes.Semver";
    case Kind::kUrl:
      return "kubernetes.URL";
    case Kind::kIp:
      return "net.IP";
    case Kind::kCidr:
      return "net.CIDR";
    case Kind::kFormat:
      return "kubernetes.NamedFormat";
    case Kind::kError:
      return "error";
  }
  return "error";
}

}  // namespace ks::cel
