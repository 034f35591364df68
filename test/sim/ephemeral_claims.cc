// SPDX-License-Identifier: Apache-2.0
#include "sim/ephemeral_claims.h"

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/store/json_fields.h"
#include "apiserver/store/kinds.h"
#include "apiserver/store/log_cursor.h"

namespace ks::sim {
namespace {

using apiserver::Json;

// A simulated cluster is small: it is looked at as a whole when something changed.
class EphemeralClaims final : public apiserver::Controller {
 public:
  explicit EphemeralClaims(apiserver::Service& service)
      : registry_(service.registry()), store_(service.store()), clock_(service.clock()) {}

  void Step() override {
    pod_log_.Restart();
    claim_log_.Restart();
    std::set<std::string> pods;
    std::vector<Json> bringing;
    for (const auto& [key, pod] : store_.objects(pod_kind_)) {
      pods.insert(pod->uid);
      if (pod->text.find(R"("ephemeral":{)") != std::string::npos) bringing.push_back(pod->Parse());
    }
    DeleteOrphans(pods);
    for (const Json& pod : bringing) MakeClaims(pod);
  }

  std::optional<TimePoint> NextDue() const override {
    if (!pod_log_.Unread() && !claim_log_.Unread()) return std::nullopt;
    return clock_.Now();
  }

 private:
  void DeleteOrphans(const std::set<std::string>& pods) {
    std::vector<std::pair<std::string, std::string>> orphans;  // namespace, name
    for (const auto& [key, claim] : store_.objects(claim_kind_)) {
      if (claim->text.find(R"("ownerReferences":[)") == std::string::npos) continue;
      const Json json = claim->Parse();
      const Json& metadata = json["metadata"];
      const auto owner = metadata["ownerReferences"][0]["uid"].get<std::string>();
      if (pods.contains(owner) || metadata.contains("deletionTimestamp")) continue;
      orphans.emplace_back(claim->ns, claim->name);
    }
    for (const auto& [ns, name] : orphans) {
      [[maybe_unused]] const auto deleted = registry_.Delete(claim_kind_, ns, name);
    }
  }

  void MakeClaims(const Json& pod) {
    const Json& metadata = pod["metadata"];
    if (metadata.contains("deletionTimestamp")) return;
    const auto ns = metadata["namespace"].get<std::string>();
    for (const Json& volume : pod["spec"]["volumes"]) {
      if (!volume.contains("ephemeral")) continue;
      const std::string name =
          metadata["name"].get<std::string>() + "-" + volume["name"].get<std::string>();
      if (store_.Find(claim_kind_, ns, name) != nullptr) continue;
      Json owner = {{"apiVersion", "v1"},     {"kind", "Pod"},      {"name", metadata["name"]},
                    {"uid", metadata["uid"]}, {"controller", true}, {"blockOwnerDeletion", true}};
      Json claim = {
          {"metadata", {{"name", name}, {"ownerReferences", Json::array({std::move(owner)})}}},
          {"spec", volume["ephemeral"]["volumeClaimTemplate"]["spec"]}};
      [[maybe_unused]] const auto made = registry_.Create(claim_kind_, ns, std::move(claim));
    }
  }

  const apiserver::KindInfo& pod_kind_ = *apiserver::FindResource("", "v1", "pods");
  const apiserver::KindInfo& claim_kind_ =
      *apiserver::FindResource("", "v1", "persistentvolumeclaims");
  apiserver::Registry& registry_;
  apiserver::Store& store_;
  const Clock& clock_;
  apiserver::LogCursor pod_log_{store_, pod_kind_};
  apiserver::LogCursor claim_log_{store_, claim_kind_};
};

}  // namespace

std::unique_ptr<apiserver::Controller> NewEphemeralClaims(apiserver::Service& service) {
  return std::make_unique<EphemeralClaims>(service);
}

}  // namespace ks::sim
