// SPDX-License-Identifier: Apache-2.0
#include "config/read/manifest.h"

#include <algorithm>
#include <charconv>
#include <utility>
#include <variant>

#include "config/text/document.h"
#include "config/types.h"
#include "golang/base64.h"

namespace ks::config {
namespace {

std::string_view TextOf(const Value& mapping, std::string_view key) {
  const Value* value = mapping.Find(key);
  return value != nullptr && value->IsString() ? std::string_view(value->text) : std::string_view();
}

// Whether the tree is a configuration of any version, or a policy.
bool IsConfiguration(const Value& root) {
  if (!root.IsMapping()) return false;
  const std::string_view kind = TextOf(root, "kind");
  const std::string_view version = TextOf(root, "apiVersion");
  return kind == kKind || (kind == "Policy" && (version.empty() || version == "v1")) ||
         version.starts_with(std::string(kGroup) + "/");
}

bool HoldsConfiguration(std::string_view text) {
  // Parsing is what costs.
  if (text.find("kind") == std::string_view::npos) return false;
  const auto parsed = ParseDocument(text);
  const auto* document = std::get_if<Document>(&parsed);
  return document != nullptr && IsConfiguration(document->root);
}

struct Part {
  std::string_view text;
  int line = 1;  // of its beginning
};

bool IsSeparator(std::string_view line) {
  return line.starts_with("---") &&
         (line.size() == 3 || std::string_view(" \t\r").find(line[3]) != std::string_view::npos);
}

// The documents of a stream.
std::vector<Part> Split(std::string_view file) {
  std::vector<Part> parts;
  size_t begin = 0;
  int begin_line = 1;
  int line = 1;
  for (size_t at = 0; at < file.size(); ++line) {
    const size_t end = std::min(file.find('\n', at), file.size());
    if (at > begin && IsSeparator(file.substr(at, end - at))) {
      parts.push_back({file.substr(begin, at - begin), begin_line});
      begin = at;
      begin_line = line;
    }
    at = end + 1;
  }
  parts.push_back({file.substr(begin), begin_line});
  return parts;
}

std::string_view Line(std::string_view text, int number) {
  for (; number > 1; --number) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return text.substr(0, text.find('\n'));
}

// How far the lines of a literal block are indented in `text`; -1: the scalar is none.
int LiteralIndent(std::string_view text, const Place& scalar) {
  const std::string_view header = Line(text, scalar.line);
  const auto column = static_cast<size_t>(scalar.column) - 1;
  if (scalar.column < 1 || column >= header.size() || header[column] != '|') return -1;
  for (int number = scalar.line + 1;; ++number) {
    const std::string_view line = Line(text, number);
    const size_t indent = line.find_first_not_of(' ');
    if (indent != std::string_view::npos && line[indent] != '\r') return static_cast<int>(indent);
    if (line.data() == nullptr) return -1;
  }
}

std::string NameOf(const Value& object) {
  std::string name(TextOf(object, "kind"));
  const Value* metadata = object.Find("metadata");
  if (metadata == nullptr) return name;
  const std::string_view space = TextOf(*metadata, "namespace");
  name += " " + std::string(space) + (space.empty() ? "" : "/");
  return name + std::string(TextOf(*metadata, "name"));
}

class Finder {
 public:
  std::vector<Embedded> Run(std::string_view file) {
    const std::vector<Part> parts = Split(file);
    for (const Part& part : parts) {
      const auto parsed = ParseDocument(part.text);
      const auto* document = std::get_if<Document>(&parsed);
      const bool is_first = part.text.data() == parts.front().text.data();
      if (document == nullptr || !document->root.IsMapping()) {
        first_is_none_ = first_is_none_ || is_first;
        continue;
      }
      if (IsConfiguration(document->root)) {
        if (is_first) return {Embedded{.text = std::string(file)}};
        // Upstream reads the first document, be it empty or broken.
        if (first_is_none_) continue;
        found_.push_back({.text = std::string(part.text), .place = {.line = part.line}});
        continue;
      }
      AddObject(document->root, part);
    }
    if (found_.empty()) found_.push_back({.text = std::string(file)});
    return std::move(found_);
  }

 private:
  void AddObject(const Value& object, const Part& part) {
    const Value* items = object.Find("items");
    if (items != nullptr && items->IsList()) {
      for (const Value& item : items->items) AddData(item, part);
    } else {
      AddData(object, part);
    }
  }

  void AddData(const Value& object, const Part& part) {
    for (const char* field : {"data", "stringData"}) {
      const Value* data = object.Find(field);
      if (data == nullptr) continue;
      const bool encoded = TextOf(object, "kind") == "Secret" && std::string_view(field) == "data";
      for (const Member& member : data->members) {
        if (member.value.IsString()) AddText(object, member, encoded, part);
      }
    }
  }

  void AddText(const Value& object, const Member& member, bool encoded, const Part& part) {
    Embedded made{.text = member.value.text, .object = NameOf(object), .key = member.key};
    if (encoded) {
      Result<std::string> decoded = golang::DecodeBase64(made.text);
      if (!decoded.ok()) return;
      made.text = *std::move(decoded);
    }
    if (!HoldsConfiguration(made.text)) return;
    made.place = member.value.place;
    made.indent = encoded ? -1 : LiteralIndent(part.text, made.place);
    made.place.line += part.line - 1;
    if (made.indent >= 0) {
      ++made.place.line;
      made.place.column = made.indent + 1;
    }
    found_.push_back(std::move(made));
  }

  bool first_is_none_ = false;
  std::vector<Embedded> found_;
};

}  // namespace

std::string Embedded::Name() const {
  if (!key.empty()) return "key " + key + " of " + object;
  return place.line > 0 ? "document at line " + std::to_string(place.line) : "";
}

Place Embedded::InFile(Place place_in_text) const {
  if (place.line == 0) return place_in_text;
  if (indent < 0 || place_in_text.line == 0) return place;
  return {.line = place.line + place_in_text.line - 1, .column = place_in_text.column + indent};
}

std::vector<Embedded> FindConfigurations(std::string_view file) { return Finder().Run(file); }

Result<Embedded> ChooseConfiguration(std::string_view file, const std::string& key) {
  std::vector<Embedded> found = FindConfigurations(file);
  std::vector<Embedded*> chosen;
  std::string names;
  for (Embedded& each : found) {
    names += (names.empty() ? "" : ", ") + (each.Name().empty() ? "no key" : each.Name());
    const size_t slash = key.find('/');
    const bool matches = key.empty() || each.key == key ||
                         (slash != std::string::npos && each.key == key.substr(slash + 1) &&
                          (each.object.ends_with("/" + key.substr(0, slash)) ||
                           each.object.ends_with(" " + key.substr(0, slash))));
    if (matches) chosen.push_back(&each);
  }
  if (chosen.size() == 1) return std::move(*chosen.front());
  if (chosen.empty()) {
    return Error{"no configuration under the key \"" + key + "\": there is " + names};
  }
  return Error{"the file holds " + std::to_string(chosen.size()) +
               " configurations; choose one with --key KEY or --key NAME/KEY: " + names};
}

}  // namespace ks::config
