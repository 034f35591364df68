// SPDX-License-Identifier: Apache-2.0
#include "server/http/error_objects.h"
#include "base/text.h"

#include <algorithm>
#include <iterator>

#include <nlohmann/json.hpp>

namespace ks::server {
namespace {

using nlohmann::ordered_json;

std::string Replaced(std::string_view text, char what, std::string_view by) {
  std::string result;
  for (const char c : text) {
    result += c == what ? by : std::string_view(&c, 1);
  }
  return result;
}

// The path comes from the caller and may end in a browser.
std::string Escaped(std::string_view path) {
  return Replaced(Replaced(Replaced(path, '&', "&amp;"), '<', "&lt;"), '>', "&gt;");
}

// One clause of an Accept header. Upstream's encoders for errors are JSON and YAML; what it cannot
// encode as asked for it writes as indented JSON.
bool ClauseTakesJson(std::string_view clause) {
  const size_t semicolon = clause.find(';');
  const std::string_view parameters =
      semicolon == std::string_view::npos ? std::string_view() : clause.substr(semicolon);
  clause = clause.substr(0, semicolon);
  while (clause.starts_with(' ')) clause.remove_prefix(1);
  while (clause.ends_with(' ')) clause.remove_suffix(1);
  const bool json = clause == "*/*" || clause == "application/*" || clause == "application/json";
  return json && parameters.find("as=") == std::string_view::npos;
}

bool TakesJson(std::string_view accept) {
  if (accept.find_first_not_of(" \t") == std::string_view::npos) {
    return true;
  }
  while (true) {
    const size_t comma = accept.find(',');
    if (ClauseTakesJson(accept.substr(0, comma))) {
      return true;
    }
    if (comma == std::string_view::npos) {
      return false;
    }
    accept = accept.substr(comma + 1);
  }
}

Response StatusAnswer(const Request& request, int code, const char* reason,
                      const std::string& message, bool details) {
  ordered_json status = {
      {"kind", "Status"},    {"apiVersion", "v1"}, {"metadata", ordered_json::object()},
      {"status", "Failure"}, {"message", message}, {"reason", reason}};
  if (details) {
    status["details"] = ordered_json::object();
  }
  status["code"] = code;
  // Paths need not be valid UTF-8.
  constexpr auto kReplace = ordered_json::error_handler_t::replace;
  const bool indented = WantsIndented(request) || !TakesJson(request.headers.Get("Accept"));
  std::string body = status.dump(indented ? 2 : -1, ' ', false, kReplace);
  body = Replaced(Replaced(body, '&', "\\u0026"), '<', "\\u003c");
  return {.status = code,
          .content_type = "application/json",
          .body = Replaced(body, '>', "\\u003e") + (indented ? "" : "\n")};
}

}  // namespace

std::string Uri(const Request& request) {
  return request.query.empty() ? request.path : request.path + "?" + request.query;
}

bool WantsIndented(const Request& request) {
  const Query query(request.query);
  if (const std::string_view pretty = query.Get("pretty"); !pretty.empty()) {
    constexpr std::string_view kTrue[] = {"1", "t", "T", "true", "TRUE", "True"};
    return std::find(std::begin(kTrue), std::end(kTrue), pretty) != std::end(kTrue);
  }
  const std::string_view agent = request.headers.Get("User-Agent");
  return agent.starts_with("curl") || agent.starts_with("Wget") || agent.starts_with("Mozilla/5.0");
}

Response Unauthorized(const Request& request) {
  Response answer = StatusAnswer(request, 401, "Unauthorized", "Unauthorized", false);
  answer.no_sniff = false;
  return answer;
}

Response Forbidden(const Request& request, std::string_view user, std::string_view reason) {
  std::string message = "forbidden: User \"" + std::string(user) + "\" cannot " +
                        LowerCase(request.method) + " path \"" + Escaped(request.path) + "\"";
  if (!reason.empty()) {
    message += ": " + std::string(reason);
  }
  return StatusAnswer(request, 403, "Forbidden", message, true);
}

Response NotAcceptable(const Request& request) {
  Response answer = StatusAnswer(
      request, 406, "NotAcceptable",
      "only the following media types are accepted: application/json, application/yaml, text/plain",
      false);
  answer.no_sniff = false;
  return answer;
}

Response InternalError(const Request& request, std::string_view error) {
  return {.status = 500,
          .body = "Internal Server Error: \"" + Escaped(Uri(request)) +
                  "\": " + std::string(error) + "\n"};
}

}  // namespace ks::server
