// SPDX-License-Identifier: Apache-2.0
#include "server/health.h"

#include <set>
#include <utility>

#include "base/logging.h"

namespace ks::server {
namespace {

struct HealthQuery {
  bool verbose = false;
  std::set<std::string> excluded;
};

int HexValue(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// Undoes query escaping; a broken escape stays as it is.
std::string Unescape(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      result += ' ';
    } else if (text[i] == '%' && i + 2 < text.size() && HexValue(text[i + 1]) >= 0 &&
               HexValue(text[i + 2]) >= 0) {
      result += static_cast<char>(HexValue(text[i + 1]) * 16 + HexValue(text[i + 2]));
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

HealthQuery ParseQuery(std::string_view query) {
  HealthQuery result;
  while (!query.empty()) {
    const size_t end = query.find('&');
    const std::string_view pair = query.substr(0, end);
    query = end == std::string_view::npos ? std::string_view() : query.substr(end + 1);
    const size_t equals = pair.find('=');
    const std::string key = Unescape(pair.substr(0, equals));
    if (key == "verbose") {
      result.verbose = true;
    } else if (key == "exclude") {
      result.excluded.insert(equals == std::string_view::npos ? ""
                                                              : Unescape(pair.substr(equals + 1)));
    }
  }
  return result;
}

std::string UnmatchedLine(const std::set<std::string>& unmatched) {
  if (unmatched.empty()) {
    return "";
  }
  std::string names;
  for (const std::string& name : unmatched) {
    names += (names.empty() ? "\"" : ",\"") + name + '"';
  }
  return "warn: some health checks cannot be excluded: no matches for " + names + "\n";
}

}  // namespace

Response AnswerHealth(std::string_view name, const std::vector<HealthCheck>& checks,
                      std::string_view query) {
  HealthQuery asked = ParseQuery(query);
  std::string lines;
  std::string failed_names;
  std::string failures;
  for (const HealthCheck& check : checks) {
    if (asked.excluded.erase(check.name) > 0) {
      lines += "[+]" + check.name + " excluded: ok\n";
      continue;
    }
    const std::string failure = check.failure();
    if (failure.empty()) {
      lines += "[+]" + check.name + " ok\n";
      continue;
    }
    lines += "[-]" + check.name + " failed: reason withheld\n";
    failed_names += (failed_names.empty() ? "" : ",") + check.name;
    failures += "[-]" + check.name + " failed: " + failure + "\n";
  }
  Response response;
  if (!failed_names.empty()) {
    KS_LOG(2, failed_names + " check failed: " + std::string(name) + "\n" + failures);
    response.status = 500;
    response.body = lines + UnmatchedLine(asked.excluded) + std::string(name) + " check failed\n";
    return response;
  }
  response.body =
      asked.verbose ? lines + UnmatchedLine(asked.excluded) + std::string(name) + " check passed\n"
                    : "ok";
  return response;
}

Response AnswerHealthCheck(const HealthCheck& check) {
  const std::string failure = check.failure();
  if (failure.empty()) {
    return Response{.body = "ok", .no_sniff = false};
  }
  return Response{.status = 500, .body = "internal server error: " + failure + "\n"};
}

void InstallHealth(HttpsServer& server, const std::string& name, std::vector<HealthCheck> checks) {
  for (const HealthCheck& check : checks) {
    server.Handle("/" + name + "/" + check.name,
                  [check](const Request&) { return AnswerHealthCheck(check); });
  }
  server.Handle("/" + name, [name, checks = std::move(checks)](const Request& request) {
    return AnswerHealth(name, checks, request.query);
  });
}

void InstallSchedulerHealth(HttpsServer& server, const SchedulerHealth& health) {
  const HealthCheck ping{.name = "ping", .failure = [] { return std::string(); }};
  InstallHealth(server, "healthz", {ping});
  InstallHealth(server, "livez", {ping});
  const HealthCheck shutdown{.name = "shutdown", .failure = [&health] {
                               return health.shutting_down ? std::string("process is shutting down")
                                                           : std::string();
                             }};
  const HealthCheck sync{.name = "sched-handler-sync", .failure = [&health] {
                           return health.handlers_synced
                                      ? std::string()
                                      : std::string("handlers are not fully synchronized");
                         }};
  InstallHealth(server, "readyz", {shutdown, sync});
}

}  // namespace ks::server
