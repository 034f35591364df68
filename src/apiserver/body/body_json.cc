// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "apiserver/body/body_forms.h"

namespace ks::apiserver {
namespace {

// Follows the parser through the text: the path of where it is, and the keys seen in each object.
class DuplicateFinder {
 public:
  bool operator()(int /*depth*/, Json::parse_event_t event, Json& parsed) {
    switch (event) {
      case Json::parse_event_t::object_start:
      case Json::parse_event_t::array_start:
        EnterValue();
        levels_.push_back({.is_array = event == Json::parse_event_t::array_start});
        break;
      case Json::parse_event_t::object_end:
      case Json::parse_event_t::array_end:
        levels_.pop_back();
        break;
      case Json::parse_event_t::key:
        Key(parsed.get<std::string>());
        break;
      case Json::parse_event_t::value:
        EnterValue();
        break;
    }
    return true;
  }

  std::vector<std::string> found;

 private:
  struct Level {
    bool is_array = false;
    size_t index = 0;
    std::set<std::string> keys{};
    std::string step{};  // ".key" or "[1]"
  };

  void EnterValue() {
    if (levels_.empty() || !levels_.back().is_array) return;
    levels_.back().step = "[" + std::to_string(levels_.back().index++) + "]";
  }
  void Key(const std::string& key) {
    Level& level = levels_.back();
    level.step = "." + key;
    if (level.keys.insert(key).second) return;
    std::string path;
    for (const Level& outer : levels_) path += outer.step;
    const std::string text = "duplicate field \"" + path.substr(1) + "\"";
    if (std::find(found.begin(), found.end(), text) == found.end()) found.push_back(text);
  }

  std::vector<Level> levels_;
};

}  // namespace

std::vector<std::string> DuplicateFields(std::string_view text) {
  DuplicateFinder finder;
  const Json parsed = Json::parse(text, std::ref(finder), false);
  if (parsed.is_discarded()) return {};
  return std::move(finder.found);
}

bool IsTooDeep(std::string_view text) {
  constexpr int kMaxDepth = 1000;
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kMaxDepth) return true;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return false;
}

std::string JsonErrorText(std::string_view text) {
  if (IsTooDeep(text)) return "exceeded max depth";
  size_t at = text.size();
  try {
    const Json parsed = Json::parse(text);
  } catch (const Json::parse_error& error) {
    at = error.byte == 0 ? 0 : error.byte - 1;
  } catch (const Json::exception&) {
    at = 0;
  }
  if (at >= text.size()) return "unexpected end of JSON input";
  return "invalid character '" + std::string(1, text[at]) + "' looking for beginning of value";
}

}  // namespace ks::apiserver
