// SPDX-License-Identifier: Apache-2.0
// Reviews: questions about who somebody is and what he may do, answered by filling in the status.
#include <utility>

#include "apiserver/service/subresources.h"
#include "apiserver/table/table_cells.h"

namespace ks::apiserver {
namespace {

constexpr char kAuthorization[] = "authorization.k8s.io";
constexpr char kAuthentication[] = "authentication.k8s.io";

Failure InvalidReview(const std::string& field, const std::string& message) {
  Failure failure;
  failure.code = 422;
  failure.reason = "Invalid";
  failure.message =
      std::string(".") + kAuthorization + " \"\" is invalid: " + field + ": " + message;
  failure.group = kAuthorization;
  failure.causes = {{.reason = "FieldValueInvalid", .message = message, .field = field}};
  return failure;
}

Failure WrongKind(const std::string& sent, const std::string& wanted, const char* group) {
  const std::string short_group = std::string(group).substr(0, std::string(group).find('.'));
  return BadRequest(sent + " in version \"v1\" cannot be handled as a " + wanted +
                    ": converting (v1." + sent + ") to (" + short_group + "." + wanted +
                    "): unknown conversion");
}

std::vector<std::string> TextList(const Json& json) {
  std::vector<std::string> result;
  if (!json.is_array()) return result;
  for (const Json& item : json) {
    if (item.is_string()) result.push_back(item.get<std::string>());
  }
  return result;
}

// What the review asks about, as a request would ask.
RequestInfo Question(const Json& spec) {
  RequestInfo info;
  const Json& resource = At(spec, {"resourceAttributes"});
  if (!resource.is_object()) {
    const Json& path = At(spec, {"nonResourceAttributes"});
    info.path = TextAt(path, {"path"});
    info.verb = TextAt(path, {"verb"});
    return info;
  }
  info.resource_request = true;
  info.verb = TextAt(resource, {"verb"});
  info.group = TextAt(resource, {"group"});
  info.version = TextAt(resource, {"version"});
  info.resource = TextAt(resource, {"resource"});
  info.subresource = TextAt(resource, {"subresource"});
  info.ns = TextAt(resource, {"namespace"});
  info.name = TextAt(resource, {"name"});
  return info;
}

std::optional<Failure> CheckSpec(const Json& spec, bool names_user) {
  const Json& resource = At(spec, {"resourceAttributes"});
  const Json& path = At(spec, {"nonResourceAttributes"});
  if (resource.is_object() == path.is_object()) {
    std::string value = "null";
    if (path.is_object()) {
      value = R"({"Path":)" + Json(TextAt(path, {"path"})).dump() + R"(,"Verb":)" +
              Json(TextAt(path, {"verb"})).dump() + "}";
    }
    return InvalidReview("spec", "Invalid value: " + value +
                                     ": exactly one of nonResourceAttributes or "
                                     "resourceAttributes must be specified");
  }
  if (names_user && TextAt(spec, {"user"}).empty() && TextList(At(spec, {"groups"})).empty()) {
    return InvalidReview("spec.user",
                         "Invalid value: \"\": at least one of user or group must be specified");
  }
  return {};
}

std::optional<Failure> CheckLocal(const RequestInfo& info, const Json& review) {
  const std::string asked = TextAt(review, {"spec", "resourceAttributes", "namespace"});
  if (asked == info.ns) return {};
  return InvalidReview("spec.resourceAttributes.namespace",
                       "Invalid value: " + Json(asked).dump() + ": must match metadata.namespace");
}

Json Decided(Json review, const Decision& decision) {
  review["status"] = {{"allowed", decision.allowed}};
  if (!decision.reason.empty()) review["status"]["reason"] = decision.reason;
  return review;
}

Outcome<Json> ReviewAccess(const RequestInfo& info, const UserInfo& user, Json review,
                           const Authorizer& authorizer) {
  const bool self = info.resource == "selfsubjectaccessreviews";
  const Json& spec = At(review, {"spec"});
  if (auto failure = CheckSpec(spec, !self)) return *std::move(failure);
  UserInfo subject = user;
  if (!self) subject = {.name = TextAt(spec, {"user"}), .groups = TextList(At(spec, {"groups"}))};
  if (info.resource == "localsubjectaccessreviews") {
    if (auto failure = CheckLocal(info, review)) return *std::move(failure);
    review["metadata"]["namespace"] = info.ns;
  }
  const RequestInfo question = Question(At(review, {"spec"}));
  return Decided(std::move(review), authorizer.Authorize(subject, question));
}

Outcome<Json> ReviewToken(Json review, const TokenLookup& tokens) {
  const std::string token = TextAt(review, {"spec", "token"});
  if (token.empty()) return BadRequest("token is required for TokenReview in authentication");
  const auto user = tokens ? tokens(token) : std::nullopt;
  if (user.has_value()) {
    review["status"] = {{"authenticated", true},
                        {"user", {{"username", user->name}, {"groups", user->groups}}}};
  } else {
    review["status"] = {{"user", Json::object()}, {"error", "invalid bearer token"}};
  }
  return review;
}

Json ReviewSelf(const UserInfo& user, Json review) {
  review["status"] = {{"userInfo", {{"username", user.name}, {"groups", user.groups}}}};
  return review;
}

// The kind that is posted to a resource; empty: none of these.
std::string KindOf(const RequestInfo& info) {
  if (info.version != "v1" || !info.subresource.empty()) return {};
  if (info.group == kAuthorization) {
    if (info.resource == "subjectaccessreviews") return "SubjectAccessReview";
    if (info.resource == "selfsubjectaccessreviews") return "SelfSubjectAccessReview";
    if (info.resource == "localsubjectaccessreviews") return "LocalSubjectAccessReview";
  }
  if (info.group == kAuthentication) {
    if (info.resource == "tokenreviews") return "TokenReview";
    if (info.resource == "selfsubjectreviews") return "SelfSubjectReview";
  }
  return {};
}

}  // namespace

std::optional<Outcome<Json>> Review(const RequestInfo& info, const UserInfo& user, Json body,
                                    const Authorizer& authorizer, const TokenLookup& tokens) {
  const std::string kind = KindOf(info);
  if (kind.empty()) return {};
  if (info.verb != "create") {
    Failure failure = MethodNotAllowed(info.verb);
    return failure;
  }
  if (!body.is_object()) return BadRequest("the body of the request is no " + kind);
  const std::string sent = TextAt(body, {"kind"}, kind);
  const char* group = info.group == kAuthorization ? kAuthorization : kAuthentication;
  if (sent != kind) return WrongKind(sent, kind, group);
  body["kind"] = kind;
  body["apiVersion"] = std::string(group) + "/v1";
  if (!At(body, {"metadata"}).is_object()) body["metadata"] = Json::object();
  if (kind == "TokenReview") return ReviewToken(std::move(body), tokens);
  if (kind == "SelfSubjectReview") return ReviewSelf(user, std::move(body));
  return ReviewAccess(info, user, std::move(body), authorizer);
}

}  // namespace ks::apiserver
