// SPDX-License-Identifier: Apache-2.0
#include "config_check.h"

#include <nlohmann/json.hpp>

#include "effective.h"

namespace ks::ctl {
namespace {

using Json = nlohmann::ordered_json;

Json FindingJson(const config::Finding& finding, const char* severity) {
  Json made = {{"severity", severity}, {"path", finding.path}, {"message", finding.message}};
  if (finding.place.line > 0) {
    made["line"] = finding.place.line;
    made["column"] = finding.place.column;
  }
  if (!finding.hint.empty()) made["hint"] = finding.hint;
  return made;
}

}  // namespace

CheckedFile CheckFile(const std::string& file, const config::FeatureGates& gates) {
  CheckedFile checked{.file = file};
  auto built = BuildEffective(file, gates);
  if (auto* faults = std::get_if<config::Faults>(&built)) {
    checked.error = std::move(faults->text);
    checked.errors = std::move(faults->findings);
  } else {
    checked.warnings = std::get<0>(built)->loaded.warnings;
  }
  return checked;
}

std::string CheckText(const CheckedFile& checked) {
  std::string text =
      checked.file + (checked.valid() ? ": ok" : ": refused: " + checked.error) + "\n";
  for (const config::Finding& finding : checked.errors) {
    text += config::Render(finding, checked.file) + "\n";
  }
  for (config::Finding finding : checked.warnings) {
    // The path goes first in any case, so that the word stands in front of both.
    if (!finding.path.empty() && !finding.message.starts_with(finding.path)) {
      finding.message = finding.path + ": " + finding.message;
    }
    finding.path.clear();
    finding.message = "warning: " + finding.message;
    text += config::Render(finding, checked.file) + "\n";
  }
  return text;
}

std::string CheckJson(const std::vector<CheckedFile>& files) {
  Json list = Json::array();
  for (const CheckedFile& checked : files) {
    Json findings = Json::array();
    for (const auto& finding : checked.errors) findings.push_back(FindingJson(finding, "error"));
    for (const auto& finding : checked.warnings) {
      findings.push_back(FindingJson(finding, "warning"));
    }
    list.push_back({{"file", checked.file},
                    {"valid", checked.valid()},
                    {"error", checked.error},
                    {"findings", std::move(findings)}});
  }
  const Json document = {{"files", std::move(list)}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace ks::ctl
