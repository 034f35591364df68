// SPDX-License-Identifier: Apache-2.0
#include "config/read/load.h"

#include <unistd.h>

#include <array>
#include <utility>

#include "base/file_text.h"
#include "base/result.h"
#include "config/read/decode.h"
#include "config/read/defaults.h"
#include "config/read/load_warnings.h"
#include "config/text/document.h"
#include "config/validate/validate.h"

namespace ks::config {
namespace {

LoadResult ResultOf(Reading reading) {
  if (!reading.unread.text.empty()) return std::move(reading.unread);
  if (!reading.invalid.text.empty()) return std::move(reading.invalid);
  return Loaded{.configuration = std::move(reading.configuration),
                .source = std::move(reading.source),
                .warnings = std::move(reading.warnings)};
}

}  // namespace

Result<std::string> ReadConfigurationFile(const std::string& file) {
  return ReadFile(file, kMostBytes);
}

Reading ReadConfigurationText(std::string_view text, const LoadOptions& options) {
  const FeatureGates newest;
  const FeatureGates& gates = options.gates == nullptr ? newest : *options.gates;
  Decoding decoding = DecodeConfiguration(text);
  Reading reading{.understood = decoding.understood,
                  .written = std::move(decoding.configuration),
                  .source = std::move(decoding.source),
                  .unread = std::move(decoding.faults)};
  reading.configuration = reading.written;
  SetDefaults(&reading.configuration, gates);
  if (options.overlay) options.overlay(reading.configuration);
  if (!reading.understood) return reading;
  if (std::optional<Faults> faults = Validate(reading.configuration, gates)) {
    for (Finding& finding : faults->findings) finding.place = reading.source.Find(finding.path);
    reading.invalid = *std::move(faults);
  }
  if (reading.unread.text.empty() && reading.invalid.text.empty()) {
    reading.warnings = FindIgnored(reading.written, reading.configuration, reading.source, gates);
  }
  return reading;
}

Reading ReadConfiguration(const std::string& file, const LoadOptions& options) {
  const Result<std::string> text = ReadConfigurationFile(file);
  if (text.ok()) return ReadConfigurationText(*text, options);
  Reading reading;
  reading.unread = {.text = text.error().message,
                    .findings = {{.message = text.error().message,
                                  .hint = "--config must name a readable file"}}};
  return reading;
}

LoadResult ParseConfiguration(std::string_view text, const LoadOptions& options) {
  return ResultOf(ReadConfigurationText(text, options));
}

LoadResult LoadConfiguration(const std::string& file, const LoadOptions& options) {
  return ResultOf(ReadConfiguration(file, options));
}

}  // namespace ks::config
