// SPDX-License-Identifier: Apache-2.0
#pragma once
// An ApiWriter that records what it is asked and answers when told. Threads: one at a time.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/api_writer.h"

namespace ks::testing {

class FakeApiWriter final : public framework::ApiWriter {
 public:
  struct BindCall {
    api::PodPtr pod;
    std::string node_name;
    Done done;  // null once answered
  };
  struct EvictCall {
    api::PodPtr pod;
    api::Condition condition;
    EvictionDone done;  // null once answered
  };
  struct PatchCall {
    api::PodPtr pod;
    api::PodStatusChange change;
  };

  struct WriteCall {
    api::PersistentVolumePtr volume;      // of WriteVolume
    api::PersistentVolumeClaimPtr claim;  // of WriteClaim
    WriteDone done;                       // null once answered
  };
  struct ClaimCall {
    api::ClaimRequest request;
    ClaimDone done;  // null once answered
  };

  void Bind(api::PodPtr pod, std::string node_name, Done done) override {
    binds.push_back({std::move(pod), std::move(node_name), std::move(done)});
  }
  void PatchPodStatus(api::PodPtr pod, api::PodStatusChange change, Done done) override {
    patches.push_back({std::move(pod), std::move(change)});
    done(std::nullopt);
  }
  void PatchPodGroupStatus(api::PodGroupPtr group, api::Condition condition, Done done) override {
    group_patches.push_back({std::move(group), std::move(condition)});
    done(fail_group_patches ? std::optional<api::ApiError>(std::in_place) : std::nullopt);
  }
  void EvictPod(api::PodPtr pod, api::Condition condition, TimePoint /*decided*/,
                EvictionDone done) override {
    evictions.push_back({std::move(pod), std::move(condition), std::move(done)});
  }
  void WriteVolume(api::PersistentVolumePtr version, WriteDone done) override {
    writes.push_back({std::move(version), nullptr, std::move(done)});
  }
  void WriteClaim(api::PersistentVolumeClaimPtr version, WriteDone done) override {
    writes.push_back({nullptr, std::move(version), std::move(done)});
  }
  void SendClaimRequest(api::ClaimRequest request, ClaimDone done) override {
    claim_requests.push_back({std::move(request), std::move(done)});
  }
  void RecordEvent(framework::PodEvent event) override { events.push_back(std::move(event)); }

  // Answers every unanswered Bind; `error` absent: success. Returns how many.
  size_t AnswerBinds(const std::optional<api::ApiError>& error = std::nullopt) {
    size_t answered = 0;
    // Answers may cause further calls: no iterator is kept.
    for (size_t i = 0; i < binds.size(); ++i) {
      if (!binds[i].done) continue;
      const Done done = std::exchange(binds[i].done, nullptr);
      done(error);
      ++answered;
    }
    return answered;
  }

  // Answers the oldest unanswered EvictPod. Null when there is none, else the pod.
  api::PodPtr AnswerEviction(framework::EvictionOutcome outcome,
                             const std::optional<api::ApiError>& error = std::nullopt) {
    for (EvictCall& call : evictions) {
      if (!call.done) continue;
      const api::PodPtr pod = call.pod;
      const EvictionDone done = std::exchange(call.done, nullptr);
      done(outcome, error);
      return pod;
    }
    return nullptr;
  }

  // Answers the oldest unanswered WriteVolume or WriteClaim. False when there is none.
  bool AnswerWrite(const std::optional<api::ApiError>& error, std::string resource_version = "") {
    for (WriteCall& call : writes) {
      if (!call.done) continue;
      const WriteDone done = std::exchange(call.done, nullptr);
      done(error, std::move(resource_version));
      return true;
    }
    return false;
  }

  // Answers the oldest unanswered SendClaimRequest. False when there is none.
  bool AnswerClaimRequest(const std::optional<api::ApiError>& error,
                          api::ResourceClaimPtr claim = nullptr) {
    for (ClaimCall& call : claim_requests) {
      if (!call.done) continue;
      const ClaimDone done = std::exchange(call.done, nullptr);
      done(error, std::move(claim));
      return true;
    }
    return false;
  }

  std::vector<BindCall> binds;
  std::vector<PatchCall> patches;
  std::vector<std::pair<api::PodGroupPtr, api::Condition>> group_patches;
  bool fail_group_patches = false;
  std::vector<EvictCall> evictions;
  std::vector<WriteCall> writes;
  std::vector<ClaimCall> claim_requests;
  std::vector<framework::PodEvent> events;
};

}  // namespace ks::testing
