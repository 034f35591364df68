// SPDX-License-Identifier: Apache-2.0
#pragma once
// An eviction: the condition that says why the pod goes, then its deletion.
//
//   PATCH --good, or nothing to patch--> DELETE --any answer--> over
//         --passing failure or conflict--> wait --> PATCH
//         --any other failure--> over
//
// Upstream: docs/spec/preemption.md section 10.1.

#include <memory>
#include <optional>
#include <utility>

#include "api/json/encode.h"
#include "api/pod.h"
#include "client/write/write_job.h"
#include "framework/api_writer.h"

namespace ks::client {

class EvictionJob final : public WriteJob {
 public:
  using Done = framework::ApiWriter::EvictionDone;

  // `decided`: when the preemption was.
  EvictionJob(std::shared_ptr<WriteDispatcher> dispatcher, RestClient& client, api::PodPtr pod,
              api::Condition condition, TimePoint decided, Done done)
      : WriteJob(std::move(dispatcher), client, LaneName::kBind),
        pod_(std::move(pod)),
        decided_(decided),
        done_(std::move(done)) {
    change_.condition = std::move(condition);
  }

  std::optional<TimePoint> EvictionDecided() const override { return decided_; }
  Counter CountedAs(bool ok) const override {
    return ok ? &WriterStats::evictions : &WriterStats::eviction_failures;
  }
  void Report(std::optional<api::ApiError> error) override;

 private:
  void Try() override;
  void OnPatched(RestReply reply);
  void Delete();
  void OnDeleted(RestReply reply);

  const api::PodPtr pod_;
  api::PodStatusChange change_;
  const TimePoint decided_;
  Done done_;
  bool gone_ = false;  // there was no such pod any more
};

}  // namespace ks::client
