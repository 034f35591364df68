// SPDX-License-Identifier: Apache-2.0
#pragma once
// A patch of the status of a PodGroup.
//
// Upstream: docs/spec/api.md section 9.7.

#include <memory>
#include <optional>
#include <utility>

#include "api/json/encode.h"
#include "client/write/write_job.h"
#include "framework/api_writer.h"

namespace ks::client {

// As ApiWriter's PatchPodGroupStatus says.
class GroupPatchJob final : public WriteJob {
 public:
  using Done = framework::ApiWriter::Done;

  // `done` may be null.
  GroupPatchJob(std::shared_ptr<WriteDispatcher> dispatcher, RestClient& client,
                api::PodGroupPtr group, api::Condition condition, Done done)
      : WriteJob(std::move(dispatcher), client, LaneName::kPatch),
        group_(std::move(group)),
        condition_(std::move(condition)),
        done_(std::move(done)) {}

  Counter CountedAs(bool ok) const override {
    return ok ? &WriterStats::patches : &WriterStats::patch_failures;
  }
  void Report(std::optional<api::ApiError> error) override;

 private:
  void Try() override;
  void OnAnswer(RestReply reply);

  const api::PodGroupPtr group_;
  const api::Condition condition_;
  Done done_;
};

}  // namespace ks::client
