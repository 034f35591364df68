// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parts of body.h, for body*.cc and patch*.cc only. Errors are upstream's words as far as it
// has them.

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "apiserver/store/object.h"
#include "base/result.h"

namespace ks::apiserver {

// The first document, scalars typed as upstream's reader does (docs/spec/config.md section 2.3).
Result<Json> ParseYaml(std::string_view text);

// The enveloped object (docs/spec/api.md section 7.2), with apiVersion and kind.
struct ProtobufError {
  bool unknown_kind = false;  // the envelope is well, its kind is not in the schema
  std::string message{};
};
std::variant<Json, ProtobufError> ParseProtobuf(std::string_view bytes);

// Nested deeper than this server can write again.
bool IsTooDeep(std::string_view json);

// Go's words for why this is no JSON. Requires: it is none.
std::string JsonErrorText(std::string_view text);

// `duplicate field "metadata.name"` for every repeated member. Requires: it is JSON.
std::vector<std::string> DuplicateFields(std::string_view text);

}  // namespace ks::apiserver
