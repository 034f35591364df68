// SPDX-License-Identifier: Apache-2.0
#include "server/path_authorization.h"

#include <algorithm>
#include <optional>

#include <nlohmann/json.hpp>

#include "base/logging.h"

namespace ks::server {
namespace {

std::string_view WithoutSlash(std::string_view path) {
  if (path.starts_with('/')) path.remove_prefix(1);
  return path;
}

std::string Replaced(const std::string& text, char what, std::string_view by) {
  std::string result;
  for (const char c : text) {
    result += c == what ? by : std::string_view(&c, 1);
  }
  return result;
}

// The path comes from the caller and may end in a browser.
std::string Escaped(const std::string& path) {
  return Replaced(Replaced(Replaced(path, '&', "&amp;"), '<', "&lt;"), '>', "&gt;");
}

// People get an indented answer.
bool Indented(const Request& request) {
  const std::string_view agent = request.user_agent;
  return agent.starts_with("curl") || agent.starts_with("Wget") ||
         agent.starts_with("Mozilla/5.0") || request.query.find("pretty=true") != std::string::npos;
}

}  // namespace

Result<PathAuthorization> PathAuthorization::Make(const std::vector<std::string>& always_allow) {
  PathAuthorization made;
  for (const std::string& given : always_allow) {
    std::string path(WithoutSlash(given));
    const size_t star = path.find('*');
    if (path.empty()) {
      continue;
    }
    if (star == std::string::npos) {
      made.exact_.push_back(std::move(path));
    } else if (star + 1 == path.size()) {
      path.pop_back();
      made.prefixes_.push_back(std::move(path));
    } else {
      return Error{"only trailing * allowed in \"" + path + "\""};
    }
  }
  return made;
}

bool PathAuthorization::Allowed(std::string_view path) const {
  path = WithoutSlash(path);
  return std::find(exact_.begin(), exact_.end(), path) != exact_.end() ||
         std::any_of(prefixes_.begin(), prefixes_.end(),
                     [path](const std::string& prefix) { return path.starts_with(prefix); });
}

Guard PathAuthorization::MakeGuard() const {
  return [paths = *this](const Request& request) -> std::optional<Response> {
    if (paths.Allowed(request.path)) return std::nullopt;
    KS_LOG(4, "Forbidden", {{"URI", request.path}, {"reason", ""}});
    return Forbidden(request, "system:anonymous");
  };
}

Response Forbidden(const Request& request, std::string_view user) {
  std::string verb = request.method;
  std::transform(verb.begin(), verb.end(), verb.begin(), [](unsigned char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : static_cast<char>(c);
  });
  const std::string message = "forbidden: User \"" + std::string(user) + "\" cannot " + verb +
                              " path \"" + Escaped(request.path) + "\"";
  const nlohmann::ordered_json status = {{"kind", "Status"},
                                         {"apiVersion", "v1"},
                                         {"metadata", nlohmann::ordered_json::object()},
                                         {"status", "Failure"},
                                         {"message", message},
                                         {"reason", "Forbidden"},
                                         {"details", nlohmann::ordered_json::object()},
                                         {"code", 403}};
  // Paths need not be valid UTF-8.
  constexpr auto kReplace = nlohmann::ordered_json::error_handler_t::replace;
  const bool indented = Indented(request);
  const std::string body = status.dump(indented ? 2 : -1, ' ', false, kReplace);
  return {.status = 403,
          .content_type = "application/json",
          .body = Replaced(body, '&', "\\u0026") + (indented ? "" : "\n")};
}

}  // namespace ks::server
