// SPDX-License-Identifier: Apache-2.0
#pragma once
// Typed reading of simdjson on-demand values. For the decoders only: nothing else may include it,
// because it brings simdjson with it. null reads as the zero value; a value that is not read is
// skipped, unchecked.

#include <cstdint>
#include <optional>
#include <string_view>

#include <simdjson.h>

#include "api/decode/field_reader.h"
#include "api/time_text.h"
#include "base/optional_time.h"

namespace ks::api {

namespace internal {
// The field's key, unescaped; valid until the next call. False: `error` says why.
bool ReadKey(simdjson::ondemand::field& field, std::string_view& key, simdjson::error_code& error);
}  // namespace internal

// Threads: one at a time.
class JsonReader : public ReaderKit<JsonReader> {
 public:
  using Value = simdjson::ondemand::value;
  // An object whose fields are still to be read.
  using Members = simdjson::ondemand::object;

  // All three return false.
  using ReaderState::Fail;
  bool Fail(simdjson::error_code code);
  bool FailType(Value value, std::string_view wanted);

  // on_field(std::string_view key, Value value) -> bool, for each field. The key is valid until the
  // next one.
  template <class OnField>
  bool Object(Value value, OnField&& on_field);
  template <class OnField>
  bool Fields(Members object, OnField&& on_field);
  // on_element(Value element) -> bool.
  template <class OnElement>
  bool Array(Value value, OnElement&& on_element);

  bool IsNull(Value value, bool& is_null);
  bool IsObject(Value value);
  // An object, its fields still to be read, and its text as written. Requires: not null.
  bool ObjectText(Value value, Members& object, std::string_view& text);
  // An object's JSON. Requires: not null.
  bool ObjectJson(Value value, std::string& json);
  // Whether a text, list or object that is not empty is there.
  bool NonEmpty(Value value, bool& non_empty);

  // The view lives as long as the document.
  bool Text(Value value, std::string_view& out);
  bool Bool(Value value, bool& out);
  bool Int64(Value value, int64_t& out);
  bool ReadQuantity(Value value, Quantity& out);
  bool Time(Value value, OptionalTime& out);
  bool MicroTime(Value value, OptionalTime& out);

 private:
  bool TimeOf(Value value, OptionalTime& out, TimePrecision precision);
};

template <class OnField>
bool JsonReader::Fields(Members object, OnField&& on_field) {
  for (auto result : object) {
    simdjson::ondemand::field field;
    std::string_view key;
    simdjson::error_code error = std::move(result).get(field);
    if (error || !internal::ReadKey(field, key, error)) return Fail(error);
    if (!on_field(key, field.value())) {
      AddKeyToPath(key);
      return false;
    }
  }
  return true;
}

template <class OnField>
bool JsonReader::Object(Value value, OnField&& on_field) {
  simdjson::ondemand::object object;
  if (value.get_object().get(object) == simdjson::SUCCESS) return Fields(object, on_field);
  bool is_null = false;
  return IsNull(value, is_null) && (is_null || FailType(value, "an object"));
}

template <class OnElement>
bool JsonReader::Array(Value value, OnElement&& on_element) {
  simdjson::ondemand::array array;
  if (value.get_array().get(array) != simdjson::SUCCESS) {
    bool is_null = false;
    return IsNull(value, is_null) && (is_null || FailType(value, "an array"));
  }
  size_t index = 0;
  for (auto result : array) {
    Value element;
    if (const simdjson::error_code error = std::move(result).get(element)) return Fail(error);
    if (!on_element(element)) {
      AddIndexToPath(index);
      return false;
    }
    ++index;
  }
  return true;
}

}  // namespace ks::api
