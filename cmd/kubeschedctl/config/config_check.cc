// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/config/config_check.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "config/read/load.h"
#include "kubeschedctl/config/known_plugins.h"

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

// In the file instead of the text.
std::vector<config::Finding> InFile(std::vector<config::Finding> findings,
                                    const config::Embedded& text) {
  for (config::Finding& finding : findings) finding.place = text.InFile(finding.place);
  return findings;
}

CheckedFile CheckOne(const std::string& file, const config::Embedded& text,
                     const CheckSettings& settings) {
  using Place = daemon::StartupQuestion::Place;
  config::Reading reading =
      config::ReadConfigurationText(text.text, {.gates = &settings.gates, .overlay = {}});
  daemon::StartupVerdict verdict = daemon::JudgeStartup(
      reading, {.gates = settings.gates,
                .until = settings.until,
                .place = settings.elsewhere ? Place::kElsewhere : Place::kPerhaps,
                .registry = &KnownPlugins(),
                .master = settings.master});
  std::vector<config::Finding> warnings = std::move(reading.warnings);
  if (verdict.faults.text.empty()) {
    std::ranges::move(verdict.warnings, std::back_inserter(warnings));
  }
  return {.file = file,
          .error = std::move(verdict.faults.text),
          .errors = InFile(std::move(verdict.faults.findings), text),
          .warnings = InFile(std::move(warnings), text),
          .object = text.object,
          .key = text.key,
          .name = text.Name()};
}

}  // namespace

Result<std::vector<CheckedFile>> CheckFile(const std::string& file, const CheckSettings& settings) {
  const Result<std::string> text = config::ReadConfigurationFile(file);
  if (!text.ok()) {
    return std::vector<CheckedFile>{{.file = file, .error = text.error().message}};
  }
  std::vector<config::Embedded> found;
  if (settings.key.empty()) {
    found = config::FindConfigurations(*text);
  } else {
    auto chosen = config::ChooseConfiguration(*text, settings.key);
    if (!chosen.ok()) return Error{file + ": " + chosen.error().message};
    found.push_back(std::move(chosen).value());
  }
  std::vector<CheckedFile> checked;
  for (const config::Embedded& each : found) checked.push_back(CheckOne(file, each, settings));
  return checked;
}

std::string CheckText(const CheckedFile& checked) {
  std::string text = checked.file + (checked.name.empty() ? "" : ": " + checked.name);
  text += (checked.valid() ? ": ok" : ": refused: " + checked.error) + "\n";
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
    Json made = {{"file", checked.file}};
    if (!checked.object.empty()) made["object"] = checked.object;
    if (!checked.key.empty()) made["key"] = checked.key;
    made["valid"] = checked.valid();
    made["error"] = checked.error;
    made["findings"] = std::move(findings);
    list.push_back(std::move(made));
  }
  const Json document = {{"files", std::move(list)}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace ks::ctl
