// SPDX-License-Identifier: Apache-2.0
#include "config/convert/convert.h"

#include <algorithm>
#include <exception>
#include <nlohmann/json.hpp>
#include <variant>

#include "config/convert/convert_draft.h"
#include "config/read/load.h"
#include "config/read/manifest.h"
#include "config/text/document.h"
#include "config/text/yaml_writer.h"

namespace ks::config {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kVersions[] = {"v1alpha1", "v1alpha2", "v1beta1",
                                          "v1beta2",  "v1beta3",  "v1"};

std::variant<Json, Error> Read(std::string_view text) {
  auto document = ParseDocument(text);
  if (const auto* wrong = std::get_if<Finding>(&document)) return Error{wrong->message};
  const auto& parsed = std::get<Document>(document);
  return Json::parse(CompactJson(parsed.root, parsed.syntax));
}

Result<Json> Route(const Json& old, Draft& draft) {
  const std::string kind = draft.Text(old, "kind", "");
  const std::string api_version = draft.Text(old, "apiVersion", "");
  if (kind == "Policy") return ConvertPolicy(old, draft);
  const size_t slash = api_version.find('/');
  const std::string group = api_version.substr(0, slash);
  const std::string version = slash == std::string::npos ? "" : api_version.substr(slash + 1);
  const bool known =
      std::find(std::begin(kVersions), std::end(kVersions), version) != std::end(kVersions);
  if (kind == kKind && known && (group == kGroup || group == "componentconfig")) {
    return version == "v1" ? old : ConvertVersion(old, version, draft);
  }
  return Error{"kind \"" + kind + "\" of version \"" + api_version +
               "\" is no scheduler configuration: convert reads a Policy and "
               "KubeSchedulerConfiguration of " +
               std::string(kGroup) +
               "/v1alpha1, v1alpha2, v1beta1, v1beta2, v1beta3, also in a key of a ConfigMap"};
}

std::string WithNotes(const Converted& converted) {
  if (converted.notes.empty()) return converted.yaml;
  std::string text = "# Converted. Not kept as it was, or in need of a look:\n";
  for (const std::string& note : converted.notes) {
    text += "# - ";
    // One line each: a name in the file may hold anything.
    std::replace_copy_if(
        note.begin(), note.end(), std::back_inserter(text),
        [](unsigned char c) { return c < 0x20 || c == 0x7F; }, ' ');
    text += '\n';
  }
  return text + converted.yaml;
}

Result<Converted> Convert(std::string_view text, const ConvertOptions& options) {
  const Result<Embedded> chosen = ChooseConfiguration(text, options.key);
  if (!chosen.ok()) return chosen.error();
  auto read = Read(chosen->text);
  if (auto* wrong = std::get_if<Error>(&read)) return std::move(*wrong);
  Draft draft(options);
  const Result<Json> made = Route(std::get<Json>(std::move(read)), draft);
  if (!draft.failure().empty()) return Error{draft.failure()};
  if (!made.ok()) return made.error();
  Converted converted{.yaml = WriteYamlDocument(*made), .notes = draft.notes()};
  const LoadResult loaded = ParseConfiguration(converted.yaml);
  if (const auto* faults = std::get_if<Faults>(&loaded)) converted.refused = faults->text;
  converted.yaml = WithNotes(converted);
  return converted;
}

}  // namespace

Result<Converted> ConvertConfiguration(std::string_view text, const ConvertOptions& options) {
  try {
    return Convert(text, options);
  } catch (const std::exception& error) {
    return Error{std::string("a value is of a type that makes no sense there: ") + error.what()};
  }
}

}  // namespace ks::config
