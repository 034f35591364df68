// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cures for what is wrong in a configuration file.

#include <span>
#include <string>
#include <string_view>

#include "config/text/document.h"

namespace ks::config {

// For a key that structure `name` ("PluginSet") does not have; it has `fields`.
std::string UnknownFieldHint(std::string_view name, const std::string& key,
                             std::span<const std::string_view> fields);

// For a value that is not of Go type `type` ("int32", "[]v1.Extender"), which is no string.
std::string TypeHint(const Value& value, std::string_view type);

// For a value that is no string.
std::string StringHint(const Value& value);

// For a value that is no duration.
std::string DurationHint(const Value& value);

}  // namespace ks::config
