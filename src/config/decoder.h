// SPDX-License-Identifier: Apache-2.0
#pragma once
// The strict layer over yaml-cpp: types, unknown and repeated keys, and a list of everything that
// is wrong with line and column. Used by load.cc only. yaml-cpp alone accepts duplicates silently
// and takes "5" for a number.
//
// Upstream: docs/spec/config.md sections 2.3, 2.5 and 2.6.

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/yaml_scalar.h"

namespace ks::config {

// Gets the value and its full path ("profiles[0].schedulerName").
using FieldDecoder = std::function<void(const YAML::Node& value, const std::string& path)>;

struct Field {
  std::string_view name;
  FieldDecoder decode;  // empty: a field of upstream that this version does not support yet
};
using FieldTable = std::vector<Field>;

// Errors are collected; values stay as they were when theirs is wrong. null counts as absent.
class Decoder {
 public:
  Decoder(std::string file, Syntax syntax) : file_(std::move(file)), syntax_(syntax) {}

  // Calls the decoder of each key that is set. `path` is empty at the top.
  void Map(const YAML::Node& node, const std::string& path, const FieldTable& fields);

  // False for null, which is no error.
  bool IsList(const YAML::Node& node, const std::string& path);
  bool IsNull(const YAML::Node& node) const;

  // True if `target` was set.
  bool Bool(const YAML::Node& node, const std::string& path, bool& target);
  bool Int32(const YAML::Node& node, const std::string& path, int32_t& target);
  bool Int64(const YAML::Node& node, const std::string& path, int64_t& target);
  bool Float32(const YAML::Node& node, const std::string& path, float& target);
  bool String(const YAML::Node& node, const std::string& path, std::string& target);
  FieldDecoder IntoString(std::string& target);

  void Fail(const YAML::Node& node, const std::string& path, const std::string& text);
  // Upstream's `<path>: Invalid value: <value>: <detail>`.
  void Invalid(const YAML::Node& node, const std::string& path, int64_t value,
               const std::string& detail);

  // All errors so far in the order of the file, one per line; empty: none.
  std::string Report() const;

 private:
  struct Finding {
    int line;
    int column;
    std::string text;
  };

  void CheckKey(const YAML::Node& key, const YAML::Node& value, const std::string& path,
                const FieldTable& fields);
  bool Resolve(const YAML::Node& node, const std::string& path, const char* wanted, Scalar& scalar);
  void WrongType(const YAML::Node& node, const std::string& path, const char* wanted);

  const std::string file_;
  const Syntax syntax_;
  std::vector<Finding> findings_;
};

}  // namespace ks::config
