// SPDX-License-Identifier: Apache-2.0
#include "apiserver/service/discovery_lists.h"

#include <algorithm>
#include <string>
#include <utility>

#include "apiserver/store/kinds.h"

namespace ks::apiserver {
namespace {

struct Subresource {
  std::string_view name;
  std::string_view group;  // of the kind, when it is not that of the resource
  std::string_view version;
  std::string_view kind;
  std::vector<std::string_view> verbs;
};
// A resource as discovery names it; those that are only posted (reviews, bindings) included.
struct Resource {
  std::string name;
  std::string singular;
  std::string kind;
  bool namespaced = true;
  std::vector<std::string> verbs{};
  std::vector<std::string> short_names{};
  std::vector<std::string> categories{};
  std::vector<Subresource> subresources{};
};

std::vector<Subresource> SubresourcesOf(const KindInfo& kind) {
  std::vector<Subresource> result;
  if (kind.group.empty() && kind.kind == "Pod") {
    result.push_back({"binding", "", "", "Binding", {"create"}});
    result.push_back({"eviction", "policy", "v1", "Eviction", {"create"}});
    result.push_back({"resize", "", "", "Pod", {"get", "patch", "update"}});
  }
  if (kind.has_status) {
    result.push_back({"status", "", "", kind.kind, {"get", "patch", "update"}});
  }
  return result;
}

std::vector<Resource> ResourcesOf(std::string_view group, std::string_view version) {
  std::vector<Resource> result;
  for (const PostedResource& posted : PostedResources()) {
    if (posted.group != group || posted.version != version) continue;
    result.push_back({.name = std::string(posted.name),
                      .singular = std::string(posted.singular),
                      .kind = std::string(posted.kind),
                      .namespaced = posted.namespaced,
                      .verbs = {"create"}});
  }
  for (const KindInfo& kind : AllKinds()) {
    if (kind.group != group || kind.version != version) continue;
    Resource resource{.name = kind.plural,
                      .singular = kind.singular,
                      .kind = kind.kind,
                      .namespaced = kind.namespaced,
                      .verbs = {"create", "delete", "deletecollection", "get", "list", "patch",
                                "update", "watch"},
                      .short_names = kind.short_names,
                      .categories = kind.categories,
                      .subresources = SubresourcesOf(kind)};
    if (kind.kind == "Namespace") std::erase(resource.verbs, "deletecollection");
    result.push_back(std::move(resource));
  }
  std::sort(result.begin(), result.end(),
            [](const Resource& a, const Resource& b) { return a.name < b.name; });
  return result;
}

Json GroupVersion(std::string_view group, std::string_view version) {
  return {{"groupVersion", std::string(group) + "/" + std::string(version)}, {"version", version}};
}

Json GroupBody(const ApiGroup& group) {
  Json versions = Json::array();
  for (const std::string_view version : group.versions) {
    versions.push_back(GroupVersion(group.name, version));
  }
  return {{"name", group.name},
          {"versions", versions},
          {"preferredVersion", GroupVersion(group.name, group.versions.front())}};
}

// Empty group and version mean those of the list.
Json ResponseKind(std::string_view group, std::string_view version, std::string_view kind) {
  return {{"group", group}, {"version", version}, {"kind", kind}};
}

Json AggregatedResource(const Resource& resource) {
  Json json = {{"resource", resource.name},
               {"responseKind", ResponseKind("", "", resource.kind)},
               {"scope", resource.namespaced ? "Namespaced" : "Cluster"},
               {"singularResource", resource.singular},
               {"verbs", resource.verbs}};
  if (!resource.short_names.empty()) json["shortNames"] = resource.short_names;
  if (!resource.categories.empty()) json["categories"] = resource.categories;
  for (const Subresource& sub : resource.subresources) {
    json["subresources"].push_back(
        {{"subresource", sub.name},
         {"responseKind", ResponseKind(sub.group, sub.version, sub.kind)},
         {"verbs", sub.verbs}});
  }
  return json;
}

Json AggregatedVersion(std::string_view group, std::string_view version) {
  Json resources = Json::array();
  for (const Resource& resource : ResourcesOf(group, version)) {
    resources.push_back(AggregatedResource(resource));
  }
  return {{"version", version}, {"resources", resources}, {"freshness", "Current"}};
}

void AppendPlain(const Resource& resource, Json& list) {
  Json json = {{"name", resource.name},
               {"singularName", resource.singular},
               {"namespaced", resource.namespaced},
               {"kind", resource.kind},
               {"verbs", resource.verbs}};
  if (!resource.short_names.empty()) json["shortNames"] = resource.short_names;
  if (!resource.categories.empty()) json["categories"] = resource.categories;
  list.push_back(std::move(json));
  for (const Subresource& sub : resource.subresources) {
    Json entry = {{"name", resource.name + "/" + std::string(sub.name)},
                  {"singularName", ""},
                  {"namespaced", resource.namespaced},
                  {"kind", sub.kind},
                  {"verbs", sub.verbs}};
    if (!sub.group.empty()) {
      entry["group"] = sub.group;
      entry["version"] = sub.version;
    }
    list.push_back(std::move(entry));
  }
}

}  // namespace

const std::vector<PostedResource>& PostedResources() {
  static const auto* posted = new std::vector<PostedResource>{
      {"", "v1", "bindings", "binding", "Binding", true},
      {"authentication.k8s.io", "v1", "selfsubjectreviews", "selfsubjectreview",
       "SelfSubjectReview", false},
      {"authentication.k8s.io", "v1", "tokenreviews", "tokenreview", "TokenReview", false},
      {"authorization.k8s.io", "v1", "localsubjectaccessreviews", "localsubjectaccessreview",
       "LocalSubjectAccessReview", true},
      {"authorization.k8s.io", "v1", "selfsubjectaccessreviews", "selfsubjectaccessreview",
       "SelfSubjectAccessReview", false},
      {"authorization.k8s.io", "v1", "subjectaccessreviews", "subjectaccessreview",
       "SubjectAccessReview", false},
  };
  return *posted;
}

const std::vector<ApiGroup>& ApiGroups() {
  static const auto* groups = new std::vector<ApiGroup>{
      {"apps", {"v1"}},
      {"events.k8s.io", {"v1"}},
      {"authentication.k8s.io", {"v1"}},
      {"authorization.k8s.io", {"v1"}},
      {"batch", {"v1"}},
      {"policy", {"v1"}},
      {"storage.k8s.io", {"v1"}},
      {"scheduling.k8s.io", {"v1", "v1beta1", "v1alpha3"}},
      {"coordination.k8s.io", {"v1"}},
      {"resource.k8s.io", {"v1", "v1beta2"}},
  };
  return *groups;
}

Json ApiVersionsDocument() {
  return {{"kind", "APIVersions"},
          {"versions", Json::array({"v1"})},
          {"serverAddressByClientCIDRs", Json::array()}};
}

Json ApiGroupListDocument() {
  Json groups = Json::array();
  for (const ApiGroup& group : ApiGroups()) groups.push_back(GroupBody(group));
  return {{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", groups}};
}

Json ApiGroupDocument(const ApiGroup& group) {
  Json json = GroupBody(group);
  json["kind"] = "APIGroup";
  json["apiVersion"] = "v1";
  return json;
}

std::optional<Json> ApiResourceListDocument(std::string_view group, std::string_view version) {
  const std::vector<Resource> resources = ResourcesOf(group, version);
  if (resources.empty()) return {};
  Json list = Json::array();
  for (const Resource& resource : resources) AppendPlain(resource, list);
  std::string group_version(version);
  if (!group.empty()) group_version.insert(0, std::string(group) + "/");
  return Json{{"kind", "APIResourceList"},
              {"apiVersion", "v1"},
              {"groupVersion", group_version},
              {"resources", list}};
}

Json AggregatedDocument(bool core) {
  Json items = Json::array();
  if (core) {
    items.push_back(
        {{"metadata", Json::object()}, {"versions", Json::array({AggregatedVersion("", "v1")})}});
  } else {
    for (const ApiGroup& group : ApiGroups()) {
      Json versions = Json::array();
      for (const std::string_view version : group.versions) {
        versions.push_back(AggregatedVersion(group.name, version));
      }
      items.push_back({{"metadata", {{"name", group.name}}}, {"versions", versions}});
    }
  }
  return {{"kind", "APIGroupDiscoveryList"},
          {"apiVersion", "apidiscovery.k8s.io/v2"},
          {"metadata", Json::object()},
          {"items", items}};
}

}  // namespace ks::apiserver
