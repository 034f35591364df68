// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads converted files back, for the tests of config/convert/convert.h.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <variant>

#include "config/convert/convert.h"
#include "config/read/load.h"
#include "config/text/document.h"

namespace ks::config {

struct ReadBack {
  nlohmann::json document;
  std::string notes;  // one a line
};

// Converts, and checks that the result loads.
inline ReadBack ConvertAndLoad(std::string_view text, bool keep_legacy = false) {
  ReadBack back;
  const auto converted = ConvertConfiguration(text, {.keep_legacy = keep_legacy});
  if (!converted.ok()) {
    ADD_FAILURE() << converted.error().message;
    return back;
  }
  EXPECT_EQ(converted->refused, "") << converted->yaml;
  const auto loaded = ParseConfiguration(converted->yaml);
  if (const auto* faults = std::get_if<Faults>(&loaded)) {
    ADD_FAILURE() << faults->text << "\n" << converted->yaml;
  }
  const auto document = ParseDocument(converted->yaml);
  if (const auto* parsed = std::get_if<Document>(&document)) {
    back.document = nlohmann::json::parse(CompactJson(parsed->root, parsed->syntax));
  }
  for (const std::string& note : converted->notes) {
    back.notes += note + "\n";
    EXPECT_NE(converted->yaml.find("# - " + note), std::string::npos) << note;
  }
  return back;
}

// The value at a JSON pointer as compact JSON; "" when there is none.
inline std::string At(const nlohmann::json& document, const std::string& pointer) {
  const nlohmann::json::json_pointer at(pointer);
  return document.contains(at) ? document.at(at).dump() : "";
}

// "NodeName TaintToleration:3": the names of a list of plugins, with the weights that it states.
inline std::string PluginsAt(const nlohmann::json& document, const std::string& pointer) {
  std::string names;
  const nlohmann::json::json_pointer at(pointer);
  if (!document.contains(at)) return names;
  for (const nlohmann::json& entry : document.at(at)) {
    names += (names.empty() ? "" : " ") + entry.at("name").get<std::string>();
    if (entry.contains("weight")) names += ":" + entry.at("weight").dump();
  }
  return names;
}

// The arguments of a plugin in profile 0, compact; "" when there are none.
inline std::string ArgsOf(const nlohmann::json& document, std::string_view plugin) {
  const nlohmann::json::json_pointer at("/profiles/0/pluginConfig");
  if (!document.contains(at)) return "";
  for (const nlohmann::json& entry : document.at(at)) {
    if (entry.at("name") == plugin) return entry.at("args").dump();
  }
  return "";
}

}  // namespace ks::config
