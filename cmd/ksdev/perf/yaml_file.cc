// SPDX-License-Identifier: Apache-2.0
#include "ksdev/perf/yaml_file.h"

#include <variant>

#include "base/file_text.h"
#include "config/text/document.h"

namespace ks::ctl::dev::perf {

using Json = nlohmann::json;

// The reader takes what begins with a brace for JSON, which a comment before it prevents.
Result<Json> ParseYaml(std::string_view text, const std::string& name) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  const bool brace = first != std::string_view::npos && text[first] == '{';
  const auto parsed = config::ParseDocument(brace ? "#\n" + std::string(text) : std::string(text));
  if (const auto* fault = std::get_if<config::Finding>(&parsed)) {
    return Error{config::Render(*fault, name)};
  }
  const auto& document = std::get<config::Document>(parsed);
  if (!document.duplicates.empty()) return Error{name + ": " + document.duplicates.front().text};
  Json root = Json::parse(config::CompactJson(document.root, document.syntax), nullptr, false);
  if (root.is_discarded()) return Error{name + ": cannot be read as JSON"};
  return root;
}

Result<Json> ReadYaml(const std::string& path) {
  const Result<std::string> text = ReadFile(path);
  if (!text.ok()) return text.error();
  return ParseYaml(*text, path);
}

}  // namespace ks::ctl::dev::perf
