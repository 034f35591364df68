// SPDX-License-Identifier: Apache-2.0
#include "apiserver/store/json_fields.h"

namespace ks::apiserver {

const Json* Find(const Json& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  const auto it = object.find(key);
  return it == object.end() || it->is_null() ? nullptr : &*it;
}

const Json* Find(const Json& object, std::string_view key, std::string_view inner) {
  const Json* outer = Find(object, key);
  return outer == nullptr ? nullptr : Find(*outer, inner);
}

std::string Text(const Json& object, std::string_view key) {
  const Json* found = Find(object, key);
  return found != nullptr && found->is_string() ? found->get<std::string>() : std::string();
}

int64_t Integer(const Json& object, std::string_view key) {
  const Json* found = Find(object, key);
  return found != nullptr && found->is_number_integer() ? found->get<int64_t>() : 0;
}

}  // namespace ks::apiserver
