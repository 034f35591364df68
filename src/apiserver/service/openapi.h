// SPDX-License-Identifier: Apache-2.0
#pragma once
// OpenAPI v3 as far as kubectl v1.37.1 reads it before it writes: which paths there are and that
// they take the query parameter fieldValidation. Schemas are not in it: kubectl then uses the types
// it was built with, and `kubectl explain` has nothing to say.

#include <optional>
#include <string>
#include <string_view>

namespace ks::apiserver {

// /openapi/v3: the list of documents with their addresses, which change with their contents.
std::string OpenApiIndex();
// /openapi/v3/<path>: "api/v1", "apis/apps/v1". Absent: no such group version.
std::optional<std::string> OpenApiDocument(std::string_view path);

}  // namespace ks::apiserver
