// SPDX-License-Identifier: Apache-2.0
#include "apiserver/body/patch.h"

#include <utility>

#include "apiserver/body/body_forms.h"
#include "apiserver/body/patch_forms.h"
#include "apiserver/schema/schema.h"

namespace ks::apiserver {
namespace {

constexpr std::string_view kJsonType = "application/json-patch+json";
constexpr std::string_view kMergeType = "application/merge-patch+json";
constexpr std::string_view kStrategicType = "application/strategic-merge-patch+json";
constexpr std::string_view kApplyType = "application/apply-patch+yaml";

std::string_view TypeNameInGo(const Json& value) {
  if (value.is_object()) return "object";
  if (value.is_array()) return "array";
  if (value.is_string()) return "string";
  return value.is_boolean() ? "bool" : "number";
}

Failure WrongForm(const Json& value, std::string_view go_type, std::string_view prefix) {
  return PatchBadRequest(std::string(prefix) + "json: cannot unmarshal " +
                         std::string(TypeNameInGo(value)) + " into Go value of type " +
                         std::string(go_type));
}

// RFC 7386; null and missing members of the patch are what nlohmann's merge_patch has them be.
Outcome<Json> ApplyMerge(const Json& object, const Json& patch) {
  if (patch.is_null()) return PatchBadRequest("Invalid JSON Patch");
  if (!patch.is_object()) {
    return WrongForm(patch, "map[string]interface {}", "error decoding patch: ");
  }
  Json result = object;
  result.merge_patch(patch);
  return result;
}

Outcome<Json> ApplyJson(const Json& object, const Json& patch) {
  if (patch.is_null()) return object;
  constexpr std::string_view kPrefix = "error decoding patch: ";
  if (!patch.is_array()) return WrongForm(patch, "[]handlers.jsonPatchOp", kPrefix);
  for (const Json& operation : patch) {
    if (!operation.is_object()) return WrongForm(operation, "handlers.jsonPatchOp", kPrefix);
  }
  constexpr size_t kMaxOperations = 10000;
  if (patch.size() > kMaxOperations) {
    return Failure{.code = 413,
                   .reason = "RequestEntityTooLarge",
                   .message = "The allowed maximum operations in a JSON patch is " +
                              std::to_string(kMaxOperations) + ", got " +
                              std::to_string(patch.size())};
  }
  Json result = object;
  if (ApplyJsonPatch(patch, result)) return result;
  return Failure{.code = 422,
                 .reason = "Invalid",
                 .message = "the server rejected our request due to an error in our request"};
}

Outcome<Json> ApplyStrategic(const KindInfo& kind, const Json& object, const Json& patch) {
  if (patch.is_null()) return object;
  if (!patch.is_object()) return WrongForm(patch, "map[string]interface {}", "");
  Json result = object;
  if (auto failure = ApplyStrategicMerge(SchemaOf(kind), patch, result)) return *failure;
  return result;
}

}  // namespace

Failure PatchBadRequest(std::string message) {
  return {.code = 400, .reason = "BadRequest", .message = std::move(message)};
}

Outcome<PatchType> PatchTypeOf(std::string_view content_type) {
  std::string_view type = content_type.substr(0, content_type.find(';'));
  while (type.ends_with(' ')) type.remove_suffix(1);
  if (type == kJsonType) return PatchType::kJson;
  if (type == kMergeType) return PatchType::kMerge;
  if (type == kStrategicType) return PatchType::kStrategic;
  std::string message =
      "the body of the request was in an unknown format - accepted media types include: " +
      std::string(kJsonType) + ", " + std::string(kMergeType) + ", " + std::string(kStrategicType);
  if (type == kApplyType) {
    message = "this server has no server-side apply; apply without --server-side (" + message + ")";
  }
  return Failure{.code = 415, .reason = "UnsupportedMediaType", .message = std::move(message)};
}

Outcome<Json> ApplyPatch(const KindInfo& kind, PatchType type, const Json& object,
                         std::string_view patch_text) {
  if (IsTooDeep(patch_text)) return PatchBadRequest("invalid JSON patch");
  const Json patch = Json::parse(patch_text, nullptr, false);
  if (patch.is_discarded()) return PatchBadRequest("invalid JSON patch");
  Outcome<Json> result = type == PatchType::kJson    ? ApplyJson(object, patch)
                         : type == PatchType::kMerge ? ApplyMerge(object, patch)
                                                     : ApplyStrategic(kind, object, patch);
  if (!result.ok()) return result;
  Json fitted = *result;
  if (!fitted.is_object()) return PatchBadRequest("the patch leaves no object");
  const auto error = Fit(SchemaOf(kind), fitted, nullptr);
  if (!error) return fitted;
  const std::string shown = type == PatchType::kStrategic
                                ? GoText(patch)
                                : result->dump(-1, ' ', false, Json::error_handler_t::replace);
  return InvalidPatch(shown, *error);
}

}  // namespace ks::apiserver
