// SPDX-License-Identifier: Apache-2.0
#pragma once
// Typed reading of simdjson on-demand values with errors that know their path. For the decode_*.cc
// files only: nothing else may include it, because it brings simdjson with it.
//
// Every reader returns false after a failure, and the caller hands that on at once; the path is put
// together on the way out, so that it costs nothing when all goes well. null reads as the zero
// value; a value that is not read is skipped, unchecked.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <simdjson.h>

#include "api/labels.h"
#include "api/time_text.h"
#include "base/result.h"

namespace ks::api {

namespace internal {
// The field's key, unescaped; valid until the next call. False: `error` says why.
bool ReadKey(simdjson::ondemand::field& field, std::string_view& key, simdjson::error_code& error);
}  // namespace internal

// Threads: one at a time.
class JsonReader {
 public:
  using Value = simdjson::ondemand::value;

  // Forgets the last error.
  void Reset();
  // The last failure as "path: cause". Requires: some reader returned false.
  Error TakeError();

  // All three return false.
  bool Fail(std::string_view cause);
  bool Fail(simdjson::error_code code);
  bool FailType(Value value, std::string_view wanted);

  // on_field(std::string_view key, Value value) -> bool, for each field. The key is valid until the
  // next one.
  template <class OnField>
  bool Object(Value value, OnField&& on_field);
  template <class OnField>
  bool Fields(simdjson::ondemand::object object, OnField&& on_field);
  // on_element(Value element) -> bool.
  template <class OnElement>
  bool Array(Value value, OnElement&& on_element);
  // One element of `out` per element: read(Value, T&) -> bool. Leaves no spare memory.
  template <class T, class Read>
  bool List(Value value, std::vector<T>& out, Read&& read);
  // Absent when null.
  template <class T, class Read>
  bool Optional(Value value, std::optional<T>& out, Read&& read);

  bool IsNull(Value value, bool& is_null);
  // The view lives as long as the document.
  bool Text(Value value, std::string_view& out);
  bool String(Value value, std::string& out);
  bool Sym(Value value, Symbol& out);
  bool Bool(Value value, bool& out);
  bool Int32(Value value, int32_t& out);
  bool Int64(Value value, int64_t& out);
  bool ReadQuantity(Value value, Quantity& out);
  bool Time(Value value, std::optional<TimePoint>& out);
  bool MicroTime(Value value, std::optional<TimePoint>& out);

  bool Strings(Value value, std::vector<std::string>& out);
  bool Syms(Value value, std::vector<Symbol>& out);
  bool SymMap(Value value, LabelMap& out);
  bool StringMap(Value value, SymbolMap<std::string>& out);
  bool Resources(Value value, ResourceList& out);

  // The interned text; a small cache saves the lock of the symbol table for what repeats.
  Symbol Intern(std::string_view text);

 private:
  template <class V, class Read>
  bool Map(Value value, SymbolMap<V>& out, std::vector<std::pair<Symbol, V>>& scratch, Read&& read);
  bool TimeOf(Value value, std::optional<TimePoint>& out, TimePrecision precision);
  void AddKeyToPath(std::string_view key);
  void AddIndexToPath(size_t index);

  std::string path_;
  std::string cause_;
  std::array<Symbol, 1024> symbols_{};
  std::vector<std::pair<Symbol, Symbol>> label_scratch_;
  std::vector<std::pair<Symbol, std::string>> string_scratch_;
  std::vector<std::pair<Symbol, Quantity>> resource_scratch_;
};

template <class OnField>
bool JsonReader::Fields(simdjson::ondemand::object object, OnField&& on_field) {
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

template <class T, class Read>
bool JsonReader::List(Value value, std::vector<T>& out, Read&& read) {
  out.clear();
  const bool ok = Array(value, [&](Value element) { return read(element, out.emplace_back()); });
  if (out.capacity() != out.size()) out.shrink_to_fit();
  return ok;
}

template <class T, class Read>
bool JsonReader::Optional(Value value, std::optional<T>& out, Read&& read) {
  out.reset();
  bool is_null = false;
  if (!IsNull(value, is_null)) return false;
  return is_null || read(value, out.emplace());
}

}  // namespace ks::api
