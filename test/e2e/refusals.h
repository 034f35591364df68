// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the API server refused the scheduler under test, read from the audit log of a cluster: a
// scheduler that asks for more than its roles grant goes on without it, so that nothing else tells.

#include <algorithm>
#include <fstream>
#include <ios>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace ks::e2e {

// Whom the log is about: the scheduler as kubeadm runs it, and as deploy/second-scheduler does.
inline constexpr std::string_view kSchedulerUser = "system:kube-scheduler";
inline constexpr std::string_view kServiceAccountUser =
    "system:serviceaccount:kube-system:kubesched";

// The text of an audit policy with every request of theirs, and with those that nobody has been
// found to have sent. `rules`: of a test, each with a line end; they come first.
inline std::string AuditPolicy(const std::string& rules) {
  return "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules:\n" +
         rules + "- {level: Metadata, users: ['" + std::string(kSchedulerUser) + "', '" +
         std::string(kServiceAccountUser) +
         "']}\n"
         "- {level: None, userGroups: ['system:authenticated', 'system:unauthenticated']}\n"
         "- {level: Metadata}\n";
}

// A request that may be refused.
struct AllowedRefusal {
  std::string user;  // "somebody unknown": with credentials that are nobody's
  std::string verb;
  std::string resource;
};

// Part of a log, in bytes from its begin.
struct LogPart {
  std::streamoff begin = 0;
  std::streamoff end = 0;
};

// One line for each request in the log that was refused (401, 403), is not among `allowed`, and
// does not begin in a part of `startups`, when the server did not know its roles yet: who, verb,
// resource and name. Those of the kube-scheduler that a test compares with are left out. The log
// does not have to be complete: its last line is left out if it is torn.
inline std::vector<std::string> ReadRefusals(const std::string& log,
                                             const std::vector<AllowedRefusal>& allowed,
                                             const std::vector<LogPart>& startups) {
  std::vector<std::string> refusals;
  std::ifstream stream(log);
  if (!stream) refusals.push_back("there is no audit log " + log);
  std::streamoff at = 0;
  for (std::string line; std::getline(stream, line); at = stream.tellg()) {
    const bool starting = std::any_of(startups.begin(), startups.end(), [at](const LogPart& part) {
      return at >= part.begin && at < part.end;
    });
    if (starting) continue;
    const auto event = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!event.is_object()) continue;
    const int code = event.value("/responseStatus/code"_json_pointer, 0);
    if (code != 401 && code != 403) continue;
    if (event.value("userAgent", "").starts_with("kube-scheduler/")) continue;
    const std::string user = event.value("/user/username"_json_pointer, "somebody unknown");
    const std::string verb = event.value("verb", "");
    const std::string resource = event.value("/objectRef/resource"_json_pointer, "");
    bool expected = false;
    for (const AllowedRefusal& each : allowed) {
      expected |= each.user == user && each.verb == verb && each.resource == resource;
    }
    if (expected) continue;
    refusals.push_back(user + " was refused (" + std::to_string(code) + "): verb " + verb +
                       ", resource " + resource + ", name \"" +
                       event.value("/objectRef/name"_json_pointer, "") + "\", " +
                       event.value("requestURI", ""));
  }
  return refusals;
}

}  // namespace ks::e2e
