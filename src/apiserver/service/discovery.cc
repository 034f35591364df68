// SPDX-License-Identifier: Apache-2.0
#include "apiserver/service/discovery.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/service/discovery_lists.h"
#include "apiserver/service/openapi.h"
#include "apiserver/store/failure.h"

namespace ks::apiserver {
namespace {

constexpr std::string_view kAggregatedType =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

ApiResponse Plain(int status, std::string text) {
  ApiResponse response;
  response.status = status;
  response.content_type = "text/plain; charset=utf-8";
  response.headers = {{"Cache-Control", "no-cache, private"},
                      {"X-Content-Type-Options", "nosniff"}};
  response.body = std::move(text);
  return response;
}

ApiResponse Document(const Json& json) {
  ApiResponse response;
  response.body = json.dump();
  return response;
}

// The first form in the Accept header that the server has decides.
bool WantsAggregated(std::string_view accept) {
  while (!accept.empty()) {
    const size_t end = accept.find(',');
    std::string clause(accept.substr(0, end));
    accept.remove_prefix(end == std::string_view::npos ? accept.size() : end + 1);
    std::erase(clause, ' ');
    if (!clause.starts_with("application/json") && !clause.starts_with("*/*")) continue;
    const auto has = [&clause](std::string_view parameter) {
      const size_t at = clause.find(parameter);
      if (at == std::string::npos) return false;
      const size_t after = at + parameter.size();
      return after == clause.size() || clause[after] == ';';
    };
    if (has(";as=APIGroupDiscoveryList")) {
      if (has(";v=v2") && has(";g=apidiscovery.k8s.io")) return true;
      continue;  // an older version of the aggregated form
    }
    return false;
  }
  return false;
}

ApiResponse DiscoveryRoot(const ApiRequest& request, bool core) {
  if (WantsAggregated(request.accept)) {
    ApiResponse response = Document(AggregatedDocument(core));
    response.content_type = kAggregatedType;
    response.headers = {{"Vary", "Accept"}};
    return response;
  }
  ApiResponse response = Document(core ? ApiVersionsDocument() : ApiGroupListDocument());
  response.headers = {{"Vary", "Accept"}};
  return response;
}

// "[+]ping ok" and so on, as far as there is something to check: who can ask finds it ready.
ApiResponse Health(const RequestInfo& info, std::string_view name) {
  if (!info.HasQuery("verbose")) return Plain(200, "ok");
  return Plain(200, "[+]ping ok\n[+]store ok\n" + std::string(name) + " check passed\n");
}

// The release whose behavior this server has. Build metadata is left out of comparisons of
// versions, so clients see v1.37.1, and people what they talk to.
Json Version() {
  return {{"major", "1"},
          {"minor", "37"},
          {"emulationMajor", "1"},
          {"emulationMinor", "37"},
          {"minCompatibilityMajor", "1"},
          {"minCompatibilityMinor", "36"},
          {"gitVersion", "v1.37.1+kubesched"},
          {"gitCommit", ""},
          {"gitTreeState", ""},
          {"buildDate", "1970-01-01T00:00:00Z"},
          {"goVersion", ""},
          {"compiler", ""},
          {"platform", "linux/amd64"}};
}

Json PathList() {
  std::vector<std::string> paths = {"/api",          "/api/v1",      "/apis",       "/healthz",
                                    "/healthz/ping", "/livez",       "/livez/ping", "/openapi/v3",
                                    "/readyz",       "/readyz/ping", "/version"};
  for (const ApiGroup& group : ApiGroups()) {
    const std::string path = "/apis/" + std::string(group.name);
    paths.push_back(path);
    for (const std::string_view version : group.versions) {
      paths.push_back(path + "/" + std::string(version));
    }
  }
  std::sort(paths.begin(), paths.end());
  return {{"paths", paths}};
}

std::vector<std::string_view> Split(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const size_t end = path.find('/');
    if (end != 0) parts.push_back(path.substr(0, end));
    path.remove_prefix(end == std::string_view::npos ? path.size() : end + 1);
  }
  return parts;
}

std::optional<Json> ResourceOrGroupDocument(const std::vector<std::string_view>& parts) {
  if (parts[0] == "api") {
    return parts.size() == 2 ? ApiResourceListDocument("", parts[1]) : std::nullopt;
  }
  if (parts[0] != "apis") return {};
  if (parts.size() == 3) return ApiResourceListDocument(parts[1], parts[2]);
  const auto& groups = ApiGroups();
  const auto it = std::find_if(groups.begin(), groups.end(),
                               [&parts](const ApiGroup& group) { return group.name == parts[1]; });
  if (parts.size() != 2 || it == groups.end()) return {};
  return ApiGroupDocument(*it);
}

std::optional<ApiResponse> Answer(const ApiRequest& request, const RequestInfo& info) {
  const std::vector<std::string_view> parts = Split(info.path);
  if (parts.empty()) return Document(PathList());
  const std::string_view first = parts[0];
  if (first == "healthz" || first == "livez" || first == "readyz") {
    if (parts.size() == 1) return Health(info, first);
    if (parts.size() == 2 && parts[1] == "ping") return Plain(200, "ok");
    return {};
  }
  if (first == "version" && parts.size() == 1) return Document(Version());
  if (first == "openapi" && parts.size() >= 2 && parts[1] == "v3") {
    if (parts.size() == 2) {
      ApiResponse response;
      response.body = OpenApiIndex();
      return response;
    }
    constexpr std::string_view kPrefix = "/openapi/v3/";
    auto text = OpenApiDocument(std::string_view(info.path).substr(kPrefix.size()));
    if (!text.has_value()) return {};
    ApiResponse response;
    response.body = *std::move(text);
    return response;
  }
  if (first != "api" && first != "apis") return {};
  if (parts.size() == 1) return DiscoveryRoot(request, first == "api");
  auto document = ResourceOrGroupDocument(parts);
  if (!document.has_value()) return {};
  return Document(*document);
}

}  // namespace

std::optional<ApiResponse> AnswerDiscovery(const ApiRequest& request, const RequestInfo& info) {
  auto answer = Answer(request, info);
  if (!answer.has_value()) return {};
  if (request.method != "GET" && request.method != "HEAD") {
    answer = ApiResponse{};
    const Failure failure = MethodNotAllowed(request.method);
    answer->status = failure.code;
    answer->body = StatusText(failure);
  }
  return answer;
}

}  // namespace ks::apiserver
