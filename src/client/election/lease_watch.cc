// SPDX-License-Identifier: Apache-2.0
#include "client/election/lease_watch.h"

#include <atomic>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/logging.h"
#include "client/watch/frame_splitter.h"

namespace ks::client {
namespace {

constexpr size_t kMostLeaseEvent = 4 << 20;  // more than an API server keeps of any object

}  // namespace

// Threads: OnOpened to OnEnd one at a time, the others any.
class LeaseWatch::Stream final : public WatchSink {
 public:
  Stream(std::string lock, Seen seen) : lock_(std::move(lock)), seen_(std::move(seen)) {}

  void OnOpened() override {}
  StreamSink::Flow OnData(std::string_view data) override {
    if (muted_ || splitter_.broken()) return StreamSink::Flow::kContinue;
    splitter_.Append(data);
    std::string_view frame;
    while (!muted_ && splitter_.Next(&frame)) OnEvent(frame);
    return StreamSink::Flow::kContinue;
  }
  void OnEnd(std::optional<api::ApiError> error) override {
    if (error.has_value() && !muted_) {
      refused_ = error->code == 403 || error->code == 405;
      log::Info(refused_ ? 0 : 4, "Cannot watch the lease: it is read now and then",
                {{"lock", lock_},
                 {"err", error->message},
                 {"cure", "a role with the verb watch on this lease"}});
    }
    over_ = true;
  }

  void Mute() { muted_ = true; }
  bool over() const { return over_; }
  bool refused() const { return refused_; }

 private:
  void OnEvent(std::string_view frame) {
    const auto event = nlohmann::ordered_json::parse(frame, nullptr, /*allow_exceptions=*/false);
    if (!event.is_object() || !event.contains("object") || !event.contains("type")) return;
    const auto& type = event["type"];
    if (type == "DELETED") return seen_(LeaseObject());
    if (type != "ADDED" && type != "MODIFIED") return;  // a bookmark, or why the watch ends
    Result<LeaseObject> lease = LeaseObject::Parse(event["object"].dump());
    if (lease.ok()) seen_(std::move(lease).value());
  }

  const std::string lock_;
  const Seen seen_;
  FrameSplitter splitter_{kMostLeaseEvent};
  std::atomic<bool> muted_{false};
  std::atomic<bool> over_{false};
  std::atomic<bool> refused_{false};
};

void LeaseWatch::Follow(const LeaseLock& lock, const LeaseObject& lease, Seen seen) {
  if (stream_ != nullptr && (!stream_->over() || stream_->refused())) return;
  stream_ = std::make_shared<Stream>(lock.Describe(), std::move(seen));
  exchange_ = client_.Watch(lock.Watch(lease), stream_);
}

std::shared_ptr<Exchange> LeaseWatch::Close() {
  if (stream_ != nullptr) stream_->Mute();
  stream_ = nullptr;
  return std::exchange(exchange_, nullptr);
}

}  // namespace ks::client
