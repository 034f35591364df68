// SPDX-License-Identifier: Apache-2.0
#pragma once
// A watch as its reader pulls it: initial events, then the changes of the store's log through a
// selector, bookmarks, the end. Internal to the Service.
//
// Upstream: docs/spec/api.md sections 5.4, 6.2 and 6.4.

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/store/selector_query.h"
#include "apiserver/store/store.h"
#include "apiserver/store/types.h"
#include "base/clock.h"

namespace ks::apiserver {

class StoreWatch;

struct WatchOptions {
  const KindInfo* kind = nullptr;  // as asked for
  std::string ns{};                // empty: all
  SelectorQuery selector{};
  uint64_t since = 0;             // the changes after this version
  bool initial = false;           // the state at the beginning comes first, as ADDED
  bool mark_initial_end = false;  // and then the bookmark that says so
  bool bookmarks = false;
  Duration bookmark_interval{};
  Duration longest{};
  // The text of an object in the form that was asked for; null: as it is stored.
  std::function<std::string(const std::string& stored_text, uint64_t version)> convert{};
  // The object of a bookmark: kind and version are given; null: the kind's own empty object.
  std::function<std::string(uint64_t version, bool initial_end)> bookmark{};
  std::list<StoreWatch*>* open = nullptr;  // where the watch is listed while it lives
};

class StoreWatch final : public WatchStream {
 public:
  // Requires: the changes after options.since are not forgotten (unless `initial`).
  // Requires: options.open.
  StoreWatch(Store& store, const Clock& clock, WatchOptions options);
  ~StoreWatch() override;
  StoreWatch(const StoreWatch&) = delete;
  StoreWatch& operator=(const StoreWatch&) = delete;

  State Read(size_t limit, std::string* out) override;
  std::optional<TimePoint> NextDue() const override;
  void OnReady(std::function<void()> ready) override { ready_ = std::move(ready); }

  // The stream gives nothing more, from its next Read on, and its reader is told.
  void Cancel();

 private:
  void End();
  void TakeInitial();
  bool Matches(const ObjectPtr& object) const;
  void AppendChange(const Change& change, std::string* out) const;
  void AppendFrame(const char* type, const std::string& text, uint64_t version,
                   std::string* out) const;
  void AppendBookmark(bool initial_end, std::string* out) const;
  void Wake();
  // When the next bookmark is due, from `now` on.
  void PlanBookmark(TimePoint now);

  Store& store_;
  const Clock& clock_;
  const WatchOptions options_;
  const TimePoint end_;
  uint64_t next_ = 0;               // sequence in the log
  std::vector<ObjectPtr> initial_;  // in reverse order
  bool initial_end_due_ = false;
  uint64_t initial_version_ = 0;
  std::optional<TimePoint> bookmark_due_;
  bool ended_ = false;
  bool waiting_ = true;  // the reader knows of nothing to read: tell it
  std::function<void()> ready_;
  std::shared_ptr<void> subscription_;
  std::list<StoreWatch*>::iterator listed_;
};

}  // namespace ks::apiserver
