// SPDX-License-Identifier: Apache-2.0
#include "config/load.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/result.h"
#include "config/decode.h"
#include "config/defaults.h"
#include "config/document.h"
#include "config/load_warnings.h"
#include "config/validate.h"

namespace ks::config {
namespace {

// "open FILE: no such file or directory"
Error SystemError(const char* call, const std::string& file) {
  std::string reason = std::generic_category().message(errno);
  if (!reason.empty() && reason[0] >= 'A' && reason[0] <= 'Z') {
    reason[0] = static_cast<char>(reason[0] + ('a' - 'A'));
  }
  return Error{std::string(call) + " " + file + ": " + reason};
}

// Reads until the end or until it is clear that the file is too long.
Result<std::string> ReadAll(int descriptor, const std::string& file) {
  std::string text;
  std::array<char, 65536> buffer;
  while (text.size() <= kMostBytes) {
    const ssize_t count = read(descriptor, buffer.data(), buffer.size());
    if (count == 0) break;
    if (count < 0) {
      if (errno == EINTR) continue;
      return SystemError("read", file);
    }
    text.append(buffer.data(), static_cast<size_t>(count));
  }
  return text;
}

LoadResult ResultOf(Reading reading) {
  if (!reading.unread.text.empty()) return std::move(reading.unread);
  if (!reading.invalid.text.empty()) return std::move(reading.invalid);
  return Loaded{.configuration = std::move(reading.configuration),
                .source = std::move(reading.source),
                .warnings = std::move(reading.warnings)};
}

}  // namespace

Result<std::string> ReadConfigurationFile(const std::string& file) {
  int descriptor = -1;
  do {
    descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0) return SystemError("open", file);
  Result<std::string> text = ReadAll(descriptor, file);
  close(descriptor);
  return text;
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
