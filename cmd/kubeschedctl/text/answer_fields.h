// SPDX-License-Identifier: Apache-2.0
#pragma once
// Fields of a daemon's answer, which may be of another version: one that is missing or of another
// type counts as empty.

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include "kubeschedctl/text/printable.h"

namespace ks::ctl {

// Fit to be shown: see Printable.
inline std::string Text(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? Printable(found->get<std::string>()) : "";
}

inline int64_t Number(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<int64_t>() : 0;
}

inline bool Flag(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

}  // namespace ks::ctl
