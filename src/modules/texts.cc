// SPDX-License-Identifier: Apache-2.0
#include "modules/texts.h"

#include <algorithm>

#include "golang/utf8.h"

namespace ks::modules {

std::string TextFrom(ks_str text) {
  if (text.data == nullptr) return {};
  return golang::ToUtf8({text.data, std::min(text.size, kMostTextBytes)});
}

}  // namespace ks::modules
