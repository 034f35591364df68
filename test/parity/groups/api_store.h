// SPDX-License-Identifier: Apache-2.0
#pragma once
// The API server of a small world of groups of pods: as grouporacle's (test/controlplane), it
// carries out what the scheduler writes at once and tells of it when it is asked.

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "api/decode/decoder.h"
#include "framework/api_writer.h"
#include "scheduler/inbox.h"

namespace ks::parity {

using Json = nlohmann::json;

// Objects are named "Kind/namespace/name". Threads: one.
class ApiStore final : public framework::ApiWriter {
 public:
  // What the user does.
  void Put(Json object);
  void Delete(const std::string& key);
  void Reap();  // what terminates goes

  // Carries out what the scheduler has asked for since; false: nothing.
  bool CarryOut();
  // What a watch tells of the changes since, in their order, or by name where they come from
  // requests.
  std::vector<scheduler::Message> TakeNews(bool by_name);

  // Which objects have changed since, and what they look like.
  void BeginStep();
  Json Report(int64_t attempts) const;

  void Bind(api::PodPtr pod, std::string node_name, Done done) override;
  void PatchPodStatus(api::PodPtr pod, api::PodStatusChange change, Done done) override;
  void PatchPodGroupStatus(api::PodGroupPtr group, api::Condition condition, Done done) override;
  void EvictPod(api::PodPtr pod, api::Condition condition, TimePoint decided,
                EvictionDone done) override;
  void WriteVolume(api::PersistentVolumePtr version, WriteDone done) override;
  void WriteClaim(api::PersistentVolumeClaimPtr version, WriteDone done) override;
  void SendClaimRequest(api::ClaimRequest request, ClaimDone done) override;
  void RecordEvent(framework::PodEvent /*event*/) override {}

 private:
  struct Change {
    std::string key;
    Json object;
    bool gone = false;
  };
  template <class T>
  std::vector<api::Delta<T>> DeltaOf(const Change& change);
  scheduler::Message NewsOf(const Change& change);
  Json* Find(const std::string& key);
  void Changed(const std::string& key);
  void Remove(const std::string& key);

  std::map<std::string, Json> objects_;
  std::vector<std::function<void()>> asked_;
  std::vector<Change> news_;
  std::set<std::string> touched_;
  std::set<std::string> evicted_;
  int64_t revision_ = 0;
  api::Decoder decoder_;
};

}  // namespace ks::parity
