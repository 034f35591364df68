// SPDX-License-Identifier: Apache-2.0
#pragma once
// Protobuf made by hand, as the API server sends it (docs/spec/api.md sections 6.8 and 7.2).

#include <string>
#include <string_view>

#include "base/check.h"

namespace ks::testing {

// A field of a message: text or message.
inline std::string ProtoField(int number, std::string_view bytes) {
  KS_CHECK(number < 16, "a field of one byte of tag");
  std::string field{static_cast<char>(number << 3 | 2)};
  size_t length = bytes.size();
  for (; length > 127; length >>= 7) field += static_cast<char>(length | 128);
  field += static_cast<char>(length);
  return field.append(bytes);
}
inline std::string ProtoNumber(int number, char value) {
  return {static_cast<char>(number << 3), value};
}

// A body.
inline std::string ProtoBody(std::string_view kind, std::string_view message) {
  return std::string("k8s\0", 4) + ProtoField(1, ProtoField(1, "v1") + ProtoField(2, kind)) +
         ProtoField(2, message);
}
// An object's metadata.
inline std::string ProtoMeta(std::string_view name, std::string_view version) {
  return ProtoField(1, ProtoField(1, name) + ProtoField(6, version));
}

// An event of a watch; on the wire its length stands before it (ProtoFrame).
inline std::string ProtoEvent(std::string_view type, std::string_view body) {
  return ProtoField(1, type) + ProtoField(2, ProtoField(1, body));
}
inline std::string ProtoFrame(std::string_view message) {
  KS_CHECK(message.size() < 128, "a frame of at most 127 bytes");
  return std::string(3, '\0') + static_cast<char>(message.size()) + std::string(message);
}

}  // namespace ks::testing
