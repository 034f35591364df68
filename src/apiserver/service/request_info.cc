// SPDX-License-Identifier: Apache-2.0
#include "apiserver/service/request_info.h"

#include <algorithm>

#include "base/text.h"

namespace ks::apiserver {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Absent: a bad escape. In queries '+' is a blank.
std::optional<std::string> Unescape(std::string_view text, bool query) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && query) {
      out += ' ';
    } else if (text[i] != '%') {
      out += text[i];
    } else {
      if (i + 2 >= text.size()) return {};
      const int high = HexDigit(text[i + 1]);
      const int low = HexDigit(text[i + 2]);
      if (high < 0 || low < 0) return {};
      out += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return out;
}

std::vector<std::string> SplitPath(std::string_view path) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (begin < path.size()) {
    const size_t end = std::min(path.find('/', begin), path.size());
    if (end > begin) parts.emplace_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string VerbOf(std::string_view method) {
  if (method == "POST") return "create";
  if (method == "GET" || method == "HEAD") return "get";
  if (method == "PUT") return "update";
  if (method == "PATCH") return "patch";
  if (method == "DELETE") return "delete";
  return "";
}

bool True(std::string_view value) { return value != "false" && value != "0"; }

// The parts of a resource path behind the version.
void TakeResource(std::vector<std::string> parts, RequestInfo* info) {
  size_t at = 0;
  // The old form: /api/v1/watch/…
  if (parts.size() > 1 && parts[0] == "watch" && info->verb == "get") {
    info->verb = "watch";
    at = 1;
  }
  if (at + 1 < parts.size() && parts[at] == "namespaces") {
    info->ns = parts[at + 1];
    // Behind a namespace stands a resource in it, or one of the namespace's own subresources.
    const bool own =
        at + 2 < parts.size() && (parts[at + 2] == "status" || parts[at + 2] == "finalize");
    if (at + 2 < parts.size() && !own) at += 2;
  }
  if (at < parts.size()) info->resource = parts[at];
  if (at + 1 < parts.size()) info->name = parts[at + 1];
  if (at + 2 < parts.size()) info->subresource = parts[at + 2];
  for (size_t i = at + 3; i < parts.size(); ++i) info->subresource += '/' + parts[i];
}

// The name that `metadata.name=x` asks for, as authorization sees it.
std::string NameOfSelector(std::string_view selector) {
  constexpr std::string_view kPrefix = "metadata.name=";
  if (!selector.starts_with(kPrefix)) return "";
  selector.remove_prefix(kPrefix.size());
  if (selector.starts_with('=')) selector.remove_prefix(1);
  return std::string(selector.substr(0, selector.find(',')));
}

void TakeVerb(RequestInfo* info) {
  if (!info->name.empty() && info->verb != "watch") return;
  if (info->verb == "get") {
    info->verb = info->HasQuery("watch") && True(info->Query("watch")) ? "watch" : "list";
  }
  if (info->verb == "delete") info->verb = "deletecollection";
  const bool many = info->verb == "list" || info->verb == "watch";
  if (many && info->name.empty()) info->name = NameOfSelector(info->Query("fieldSelector"));
}

}  // namespace

std::string_view RequestInfo::Query(std::string_view key) const {
  const auto it = std::find_if(query.begin(), query.end(),
                               [&key](const auto& entry) { return entry.first == key; });
  return it == query.end() ? std::string_view() : std::string_view(it->second);
}

bool RequestInfo::HasQuery(std::string_view key) const {
  return std::any_of(query.begin(), query.end(),
                     [&key](const auto& entry) { return entry.first == key; });
}

Outcome<RequestInfo> ParseRequest(const ApiRequest& request) {
  RequestInfo info;
  const std::string_view target = request.target;
  const size_t mark = target.find('?');
  const auto path = Unescape(target.substr(0, mark), false);
  if (!path.has_value()) return BadRequest("invalid URL escape in path");
  info.path = *path;
  std::string_view rest = mark == std::string_view::npos ? "" : target.substr(mark + 1);
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('&'), rest.size());
    const std::string_view entry = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (entry.empty()) continue;
    const size_t equals = std::min(entry.find('='), entry.size());
    auto key = Unescape(entry.substr(0, equals), true);
    auto value = Unescape(equals < entry.size() ? entry.substr(equals + 1) : "", true);
    if (!key.has_value() || !value.has_value()) {
      return BadRequest("invalid URL escape in query");
    }
    info.query.emplace_back(std::move(*key), std::move(*value));
  }
  info.verb = LowerCase(request.method);
  std::vector<std::string> parts = SplitPath(info.path);
  const size_t prefix = !parts.empty() && parts[0] == "apis" ? 3 : 2;
  if (parts.size() <= prefix || (parts[0] != "api" && parts[0] != "apis")) return info;
  info.resource_request = true;
  info.group = prefix == 3 ? parts[1] : "";
  info.version = parts[prefix - 1];
  info.verb = VerbOf(request.method);
  parts.erase(parts.begin(), parts.begin() + static_cast<ptrdiff_t>(prefix));
  TakeResource(std::move(parts), &info);
  TakeVerb(&info);
  return info;
}

}  // namespace ks::apiserver
