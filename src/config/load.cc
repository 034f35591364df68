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

Result<std::string> ReadFile(const std::string& file) {
  int descriptor = -1;
  do {
    descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0) return SystemError("open", file);
  Result<std::string> text = ReadAll(descriptor, file);
  close(descriptor);
  return text;
}

}  // namespace

LoadResult ParseConfiguration(std::string_view text, const LoadOptions& options) {
  const FeatureGates newest;
  const FeatureGates& gates = options.gates == nullptr ? newest : *options.gates;
  std::variant<Decoded, Faults> decoded = DecodeConfiguration(text);
  if (Faults* faults = std::get_if<Faults>(&decoded)) return std::move(*faults);
  auto& [written, source] = std::get<Decoded>(decoded);

  Loaded loaded{.configuration = written, .source = std::move(source), .warnings = {}};
  SetDefaults(&loaded.configuration, gates);
  if (options.overlay) options.overlay(loaded.configuration);
  if (std::optional<Faults> faults = Validate(loaded.configuration, gates)) {
    for (Finding& finding : faults->findings) finding.place = loaded.source.Find(finding.path);
    return *std::move(faults);
  }
  loaded.warnings = FindIgnored(written, loaded.configuration, loaded.source, gates);
  return loaded;
}

LoadResult LoadConfiguration(const std::string& file, const LoadOptions& options) {
  Result<std::string> text = ReadFile(file);
  if (!text.ok()) {
    return Faults{.text = text.error().message,
                  .findings = {{.message = text.error().message,
                                .hint = "--config must name a readable file"}}};
  }
  return ParseConfiguration(*text, options);
}

}  // namespace ks::config
