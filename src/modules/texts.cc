// SPDX-License-Identifier: Apache-2.0
#include "modules/texts.h"

#include <algorithm>

#include "golang/utf8.h"

namespace ks::modules {

std::string TextFrom(ks_str text) {
  if (text.data == nullptr) return {};
  std::string_view rest(text.data, std::min(text.size, kMostTextBytes));
  std::string copy;
  copy.reserve(rest.size());
  while (!rest.empty()) {
    const golang::Utf8 character = golang::DecodeUtf8(rest);
    copy += character.valid ? rest.substr(0, character.length) : std::string_view("\xEF\xBF\xBD");
    rest.remove_prefix(character.length);
  }
  return copy;
}

}  // namespace ks::modules
