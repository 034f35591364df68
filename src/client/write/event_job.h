// SPDX-License-Identifier: Apache-2.0
#pragma once
// One sending of an event: its creation, or the update of its series.
//
//   POST or PATCH --good, or the POST of an earlier try was--> over
//                 --network failure--> wait --> the same
//   POST in protobuf --refused for that--> POST in JSON
//   PATCH --there is no such event--> POST
//   POST of a series --there is one--> wait --> PATCH
//   Any other answer, or the twelfth try: over, given up.
//
// Upstream: docs/spec/api.md section 10.4.

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "client/write/event_recorder.h"
#include "client/write/event_series.h"
#include "client/write/write_job.h"

namespace ks::client {

class EventJob final : public WriteJob {
 public:
  // `event` is marked as sending. `recorder` made the job.
  EventJob(std::shared_ptr<WriteDispatcher> dispatcher, RestClient& client,
           std::shared_ptr<EventRecorder> recorder, RecordedEventPtr event)
      : WriteJob(std::move(dispatcher), client, LaneName::kEvent),
        recorder_(std::move(recorder)),
        event_(std::move(event)) {}

  // The recorder counts events.
  Counter CountedAs(bool /*ok*/) const override { return nullptr; }
  void Report(std::optional<api::ApiError> /*error*/) override {}

 private:
  void Try() override;
  void OnAnswer(const RestReply& reply);
  bool TryAgain(const api::ApiError& error);
  void Finish(bool accepted);

  const std::shared_ptr<EventRecorder> recorder_;
  const RecordedEventPtr event_;
  bool creates_ = false;  // the try, or the next one, is a POST
  int32_t count_ = 0;     // of the try
};

}  // namespace ks::client
