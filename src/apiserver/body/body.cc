// SPDX-License-Identifier: Apache-2.0
#include "apiserver/body/body.h"

#include <utility>

#include "apiserver/body/body_forms.h"
#include "apiserver/schema/schema.h"

namespace ks::apiserver {
namespace {

constexpr std::string_view kJson = "application/json";
constexpr std::string_view kYaml = "application/yaml";
constexpr std::string_view kProtobuf = "application/vnd.kubernetes.protobuf";

std::string Quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

std::string_view MediaType(std::string_view content_type) {
  std::string_view type = content_type.substr(0, content_type.find(';'));
  while (type.ends_with(' ')) type.remove_suffix(1);
  return type.empty() ? kJson : type;
}

// How upstream shows a body in messages: objects as they are, others in hex.
std::string Shown(std::string_view body) {
  if (body.empty()) return "<empty>";
  constexpr size_t kMost = 1024;
  std::string text;
  const bool cut = body.size() > kMost;
  body = body.substr(0, kMost);
  if (body.front() == '{') {
    text = body;
  } else {
    constexpr std::string_view kDigits = "0123456789abcdef";
    for (const char c : body) {
      text += kDigits[static_cast<unsigned char>(c) >> 4];
      text += kDigits[static_cast<unsigned char>(c) & 15];
    }
  }
  return cut ? text + " [truncated]" : text;
}

Failure Unrecognized(std::string_view kind, std::string_view error, std::string_view body) {
  std::string text = "the object provided is unrecognized";
  if (!kind.empty()) text += " (must be of type " + std::string(kind) + ")";
  return {.code = 400,
          .reason = "BadRequest",
          .message = text + ": " + std::string(error) + " (" + Shown(body) + ")"};
}

// `kind` is only for messages.
Outcome<Json> Decode(std::string_view content_type, std::string_view body, std::string_view kind) {
  const std::string_view type = MediaType(content_type);
  if (type == kJson) {
    Json parsed =
        IsTooDeep(body) ? Json(Json::value_t::discarded) : Json::parse(body, nullptr, false);
    if (!parsed.is_discarded()) return parsed;
    return Unrecognized(kind, "couldn't get version/kind; json parse error: " + JsonErrorText(body),
                        body);
  }
  if (type == kYaml) {
    Result<Json> parsed = ParseYaml(body);
    if (parsed.ok()) return *std::move(parsed);
    return Unrecognized(kind, parsed.error().message, body);
  }
  if (type == kProtobuf) {
    auto parsed = ParseProtobuf(body);
    if (auto* object = std::get_if<Json>(&parsed)) return std::move(*object);
    const ProtobufError& error = std::get<ProtobufError>(parsed);
    if (error.unknown_kind) {
      return Failure{.code = 415, .reason = "UnsupportedMediaType", .message = error.message};
    }
    return Unrecognized(kind, error.message, body);
  }
  return Failure{.code = 415,
                 .reason = "UnsupportedMediaType",
                 .message =
                     "the body of the request was in an unknown format - accepted media "
                     "types include: application/json, application/yaml, "
                     "application/vnd.kubernetes.protobuf"};
}

Failure CannotBeHandled(std::string_view api_version, std::string_view kind,
                        std::string_view wanted, std::string_view error) {
  return {.code = 400,
          .reason = "BadRequest",
          .message = std::string(kind) + " in version " +
                     Quoted(api_version.substr(api_version.find('/') + 1)) +
                     " cannot be handled as a " + std::string(wanted) + ": " + std::string(error)};
}

std::string_view GoTypeName(const Json& value) {
  if (value.is_array()) return "array";
  if (value.is_string()) return "string";
  return value.is_boolean() ? "bool" : "number";
}

// DeleteOptions and the like may name any group that the server knows.
bool IsForEveryGroup(std::string_view kind) { return kind == "DeleteOptions"; }

std::optional<Failure> CheckTypeMeta(std::string_view api_version, std::string_view kind,
                                     std::string_view body, const Json& object) {
  for (const char* name : {"apiVersion", "kind"}) {
    const auto it = object.find(name);
    if (it == object.end() || it->is_string()) continue;
    return Unrecognized(kind,
                        "couldn't get version/kind; json parse error: json: cannot unmarshal " +
                            std::string(it->is_object() ? "object" : GoTypeName(*it)) +
                            " into Go struct field ." + name + " of type string",
                        body);
  }
  const std::string has_version = object.value("apiVersion", std::string(api_version));
  const std::string has_kind = object.value("kind", std::string(kind));
  if (has_kind != kind) {
    return CannotBeHandled(has_version, has_kind, kind,
                           "the body is a " + has_kind + ", not a " + std::string(kind));
  }
  if (has_version != api_version && !has_version.empty() && !IsForEveryGroup(kind)) {
    return CannotBeHandled(has_version, has_kind, kind,
                           "no kind " + Quoted(kind) + " is registered for version " +
                               Quoted(has_version) + " in scheme \"pkg/runtime/scheme.go:111\"");
  }
  return std::nullopt;
}

}  // namespace

std::optional<FieldValidation> FieldValidationOf(std::string_view text) {
  if (text.empty() || text == "Warn") return FieldValidation::kWarn;
  if (text == "Strict") return FieldValidation::kStrict;
  if (text == "Ignore") return FieldValidation::kIgnore;
  return std::nullopt;
}

Outcome<Json> DecodeBody(std::string_view content_type, std::string_view body) {
  if (body.empty()) return Json();
  return Decode(content_type, body, "");
}

Outcome<Json> DecodeObject(std::string_view content_type, std::string_view body,
                           std::string_view api_version, std::string_view kind,
                           FieldValidation validation, std::vector<std::string>* warnings) {
  Outcome<Json> decoded = Decode(content_type, body, kind);
  if (!decoded.ok()) return decoded;
  Json object = *std::move(decoded);
  if (object.is_null()) object = Json::object();
  if (!object.is_object()) {
    constexpr std::string_view kGoType =
        "struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string "
        "\"json:\\\"kind,omitempty\\\"\" }";
    return Unrecognized(kind,
                        "couldn't get version/kind; json parse error: json: cannot unmarshal " +
                            std::string(GoTypeName(object)) + " into Go value of type " +
                            std::string(kGoType),
                        body);
  }
  if (auto failure = CheckTypeMeta(api_version, kind, body, object)) return *failure;
  if (validation == FieldValidation::kStrict && MediaType(content_type) == kJson) {
    std::string error;
    for (const std::string& duplicate : DuplicateFields(body)) {
      error += (error.empty() ? "strict decoding error: " : ", ") + duplicate;
    }
    if (!error.empty()) return CannotBeHandled(api_version, kind, kind, error);
  }
  if (auto failure = FitObject(api_version, kind, object, validation, warnings)) return *failure;
  return object;
}

std::optional<Failure> FitObject(std::string_view api_version, std::string_view kind, Json& object,
                                 FieldValidation validation, std::vector<std::string>* warnings) {
  const SchemaType* type = FindSchema(api_version, kind);
  if (type == nullptr) return std::nullopt;
  std::vector<std::string> unknown;
  if (const auto error = Fit(*type, object, &unknown)) {
    return CannotBeHandled(api_version, kind, kind, *error);
  }
  object["apiVersion"] = api_version;
  object["kind"] = kind;
  if (validation == FieldValidation::kIgnore) return std::nullopt;
  std::string all;
  for (const std::string& path : unknown) {
    const std::string text = "unknown field " + Quoted(path);
    all += (all.empty() ? "strict decoding error: " : ", ") + text;
    if (validation == FieldValidation::kWarn && warnings != nullptr) warnings->push_back(text);
  }
  if (validation != FieldValidation::kStrict || all.empty()) return std::nullopt;
  return CannotBeHandled(api_version, kind, kind, all);
}

}  // namespace ks::apiserver
