// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <utility>

#include "apiserver/http/front_session.h"

namespace ks::apiserver {
namespace {

constexpr size_t kReadLimit = 64 << 10;
constexpr size_t kChunkHead = 10;  // eight hexadecimal digits at most, and the end of the line
constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace

FrontSession::Watch::Watch(HttpsFront::State& front) : due_timer(front.io()) {}

void FrontSession::StartWatch(ApiResponse response) {
  out_ = HeadText(response, old_ ? Framing::kUntilClose : Framing::kChunked, BeginAnswer(old_),
                  front_.Date());
  watch_.emplace(front_);
  watch_->stream = std::move(response.watch);
  watch_->stream->OnReady([this] {
    watch_->more = true;
    if (!watch_->woken) {
      watch_->woken = true;
      front_.Wake(Self());
    }
  });
  const SteadyTime now = std::chrono::steady_clock::now();
  if (fault_.stall_watch > Duration{}) {
    watch_->silent_from = now + fault_.stall_watch;
  }
  if (fault_.cut_watch > Duration{}) {
    watch_->cut_from = now + fault_.cut_watch;
  }
  WatchPeer();
  Send();
}

void FrontSession::Pump() {
  if (!watch_) {
    return;
  }
  watch_->woken = false;
  const SteadyTime now = std::chrono::steady_clock::now();
  if (writing_ || now >= watch_->silent_from) {
    return;
  }
  WatchStream::State state =
      watch_->more ? WatchStream::State::kMore : WatchStream::State::kWaiting;
  out_.assign(old_ ? 0 : kChunkHead, '0');
  const size_t empty = out_.size();
  while (state == WatchStream::State::kMore && out_.size() == empty) {
    watch_->more = false;
    state = watch_->stream->Read(kReadLimit, &out_);
    watch_->more = watch_->more || state == WatchStream::State::kMore;
  }
  const bool any = out_.size() > empty;
  if (any && now >= watch_->cut_from) {
    CutFrame(empty);
    return;
  }
  watch_->start = 0;
  if (any && !old_) {
    Frame();
  } else if (!any) {
    out_.clear();
  }
  if (state == WatchStream::State::kEnded) {
    EndWatch();
  } else if (any) {
    Send();
  } else {
    out_.shrink_to_fit();
    ArmDue();
  }
}

// Puts the chunk's size before it; the head is as long as it must be.
void FrontSession::Frame() {
  char size[kChunkHead + 1];
  const int length = std::snprintf(size, sizeof(size), "%zx\r\n", out_.size() - kChunkHead);
  watch_->start = kChunkHead - static_cast<size_t>(length);
  out_.replace(watch_->start, static_cast<size_t>(length), size);
  out_ += "\r\n";
}

void FrontSession::EndWatch() {
  out_.erase(0, watch_->start);
  watch_.reset();
  if (!old_) {
    out_ += kLastChunk;
  }
  Send();
}

// The announced chunk breaks off in the middle of its last frame, and then the connection.
void FrontSession::CutFrame(size_t empty) {
  if (!old_) {
    Frame();
  }
  const size_t last = out_.rfind('\n', out_.size() - 4);  // the end of the frame before
  const size_t begin = last == std::string::npos || last < empty ? empty : last + 1;
  out_.resize(begin + (out_.size() - begin) / 2);
  out_.erase(0, watch_->start);
  watch_.reset();
  writing_ = true;
  Write({boost::asio::buffer(out_)}, [this] { Close(); });
}

// Bookmarks and the watch's end come without anything happening.
void FrontSession::ArmDue() {
  const std::optional<TimePoint> due = watch_->stream->NextDue();
  if (due == watch_->due) {
    return;
  }
  watch_->due = due;
  if (!due) {
    watch_->due_timer.cancel();
    return;
  }
  watch_->due_timer.expires_after(*due - front_.service.clock().Now());
  watch_->due_timer.async_wait([weak = weak_from_this()](const ErrorCode& error) {
    const auto self = std::static_pointer_cast<FrontSession>(weak.lock());
    if (!error && self && self->watch_) {
      self->watch_->due.reset();
      self->watch_->more = true;
      self->Pump();
    }
  });
}

}  // namespace ks::apiserver
