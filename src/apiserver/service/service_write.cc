// SPDX-License-Identifier: Apache-2.0
// Writes: bodies and query options in, answers out.

#include <algorithm>
#include <array>

#include "api/selector.h"
#include "apiserver/body/body.h"
#include "apiserver/body/patch.h"
#include "apiserver/registry/registry_meta.h"
#include "apiserver/registry/strategy.h"
#include "apiserver/service/service_call.h"
#include "apiserver/service/subresources.h"
#include "apiserver/store/event_forms.h"
#include "apiserver/store/json_fields.h"
#include "apiserver/store/json_write.h"
#include "apiserver/store/selector_query.h"
#include "golang/quote.h"

namespace ks::apiserver {
namespace {

std::string JoinQuoted(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) {
    joined += (joined.empty() ? "" : ", ") + golang::Quote(text);
  }
  return joined;
}

Cause NotSupported(const char* field, const std::string& value, const char* supported) {
  return {"FieldValueNotSupported",
          "Unsupported value: " + value + ": supported values: " + supported, field};
}

// The query of a write: dryRun, fieldValidation, fieldManager.
Outcome<WriteOptions> TakeWriteOptions(const RequestInfo& info, const char* options_kind) {
  WriteOptions options;
  std::vector<std::string> dry_run;
  for (const auto& [key, value] : info.query) {
    if (key == "dryRun" && !value.empty()) dry_run.push_back(value);
  }
  std::vector<Cause> causes;
  options.dry_run = !dry_run.empty();
  if (std::any_of(dry_run.begin(), dry_run.end(), [](const auto& v) { return v != "All"; })) {
    causes.push_back(NotSupported("dryRun", "[" + JoinQuoted(dry_run) + "]", "\"All\""));
  }
  const std::string_view manager = info.Query("fieldManager");
  if (manager.size() > 128) {
    causes.push_back(
        {"FieldValueTooLong", "Too long: may not be more than 128 bytes", "fieldManager"});
  }
  const std::string_view validation = info.Query("fieldValidation");
  if (!validation.empty() && validation != "Ignore" && validation != "Warn" &&
      validation != "Strict") {
    causes.push_back(NotSupported("fieldValidation", golang::Quote(validation),
                                  "\"\", \"Ignore\", \"Strict\", \"Warn\""));
  }
  if (!causes.empty()) return InvalidOptions(options_kind, std::move(causes));
  return options;
}

using Warnings = std::vector<std::string>;

FieldValidation ValidationOf(const RequestInfo& info) {
  return FieldValidationOf(info.Query("fieldValidation")).value_or(FieldValidation::kWarn);
}

// The body as an object of the stored kind.
Outcome<Json> TakeObject(const Call& call, Warnings* warnings) {
  Outcome<Json> object =
      DecodeObject(call.request.content_type, call.request.body, call.kind.api_version(),
                   call.kind.kind, ValidationOf(call.info), warnings);
  const KindInfo& stored = StorageKind(call.kind);
  if (!object.ok() || &stored == &call.kind) return object;
  if (call.kind.kind == "Event") {
    ToCoreEvent(*object);
  } else {
    (*object)["apiVersion"] = stored.api_version();
  }
  return object;
}

void AddWarnings(const Warnings& warnings, ApiResponse* response) {
  for (const std::string& warning : warnings) {
    response->headers.emplace_back("Warning", "299 - " + golang::Quote(warning));
  }
}

ApiResponse Written(const Call& call, int status, const Outcome<ObjectPtr>& object,
                    const Warnings& warnings) {
  if (!object.ok()) return Refusal(object.failure());
  ApiResponse response = JsonAnswer(status, TextIn(FormOf(call), call, **object));
  AddWarnings(warnings, &response);
  return response;
}

ApiResponse JsonOutcome(int status, const Outcome<Json>& answer) {
  if (!answer.ok()) return Refusal(answer.failure());
  std::string text;
  AppendJson(*answer, &text);
  return JsonAnswer(status, std::move(text));
}

Part PartOf(const Call& call) {
  if (call.info.subresource == "resize") return Part::kResize;
  return call.info.subresource == "status" ? Part::kStatus : Part::kMain;
}

// POST to a subresource of a pod.
ApiResponse CreateBelow(const Call& call) {
  const RequestInfo& info = call.info;
  const Outcome<WriteOptions> options = TakeWriteOptions(info, "CreateOptions");
  if (!options.ok()) return Refusal(options.failure());
  const Outcome<Json> body = DecodeBody(call.request.content_type, call.request.body);
  if (!body.ok()) return Refusal(body.failure());
  if (info.subresource == "binding") {
    return JsonOutcome(201, BindPod(call.registry, call.ns, info.name, *body, options->dry_run));
  }
  return JsonOutcome(201, EvictPod(call.registry, call.ns, info.name, *body));
}

}  // namespace

ApiResponse AnswerCreate(const Call& call) {
  const bool pods = call.kind.kind == "Pod";
  const std::string& sub = call.info.subresource;
  if (pods && (sub == "binding" || sub == "eviction")) return CreateBelow(call);
  const bool collection = call.info.name.empty() && sub.empty();
  if (!collection || (call.kind.namespaced && call.ns.empty())) {
    return Refusal(MethodNotAllowed(call.request.method));
  }
  const Outcome<WriteOptions> options = TakeWriteOptions(call.info, "CreateOptions");
  if (!options.ok()) return Refusal(options.failure());
  Warnings warnings;
  Outcome<Json> object = TakeObject(call, &warnings);
  if (!object.ok()) return Refusal(object.failure());
  return Written(call, 201, call.registry.Create(call.kind, call.ns, std::move(*object), *options),
                 warnings);
}

ApiResponse AnswerUpdate(const Call& call) {
  const Outcome<WriteOptions> options = TakeWriteOptions(call.info, "UpdateOptions");
  if (!options.ok()) return Refusal(options.failure());
  Warnings warnings;
  Outcome<Json> object = TakeObject(call, &warnings);
  if (!object.ok()) return Refusal(object.failure());
  const bool there = call.store().Find(call.kind, call.ns, call.info.name) != nullptr;
  return Written(call, there ? 200 : 201,
                 call.registry.Update(call.kind, call.ns, call.info.name, std::move(*object),
                                      PartOf(call), *options),
                 warnings);
}

namespace {

// The patch of an object of `kind` as one of the object that is stored.
std::string ToStoredPatch(const KindInfo& kind, const std::string& patch) {
  Json parsed = Json::parse(patch, nullptr, false);
  if (parsed.is_discarded()) return patch;  // refused later, in upstream's words
  if (kind.kind == "Event") {
    ToCoreEventPatch(parsed);
  } else if (parsed.is_object() && parsed.value("apiVersion", Json()) == kind.api_version()) {
    parsed["apiVersion"] = StorageKind(kind).api_version();
  }
  std::string text;
  AppendJson(parsed, &text);
  return text;
}

}  // namespace

ApiResponse AnswerPatch(const Call& call) {
  const Outcome<WriteOptions> options = TakeWriteOptions(call.info, "PatchOptions");
  if (!options.ok()) return Refusal(options.failure());
  const Outcome<PatchType> type = PatchTypeOf(call.request.content_type);
  if (!type.ok()) return Refusal(type.failure());
  const KindInfo& stored = StorageKind(call.kind);
  const std::string patch =
      &stored == &call.kind ? call.request.body : ToStoredPatch(call.kind, call.request.body);
  Warnings warnings;
  const auto change = [&](Json& object) -> std::optional<Failure> {
    Outcome<Json> patched = ApplyPatch(stored, *type, object, patch);
    if (!patched.ok()) return patched.failure();
    object = std::move(*patched);
    return FitObject(stored.api_version(), stored.kind, object, ValidationOf(call.info), &warnings);
  };
  return Written(
      call, 200,
      call.registry.Modify(call.kind, call.ns, call.info.name, PartOf(call), change, *options),
      warnings);
}

namespace {

std::optional<Failure> CheckDeleteOptions(const Json& body) {
  const std::string policy = Text(body, "propagationPolicy");
  if (policy.empty() || policy == "Foreground" || policy == "Background" || policy == "Orphan") {
    return {};
  }
  return InvalidOptions("DeleteOptions",
                        {NotSupported("propagationPolicy", golang::Quote(policy),
                                      "\"Foreground\", \"Background\", \"Orphan\", \"nil\"")});
}

Outcome<DeleteOptions> FromBody(const Json& body) {
  DeleteOptions options;
  if (body.is_null()) return options;
  if (!body.is_object()) return BadRequest("the body is not DeleteOptions");
  const std::string kind = Text(body, "kind");
  if (!kind.empty() && kind != "DeleteOptions") {
    return BadRequest("no kind \"" + kind + "\" is registered for version \"" +
                      Text(body, "apiVersion") + "\" in scheme \"pkg/runtime/scheme.go:111\"");
  }
  if (auto failure = CheckDeleteOptions(body)) return *std::move(failure);
  const auto grace = body.find("gracePeriodSeconds");
  if (grace != body.end() && grace->is_number_integer()) {
    options.grace_period_seconds = grace->get<int64_t>();
  }
  const auto conditions = body.find("preconditions");
  if (conditions != body.end() && conditions->is_object()) {
    options.uid = Text(*conditions, "uid");
    options.resource_version = Text(*conditions, "resourceVersion");
  }
  const auto dry_run = body.find("dryRun");
  if (dry_run != body.end() && dry_run->is_array() && !dry_run->empty()) {
    std::vector<std::string> values;
    for (const Json& value : *dry_run) {
      values.push_back(value.is_string() ? value.get<std::string>() : "");
    }
    if (std::any_of(values.begin(), values.end(), [](const auto& v) { return v != "All"; })) {
      return InvalidOptions("DeleteOptions",
                            {NotSupported("dryRun", "[" + JoinQuoted(values) + "]", "\"All\"")});
    }
    options.dry_run = true;
  }
  return options;
}

Outcome<DeleteOptions> TakeDeleteOptions(const Call& call) {
  Outcome<Json> body = DecodeBody(call.request.content_type, call.request.body);
  if (!body.ok()) return body.failure();
  Outcome<DeleteOptions> options = FromBody(*body);
  if (!options.ok()) return options;
  const Outcome<WriteOptions> write = TakeWriteOptions(call.info, "DeleteOptions");
  if (!write.ok()) return write.failure();
  if (write->dry_run) options->dry_run = true;
  const std::string_view grace = call.info.Query("gracePeriodSeconds");
  if (!grace.empty()) {
    const Outcome<int64_t> seconds = ParseInteger(grace);
    if (!seconds.ok()) return seconds.failure();
    options->grace_period_seconds = *seconds;
  }
  const std::string policy(call.info.Query("propagationPolicy"));
  if (auto failure = CheckDeleteOptions(Json{{"propagationPolicy", policy}})) {
    return *std::move(failure);
  }
  return options;
}

// Kinds whose deletion answers with the object even when it is gone at once.
bool AnswersWithObject(const KindInfo& kind) {
  static constexpr std::array<std::string_view, 14> kKinds{
      "Pod",           "Service",      "ServiceAccount",        "ReplicationController",
      "StorageClass",  "CSINode",      "PersistentVolume",      "PersistentVolumeClaim",
      "CSIDriver",     "DeviceClass",  "ResourceClaimTemplate", "VolumeAttachment",
      "ResourceClaim", "ResourceSlice"};
  return std::find(kKinds.begin(), kKinds.end(), kind.kind) != kKinds.end();
}

std::string SuccessText(const KindInfo& kind, const StoredObject& object) {
  Json details{{"name", object.name}, {"kind", kind.plural}, {"uid", object.uid}};
  if (!kind.group.empty()) details["group"] = kind.group;
  const Json status{{"kind", "Status"},
                    {"apiVersion", "v1"},
                    {"metadata", Json::object()},
                    {"status", "Success"},
                    {"details", details}};
  std::string text;
  AppendJson(status, &text);
  return text;
}

}  // namespace

ApiResponse AnswerDelete(const Call& call) {
  const Outcome<DeleteOptions> options = TakeDeleteOptions(call);
  if (!options.ok()) return Refusal(options.failure());
  const Outcome<Registry::Deleted> deleted =
      call.registry.Delete(call.kind, call.ns, call.info.name, *options);
  if (!deleted.ok()) return Refusal(deleted.failure());
  if (deleted->gone && call.kind.kind != "Namespace" && !AnswersWithObject(call.kind)) {
    return JsonAnswer(200, SuccessText(call.kind, *deleted->object));
  }
  return JsonAnswer(200, TextIn(FormOf(call), call, *deleted->object));
}

ApiResponse AnswerDeleteCollection(const Call& call) {
  const Outcome<DeleteOptions> options = TakeDeleteOptions(call);
  if (!options.ok()) return Refusal(options.failure());
  const Outcome<ListQuery> query = ParseListQuery(call.info);
  if (!query.ok()) return Refusal(query.failure());
  const Outcome<SelectorQuery> selector = SelectorQuery::Parse(
      call.kind, call.info.Query("labelSelector"), call.info.Query("fieldSelector"));
  if (!selector.ok()) return Refusal(selector.failure());
  std::vector<ObjectPtr> chosen;
  for (const auto& [key, object] : call.store().objects(call.kind)) {
    const bool here = call.ns.empty() || object->ns == call.ns;
    if (here && selector->Matches(*object)) chosen.push_back(object);
  }
  // The answer is the list of what was there, as upstream's.
  std::string text = "{\"kind\":\"" + call.kind.kind + "List\",\"apiVersion\":\"" +
                     call.kind.api_version() + "\",\"metadata\":{\"resourceVersion\":\"" +
                     std::to_string(call.store().version()) + "\"},\"items\":[";
  for (const ObjectPtr& object : chosen) {
    if (text.back() != '[') text += ',';
    text += TextIn(FormOf(call) == Form::kOther ? Form::kOther : Form::kStored, call, *object);
    const Outcome<Registry::Deleted> deleted =
        call.registry.Delete(call.kind, object->ns, object->name, *options);
    if (!deleted.ok() && deleted.failure().code != 404) return Refusal(deleted.failure());
  }
  return JsonAnswer(200, text + "]}");
}

}  // namespace ks::apiserver
