// SPDX-License-Identifier: Apache-2.0
#include "apiserver/service/authorizer.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>
#include <vector>

#include "apiserver/store/json_fields.h"

namespace ks::apiserver {
namespace {

bool IsMember(const UserInfo& user, std::string_view group) {
  return std::find(user.groups.begin(), user.groups.end(), group) != user.groups.end();
}

// What whoever asks may read: whether the server is well and which it is.
bool IsPublic(const RequestInfo& request) {
  static constexpr std::array<std::string_view, 4> kPublic = {"/healthz", "/livez", "/readyz",
                                                              "/version"};
  if (request.resource_request || (request.verb != "get" && request.verb != "head")) return false;
  return std::any_of(kPublic.begin(), kPublic.end(), [&request](std::string_view path) {
    return request.path == path || request.path.starts_with(std::string(path) + "/");
  });
}

class AllowAll final : public Authorizer {
 public:
  Decision Authorize(const UserInfo& user, const RequestInfo& request) const override {
    if (IsMember(user, "system:authenticated") || IsMember(user, "system:masters")) return {};
    return {.allowed = IsPublic(request)};
  }
};

struct Policy {
  std::string user;
  std::string group;
  bool readonly = false;
  std::string api_group;
  std::string ns;
  std::string resource;
  std::string non_resource_path;
};

bool Matches(std::string_view wanted, std::string_view actual) {
  return wanted == "*" || wanted == actual;
}

// Both may be given, then both must match; one without any value matches nobody.
bool MatchesSubject(const Policy& policy, const UserInfo& user) {
  if (policy.user.empty() && policy.group.empty()) return false;
  if (!policy.user.empty() && !Matches(policy.user, user.name)) return false;
  return policy.group.empty() || policy.group == "*" || IsMember(user, policy.group);
}

bool MatchesPath(std::string_view wanted, std::string_view path) {
  if (wanted == "*" || wanted == path) return true;
  if (!wanted.ends_with("*")) return false;
  return path.starts_with(wanted.substr(0, wanted.size() - 1));
}

bool MatchesRequest(const Policy& policy, const RequestInfo& request) {
  if (!request.resource_request) {
    if (policy.readonly && request.verb != "get") return false;
    return MatchesPath(policy.non_resource_path, request.path);
  }
  const bool reads = request.verb == "get" || request.verb == "list" || request.verb == "watch";
  if (policy.readonly && !reads) return false;
  return Matches(policy.ns, request.ns) && Matches(policy.resource, request.resource) &&
         Matches(policy.api_group, request.group);
}

class PolicyList final : public Authorizer {
 public:
  explicit PolicyList(std::vector<Policy> policies) : policies_(std::move(policies)) {}

  Decision Authorize(const UserInfo& user, const RequestInfo& request) const override {
    if (IsMember(user, "system:masters") || IsPublic(request)) return {};
    const bool allowed = std::any_of(policies_.begin(), policies_.end(), [&](const Policy& policy) {
      return MatchesSubject(policy, user) && MatchesRequest(policy, request);
    });
    if (allowed) return {};
    return {.allowed = false, .reason = "No policy matched."};
  }

 private:
  const std::vector<Policy> policies_;
};

// Empty: taken. Otherwise what is wrong with the line.
std::string ReadSpec(const Json& spec, Policy& policy) {
  struct Field {
    const char* name;
    std::string* value;
  };
  const std::array<Field, 6> texts = {{{"user", &policy.user},
                                       {"group", &policy.group},
                                       {"apiGroup", &policy.api_group},
                                       {"namespace", &policy.ns},
                                       {"resource", &policy.resource},
                                       {"nonResourcePath", &policy.non_resource_path}}};
  for (const auto& [key, value] : spec.items()) {
    if (key == "readonly") {
      if (!value.is_boolean()) return "spec.readonly must be true or false";
      policy.readonly = value.get<bool>();
      continue;
    }
    const auto field = std::find_if(texts.begin(), texts.end(),
                                    [&key = key](const Field& each) { return key == each.name; });
    if (field == texts.end()) {
      return "unknown field spec." + key +
             "; known are user, group, readonly, apiGroup, namespace, resource, nonResourcePath";
    }
    if (!value.is_string()) return "spec." + key + " must be a text";
    *field->value = value.get<std::string>();
  }
  if (policy.user.empty() && policy.group.empty()) {
    return "spec names neither user nor group, so it matches nobody; \"*\" is everybody";
  }
  return {};
}

std::string ReadPolicy(const std::string& line, Policy& policy) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) return "not a JSON object; the file has one on each line";
  if (Text(json, "apiVersion") != "abac.authorization.kubernetes.io/v1beta1" ||
      Text(json, "kind") != "Policy") {
    return "must have apiVersion abac.authorization.kubernetes.io/v1beta1 and kind Policy";
  }
  for (const auto& [key, value] : json.items()) {
    if (key != "apiVersion" && key != "kind" && key != "spec") return "unknown field " + key;
  }
  const auto spec = json.find("spec");
  if (spec == json.end() || !spec->is_object()) return "spec is missing";
  return ReadSpec(*spec, policy);
}

}  // namespace

std::unique_ptr<Authorizer> NewAllowAll() { return std::make_unique<AllowAll>(); }

Result<std::unique_ptr<Authorizer>> LoadPolicy(const std::string& file) {
  std::ifstream in(file);
  if (!in) return Error{"read " + file + ": cannot be opened"};
  std::vector<Policy> policies;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    const size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos || line[begin] == '#') continue;
    Policy policy;
    const std::string wrong = ReadPolicy(line, policy);
    if (!wrong.empty()) return Error{file + ":" + std::to_string(number) + ": " + wrong};
    policies.push_back(std::move(policy));
  }
  if (in.bad()) return Error{"read " + file + ": read error"};
  return std::unique_ptr<Authorizer>(std::make_unique<PolicyList>(std::move(policies)));
}

}  // namespace ks::apiserver
