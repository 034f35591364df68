// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/demo/event_watch.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"
#include "client/watch/frame_splitter.h"

namespace ks::ctl {
namespace {

using Json = nlohmann::json;

constexpr Duration kTimeout = std::chrono::seconds(30);
constexpr Duration kPause = std::chrono::seconds(1);  // after an end, before the next beginning

std::string Text(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

EventLine LineOf(const Json& event) {
  EventLine line;
  // The event's own time has no common form; when it came in is close enough for a view.
  line.time = FormatTime(RealClock().WallNow()).substr(11, 8);
  line.warning = Text(event, "type") == "Warning";
  line.reason = Text(event, "reason");
  line.note = Text(event, "message");
  const auto object = event.find("involvedObject");
  if (object != event.end() && object->is_object()) {
    const std::string kind = Text(*object, "kind");
    line.object = (kind == "Pod" ? "" : kind + " ") + Text(*object, "name");
  }
  return line;
}

}  // namespace

class EventWatch::Core : public std::enable_shared_from_this<EventWatch::Core> {
 public:
  Core(client::RestClient& rest, std::string path, std::function<void(EventLine)> sink)
      : rest_(rest), path_(std::move(path)), sink_(std::move(sink)) {}

  // Asks for the version to begin at.
  void Begin() {
    const MutexLock lock(mutex_);
    if (stopped_) return;
    exchange_ =
        rest_.Send({.target = path_ + "?limit=1", .timeout = kTimeout, .resource = "events"},
                   [self = shared_from_this()](const client::RestReply& reply) {
                     const Json list = Json::parse(reply.body, nullptr, false);
                     const bool usable = reply.ok() && list.is_object() &&
                                         list.contains("metadata") && list["metadata"].is_object();
                     if (!usable) return self->ScheduleRestart();
                     self->Watch(Text(list["metadata"], "resourceVersion"));
                   });
  }

  void Stop() {
    std::shared_ptr<client::Exchange> running;
    {
      const MutexLock lock(mutex_);
      stopped_ = true;
      running = exchange_;
    }
    if (running) running->Cancel();
  }

 private:
  class Sink;

  void ScheduleRestart() {
    rest_.timers().Schedule(kPause, [self = shared_from_this()] { self->Begin(); });
  }

  void Watch(const std::string& version);

  void Hand(const Json& event) {
    const MutexLock lock(mutex_);
    if (!stopped_) sink_(LineOf(event));
  }

  client::RestClient& rest_;
  const std::string path_;
  const std::function<void(EventLine)> sink_;
  Mutex mutex_;
  bool stopped_ KS_GUARDED_BY(mutex_) = false;
  std::shared_ptr<client::Exchange> exchange_ KS_GUARDED_BY(mutex_);
};

class EventWatch::Core::Sink : public client::WatchSink {
 public:
  explicit Sink(std::shared_ptr<Core> core) : core_(std::move(core)) {}

  void OnOpened() override {}
  client::StreamSink::Flow OnData(std::string_view data) override {
    splitter_.Append(data);
    std::string_view frame;
    while (splitter_.Next(&frame)) {
      const Json event = Json::parse(frame, nullptr, false);
      if (!event.is_object() || !event.contains("object") || !event["object"].is_object()) continue;
      const std::string type = Text(event, "type");
      if (type == "ADDED" || type == "MODIFIED") core_->Hand(event["object"]);
    }
    return client::StreamSink::Flow::kContinue;
  }
  void OnEnd(std::optional<api::ApiError> /*error*/) override { core_->ScheduleRestart(); }

 private:
  const std::shared_ptr<Core> core_;
  client::FrameSplitter splitter_;
};

void EventWatch::Core::Watch(const std::string& version) {
  const MutexLock lock(mutex_);
  if (stopped_) return;
  exchange_ =
      rest_.Watch({.target = path_ + "?watch=true&resourceVersion=" + client::EscapeUrl(version),
                   .timeout = kTimeout,
                   .verb = "watch",
                   .resource = "events"},
                  std::make_shared<Sink>(shared_from_this()));
}

EventWatch::EventWatch(Cluster& cluster, const std::string& ns, std::function<void(EventLine)> sink)
    : core_(std::make_shared<Core>(cluster.rest(),
                                   "/api/v1/namespaces/" + client::EscapeUrl(ns) + "/events",
                                   std::move(sink))) {
  core_->Begin();
}

EventWatch::~EventWatch() { core_->Stop(); }

}  // namespace ks::ctl
