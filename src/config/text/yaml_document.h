// SPDX-License-Identifier: Apache-2.0
#pragma once
// A YAML tree as a Document: scalars resolved, aliases and merge keys expanded, keys made strings,
// duplicate keys noted.
//
// Upstream: docs/spec/config.md sections 2.3 and 2.6.

#include <string_view>
#include <variant>
#include <vector>

#include "config/text/document.h"

namespace ks::config {

// The first document, within the limits of configuration files.
std::variant<Document, Finding> ParseYamlDocument(std::string_view text);

// All documents of a stream of any length; what aliases may multiply is limited by that length.
std::variant<std::vector<Document>, Finding> ParseYamlStream(std::string_view text);

}  // namespace ks::config
