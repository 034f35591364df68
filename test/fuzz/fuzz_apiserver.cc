// SPDX-License-Identifier: Apache-2.0
// Targets of the in-memory API server: whatever a client sends, it answers.
#include "fuzz/fuzz_apiserver.h"

#include "apiserver/body/body.h"
#include "apiserver/body/patch.h"
#include "apiserver/registry/strategy.h"
#include "apiserver/schema/schema.h"

namespace ks::fuzz {
namespace {

using apiserver::Json;
using apiserver::KindInfo;

std::string Dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// A fitted object stays as it is.
std::string CheckFitted(std::string_view api_version, std::string_view kind, const Json& object) {
  Json again = object;
  const auto failure =
      apiserver::FitObject(api_version, kind, again, apiserver::FieldValidation::kStrict, nullptr);
  if (failure) return "fits only once: " + failure->message;
  if (again != object) return "another form at the second time: " + Dump(again);
  return "";
}

}  // namespace

std::string RunProtobuf(std::string_view input) {
  const auto body = apiserver::DecodeBody("application/vnd.kubernetes.protobuf", input);
  if (!body.ok()) return body.failure().message.empty() ? "error without text" : "";
  if (body->is_null()) return "";
  Dump(*body);
  return CheckFitted(body->at("apiVersion").get<std::string>(), body->at("kind").get<std::string>(),
                     *body);
}

// The object in the first line, the patch behind it.
std::string RunPatch(std::string_view input) {
  const size_t end = std::min(input.find('\n'), input.size());
  Json object = Json::parse(input.substr(0, end), nullptr, false);
  const std::string_view patch = input.substr(std::min(end + 1, input.size()));
  if (!object.is_object()) object = Json::object();
  using apiserver::PatchType;
  for (const auto& [version, name] : {std::pair("v1", "Pod"), std::pair("v1", "Node")}) {
    const KindInfo& kind = *apiserver::FindKind(version, name);
    Json fitted = object;
    if (apiserver::Fit(apiserver::SchemaOf(kind), fitted, nullptr)) continue;
    for (const PatchType type : {PatchType::kJson, PatchType::kMerge, PatchType::kStrategic}) {
      const auto result = apiserver::ApplyPatch(kind, type, fitted, patch);
      if (!result.ok()) {
        if (result.failure().message.empty()) return "error without text";
        continue;
      }
      Json again = *result;
      if (apiserver::Fit(apiserver::SchemaOf(kind), again, nullptr)) return "fits only once";
      if (again != *result) return "another form at the second time: " + Dump(again);
    }
  }
  return "";
}

// Any JSON as an object of each kind.
std::string RunAdmission(std::string_view input) {
  const auto body = apiserver::DecodeBody("application/yaml", input);
  if (!body.ok() || !body->is_object()) return "";
  for (const KindInfo& kind : apiserver::AllKinds()) {
    Json object = *body;
    apiserver::SetDefaults(kind, object);
    apiserver::CheckNew(kind, object);
    apiserver::CheckUpdate(kind, *body, object, apiserver::Part::kMain);
    apiserver::CheckUpdate(kind, object, *body, apiserver::Part::kStatus);
    Dump(object);
  }
  return "";
}

}  // namespace ks::fuzz
