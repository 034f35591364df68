// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reading members of objects that may lack them or hold something else.

#include <cstdint>
#include <string>
#include <string_view>

#include "apiserver/store/object.h"

namespace ks::apiserver {

// Null when the member is absent or null, or `object` is no object; never adds one.
const Json* Find(const Json& object, std::string_view key);
const Json* Find(const Json& object, std::string_view key, std::string_view inner);
// "" when it is absent or no text.
std::string Text(const Json& object, std::string_view key);
// 0 when it is absent or no integer.
int64_t Integer(const Json& object, std::string_view key);

}  // namespace ks::apiserver
