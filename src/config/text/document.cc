// SPDX-License-Identifier: Apache-2.0
#include "config/text/document.h"

#include <algorithm>

#include "api/json/encode.h"
#include "config/text/json_document.h"
#include "config/text/yaml_document.h"
#include "golang/json_text.h"
#include "golang/utf8.h"

namespace ks::config {
namespace {

bool IsSpace(uint32_t code_point) {
  switch (code_point) {
    case 0x20:
    case 0x85:
    case 0xA0:
    case 0x1680:
    case 0x2028:
    case 0x2029:
    case 0x202F:
    case 0x205F:
    case 0x3000:
      return true;
    default:
      break;
  }
  return (code_point >= 0x09 && code_point <= 0x0D) ||
         (code_point >= 0x2000 && code_point <= 0x200A);
}

bool StartsAsJson(std::string_view text) {
  while (!text.empty()) {
    const golang::Utf8 next = golang::DecodeUtf8(text);
    if (!next.valid || !IsSpace(next.code_point)) return text.front() == '{';
    text.remove_prefix(next.length);
  }
  return false;
}

void AppendJson(const Value& value, Syntax syntax, std::string& out) {
  switch (value.kind) {
    case Value::Kind::kNull:
      out += "null";
      return;
    case Value::Kind::kBool:
      out += value.boolean ? "true" : "false";
      return;
    case Value::Kind::kNumber:
      out += value.text;
      return;
    case Value::Kind::kString:
      out += golang::JsonString(value.text);
      return;
    case Value::Kind::kList:
      out += '[';
      for (const Value& item : value.items) {
        if (&item != &value.items.front()) out += ',';
        AppendJson(item, syntax, out);
      }
      out += ']';
      return;
    case Value::Kind::kMapping:
      break;
  }
  out += '{';
  bool first = true;
  for (const Member* member : VisibleMembers(value, syntax)) {
    if (!first) out += ',';
    first = false;
    out += golang::JsonString(member->key) + ':';
    AppendJson(member->value, syntax, out);
  }
  out += '}';
}

}  // namespace

const Value* Value::Find(std::string_view key) const {
  const auto last = std::find_if(members.rbegin(), members.rend(),
                                 [&](const Member& member) { return member.key == key; });
  return last == members.rend() ? nullptr : &last->value;
}

std::string_view KindName(Value::Kind kind) {
  switch (kind) {
    case Value::Kind::kNull:
      return "null";
    case Value::Kind::kBool:
      return "bool";
    case Value::Kind::kNumber:
      return "number";
    case Value::Kind::kString:
      return "string";
    case Value::Kind::kList:
      return "array";
    case Value::Kind::kMapping:
      break;
  }
  return "object";
}

std::vector<const Member*> VisibleMembers(const Value& mapping, Syntax syntax) {
  std::vector<const Member*> members;
  members.reserve(mapping.members.size());
  for (const Member& member : mapping.members) members.push_back(&member);
  if (syntax == Syntax::kJson) return members;
  const auto key = [](const Member* member) -> const std::string& { return member->key; };
  std::ranges::stable_sort(members, {}, key);
  std::vector<const Member*> visible;
  for (const Member* member : members) {
    if (!visible.empty() && visible.back()->key == member->key) {
      visible.back() = member;
    } else {
      visible.push_back(member);
    }
  }
  return visible;
}

std::string CompactJson(const Value& value, Syntax syntax) {
  std::string text;
  AppendJson(value, syntax, text);
  return text;
}

std::variant<Document, Finding> ParseDocument(std::string_view text) {
  if (text.size() > kMostBytes) {
    return Finding{.message = "the file is longer than 16 MiB"};
  }
  return StartsAsJson(text) ? ParseJsonDocument(text) : ParseYamlDocument(text);
}

}  // namespace ks::config
