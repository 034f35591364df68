// SPDX-License-Identifier: Apache-2.0
#pragma once
// JSON trees as YAML, byte for byte as upstream writes its configuration: keys sorted, two blanks a
// level, dashes at the parent's column, quoting by YAML 1.1, long text folded at column 80.
//
// Upstream: docs/spec/config.md section 7.1.

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace ks::config {

// One document without markers, ending in a line feed. Bytes that are not UTF-8 become U+FFFD, as
// in upstream's JSON. Cannot fail on any tree; nesting is limited by the stack only.
std::string WriteYamlDocument(const nlohmann::json& value);

}  // namespace ks::config
