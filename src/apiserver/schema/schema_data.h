// SPDX-License-Identifier: Apache-2.0
#pragma once
// The generated text behind schema.h, in two halves.

#include <string_view>

namespace ks::apiserver {

std::string_view SchemaTextAToO();
std::string_view SchemaTextPToZ();

}  // namespace ks::apiserver
