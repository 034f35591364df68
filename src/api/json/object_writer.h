// SPDX-License-Identifier: Apache-2.0
#pragma once
// JSON text, piece by piece, in the order of the calls. For the bodies of requests.

#include <cstdint>
#include <string>
#include <string_view>

#include "golang/json_text.h"

namespace ks::api {

// One JSON object. Threads: like a value.
class ObjectWriter {
 public:
  // `json` is a finished JSON value.
  ObjectWriter& Raw(std::string_view key, std::string_view json) {
    text_ += text_.size() == 1 ? "\"" : ",\"";
    text_ += key;
    text_ += "\":";
    text_ += json;
    return *this;
  }
  ObjectWriter& Text(std::string_view key, std::string_view value) {
    return Raw(key, golang::JsonString(value));
  }
  ObjectWriter& TextUnlessEmpty(std::string_view key, std::string_view value) {
    return value.empty() ? *this : Text(key, value);
  }
  ObjectWriter& Number(std::string_view key, int64_t value) {
    return Raw(key, std::to_string(value));
  }
  bool Empty() const { return text_.size() == 1; }
  std::string Done() const { return text_ + "}"; }

 private:
  std::string text_ = "{";
};

// A list of what `write` makes of the elements: a finished JSON value of each.
template <class List, class Write>
std::string ListJson(const List& list, Write write) {
  std::string text = "[";
  for (const auto& element : list) {
    if (text.size() > 1) text += ',';
    text += write(element);
  }
  return text + "]";
}

}  // namespace ks::api
