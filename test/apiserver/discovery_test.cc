// SPDX-License-Identifier: Apache-2.0
#include "apiserver/service/discovery.h"

#include <gtest/gtest.h>

#include <string>

#include "apiserver/service/discovery_lists.h"
#include "apiserver/service/openapi.h"
#include "apiserver/store/kinds.h"

namespace ks::apiserver {
namespace {

// The real kubectl's header.
constexpr char kKubectlAccept[] =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

std::optional<ApiResponse> Ask(const std::string& path, const std::string& accept = "",
                               const std::string& method = "GET") {
  ApiRequest request;
  request.method = method;
  request.target = path;
  request.accept = accept;
  RequestInfo info;
  info.path = path.substr(0, path.find('?'));
  if (path.find("?verbose") != std::string::npos) info.query = {{"verbose", ""}};
  return AnswerDiscovery(request, info);
}
Json AskJson(const std::string& path, const std::string& accept = "") {
  const auto answer = Ask(path, accept);
  if (!answer.has_value()) {
    ADD_FAILURE() << path << " is not answered";
    return {};
  }
  EXPECT_EQ(answer->status, 200);
  return Json::parse(answer->body);
}
Json Named(const Json& list, const std::string& name) {
  for (const Json& item : list) {
    if (item.value("name", item.value("resource", "")) == name) return item;
  }
  ADD_FAILURE() << name << " is missing in " << list.dump();
  return {};
}

TEST(Discovery, CoreResourcesAsTheRealServerNamesThem) {
  const Json list = AskJson("/api/v1");
  EXPECT_EQ(list["kind"], "APIResourceList");
  EXPECT_EQ(list["groupVersion"], "v1");
  EXPECT_EQ(Named(list["resources"], "pods"), Json::parse(R"({
    "name":"pods","singularName":"pod","namespaced":true,"kind":"Pod",
    "verbs":["create","delete","deletecollection","get","list","patch","update","watch"],
    "shortNames":["po"],"categories":["all"]})"));
  EXPECT_EQ(Named(list["resources"], "pods/eviction"), Json::parse(R"({
    "name":"pods/eviction","singularName":"","namespaced":true,"group":"policy","version":"v1",
    "kind":"Eviction","verbs":["create"]})"));
  EXPECT_EQ(Named(list["resources"], "pods/status")["verbs"],
            Json::parse(R"(["get","patch","update"])"));
  EXPECT_EQ(Named(list["resources"], "pods/resize"), Json::parse(R"({
    "name":"pods/resize","singularName":"","namespaced":true,"kind":"Pod",
    "verbs":["get","patch","update"]})"));
  EXPECT_EQ(Named(list["resources"], "bindings"), Json::parse(R"({
    "name":"bindings","singularName":"binding","namespaced":true,"kind":"Binding",
    "verbs":["create"]})"));
  EXPECT_EQ(Named(list["resources"], "namespaces")["verbs"],
            Json::parse(R"(["create","delete","get","list","patch","update","watch"])"));
}

TEST(Discovery, Groups) {
  EXPECT_EQ(AskJson("/apis/apps"), Json::parse(R"({
    "kind":"APIGroup","apiVersion":"v1","name":"apps",
    "versions":[{"groupVersion":"apps/v1","version":"v1"}],
    "preferredVersion":{"groupVersion":"apps/v1","version":"v1"}})"));
  const Json groups = AskJson("/apis");
  EXPECT_EQ(groups["kind"], "APIGroupList");
  EXPECT_EQ(Named(groups["groups"], "scheduling.k8s.io")["preferredVersion"]["version"], "v1");
  EXPECT_EQ(Named(groups["groups"], "resource.k8s.io"), Json::parse(R"({
    "name":"resource.k8s.io",
    "versions":[{"groupVersion":"resource.k8s.io/v1","version":"v1"},
                {"groupVersion":"resource.k8s.io/v1beta2","version":"v1beta2"}],
    "preferredVersion":{"groupVersion":"resource.k8s.io/v1","version":"v1"}})"));
  EXPECT_EQ(AskJson("/api")["versions"], Json::parse(R"(["v1"])"));
}

TEST(Discovery, EveryKindOfTheTableIsFound) {
  for (const KindInfo& kind : AllKinds()) {
    const std::string path = (kind.group.empty() ? "/api/" : "/apis/") + kind.api_version();
    const Json resource = Named(AskJson(path)["resources"], kind.plural);
    EXPECT_EQ(resource["kind"], kind.kind);
    EXPECT_EQ(resource["namespaced"], kind.namespaced);
    if (kind.group.empty()) continue;
    EXPECT_TRUE(Ask("/apis/" + kind.group).has_value()) << kind.group;
    const Json group = Named(AskJson("/apis")["groups"], kind.group);
    EXPECT_NE(group["versions"].dump().find(kind.api_version()), std::string::npos)
        << kind.api_version();
  }
}

TEST(Discovery, Aggregated) {
  const auto answer = Ask("/api", kKubectlAccept);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->content_type,
            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
  const Json core = Json::parse(answer->body);
  EXPECT_EQ(core["kind"], "APIGroupDiscoveryList");
  EXPECT_EQ(core["apiVersion"], "apidiscovery.k8s.io/v2");
  EXPECT_EQ(core["items"][0]["metadata"], Json::object());
  const Json& version = core["items"][0]["versions"][0];
  EXPECT_EQ(version["version"], "v1");
  EXPECT_EQ(version["freshness"], "Current");
  EXPECT_EQ(Named(version["resources"], "pods"), Json::parse(R"({
    "resource":"pods","responseKind":{"group":"","version":"","kind":"Pod"},"scope":"Namespaced",
    "singularResource":"pod",
    "verbs":["create","delete","deletecollection","get","list","patch","update","watch"],
    "shortNames":["po"],"categories":["all"],"subresources":[
      {"subresource":"binding","responseKind":{"group":"","version":"","kind":"Binding"},
       "verbs":["create"]},
      {"subresource":"eviction","responseKind":{"group":"policy","version":"v1","kind":"Eviction"},
       "verbs":["create"]},
      {"subresource":"resize","responseKind":{"group":"","version":"","kind":"Pod"},
       "verbs":["get","patch","update"]},
      {"subresource":"status","responseKind":{"group":"","version":"","kind":"Pod"},
       "verbs":["get","patch","update"]}]})"));
  const Json others = AskJson("/apis", kKubectlAccept);
  EXPECT_EQ(others["items"].size(), ApiGroups().size());
  EXPECT_EQ(others["items"][0]["metadata"]["name"], "apps");
}

TEST(Discovery, TheFirstFormThatTheClientTakesDecides) {
  const std::string aggregated =
      "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  const std::string old =
      "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
  EXPECT_EQ(AskJson("/apis", "application/json, " + aggregated)["kind"], "APIGroupList");
  EXPECT_EQ(AskJson("/apis", old + ",application/json")["kind"], "APIGroupList");
  EXPECT_EQ(AskJson("/apis", old + ", " + aggregated)["kind"], "APIGroupDiscoveryList");
  EXPECT_EQ(AskJson("/apis", "application/vnd.kubernetes.protobuf, " + aggregated)["kind"],
            "APIGroupDiscoveryList");
  EXPECT_EQ(AskJson("/apis", "*/*")["kind"], "APIGroupList");
}

TEST(Discovery, Health) {
  EXPECT_EQ(Ask("/readyz")->body, "ok");
  EXPECT_EQ(Ask("/livez/ping")->body, "ok");
  EXPECT_EQ(Ask("/readyz?verbose")->body, "[+]ping ok\n[+]store ok\nreadyz check passed\n");
  EXPECT_EQ(Ask("/healthz")->status, 200);
  EXPECT_EQ(Ask("/readyz")->content_type, "text/plain; charset=utf-8");
}

TEST(Discovery, Version) {
  const Json version = AskJson("/version");
  EXPECT_EQ(version["major"], "1");
  EXPECT_EQ(version["minor"], "37");
  EXPECT_EQ(version["gitVersion"], "v1.37.1+kubesched");
}

TEST(Discovery, OtherPathsAreNotItsBusiness) {
  for (const char* path : {"/api/v2", "/apis/nothing", "/apis/apps/v2", "/metrics", "/api/v1/pods",
                           "/openapi", "/openapi/v2", "/openapi/v3/apis/nothing/v1", "/version/x",
                           "/healthz/nothing", "/apis/apps/v1/replicasets"}) {
    EXPECT_FALSE(Ask(path).has_value()) << path;
  }
}

TEST(Discovery, IsRead) {
  const auto answer = Ask("/apis", "", "POST");
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->status, 405);
  EXPECT_EQ(Json::parse(answer->body)["reason"], "MethodNotAllowed");
}

// kubectl looks for the parameter fieldValidation of the operation whose kind it is about to write.
TEST(OpenApi, EveryKindTakesFieldValidation) {
  const Json index = AskJson("/openapi/v3");
  for (const KindInfo& kind : AllKinds()) {
    const std::string path = (kind.group.empty() ? "api/" : "apis/") + kind.api_version();
    ASSERT_TRUE(index["paths"].contains(path)) << path;
    const std::string url = index["paths"][path]["serverRelativeURL"];
    EXPECT_EQ(url.find("/openapi/v3/" + path + "?hash="), 0U) << url;
    const Json document = AskJson("/openapi/v3/" + path);
    const Json wanted = {{"group", kind.group}, {"version", kind.version}, {"kind", kind.kind}};
    bool found = false;
    for (const Json& operations : document["paths"]) {
      if (!operations.contains("patch")) continue;
      const Json& patch = operations["patch"];
      if (patch["x-kubernetes-group-version-kind"] != wanted) continue;
      found = patch["parameters"].dump().find("\"fieldValidation\"") != std::string::npos;
    }
    EXPECT_TRUE(found) << path << " " << kind.kind;
  }
}

}  // namespace
}  // namespace ks::apiserver
