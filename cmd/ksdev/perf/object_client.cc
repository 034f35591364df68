// SPDX-License-Identifier: Apache-2.0
#include "ksdev/perf/object_client.h"

#include <chrono>
#include <optional>

namespace ks::ctl::dev::perf {
namespace {

using Json = nlohmann::json;

constexpr std::chrono::minutes kTimeout{10};  // as upstream's server: deletions of many
constexpr int kConflict = 409;

std::string TextOf(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string NameOf(const Json& object) {
  const auto meta = object.find("metadata");
  return meta != object.end() && meta->is_object() ? TextOf(*meta, "name") : "";
}

}  // namespace

Result<Json> ObjectClient::Send(const std::string& method, const std::string& target,
                                const std::string& body) {
  const client::RestReply reply =
      rest_.SendAndWait({.method = method, .target = target, .body = body, .timeout = kTimeout});
  if (!reply.ok()) return Error{method + " " + target + ": " + reply.error->message};
  Json answer = Json::parse(reply.body, nullptr, false);
  if (answer.is_discarded()) return Error{method + " " + target + ": the answer is no JSON"};
  return answer;
}

Result<ObjectClient::Place> ObjectClient::Find(const Json& object) {
  const std::string version = TextOf(object, "apiVersion");
  const std::string kind = TextOf(object, "kind");
  {
    const MutexLock lock(mutex_);
    const auto known = places_.find({version, kind});
    if (known != places_.end()) return known->second;
  }
  Place place{.prefix = (version.find('/') == std::string::npos ? "/api/" : "/apis/") + version,
              .plural = {}};
  const Result<Json> listed = Get(place.prefix);
  if (!listed.ok()) return listed.error();
  for (const Json& resource : listed->value("resources", Json::array())) {
    const std::string name = TextOf(resource, "name");
    if (TextOf(resource, "kind") != kind || name.find('/') != std::string::npos) continue;
    place.plural = name;
    place.namespaced = resource.value("namespaced", false);
  }
  if (place.plural.empty()) return Error{"the API server has no " + kind + " of " + version};
  const MutexLock lock(mutex_);
  places_[{version, kind}] = place;
  return place;
}

Result<std::string> ObjectClient::PathOf(const Json& object, const std::string& ns) {
  const Result<Place> place = Find(object);
  if (!place.ok()) return place.error();
  if (place->namespaced == ns.empty()) {
    return Error{place->plural + (ns.empty() ? ": need a namespace" : ": have no namespaces")};
  }
  return place->prefix + (ns.empty() ? "" : "/namespaces/" + client::EscapeUrl(ns)) + "/" +
         place->plural;
}

// A name that the server made up may be taken: then it makes up another.
Result<Json> ObjectClient::Create(Json object, const std::string& ns) {
  constexpr int kTries = 8;
  if (classes_) {
    if (const Result<void> added = AddClass(object); !added.ok()) return added.error();
  }
  const Result<std::string> path = PathOf(object, ns);
  if (!path.ok()) return path.error();
  const std::string target = *path + "?fieldValidation=Strict";
  const std::string body = object.dump();
  for (int left = NameOf(object).empty() ? kTries : 1;; --left) {
    const client::RestReply reply =
        rest_.SendAndWait({.method = "POST", .target = target, .body = body, .timeout = kTimeout});
    if (reply.ok()) return Json::parse(reply.body, nullptr, false);
    if (reply.error->code == kConflict && left > 1) continue;
    return Error{"POST " + target + ": " + reply.error->message};
  }
}

Result<void> ObjectClient::AddClass(Json& object) {
  const auto spec = object.find("spec");
  if (spec == object.end() || !spec->is_object() || !spec->contains("priority") ||
      spec->contains("priorityClassName")) {
    return {};
  }
  const std::string policy = spec->value("preemptionPolicy", "PreemptLowerPriority");
  const Json value = spec->at("priority");
  const std::string name = "perf-" + value.dump() + (policy == "Never" ? "-never" : "");
  (*spec)["priorityClassName"] = name;
  (*spec)["preemptionPolicy"] = policy;
  {
    const MutexLock lock(mutex_);
    if (classes_made_.contains(name)) return {};
  }
  const Json made = {{"apiVersion", "scheduling.k8s.io/v1"},
                     {"kind", "PriorityClass"},
                     {"metadata", {{"name", name}}},
                     {"value", value},
                     {"preemptionPolicy", policy}};
  const client::RestReply reply =
      rest_.SendAndWait({.method = "POST",
                         .target = "/apis/scheduling.k8s.io/v1/priorityclasses",
                         .body = made.dump(),
                         .timeout = kTimeout});
  if (!reply.ok() && reply.error->code != kConflict) {
    return Error{"priority class " + name + ": " + reply.error->message};
  }
  const MutexLock lock(mutex_);
  classes_made_.insert(name);
  return {};
}

Result<bool> ObjectClient::Namespaced(const Json& object) {
  const Result<Place> place = Find(object);
  return place.ok() ? Result<bool>(place->namespaced) : Result<bool>(place.error());
}

Result<void> ObjectClient::Update(const Json& object, const std::string& ns,
                                  const std::string& subresource) {
  const Result<std::string> path = PathOf(object, ns);
  if (!path.ok()) return path.error();
  const std::string target = *path + "/" + client::EscapeUrl(NameOf(object)) +
                             (subresource.empty() ? "" : "/" + subresource) +
                             "?fieldValidation=Strict";
  const Result<Json> answer = Send("PUT", target, object.dump());
  return answer.ok() ? Result<void>() : Result<void>(answer.error());
}

Result<void> ObjectClient::Delete(const Json& object, const std::string& ns,
                                  const std::string& name) {
  const Result<std::string> path = PathOf(object, ns);
  if (!path.ok()) return path.error();
  return DeleteAt(*path + "/" + client::EscapeUrl(name));
}

Result<void> ObjectClient::EnsureNamespace(const std::string& ns) {
  return EnsureNamespace(
      Json{{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", ns}}}});
}

Result<void> ObjectClient::EnsureNamespace(const Json& object) {
  const client::RestReply reply = rest_.SendAndWait({.method = "POST",
                                                     .target = "/api/v1/namespaces",
                                                     .body = object.dump(),
                                                     .timeout = kTimeout});
  if (reply.ok() || reply.error->code == kConflict) return {};
  return Error{"namespace " + NameOf(object) + ": " + reply.error->message};
}

Result<Json> ObjectClient::Get(const std::string& target) { return Send("GET", target, ""); }

Result<void> ObjectClient::DeleteAt(const std::string& target) {
  const client::RestReply reply = rest_.Delete(target, kTimeout);
  if (reply.ok()) return {};
  return Error{"DELETE " + target + ": " + reply.error->message};
}

}  // namespace ks::ctl::dev::perf
