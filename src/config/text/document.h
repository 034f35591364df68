// SPDX-License-Identifier: Apache-2.0
#pragma once
// The text of a configuration file as a tree that looks like JSON, with the place of every key and
// value. Knows YAML 1.1 and JSON; knows nothing of the configuration's fields, so it also reads
// files of older versions.
//
// Upstream: docs/spec/config.md sections 2.2, 2.3 and the duplicate keys of 2.6.
//
// No function here throws. Size and depth of a tree are bounded (kMaxDepth and the limits in
// document.cc), so recursion over a Value needs no guard of its own.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/text/findings.h"

namespace ks::config {

enum class Syntax : uint8_t { kYaml, kJson };

inline constexpr int kMaxDepth = 500;
inline constexpr size_t kMostBytes = size_t{16} << 20;  // of a text

struct Member;

// Lifetime: owns everything below it.
struct Value {
  enum class Kind : uint8_t { kNull, kBool, kNumber, kString, kList, kMapping };

  Kind kind = Kind::kNull;
  bool boolean = false;
  // YAML: written without quotes and tag. For hints such as "y is a boolean in YAML 1.1".
  bool plain = false;
  // kString: the string, always valid UTF-8. kNumber: the literal as JSON, in YAML files after
  // upstream's conversion ("16" for 0x10, "5" for 5.0, "1e+39"). Else empty.
  std::string text;
  // What the file says, for hints; only of plain YAML scalars, else empty.
  std::string written;
  std::vector<Value> items;  // kList
  // kMapping: in the order of the file, duplicates included. YAML: merged-in members stand where
  // their `<<` stands.
  std::vector<Member> members;
  Place place;

  bool IsNull() const { return kind == Kind::kNull; }
  bool IsString() const { return kind == Kind::kString; }
  bool IsList() const { return kind == Kind::kList; }
  bool IsMapping() const { return kind == Kind::kMapping; }

  // The value in force for `key` (the last one), null when there is none or this is no mapping.
  const Value* Find(std::string_view key) const;
};

struct Member {
  std::string key;
  Place place;  // of the key
  Value value;
};

// "null", "bool", "number", "string", "array", "object".
std::string_view KindName(Value::Kind kind);

// The members that upstream's decoder sees, in its order: YAML: sorted bytewise, of equal keys the
// last one only; JSON: all of them in file order. Lifetime: borrowed from `mapping`.
std::vector<const Member*> VisibleMembers(const Value& mapping, Syntax syntax);

// Compact JSON of what the decoder sees, with Go's escapes (`<`, `>`, `&` as \u003c …).
std::string CompactJson(const Value& value, Syntax syntax);

// A key of a YAML mapping that the mapping has already.
struct DuplicateKey {
  std::string text;  // upstream's: `line 4: key "parallelism" already set in map`
  std::string path;  // of the later one, "profiles[0].plugins"
  Place place;       // of the later one
};

struct Document {
  Syntax syntax = Syntax::kYaml;
  Value root;
  std::vector<DuplicateKey> duplicates;  // YAML only, in upstream's order
};

// JSON when the first byte after white space is `{`, else the first document of a YAML stream. An
// empty document is null. The error's message is upstream's whole text.
std::variant<Document, Finding> ParseDocument(std::string_view text);

}  // namespace ks::config
