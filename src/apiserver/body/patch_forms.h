// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parts of patch.h, for patch*.cc only.

#include <optional>
#include <string>
#include <string_view>

#include "apiserver/schema/schema.h"
#include "apiserver/store/failure.h"
#include "apiserver/store/object.h"

namespace ks::apiserver {

// RFC 6902 with the leniencies of upstream: replace and copy take missing members for null, indices
// may count from the end ("-1"). False: an operation failed; `object` is half done.
// Requires: an array of objects.
bool ApplyJsonPatch(const Json& operations, Json& object);

// Requires: patch and object are objects. After a failure `object` is half done.
std::optional<Failure> ApplyStrategicMerge(const SchemaType& type, const Json& patch, Json& object);

// Go's %v of a decoded JSON value: map[a:1 b:[x y]].
std::string GoText(const Json& value);

Failure PatchBadRequest(std::string message);
// 422 about the result of a patch; ` "" is invalid: patch: Invalid value: "<shown>": <error>`.
Failure InvalidPatch(std::string_view shown, std::string_view error);

}  // namespace ks::apiserver
