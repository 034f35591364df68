// SPDX-License-Identifier: Apache-2.0
#pragma once
// CEL values at run time: 16 bytes with a tag; what is larger lies in an arena. Errors are values,
// too, because the logical operators absorb them. Not the operations of the libraries.
//
// Upstream: docs/spec/cel.md sections 4 and 6.2.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/quantity.h"
#include "cel/arena.h"
#include "golang/url.h"

namespace ks::cel {

enum class Kind : uint8_t {
  kNull,
  kBool,
  kInt,
  kUint,
  kDouble,
  kString,
  kBytes,
  kDuration,
  kTimestamp,
  kType,
  kList,
  kMap,
  kOptional,
  kMessage,
  kDevice,
  kQuantity,
  kSemver,
  kUrl,
  kIp,
  kCidr,
  kFormat,
  kError,
};

// Characters with their number, which costs and indices need: it is counted once.
struct Text {
  const char* data = nullptr;
  uint32_t size = 0;    // bytes
  uint32_t length = 0;  // code points; equal to size exactly if all are ASCII

  constexpr std::string_view view() const { return {data, size}; }
  constexpr bool ascii() const { return size == length; }
};

struct List;
struct Map;
struct Optional;
struct Message;
struct Semver;
struct Ip;
struct Cidr;
struct Format;
class Device;

// Threads: like an integer. Lifetime: as long as the arena, device or static object it points to.
struct Value {
  Kind kind = Kind::kNull;
  // Timestamp: minutes east of Greenwich, as written. Quantity: not 0 if it is a sum or difference,
  // which upstream does not take for a quantity on the right of an equation.
  int16_t offset = 0;
  uint32_t nanos = 0;  // timestamp: of the second; list, map: Context::Fetched's
  union {
    bool boolean;
    int64_t integer = 0;  // int; duration in nanoseconds; timestamp in seconds since 1970
    uint64_t natural;
    double real;
    const Text* text;  // string, bytes, name of a type, message of an error
    const List* list;
    const Map* map;
    const Optional* optional;
    const Message* message;
    const Device* device;
    const api::Quantity* quantity;
    const Semver* semver;
    const golang::Url* url;
    const Ip* ip;
    const Cidr* cidr;
    const Format* format;
  };

  constexpr Value() = default;
  constexpr Value(Kind k, int64_t v) : kind(k), integer(v) {}
  constexpr Value(Kind k, const Text* v) : kind(k), text(v) {}

  static constexpr Value Bool(bool v) {
    Value value(Kind::kBool, int64_t{0});
    value.boolean = v;
    return value;
  }
  static constexpr Value Int(int64_t v) { return Value(Kind::kInt, v); }
  static constexpr Value Uint(uint64_t v) {
    Value value(Kind::kUint, int64_t{0});
    value.natural = v;
    return value;
  }
  static constexpr Value Double(double v) {
    Value value(Kind::kDouble, int64_t{0});
    value.real = v;
    return value;
  }
  static constexpr Value Duration(int64_t nanoseconds) {
    return Value(Kind::kDuration, nanoseconds);
  }
  static constexpr Value Timestamp(int64_t seconds, uint32_t nanoseconds, int16_t offset = 0) {
    Value value(Kind::kTimestamp, seconds);
    value.nanos = nanoseconds;
    value.offset = offset;
    return value;
  }
  static constexpr Value String(const Text* v) { return Value(Kind::kString, v); }
  static constexpr Value Bytes(const Text* v) { return Value(Kind::kBytes, v); }
  static constexpr Value Error(const Text* v) { return Value(Kind::kError, v); }
  static Value Of(const List* v);
  static Value Of(const Map* v);
  static Value Of(const Optional* v);
  static Value Of(const Message* v);
  static Value Of(const Device* v);
  static Value Of(const api::Quantity* v);
  static Value Of(const Semver* v);
  static Value Of(const golang::Url* v);
  static Value Of(const Ip* v);
  static Value Of(const Cidr* v);
  static Value Of(const Format* v);

  constexpr bool is(Kind k) const { return kind == k; }
  constexpr bool is_error() const { return kind == Kind::kError; }
  constexpr bool is_true() const { return kind == Kind::kBool && boolean; }
  constexpr bool is_false() const { return kind == Kind::kBool && !boolean; }
  constexpr bool is_number() const {
    return kind == Kind::kInt || kind == Kind::kUint || kind == Kind::kDouble;
  }
  std::string_view view() const { return text->view(); }
};

// Elements in order. Grows only while it is being made.
struct List {
  Value* items = nullptr;
  size_t size = 0;
  size_t capacity = 0;
  bool joined = false;  // of two that are not empty
  // Not 0: it was empty when a variable was bound to it, and what is added to it is appended; one
  // more than the variable's slot (docs/spec/cel.md 6.2).
  uint32_t grows_for = 0;

  const Value* begin() const { return items; }
  const Value* end() const { return items + size; }
  const Value& operator[](size_t i) const { return items[i]; }

  static List* Make(Arena& arena, size_t capacity);
  void Append(Arena& arena, Value value);
};

// Entries in the order of insertion; larger maps have an index.
struct Map {
  struct Entry {
    Value key{};
    Value value{};
  };
  Entry* entries = nullptr;
  size_t size = 0;
  size_t capacity = 0;
  uint32_t* buckets = nullptr;  // open addressing: position + 1, or 0
  size_t bucket_count = 0;
  bool complete = false;   // the device's outer maps: a missing key has an empty map
  bool of_device = false;  // not made by an expression
  uint32_t grows_for = 0;  // as in List, though nothing is added

  const Entry* begin() const { return entries; }
  const Entry* end() const { return entries + size; }

  static Map* Make(Arena& arena, size_t capacity);
  // Keys that are equal to `key`, numbers across types. Null: none.
  const Value* Find(const Value& key) const;
  // Requires: no such key yet.
  void Insert(Arena& arena, Value key, Value value);
  // The entry with that key, if there is one. Takes as long as there are entries.
  void Remove(const Value& key);

 private:
  static constexpr size_t kIndexFrom = 8;  // entries

  void Index(Arena& arena, size_t count);
  void FillIndex();
};

struct Optional {
  bool present = false;
  Value value{};
};
extern const Optional kNoneOptional;

// A message without fields of its own that can be told apart by its type alone.
struct Message {
  std::string type_name;
};

// An error with a text known in advance: constexpr Text needs its length.
template <size_t N>
constexpr Text Literal(const char (&text)[N]) {
  return Text{text, N - 1, N - 1};
}
extern const Text kNoSuchOverloadText;
inline Value NoSuchOverload() { return Value::Error(&kNoSuchOverloadText); }

// Copies. Requires: valid UTF-8 (for MakeBytes anything).
const Text* MakeText(Arena& arena, std::string_view text);
// `text` outlives the value.
const Text* RefText(Arena& arena, std::string_view text);
Value MakeString(Arena& arena, std::string_view text);
Value MakeBytes(Arena& arena, std::string_view bytes);
Value MakeError(Arena& arena, std::string_view message);
Value MakeSome(Arena& arena, Value value);
inline Value None() { return Value::Of(&kNoneOptional); }

// Code points of valid UTF-8.
uint32_t CountCodePoints(std::string_view text);

// What a present optional holds, however deep; any other value itself.
Value Unwrapped(Value value);

// "int", "google.protobuf.Duration", "kubernetes.Semver".
std::string_view RuntimeTypeName(const Value& value);

// `==`: a bool, or an error where upstream's values refuse (docs/spec/cel.md section 6.2).
Value Equal(const Value& a, const Value& b);
// Three-way order of two values that the ordering operators compare. None: they do not (`no such
// overload`). Requires: no NaN.
std::optional<int> Compare(const Value& a, const Value& b);
// As keys: numbers by mathematical value; lists, maps, quantities, URLs and optional values that
// are present only if they are one object; everything else by Equal.
bool SameKey(const Value& a, const Value& b);
size_t HashKey(const Value& value);

}  // namespace ks::cel
