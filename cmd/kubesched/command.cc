// SPDX-License-Identifier: Apache-2.0
#include "kubesched/command.h"

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <optional>
#include <utility>
#include <variant>

#include "base/file_text.h"
#include "base/logging.h"
#include "config/print/print.h"
#include "config/read/tracing.h"
#include "kubesched/access/serving.h"
#include "kubesched/daemon.h"
#include "kubesched/flags/effective_configuration.h"
#include "kubesched/flags/flags.h"
#include "kubesched/flags/go_values.h"
#include "kubesched/flags/validate_options.h"

namespace ks {
namespace {

constexpr int kFailed = 1;

// The last word of a start that failed; operators' tools look for this line.
int CommandFailed(const std::string& text, const std::vector<std::string>& findings = {}) {
  log::Error(text, "command failed", {}, log::SourceLocation::At("cli/run.go", 72));
  for (const std::string& finding : findings) std::fprintf(stderr, "%s\n", finding.c_str());
  return kFailed;
}

// Notes carry their severity letter in front.
void LogNotes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) log::Plain(note[0], note.substr(1));
}

void LogFlags(const Options& options) {
  if (!log::Enabled(1)) return;
  for (const auto& [name, value] : options.values) {
    log::Plain('I', "FLAG: --" + name + "=" + flags::Quote(value));
  }
}

Result<void> WriteConfiguration(const std::string& file, const std::string& text) {
  std::ofstream stream(file, std::ios::binary | std::ios::trunc);
  if (!stream) {
    return Error{"open " + file + ": " + SystemErrorText(errno)};
  }
  stream << text;
  stream.close();
  if (!stream) return Error{"write " + file + ": " + SystemErrorText(errno)};
  log::Info(0, "Wrote configuration", {{"file", file}});
  return {};
}

// Steps 5 and 6. 0: go on.
int CheckOptions(const Options& options, const config::FeatureGates& gates,
                 const config::LateGateFindings& late) {
  if (Result<void> logging = ApplyLogging(options.logging, gates); !logging.ok()) {
    std::fprintf(stderr, "%s\n", logging.error().message.c_str());
    return kFailed;
  }
  LogFlags(options);
  std::vector<std::string> warnings;
  const Result<void> valid = ValidateOptions(options, gates, late, &warnings);
  for (const std::string& warning : warnings) log::Plain('W', warning);
  return valid.ok() ? 0 : CommandFailed(valid.error().message);
}

// Steps 7 to 12.
int Start(const Options& options, const config::FeatureGates& gates, const sigset_t& signals) {
  auto certificate = daemon::PrepareCertificate(options.serving);
  if (!certificate.ok()) return CommandFailed(certificate.error().message);
  std::optional<config::TracingConfiguration> tracing;
  if (!options.outputs.tracing_config_file.empty()) {
    config::TracingResult read =
        config::ReadTracingConfiguration(options.outputs.tracing_config_file);
    if (const auto* faults = std::get_if<config::Faults>(&read)) {
      return CommandFailed("failed to read the tracing configuration: " + faults->text,
                           daemon::FaultLines(*faults, options.outputs.tracing_config_file));
    }
    tracing = std::get<config::TracingConfiguration>(std::move(read));
  }
  const daemon::Effective effective = ReadEffectiveConfiguration(options, gates);
  for (const std::string& warning : effective.warnings) log::Plain('W', warning);
  auto prepared = daemon::Daemon::Prepare({.flags = options,
                                           .gates = gates,
                                           .certificate = std::move(certificate).value(),
                                           .tracing = std::move(tracing)},
                                          effective.reading);
  if (const auto* faults = std::get_if<config::Faults>(&prepared)) {
    return CommandFailed(faults->text, daemon::FaultLines(*faults, options.config_file));
  }
  daemon::Daemon& daemon = *std::get<0>(prepared);
  const bool write = !options.write_config_to.empty();
  if (write || log::Enabled(2)) {
    const std::string text = config::WriteYaml(daemon.configuration());
    KS_LOG(2, "Using component config", {{"config", text}});
    if (write) {
      const Result<void> written = WriteConfiguration(options.write_config_to, text);
      return written.ok() ? 0 : CommandFailed(written.error().message);
    }
  }
  const Result<int> ran = daemon.Run(signals);
  return ran.ok() ? ran.value() : CommandFailed(ran.error().message);
}

}  // namespace

int RunCommand(const std::vector<std::string>& arguments, const sigset_t& signals) {
  const ParsedFlags parsed = ParseFlags(arguments);
  std::fputs(parsed.standard_output.c_str(), stdout);
  std::fputs(parsed.standard_error.c_str(), stderr);
  if (!parsed.run) return parsed.exit_code;

  std::vector<std::string> notes;
  config::LateGateFindings late;
  const auto gates = config::FeatureGates::Make(parsed.options.gates, &notes, &late);
  if (!gates.ok()) return CommandFailed(gates.error().message);
  LogNotes(notes);
  if (parsed.version != ParsedFlags::Version::kNone) {
    std::fputs(VersionText(parsed.version).c_str(), stdout);
    return 0;
  }
  if (const int failed = CheckOptions(parsed.options, gates.value(), late)) return failed;
  return Start(parsed.options, gates.value(), signals);
}

}  // namespace ks
