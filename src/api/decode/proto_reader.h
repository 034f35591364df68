// SPDX-License-Identifier: Apache-2.0
#pragma once
// Typed reading of protobuf messages as if they were the JSON of the same object: fields under
// their JSON names, in the order in which they come; those that JSON would leave out, since they
// are zero, do not come. For the decoders only: nothing else may include it, because it brings
// protozero with it.
//
// What differs from JSON: a field that is there is never null, and there is no text to show of an
// object. Unknown fields are skipped; a value that is not read is skipped, unchecked.
//
// Upstream: docs/spec/api.md sections 6.8 and 7.2.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <protozero/pbf_reader.hpp>

#include "api/decode/field_reader.h"
#include "api/proto/proto_message.h"
#include "base/optional_time.h"

namespace ks::api {

// A value, not yet read. The bytes belong to whoever reads.
struct ProtoValue {
  ProtoType type = ProtoType::kMessage;
  ProtoShape shape = ProtoShape::kOne;
  const ProtoMessage* message = nullptr;  // of kMessage
  // kOne: what a text, a quantity, a time or a message consists of. Else the elements or entries,
  // each with its tag.
  std::string_view bytes;
  uint64_t number = 0;  // kOne: of a boolean or an integer
};

namespace internal {

// Steps over the fields of a message; the elements of a repeated field are one.
class ProtoFields {
 public:
  ProtoFields(const ProtoMessage& message, std::string_view bytes)
      : message_(message), rest_(bytes.data(), bytes.size()) {}

  // False at the end, and where the bytes are no such message: failure() says so.
  bool Next(ProtoValue& value);
  // Requires: Next was true.
  const ProtoField& field() const { return *field_; }
  std::string_view failure() const { return failure_; }

 private:
  bool Read(ProtoValue& value);
  // The row of the field at hand, or null.
  const ProtoField* Row();

  const ProtoMessage& message_;
  protozero::pbf_reader rest_;
  const ProtoField* field_ = nullptr;
  size_t row_ = 0;     // the fields come by number
  uint64_t seen_ = 0;  // repeated fields that are over
  std::string_view failure_;
};

// Steps over the elements of a repeated field.
class ProtoElements {
 public:
  explicit ProtoElements(const ProtoValue& list)
      : rest_(list.bytes.data(), list.bytes.size()), element_(list) {
    element_.shape = ProtoShape::kOne;
  }

  bool Next(ProtoValue& value);
  // Of a map's entries.
  bool Next(std::string_view& key, ProtoValue& value);
  std::string_view failure() const { return failure_; }

 private:
  protozero::pbf_reader rest_;
  ProtoValue element_;
  std::string_view failure_;
};

}  // namespace internal

// Threads: one at a time.
class ProtoReader : public ReaderKit<ProtoReader> {
 public:
  using Value = ProtoValue;
  using Members = ProtoValue;

  // A whole message.
  static Value Root(const ProtoMessage& message, std::string_view bytes) {
    return {.message = &message, .bytes = bytes};
  }

  // on_field(std::string_view key, Value value) -> bool, for each field.
  template <class OnField>
  bool Object(const Value& value, OnField&& on_field);
  // Requires: a message.
  template <class OnField>
  bool Fields(const Value& value, OnField&& on_field);
  // on_element(Value element) -> bool.
  template <class OnElement>
  bool Array(const Value& value, OnElement&& on_element);

  static bool IsNull(const Value& /*value*/, bool& is_null) {
    is_null = false;
    return true;
  }
  static bool IsObject(const Value& value) {
    return value.type == ProtoType::kMessage && value.shape == ProtoShape::kOne;
  }
  // The text is the message's bytes.
  bool ObjectText(const Value& value, Members& object, std::string_view& text);
  // Requires: its fields are texts and JSON.
  bool ObjectJson(const Value& value, std::string& json);
  static bool NonEmpty(const Value& value, bool& non_empty) {
    non_empty = non_empty || value.number != 0 || !value.bytes.empty();
    return true;
  }

  // The view lives as long as the message's bytes.
  bool Text(const Value& value, std::string_view& out);
  bool Bool(const Value& value, bool& out);
  bool Int64(const Value& value, int64_t& out);
  bool ReadQuantity(const Value& value, Quantity& out);
  // Whole seconds.
  bool Time(const Value& value, OptionalTime& out);
  bool MicroTime(const Value& value, OptionalTime& out);

 private:
  // Returns false.
  bool FailType(std::string_view wanted);
  bool TimeOf(const Value& value, OptionalTime& out, std::chrono::nanoseconds precision);
  template <class OnField>
  bool Entries(const Value& value, OnField&& on_field);
};

template <class OnField>
bool ProtoReader::Fields(const Value& value, OnField&& on_field) {
  if (value.message == nullptr) return true;
  internal::ProtoFields fields(*value.message, value.bytes);
  Value field;
  while (fields.Next(field)) {
    if (fields.field().inlined) {
      if (!Object(field, on_field)) return false;
    } else if (!on_field(fields.field().name, field)) {
      AddKeyToPath(fields.field().name);
      return false;
    }
  }
  return fields.failure().empty() || Fail(fields.failure());
}

template <class OnField>
bool ProtoReader::Entries(const Value& value, OnField&& on_field) {
  internal::ProtoElements entries(value);
  std::string_view key;
  Value entry;
  while (entries.Next(key, entry)) {
    if (!on_field(key, entry)) {
      AddKeyToPath(key);
      return false;
    }
  }
  return entries.failure().empty() || Fail(entries.failure());
}

template <class OnField>
bool ProtoReader::Object(const Value& value, OnField&& on_field) {
  if (value.shape == ProtoShape::kMap) return Entries(value, on_field);
  if (!IsObject(value)) return FailType("an object");
  return Fields(value, on_field);
}

template <class OnElement>
bool ProtoReader::Array(const Value& value, OnElement&& on_element) {
  if (value.shape != ProtoShape::kMany) return FailType("an array");
  internal::ProtoElements elements(value);
  Value element;
  for (size_t index = 0; elements.Next(element); ++index) {
    if (!on_element(element)) {
      AddIndexToPath(index);
      return false;
    }
  }
  return elements.failure().empty() || Fail(elements.failure());
}

}  // namespace ks::api
