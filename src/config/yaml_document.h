// SPDX-License-Identifier: Apache-2.0
#pragma once
// A YAML tree as a Document: scalars resolved, aliases and merge keys expanded, keys made strings,
// duplicate keys noted.
//
// Upstream: docs/spec/config.md sections 2.3 and 2.6.

#include <string_view>
#include <variant>

#include "config/document.h"

namespace ks::config {

std::variant<Document, Finding> ParseYamlDocument(std::string_view text);

}  // namespace ks::config
