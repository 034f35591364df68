// SPDX-License-Identifier: Apache-2.0
#include "apiserver/service/openapi.h"

#include <cstdint>
#include <map>

#include "apiserver/service/discovery_lists.h"
#include "apiserver/store/kinds.h"

namespace ks::apiserver {
namespace {

struct Document {
  std::string text;
  std::string hash;
};
using Documents = std::map<std::string, Document, std::less<>>;

Json Parameter(const char* name, const char* type) {
  return {{"name", name}, {"in", "query"}, {"schema", {{"type", type}, {"uniqueItems", true}}}};
}

Json GroupVersionKind(std::string_view group, std::string_view version, std::string_view kind) {
  return {{"group", group}, {"version", version}, {"kind", kind}};
}

Json Operation(const Json& kind, const char* action) {
  Json operation = {{"x-kubernetes-action", action},
                    {"x-kubernetes-group-version-kind", kind},
                    {"responses", {{"200", {{"description", "OK"}}}}}};
  const std::string verb = action;
  if (verb == "post" || verb == "put" || verb == "patch") {
    operation["parameters"] =
        Json::array({Parameter("dryRun", "string"), Parameter("fieldManager", "string"),
                     Parameter("fieldValidation", "string")});
    operation["requestBody"] = {{"content", {{"*/*", {{"schema", {{"type", "object"}}}}}}},
                                {"required", true}};
  }
  return operation;
}

std::string BasePath(std::string_view group, std::string_view version) {
  std::string base = group.empty() ? "/api/" : "/apis/" + std::string(group) + "/";
  return base.append(version);
}

void AddPaths(const KindInfo& info, Json& paths) {
  const Json kind = GroupVersionKind(info.group, info.version, info.kind);
  std::string base = BasePath(info.group, info.version);
  if (info.namespaced) {
    paths[base + "/" + info.plural]["get"] = Operation(kind, "list");
    base += "/namespaces/{namespace}";
  }
  const std::string list = base + "/" + info.plural;
  paths[list]["get"] = Operation(kind, "list");
  paths[list]["post"] = Operation(kind, "post");
  paths[list]["delete"] = Operation(kind, "deletecollection");
  std::vector<std::string> parts = {""};
  if (info.has_status) parts.emplace_back("/status");
  if (info.kind == "Pod") parts.emplace_back("/resize");
  for (const std::string& part : parts) {
    Json& one = paths[list + "/{name}" + part];
    for (const char* action : {"get", "put", "patch"}) one[action] = Operation(kind, action);
    if (part.empty()) one["delete"] = Operation(kind, "delete");
  }
}

void AddPosted(const PostedResource& posted, Json& paths) {
  std::string path = BasePath(posted.group, posted.version);
  if (posted.namespaced) path += "/namespaces/{namespace}";
  path += "/" + std::string(posted.name);
  const Json kind = GroupVersionKind(posted.group, posted.version, posted.kind);
  paths[path]["post"] = Operation(kind, "post");
  // There is no such operation, but kubectl looks for the kind at those that patch, and nowhere
  // else; with the real server it then finds the kind in OpenAPI v2.
  paths[path]["patch"] = Operation(kind, "patch");
}

std::string Hash(std::string_view text) {  // FNV-1a
  uint64_t hash = 14695981039346656037U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string hex;
  for (int shift = 60; shift >= 0; shift -= 4) hex += kDigits[(hash >> shift) & 15U];
  return hex;
}

Documents MakeDocuments() {
  std::map<std::string, Json> paths;
  for (const KindInfo& kind : AllKinds()) {
    AddPaths(kind, paths[(kind.group.empty() ? "api/" : "apis/") + kind.api_version()]);
  }
  for (const PostedResource& posted : PostedResources()) {
    // Without the first slash, the path of the group version is the document's.
    AddPosted(posted, paths[BasePath(posted.group, posted.version).substr(1)]);
  }
  Json& core = paths["api/v1"];
  const std::string pod = "/api/v1/namespaces/{namespace}/pods/{name}/";
  core[pod + "binding"]["post"] = Operation(GroupVersionKind("", "v1", "Binding"), "post");
  core[pod + "eviction"]["post"] = Operation(GroupVersionKind("policy", "v1", "Eviction"), "post");
  Documents documents;
  for (auto& [path, json] : paths) {
    Json document = {{"openapi", "3.0.0"},
                     {"info", {{"title", "Kubernetes"}, {"version", "v1.37.1"}}},
                     {"paths", std::move(json)},
                     {"components", {{"schemas", Json::object()}}}};
    std::string text = document.dump();
    std::string hash = Hash(text);
    documents.emplace(path, Document{std::move(text), std::move(hash)});
  }
  return documents;
}

const Documents& AllDocuments() {
  static const auto* documents = new Documents(MakeDocuments());
  return *documents;
}

}  // namespace

std::string OpenApiIndex() {
  Json paths = Json::object();
  for (const auto& [path, document] : AllDocuments()) {
    paths[path] = {{"serverRelativeURL", "/openapi/v3/" + path + "?hash=" + document.hash}};
  }
  return Json{{"paths", paths}}.dump();
}

std::optional<std::string> OpenApiDocument(std::string_view path) {
  const auto it = AllDocuments().find(path);
  if (it == AllDocuments().end()) return {};
  return it->second.text;
}

}  // namespace ks::apiserver
