// SPDX-License-Identifier: Apache-2.0
#pragma once
// A watch on the lease of a LeaseServer, as a candidate's network brings it.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "client/http/transport.h"
#include "client/lease_server.h"

namespace ks::client {

// Whatever is lost on its way loses the rest too, and is noticed by the silence.
class LeaseStream final : public Exchange, public std::enable_shared_from_this<LeaseStream> {
 public:
  // The way from the server, and the time of the candidate. Both outlive the stream's use of them.
  struct Way {
    // Runs the action at the candidate when it has come there. False: it is lost.
    std::function<bool(std::function<void()>)> bring;
    std::function<void(Duration, std::function<void()>)> after;
  };

  LeaseStream(LeaseServer& server, Way way, std::shared_ptr<StreamSink> sink)
      : server_(server), way_(std::move(way)), sink_(std::move(sink)) {}

  // The request has come to the server.
  void Open(const std::string& target, bool allowed) {
    if (sink_ == nullptr) return;
    HttpResponse head;
    head.status = allowed ? 200 : 403;
    Bring([head](StreamSink& sink) { sink.OnHeaders(head); });
    if (!allowed) {
      return Bring([self = shared_from_this()](StreamSink&) { self->End(std::nullopt); });
    }
    const std::string key = "resourceVersion=";
    const size_t begin = target.find(key) + key.size();
    watcher_ = server_.Watch(target.substr(begin, target.find('&', begin) - begin),
                             [self = shared_from_this()](const std::string& event) {
                               self->Bring([event](StreamSink& sink) { sink.OnData(event); });
                             });
  }
  void Cancel() override { EndAfter(Duration::zero(), TransportError::Kind::kCanceled); }
  void Resume() override {}

 private:
  static constexpr Duration kSilence = std::chrono::seconds(28);

  void Bring(std::function<void(StreamSink&)> action) {
    if (lost_) return;
    if (way_.bring([self = shared_from_this(), action = std::move(action)] {
          if (self->sink_ != nullptr && !self->lost_) action(*self->sink_);
        })) {
      return;
    }
    lost_ = true;
    EndAfter(kSilence, TransportError::Kind::kTimedOut);
  }
  void EndAfter(Duration delay, TransportError::Kind kind) {
    way_.after(delay, [self = shared_from_this(), kind] {
      self->End(TransportError{kind, "watch"});
    });
  }
  void End(std::optional<TransportError> error) {
    if (watcher_ != 0) server_.Unwatch(std::exchange(watcher_, 0));
    lost_ = true;
    if (sink_ != nullptr) std::exchange(sink_, nullptr)->OnEnd(std::move(error));
  }

  LeaseServer& server_;
  const Way way_;
  std::shared_ptr<StreamSink> sink_;  // null: it has ended
  uint64_t watcher_ = 0;
  bool lost_ = false;
};

}  // namespace ks::client
