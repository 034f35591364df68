// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a table of fields consists of: each field of a structure once, with its name in files, the
// member that holds it, and what is particular about reading, completing, checking and printing it.
// The tables are in args_tables.cc, what walks along them in field_walk.h.
//
//   template <>
//   constexpr auto kFieldTable<ResourceSpec> =
//       TableOf<ResourceSpec>({.name = "ResourceSpec"},              // as Go calls the structure
//                             FieldOf("name", &ResourceSpec::name),
//                             FieldOf("weight", &ResourceSpec::weight));
//
// A member is a bool, a number, a string, a Duration, a structure that has a table itself, or an
// std::vector or std::optional of these. Every other one brings `decode` and `append` along.
//
// Upstream: docs/spec/config.md section 4.

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

#include "config/args_type.h"

namespace ks::config {

// Whether a field is printed in files; upstream's error messages show all that are not kNever.
enum class Print : uint8_t {
  kAlways,      // null when absent
  kIfGiven,     // an std::optional that holds a value
  kIfNotEmpty,  // a string or a list that is there and not empty
  kNever,
};

enum class Style : uint8_t {
  kFile,  // YAML, and JSON of /configz
  kGo,    // upstream's error messages: "Shape" for "shape", an empty list is null
};

// Completes a value where it is absent, or where its zero means "default".
template <class T>
using CompleteFunction = void (*)(T& value, const FeatureGates& gates);

// Reports what is wrong with a completed value, which stands at `path`, everything in it included.
template <class T>
using CheckFunction = void (*)(const T& value, const std::string& path, const FeatureGates& gates,
                               Report& report);

// What is particular about a field of type T.
template <class T>
struct FieldFacts {
  std::string_view type = "string";  // of a string, as Go calls it: "v1.ScoringStrategyType"
  Print print = Print::kAlways;
  CompleteFunction<T> complete = nullptr;  // called in the table of a plugin's arguments only
  CheckFunction<T> check = nullptr;        // the same
  // Instead of what follows from T.
  void (*decode)(Decoder& decoder, const Value& value, T& target) = nullptr;
  void (*append)(const T& value, Style style, JsonBuilder& out) = nullptr;
};

template <class Owner, class T>
struct TableField {
  std::string_view name;  // in files: "shape"
  T Owner::*member;
  FieldFacts<T> facts;
};

// The facts are those of a FieldFacts<T>, where there are any: {.print = Print::kNever}.
template <class Owner, class T>
constexpr TableField<Owner, T> FieldOf(std::string_view name, T Owner::*member,
                                       FieldFacts<T> facts = {}) {
  return {name, member, facts};
}

// What is particular about a structure.
template <class T>
struct TableFacts {
  std::string_view name;    // as Go calls it, without its package: "ResourceSpec"
  bool of_pod_api = false;  // in upstream's error messages, too, it looks as in files
  // In the table of a plugin's arguments: what concerns several fields; called after their checks.
  CheckFunction<T> check = nullptr;
  // See ArgsType.
  bool checked_by_factory = false;
};

template <class T, class... Fields>
struct FieldTable {
  TableFacts<T> facts;
  std::tuple<Fields...> fields;  // in upstream's order
};

template <class T, class... Fields>
constexpr FieldTable<T, Fields...> TableOf(TableFacts<T> facts, Fields... fields) {
  return {facts, {fields...}};
}

// The table of structure T.
struct NoTable {};
template <class T>
inline constexpr NoTable kFieldTable{};

}  // namespace ks::config
