// SPDX-License-Identifier: Apache-2.0
#include "api/decode/kept_texts.h"

#include <algorithm>

#include "api/json/json_split.h"

namespace ks::api {
namespace {

// `text` begins with the object's brace.
void AppendMember(std::string& text, std::string_view key, std::string_view value) {
  if (text.size() > 1) text += ',';
  text += '"';
  text += key;
  text += "\":";
  text += value;
}

std::string JsonWithoutManagedFields(std::string_view metadata) {
  const auto members = JsonSplitter(metadata).Members(metadata);
  if (!members.ok()) return std::string(metadata);
  std::string text = "{";
  for (const JsonMember& member : *members) {
    if (member.key != "managedFields") AppendMember(text, member.key, member.value);
  }
  return text + '}';
}

}  // namespace

std::string EmbeddedJson(std::string_view object, bool drop_managed_fields) {
  std::string text = "{";
  const auto members = JsonSplitter(object).Members(object);
  if (!members.ok()) return std::string(object);
  for (const JsonMember& member : *members) {
    if (member.key == "kind" || member.key == "apiVersion") continue;
    if (drop_managed_fields && member.key == "metadata" && member.value.starts_with('{')) {
      AppendMember(text, member.key, JsonWithoutManagedFields(member.value));
    } else {
      AppendMember(text, member.key, member.value);
    }
  }
  text += '}';
  text.shrink_to_fit();
  return text;
}

ObjectText TextBlocks::Keep(std::string_view text) {
  if (block_ == nullptr || block_->capacity() - block_->size() < text.size()) {
    block_ = std::make_shared<std::string>();
    block_->reserve(std::max(text.size(), kBlockBytes));
  }
  const size_t begin = block_->size();
  *block_ += text;
  return {.block = block_, .text = std::string_view(*block_).substr(begin)};
}

}  // namespace ks::api
