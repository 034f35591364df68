// SPDX-License-Identifier: Apache-2.0
#include "apiserver/store/failure.h"

#include <algorithm>

#include "api/selector.h"
#include "apiserver/store/json_write.h"

namespace ks::apiserver {
namespace {

Failure Named(const KindInfo& kind, std::string_view name, int code, std::string reason) {
  Failure failure;
  failure.code = code;
  failure.reason = std::move(reason);
  failure.name = name;
  failure.group = kind.group;
  failure.kind = kind.plural;
  return failure;
}

std::string Quoted(std::string_view text) { return '"' + std::string(text) + '"'; }

}  // namespace

Failure NotFound(const KindInfo& kind, std::string_view name) {
  Failure failure = Named(kind, name, 404, "NotFound");
  failure.message = kind.qualified_plural() + ' ' + Quoted(name) + " not found";
  return failure;
}

Failure AlreadyExists(const KindInfo& kind, std::string_view name) {
  Failure failure = Named(kind, name, 409, "AlreadyExists");
  failure.message = kind.qualified_plural() + ' ' + Quoted(name) + " already exists";
  return failure;
}

Failure Conflict(std::string_view qualified_resource, std::string_view name,
                 std::string_view cause) {
  Failure failure;
  failure.code = 409;
  failure.reason = "Conflict";
  failure.message = "Operation cannot be fulfilled on " + std::string(qualified_resource) + ' ' +
                    Quoted(name) + ": " + std::string(cause);
  failure.name = name;
  const size_t dot = qualified_resource.find('.');
  failure.kind = qualified_resource.substr(0, dot);
  if (dot != std::string_view::npos) failure.group = qualified_resource.substr(dot + 1);
  return failure;
}

Failure Invalid(const KindInfo& kind, std::string_view name, std::vector<Cause> causes) {
  Failure failure = Named(kind, name, 422, "Invalid");
  failure.kind = kind.kind;
  std::string text;
  std::vector<std::string> seen;
  for (const Cause& cause : causes) {
    std::string one = cause.field.empty() ? cause.message : cause.field + ": " + cause.message;
    if (std::find(seen.begin(), seen.end(), one) != seen.end()) continue;
    seen.push_back(std::move(one));
  }
  for (const std::string& one : seen) text += (text.empty() ? "" : ", ") + one;
  if (seen.size() > 1) text = '[' + text + ']';
  const std::string what = kind.kind + (kind.group.empty() ? "" : "." + kind.group);
  failure.message = what + ' ' + Quoted(name) + " is invalid";
  if (!text.empty()) failure.message += ": " + text;
  failure.causes = std::move(causes);
  return failure;
}

Failure BadRequest(std::string message) {
  Failure failure;
  failure.code = 400;
  failure.reason = "BadRequest";
  failure.message = std::move(message);
  return failure;
}

Failure Forbidden(const KindInfo& kind, std::string_view name, std::string_view cause) {
  Failure failure = Named(kind, name, 403, "Forbidden");
  failure.message = kind.qualified_plural();
  if (!name.empty()) failure.message += ' ' + Quoted(name);
  failure.message += " is forbidden: " + std::string(cause);
  return failure;
}

Failure Unauthorized() {
  Failure failure;
  failure.code = 401;
  failure.reason = "Unauthorized";
  failure.message = "Unauthorized";
  return failure;
}

Failure MethodNotAllowed(std::string_view) {
  Failure failure;
  failure.code = 405;
  failure.reason = "MethodNotAllowed";
  failure.message = "the server does not allow this method on the requested resource";
  failure.empty_details = true;
  return failure;
}

Failure UnsupportedMediaType(std::string_view, const std::vector<std::string>& accepted) {
  Failure failure;
  failure.code = 415;
  failure.reason = "UnsupportedMediaType";
  failure.message =
      "the body of the request was in an unknown format - accepted media types include: ";
  for (size_t i = 0; i < accepted.size(); ++i) {
    failure.message += (i == 0 ? "" : ", ") + accepted[i];
  }
  return failure;
}

Failure Expired(std::string message) {
  Failure failure;
  failure.code = 410;
  failure.reason = "Expired";
  failure.message = std::move(message);
  return failure;
}

Failure TooLargeResourceVersion(uint64_t asked, uint64_t current) {
  Failure failure;
  failure.code = 504;
  failure.reason = "Timeout";
  failure.message = "Timeout: Too large resource version: " + std::to_string(asked) +
                    ", current: " + std::to_string(current);
  failure.causes.push_back({"ResourceVersionTooLarge", "Too large resource version", ""});
  failure.retry_after_seconds = 1;
  return failure;
}

Failure TooManyRequests(std::string message, int retry_after_seconds) {
  Failure failure;
  failure.code = 429;
  failure.reason = "TooManyRequests";
  failure.message = std::move(message);
  failure.retry_after_seconds = retry_after_seconds;
  return failure;
}

Failure InternalError(std::string cause) {
  Failure failure;
  failure.code = 500;
  failure.reason = "InternalError";
  failure.message = "Internal error occurred: " + cause;
  failure.causes.push_back({"", std::move(cause), ""});
  return failure;
}

Failure PlainError(std::string message) {
  Failure failure;
  failure.code = 500;
  failure.message = std::move(message);
  return failure;
}

Failure InvalidOptions(std::string_view options_kind, std::vector<Cause> causes) {
  KindInfo kind;
  kind.group = "meta.k8s.io";
  kind.kind = options_kind;
  return Invalid(kind, "", std::move(causes));
}

Failure PathNotFound() {
  Failure failure;
  failure.code = 404;
  failure.reason = "NotFound";
  failure.message = "the server could not find the requested resource";
  failure.empty_details = true;
  return failure;
}

namespace {

void AppendMember(const char* key, std::string_view value, std::string* out) {
  if (value.empty()) return;
  if (out->back() != '{') *out += ',';
  *out += '"';
  *out += key;
  *out += "\":";
  AppendJsonString(value, out);
}

void AppendCauses(const std::vector<Cause>& causes, std::string* out) {
  if (causes.empty()) return;
  if (out->back() != '{') *out += ',';
  *out += "\"causes\":[";
  for (const Cause& cause : causes) {
    if (out->back() != '[') *out += ',';
    *out += '{';
    AppendMember("reason", cause.reason, out);
    AppendMember("message", cause.message, out);
    AppendMember("field", cause.field, out);
    *out += '}';
  }
  *out += ']';
}

}  // namespace

std::string StatusText(const Failure& failure) {
  std::string text = R"({"kind":"Status","apiVersion":"v1","metadata":{)";
  AppendMember("continue", failure.continue_token, &text);
  text += R"(},"status":"Failure","message":)";
  AppendJsonString(failure.message, &text);
  if (!failure.reason.empty()) AppendMember("reason", failure.reason, &text);
  std::string details = "{";
  AppendMember("name", failure.name, &details);
  AppendMember("group", failure.group, &details);
  AppendMember("kind", failure.kind, &details);
  AppendMember("uid", failure.uid, &details);
  AppendCauses(failure.causes, &details);
  if (failure.retry_after_seconds > 0) {
    if (details.back() != '{') details += ',';
    details += "\"retryAfterSeconds\":" + std::to_string(failure.retry_after_seconds);
  }
  if (details.size() > 1 || failure.empty_details) text += ",\"details\":" + details + '}';
  text += ",\"code\":" + std::to_string(failure.code) + '}';
  return text;
}

}  // namespace ks::apiserver
