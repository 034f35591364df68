// SPDX-License-Identifier: Apache-2.0
#include "parity/groups/api_store.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "api/json/encode.h"
#include "api/kinds.h"
#include "base/check.h"
#include "cache/optional_deltas.h"

namespace ks::parity {
namespace {

std::string KeyOf(const Json& object) {
  const Json& meta = object["metadata"];
  return object["kind"].get<std::string>() + "/" + meta.value("namespace", "") + "/" +
         meta["name"].get<std::string>();
}

std::string PodKey(const api::Pod& pod) { return "Pod/" + pod.meta.Key(); }

api::ApiError NotFound() { return {.code = 404, .reason = "NotFound", .message = "not found"}; }

void SetCondition(Json& object, const api::Condition& condition) {
  Json& conditions = object["status"]["conditions"];
  if (conditions.is_null()) conditions = Json::array();
  const Json set = {{"type", condition.type},
                    {"status", condition.status},
                    {"reason", condition.reason},
                    {"message", condition.message}};
  for (Json& each : conditions) {
    if (each["type"] != condition.type) continue;
    each = set;
    return;
  }
  conditions.push_back(set);
}

// What a kubelet would report, here the world's own number: ties are for the generator to make.
void SetStartTime(Json& pod) {
  const auto annotations = pod["metadata"].value("annotations", Json::object());
  const std::string start = annotations.value("start", "");
  int64_t seconds = 0;
  if (std::from_chars(start.data(), start.data() + start.size(), seconds).ec != std::errc()) return;
  const auto two = [](int64_t number) { return (number < 10 ? "0" : "") + std::to_string(number); };
  KS_CHECK(seconds < 86400, "pods start within the first day");
  pod["status"]["startTime"] = "1970-01-01T" + two(seconds / 3600) + ":" + two(seconds / 60 % 60) +
                               ":" + two(seconds % 60) + "Z";
}

Json Describe(const Json& object) {
  std::vector<std::string> lines;
  const Json status = object.value("status", Json::object());
  if (object["kind"] == "Pod") {
    lines.push_back("node " + object["spec"].value("nodeName", ""));
    lines.push_back("nominated " + status.value("nominatedNodeName", ""));
    if (object["metadata"].contains("deletionTimestamp")) lines.emplace_back("terminating");
  }
  if (object["kind"] == "Pod" || object["kind"] == "PodGroup") {
    for (const Json& each : status.value("conditions", Json::array())) {
      lines.push_back(each["type"].get<std::string>() + "|" + each["status"].get<std::string>() +
                      "|" + each.value("reason", "") + "|" + each.value("message", ""));
    }
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace

void ApiStore::Put(Json object) {
  const std::string key = KeyOf(object);
  Json& stored = objects_[key];
  if (object["kind"] == "PodGroup" && stored.contains("status")) {
    object["status"] = stored["status"];
  }
  stored = std::move(object);
  Changed(key);
}

void ApiStore::Reap() {
  std::vector<std::string> terminating;
  for (const auto& [key, object] : objects_) {
    if (object["metadata"].contains("deletionTimestamp")) terminating.push_back(key);
  }
  for (const std::string& key : terminating) Remove(key);
}

void ApiStore::Delete(const std::string& key) {
  if (Find(key) != nullptr) Remove(key);
}

Json* ApiStore::Find(const std::string& key) {
  const auto found = objects_.find(key);
  return found == objects_.end() ? nullptr : &found->second;
}

void ApiStore::Changed(const std::string& key) {
  Json& object = objects_.at(key);
  object["metadata"]["resourceVersion"] = std::to_string(++revision_);
  news_.push_back({.key = key, .object = object});
  touched_.insert(key);
}

void ApiStore::Remove(const std::string& key) {
  news_.push_back({.key = key, .object = std::move(objects_.at(key)), .gone = true});
  objects_.erase(key);
  touched_.insert(key);
}

bool ApiStore::CarryOut() {
  if (asked_.empty()) return false;
  for (const auto& each : std::exchange(asked_, {})) each();
  return true;
}

template <class T>
std::vector<api::Delta<T>> ApiStore::DeltaOf(const Change& change) {
  std::string text = change.object.dump();
  text.reserve(text.size() + api::kJsonPadding);
  auto object = decoder_.Object<T>(text);
  KS_CHECK(object.ok(), object.ok() ? "" : object.error().message);
  using Type = typename api::Delta<T>::Type;
  std::vector<api::Delta<T>> deltas(1);
  deltas.front().type = change.gone ? Type::kDelete : Type::kUpsert;
  deltas.front().object = std::move(object).value();
  return deltas;
}

scheduler::Message ApiStore::NewsOf(const Change& change) {
  const std::string kind = change.key.substr(0, change.key.find('/'));
  if (kind == "Pod") return DeltaOf<api::Pod>(change);
  if (kind == "Node") return DeltaOf<api::Node>(change);
  std::optional<scheduler::Message> news;
  api::OptionalKindTypes::ForEach([&]<class T>(const T*) {
    if (kind == api::kKindOf<T>.kind) news = cache::OptionalDeltasOf<T>(DeltaOf<T>(change));
  });
  KS_CHECK(news.has_value(), "objects of a kind that schedulers read: " + kind);
  return std::move(*news);
}

std::vector<scheduler::Message> ApiStore::TakeNews(bool by_name) {
  auto news = std::exchange(news_, {});
  if (by_name) {
    const auto name = [](const Change& change) {
      return std::string_view(change.key).substr(change.key.find('/'));
    };
    std::stable_sort(news.begin(), news.end(),
                     [&](const auto& a, const auto& b) { return name(a) < name(b); });
  }
  std::vector<scheduler::Message> messages;
  for (const Change& each : news) messages.push_back(NewsOf(each));
  return messages;
}

void ApiStore::BeginStep() {
  touched_.clear();
  evicted_.clear();
}

Json ApiStore::Report(int64_t attempts) const {
  Json report = {{"attempts", attempts}, {"objects", Json::object()}};
  for (const std::string& key : touched_) {
    const auto found = objects_.find(key);
    report["objects"][key] =
        found == objects_.end() ? Json::array({"gone"}) : Describe(found->second);
  }
  if (!evicted_.empty()) report["evicted"] = evicted_;
  return report;
}

void ApiStore::Bind(api::PodPtr pod, std::string node_name, Done done) {
  asked_.push_back([this, key = PodKey(*pod), node = std::move(node_name), done = std::move(done)] {
    Json* found = Find(key);
    if (found == nullptr) return done(NotFound());
    (*found)["spec"]["nodeName"] = node;
    (*found)["status"].erase("nominatedNodeName");
    (*found)["status"]["conditions"] = {{{"type", "PodScheduled"}, {"status", "True"}}};
    SetStartTime(*found);
    Changed(key);
    done(std::nullopt);
  });
}

void ApiStore::PatchPodStatus(api::PodPtr pod, api::PodStatusChange change, Done done) {
  asked_.push_back(
      [this, pod = std::move(pod), change = std::move(change), done = std::move(done)] {
        if (api::PodStatusPatch(*pod, change).empty()) return done(std::nullopt);
        Json* found = Find(PodKey(*pod));
        if (found == nullptr) return done(NotFound());
        if (change.condition) SetCondition(*found, *change.condition);
        if (change.nominated_node_name) {
          (*found)["status"]["nominatedNodeName"] = *change.nominated_node_name;
        }
        Changed(PodKey(*pod));
        done(std::nullopt);
      });
}

void ApiStore::PatchPodGroupStatus(api::PodGroupPtr group, api::Condition condition, Done done) {
  asked_.push_back(
      [this, group = std::move(group), condition = std::move(condition), done = std::move(done)] {
        if (api::PodGroupStatusPatch(*group, condition).empty()) return done(std::nullopt);
        const std::string key = "PodGroup/" + group->meta.Key();
        Json* found = Find(key);
        if (found == nullptr) return done(NotFound());
        SetCondition(*found, condition);
        Changed(key);
        done(std::nullopt);
      });
}

// A pod without grace period is deleted at once, others terminate.
void ApiStore::EvictPod(api::PodPtr pod, api::Condition condition, TimePoint /*decided*/,
                        EvictionDone done) {
  asked_.push_back(
      [this, key = PodKey(*pod), condition = std::move(condition), done = std::move(done)] {
        Json* found = Find(key);
        if (found == nullptr) return done(framework::EvictionOutcome::kGone, std::nullopt);
        SetCondition(*found, condition);
        Changed(key);
        evicted_.insert(key);
        if ((*found)["spec"].value("terminationGracePeriodSeconds", 0) == 0) {
          Remove(key);
        } else {
          (*found)["metadata"]["deletionTimestamp"] = "1970-01-01T00:00:01Z";
          Changed(key);
        }
        done(framework::EvictionOutcome::kEvicted, std::nullopt);
      });
}

void ApiStore::WriteVolume(api::PersistentVolumePtr, WriteDone) {
  KS_CHECK(false, "worlds of groups have no volumes");
}
void ApiStore::WriteClaim(api::PersistentVolumeClaimPtr, WriteDone) {
  KS_CHECK(false, "worlds of groups have no volumes");
}
void ApiStore::SendClaimRequest(api::ClaimRequest, ClaimDone) {
  KS_CHECK(false, "worlds of groups have no claims");
}

}  // namespace ks::parity
