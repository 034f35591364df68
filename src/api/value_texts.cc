// SPDX-License-Identifier: Apache-2.0
#include "api/value_texts.h"

namespace ks::api {

ValueTexts::ValueTexts(const std::vector<std::string>& values) {
  size_t size = 0;
  for (const std::string& value : values) size += value.size();
  text_.reserve(size);  // it stays where it is
  all_.reserve(values.size());
  set_.reserve(values.size());
  for (const std::string& value : values) {
    text_ += value;
    all_.emplace_back(text_.data() + text_.size() - value.size(), value.size());
    if (set_.insert(all_.back()).second) hash_ += HashText(value);
  }
}

}  // namespace ks::api
