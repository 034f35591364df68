// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reading plugin arguments from JSON with clear errors. Not for validating values: each plugin
// knows its own rules.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "config/plugin_args.h"

namespace ks::plugins {

// The arguments as JSON; null when there are none.
nlohmann::json JsonOf(const config::PluginArgs& args);

// One JSON object of the arguments. The first problem found anywhere below one root is kept in
// `*problem`; after it every read gives the default. Absent and null fields are the same.
// Lifetime: `value` and `problem` outlive the reader and its children.
class ArgsReader {
 public:
  // `path` is the object's place in error texts, empty for the root. `known`: all field names that
  // the object may have; at the root also apiVersion and kind.
  ArgsReader(const nlohmann::json& value, std::string path,
             std::initializer_list<std::string_view> known, std::string* problem);

  bool Has(std::string_view field) const;
  std::string Text(std::string_view field) const;
  // Requires whole numbers; `lowest` and `highest` bound the type, not the meaning.
  int64_t Integer(std::string_view field, int64_t lowest, int64_t highest) const;
  std::vector<std::string> Texts(std::string_view field) const;
  // Requires: Has(field).
  ArgsReader Object(std::string_view field, std::initializer_list<std::string_view> known) const;
  std::vector<ArgsReader> Objects(std::string_view field,
                                  std::initializer_list<std::string_view> known) const;
  // "a.b[0].field".
  std::string Path(std::string_view field) const;

 private:
  // Null when absent.
  const nlohmann::json* Find(std::string_view field) const;
  void Expected(std::string_view path, std::string_view what, const nlohmann::json& value) const;

  const nlohmann::json* value_;
  std::string path_;
  std::string* problem_;
};

}  // namespace ks::plugins
