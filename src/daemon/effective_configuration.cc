// SPDX-License-Identifier: Apache-2.0
#include "daemon/effective_configuration.h"

namespace ks::daemon {

std::vector<std::string> FaultLines(const config::Faults& faults, const std::string& file) {
  const std::vector<config::Finding>& findings = faults.findings;
  const bool is_all = findings.size() == 1 && findings[0].message == faults.text;
  // Without a file there is no place to tell beside the text.
  if (is_all && (file.empty() || findings[0].path.empty()) && findings[0].place.line == 0 &&
      findings[0].hint.empty()) {
    return {};
  }
  return WarningLines(findings, file);
}

std::vector<std::string> WarningLines(const std::vector<config::Finding>& findings,
                                      const std::string& file) {
  std::vector<std::string> lines;
  lines.reserve(findings.size());
  for (const config::Finding& finding : findings) lines.push_back(config::Render(finding, file));
  return lines;
}

}  // namespace ks::daemon
