// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads, completes, checks and prints structures along their tables of fields. For args_tables.cc
// only: everybody else takes an ArgsType.
//
// Upstream: docs/spec/config.md sections 2.8, 3.7, 4 and 7.

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "config/args/field_table.h"
#include "config/print/print_json.h"
#include "config/read/decode_fields.h"
#include "config/types.h"

namespace ks::config {

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

template <class T>
inline constexpr bool kIsList = false;
template <class T>
inline constexpr bool kIsList<std::vector<T>> = true;

// The table of T, which must have one.
template <class T>
constexpr const auto& TableFor() {
  static_assert(!std::is_same_v<std::remove_cv_t<decltype(kFieldTable<T>)>, NoTable>,
                "this type needs a table of its fields: kFieldTable<T> in args_tables.cc");
  return kFieldTable<T>;
}

// Calls `visit` with each field of T's table.
template <class T, class Visit>
void ForEachField(const Visit& visit) {
  std::apply([&visit](const auto&... field) { (visit(field), ...); }, TableFor<T>().fields);
}

// Reading.

// "v1.ResourceSpec".
template <class T>
std::string GoTypeName() {
  if constexpr (std::same_as<T, std::string>) {
    return "string";
  } else {
    return "v1." + std::string(TableFor<T>().facts.name);
  }
}

template <class T>
void DecodeStruct(Decoder& decoder, const Value& value, std::string_view type,
                  std::vector<Field> fields, T& target);

// `string_type`: Go's name of the type, if the value is a string or an optional one.
template <class T>
void DecodeValue(Decoder& decoder, const Value& value, std::string_view string_type, T& target) {
  if constexpr (std::same_as<T, bool>) {
    decoder.Bool(value, target);
  } else if constexpr (std::same_as<T, int32_t>) {
    decoder.Int32(value, target);
  } else if constexpr (std::same_as<T, int64_t>) {
    decoder.Int64(value, target);
  } else if constexpr (std::same_as<T, Duration>) {
    decoder.Time(value, target);
  } else if constexpr (std::same_as<T, std::string>) {
    decoder.String(value, target, string_type);
  } else if constexpr (kIsOptional<T>) {
    decoder.Optional(value, target, [&](const Value& given, auto& decoded) {
      DecodeValue(decoder, given, string_type, decoded);
    });
  } else if constexpr (kIsList<T>) {
    decoder.List(value, GoTypeName<typename T::value_type>(), target,
                 [&](const Value& item, auto& element) {
                   DecodeValue(decoder, item, string_type, element);
                 });
  } else {
    DecodeStruct(decoder, value, GoTypeName<T>(), {}, target);
  }
}

// `fields`: those that are only known, before those of the table.
template <class T>
void DecodeStruct(Decoder& decoder, const Value& value, std::string_view type,
                  std::vector<Field> fields, T& target) {
  ForEachField<T>([&](const auto& field) {
    fields.push_back({field.name, [&](const Value& given) {
                        auto& member = target.*field.member;
                        if (field.facts.decode != nullptr) {
                          field.facts.decode(decoder, given, member);
                        } else {
                          DecodeValue(decoder, given, field.facts.type, member);
                        }
                      }});
  });
  decoder.Struct(value, TableFor<T>().facts.name, type, fields);
}

// Arguments of a plugin. Every such object may say its kind; routing has read it.
template <class Args>
void DecodeArgs(Decoder& decoder, const Value& value, Args& target) {
  DecodeStruct(decoder, value, "", {{"apiVersion", {}}, {"kind", {}}}, target);
}

// Completing and checking.

template <class Args>
void CompleteFields(Args& args, const FeatureGates& gates) {
  ForEachField<Args>([&](const auto& field) {
    if (field.facts.complete != nullptr) field.facts.complete(args.*field.member, gates);
  });
}

template <class Args>
void CheckFields(const Args& args, const std::string& path, const FeatureGates& gates,
                 Report& report) {
  const std::string prefix = path.empty() ? "" : path + ".";
  ForEachField<Args>([&](const auto& field) {
    if (field.facts.check == nullptr) return;
    field.facts.check(args.*field.member, prefix + std::string(field.name), gates, report);
  });
  constexpr CheckFunction<Args> kCheck = TableFor<Args>().facts.check;
  if constexpr (kCheck != nullptr) kCheck(args, path, gates, report);
}

// Printing.

template <class T>
bool IsPrinted(Print print, Style style, const T& value) {
  if (print == Print::kNever) return false;
  if (print == Print::kAlways || style == Style::kGo) return true;
  if constexpr (kIsOptional<T>) {
    return value && IsPrinted(print, style, *value);
  } else if constexpr (kIsList<T> || std::same_as<T, std::string>) {
    return print == Print::kIfGiven || !value.empty();
  } else {
    return true;
  }
}

// "minDomains" as "MinDomains".
inline std::string GoName(std::string_view name) {
  std::string go(name);
  go.front() = static_cast<char>(go.front() - 'a' + 'A');
  return go;
}

template <class T>
void AppendStruct(const T& value, Style style, JsonBuilder& out);

template <class T>
void AppendValue(const T& value, Style style, JsonBuilder& out);

template <class T>
void AppendList(const std::vector<T>& list, Style style, JsonBuilder& out) {
  out.BeginArray();
  for (const T& element : list) AppendValue(element, style, out);
  out.EndArray();
}

template <class T>
void AppendOptional(const std::optional<T>& value, Style style, JsonBuilder& out) {
  if (!value) {
    out.Null();
  } else if constexpr (kIsList<T>) {
    AppendList(*value, style, out);  // one that is given and empty
  } else {
    AppendValue(*value, style, out);
  }
}

template <class T>
void AppendValue(const T& value, Style style, JsonBuilder& out) {
  if constexpr (std::same_as<T, bool>) {
    out.Bool(value);
  } else if constexpr (std::integral<T>) {
    out.Number(value);
  } else if constexpr (std::same_as<T, Duration>) {
    out.Text(FormatDuration(value));
  } else if constexpr (std::same_as<T, std::string>) {
    out.Text(value);
  } else if constexpr (kIsOptional<T>) {
    AppendOptional(value, style, out);
  } else if constexpr (kIsList<T>) {
    if (style == Style::kGo && value.empty()) {
      out.Null();
    } else {
      AppendList(value, style, out);
    }
  } else {
    AppendStruct(value, style, out);
  }
}

// The fields of an object that is begun.
template <class T>
void AppendFields(const T& value, Style style, JsonBuilder& out) {
  ForEachField<T>([&](const auto& field) {
    const auto& member = value.*field.member;
    if (!IsPrinted(field.facts.print, style, member)) return;
    out.Key(style == Style::kGo ? GoName(field.name) : std::string(field.name));
    if (field.facts.append != nullptr) {
      field.facts.append(member, style, out);
    } else {
      AppendValue(member, style, out);
    }
  });
}

template <class T>
void AppendStruct(const T& value, Style style, JsonBuilder& out) {
  out.BeginObject();
  AppendFields(value, TableFor<T>().facts.of_pod_api ? Style::kFile : style, out);
  out.EndObject();
}

}  // namespace ks::config
