// SPDX-License-Identifier: Apache-2.0
#pragma once
// Typed fields from a document: the strict decoder that decode.cc and decode_args.cc describe their
// structures to. Errors are collected, never thrown; a target stays as it was when its value is
// absent, null or wrong.
//
// Upstream: docs/spec/config.md sections 2.5 and 2.6.

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "config/text/document.h"
#include "config/text/findings.h"

namespace ks::config {

using FieldDecoder = std::function<void(const Value&)>;

struct Field {
  std::string_view name;
  FieldDecoder decode;
  std::string_view embedded_in = {};  // Go structure between this one and the field, in type errors
};

class Decoder {
 public:
  // `base` is the path of the root ("" or "profiles[0].pluginConfig[1].args"); places go to
  // `source`, which outlives the decoder.
  Decoder(Syntax syntax, std::string base, SourceMap& source)
      : syntax_(syntax), base_(std::move(base)), source_(source) {}

  // `name` and `type` as Go calls the structure: "PluginSet", "v1.PluginSet". The root needs no
  // type.
  void Struct(const Value& value, std::string_view name, std::string_view type,
              std::span<const Field> fields);
  void Struct(const Value& value, std::string_view name, std::string_view type,
              std::initializer_list<Field> fields) {
    Struct(value, name, type, std::span<const Field>(fields.begin(), fields.size()));
  }

  void Bool(const Value& value, bool& target);
  void Int32(const Value& value, int32_t& target);
  void Int64(const Value& value, int64_t& target);
  void Float32(const Value& value, float& target);
  void String(const Value& value, std::string& target, std::string_view type = "string");
  // null is an error, as upstream's.
  void Time(const Value& value, Duration& target);
  // Base64 text or a list of bytes.
  void Bytes(const Value& value, std::string& target);
  void Strings(const Value& value, std::vector<std::string>& target);
  // Strings by name; only checked.
  void StringMap(const Value& value);

  // `each(item, element)` for every element of the list, on a fresh T; null elements stay fresh.
  template <class T, class Each>
  void List(const Value& value, std::string_view element_type, std::vector<T>& target, Each each) {
    if (!BeginList(value, element_type)) return;
    target.clear();
    for (size_t i = 0; i < value.items.size(); ++i) {
      const size_t outer = EnterElement(i, value.items[i].place);
      each(value.items[i], target.emplace_back());
      path_.resize(outer);
    }
  }

  // The target holds a value once there is one that is not null.
  template <class T, class Decode>
  void Optional(const Value& value, std::optional<T>& target, Decode decode) {
    if (value.IsNull()) return;
    T decoded{};
    decode(value, decoded);
    target = std::move(decoded);
  }

  // Path of what is being decoded, from the root of the file.
  std::string Path() const;

  // In upstream's order. The messages are upstream's texts.
  const std::vector<Finding>& type_errors() const { return type_errors_; }
  // Unknown and duplicate fields, in upstream's order, each text once.
  const std::vector<Finding>& strict_errors() const { return strict_errors_; }

 private:
  bool BeginList(const Value& value, std::string_view element_type);
  size_t EnterElement(size_t index, Place place);
  void DecodeMember(const Member& member, std::string_view name, const Field& field);
  void Unknown(const Member& member, std::string_view name, std::span<const Field> fields);
  void AddStrictError(const Member& member, std::string_view what, std::string hint);
  // `wrong_number`: a number whose literal does not fit.
  void TypeError(const Value& value, std::string_view type, bool wrong_number = false,
                 std::string hint = "");
  void AddTypeError(const Value& value, std::string message, std::string hint);
  void PutLastErrorFirst();
  // False for null and for what is no number of the type.
  template <class T>
  bool Integer(const Value& value, std::string_view type, T& target);

  const Syntax syntax_;
  const std::string base_;
  SourceMap& source_;
  std::string_view struct_;  // that holds the current field
  std::string go_path_;      // fields from the root, without indices
  std::string path_;         // the same with indices
  std::vector<Finding> type_errors_;
  bool ended_ = false;  // upstream would decode no further
  std::vector<Finding> strict_errors_;
  std::set<std::string> strict_texts_;
};

}  // namespace ks::config
