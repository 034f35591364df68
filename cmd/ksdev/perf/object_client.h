// SPDX-License-Identifier: Apache-2.0
#pragma once
// Objects of any kind, by apiVersion and kind: where they are is asked of the API server.

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "base/result.h"
#include "client/rest/rest_client.h"

namespace ks::ctl::dev::perf {

// Threads: any. Blocking. Lifetime: the client outlives it. Errors name the request and what the
// server said.
class ObjectClient {
 public:
  // `classes`: the server admits a priority only with a PriorityClass of it (upstream's suite turns
  // that admission off): objects that have a priority get such a class.
  ObjectClient(client::RestClient& rest, bool classes) : rest_(rest), classes_(classes) {}

  // `ns`: empty for cluster-scoped kinds, and only for them. Returns what the server made of it.
  Result<nlohmann::json> Create(nlohmann::json object, const std::string& ns);
  // Puts the object in the place of the one of its name, or a part of it: "status", "resize".
  Result<void> Update(const nlohmann::json& object, const std::string& ns,
                      const std::string& subresource = {});
  Result<void> Delete(const nlohmann::json& object, const std::string& ns, const std::string& name);
  Result<bool> Namespaced(const nlohmann::json& object);
  // That there is one already is no error.
  Result<void> EnsureNamespace(const std::string& ns);
  Result<void> EnsureNamespace(const nlohmann::json& object);

  Result<nlohmann::json> Get(const std::string& target);
  Result<void> DeleteAt(const std::string& target);

  client::RestClient& rest() { return rest_; }

 private:
  struct Place {
    std::string prefix;  // "/apis/resource.k8s.io/v1"
    std::string plural;
    bool namespaced = false;
  };
  Result<Place> Find(const nlohmann::json& object);
  // "/api/v1/namespaces/NS/pods".
  Result<std::string> PathOf(const nlohmann::json& object, const std::string& ns);
  // Names the class of the object's priority, which is made if it is not there.
  Result<void> AddClass(nlohmann::json& object);
  Result<nlohmann::json> Send(const std::string& method, const std::string& target,
                              const std::string& body);

  client::RestClient& rest_;
  const bool classes_;
  Mutex mutex_;
  std::set<std::string> classes_made_ KS_GUARDED_BY(mutex_);
  std::map<std::pair<std::string, std::string>, Place> places_ KS_GUARDED_BY(mutex_);
};

}  // namespace ks::ctl::dev::perf
