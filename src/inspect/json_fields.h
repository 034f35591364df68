// SPDX-License-Identifier: Apache-2.0
#pragma once
// Fields that the reports for operators leave out when there is nothing to say.

#include <string>
#include <string_view>

#include "config/print/print_json.h"
#include "framework/name_set.h"

namespace ks::inspect {

inline void AddNames(config::JsonBuilder& json, std::string_view key,
                     const framework::NameSet& names) {
  if (names.empty()) return;
  json.Key(key).BeginArray();
  for (const std::string& name : names) json.Text(name);
  json.EndArray();
}

inline void AddText(config::JsonBuilder& json, std::string_view key, std::string_view text) {
  if (!text.empty()) json.Key(key).Text(text);
}

}  // namespace ks::inspect
