// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is kept of objects beside their fields: their texts (decision 0065).

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "api/delta.h"

namespace ks::api {

// The JSON of an object without what an object inside another one does not have. The text was read
// before, so it is known to be sound.
std::string EmbeddedJson(std::string_view object, bool drop_managed_fields);

// Texts, behind each other in blocks: an object of its own for each costs as much as to copy it.
// Threads: one; whoever has a text may read it on any other one, while others are written behind
// it.
class TextBlocks {
 public:
  ObjectText Keep(std::string_view text);

 private:
  static constexpr size_t kBlockBytes = size_t{1} << 16;
  std::shared_ptr<std::string> block_;
};

}  // namespace ks::api
