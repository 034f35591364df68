// SPDX-License-Identifier: Apache-2.0
// kubeschedctl check-config, diff-config and convert: from options to output and exit status.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/file_text.h"
#include "base/logging.h"
#include "config/convert/convert.h"
#include "config/read/load.h"
#include "config/read/manifest.h"
#include "kubeschedctl/config/config_check.h"
#include "kubeschedctl/config/config_diff.h"
#include "kubeschedctl/config/config_verbs.h"
#include "kubeschedctl/config/effective.h"
#include "kubeschedctl/text/input.h"
#include "kubeschedctl/text/status.h"

namespace ks::ctl {
namespace {

// What the daemon logs while it builds profiles is no news here.
constexpr int kQuiet = -1;

Result<void> WriteAll(const std::string& file, const std::string& text) {
  if (file.empty() || file == "-") {
    std::fputs(text.c_str(), stdout);
    return {};
  }
  std::ofstream stream(file, std::ios::binary | std::ios::trunc);
  stream << text;
  stream.close();
  if (!stream) return Error{file + ": " + SystemErrorText(errno)};
  return {};
}

// The configuration that the file is or holds.
Result<std::string> ReadChosen(const std::string& file, const std::string& key) {
  const Result<std::string> text = config::ReadConfigurationFile(file);
  if (!text.ok()) return Error{file + ": " + text.error().message};
  Result<config::Embedded> chosen = config::ChooseConfiguration(*text, key);
  if (!chosen.ok()) return Error{file + ": " + chosen.error().message};
  return std::move(chosen->text);
}

}  // namespace

int RunCheckConfig(const CheckConfigOptions& options) {
  log::SetVerbosity(kQuiet);
  const auto gates = MakeGates(options.feature_gates);
  if (!gates.ok()) {
    Fail(gates.error().message);
    return kUsageStatus;
  }
  std::vector<CheckedFile> files;
  int status = 0;
  for (const std::string& file : options.files) {
    Result<std::vector<CheckedFile>> checked = CheckFile(file, {.gates = *gates,
                                                                .master = options.master,
                                                                .elsewhere = options.elsewhere,
                                                                .key = options.key});
    if (!checked.ok()) {
      Fail(checked.error().message);
      return kUsageStatus;
    }
    for (CheckedFile& each : *checked) {
      if (!each.valid()) status = 1;
      if (!options.json) std::fputs(CheckText(each).c_str(), stdout);
      files.push_back(std::move(each));
    }
  }
  if (options.json) std::fputs(CheckJson(files).c_str(), stdout);
  return status;
}

int RunDiffConfig(const DiffConfigOptions& options) {
  log::SetVerbosity(kQuiet);
  const auto gates = MakeGates(options.feature_gates);
  if (!gates.ok()) {
    Fail(gates.error().message);
    return kUsageStatus;
  }
  std::vector<nlohmann::json> trees;
  for (const std::string& file : {options.before, options.after}) {
    const Result<std::string> text = ReadChosen(file, options.key);
    if (!text.ok()) {
      Fail(text.error().message);
      return kUsageStatus;
    }
    const auto built = BuildEffective(*text, *gates);
    if (const auto* faults = std::get_if<config::Faults>(&built)) {
      Fail(file + ": " + faults->text);
      return kUsageStatus;
    }
    trees.push_back(EffectiveTree(*std::get<0>(built)));
  }
  const std::vector<Difference> differences = DiffTrees(trees[0], trees[1]);
  if (options.json) {
    std::fputs(DifferencesJson(differences).c_str(), stdout);
  } else {
    for (const Difference& difference : differences) {
      std::printf("%s\n", DifferenceLine(difference).c_str());
    }
  }
  return differences.empty() ? 0 : 1;
}

int RunConvert(const ConvertConfigOptions& options) {
  log::SetVerbosity(kQuiet);
  const Result<std::string> text = ReadInput(options.in);
  if (!text.ok()) return Fail(text.error().message);
  const auto converted =
      config::ConvertConfiguration(*text, {.keep_legacy = options.keep_legacy, .key = options.key});
  if (!converted.ok()) return Fail(converted.error().message);
  for (const std::string& note : converted->notes) std::fprintf(stderr, "%s\n", note.c_str());
  if (Result<void> written = WriteAll(options.out, converted->yaml); !written.ok()) {
    return Fail(written.error().message);
  }
  if (converted->refused.empty()) return 0;
  return Fail("the result is not valid as it is: " + converted->refused);
}

}  // namespace ks::ctl
