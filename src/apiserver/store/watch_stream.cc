// SPDX-License-Identifier: Apache-2.0
#include "apiserver/store/watch_stream.h"

#include <algorithm>

#include "base/check.h"

namespace ks::apiserver {
namespace {

// The last bookmark of a watch comes so long before its end, as upstream's.
constexpr Duration kBeforeEnd = std::chrono::seconds(2);

}  // namespace

StoreWatch::StoreWatch(Store& store, const Clock& clock, WatchOptions options)
    : store_(store),
      clock_(clock),
      options_(std::move(options)),
      end_(clock.Now() + options_.longest) {
  const std::optional<uint64_t> next =
      store_.SequenceAfter(*options_.kind, options_.initial ? store_.version() : options_.since);
  KS_CHECK(next.has_value(), "a watch from a forgotten version");
  next_ = *next;
  if (options_.initial) TakeInitial();
  if (options_.bookmarks) PlanBookmark(clock_.Now());
  subscription_ = store_.Subscribe(*options_.kind, [this] { Wake(); });
  listed_ = options_.open->insert(options_.open->end(), this);
}

StoreWatch::~StoreWatch() { options_.open->erase(listed_); }

bool StoreWatch::Matches(const ObjectPtr& object) const {
  if (object == nullptr) return false;
  if (!options_.ns.empty() && object->ns != options_.ns) return false;
  return options_.selector.Matches(*object);
}

void StoreWatch::TakeInitial() {
  initial_version_ = store_.version();
  initial_end_due_ = options_.mark_initial_end;
  const std::optional<std::string>& name = options_.selector.name();
  const bool one = name.has_value() && (!options_.ns.empty() || !options_.kind->namespaced);
  if (one) {
    const ObjectPtr object = store_.Find(*options_.kind, options_.ns, *name);
    if (Matches(object)) initial_.push_back(object);
    return;
  }
  const Store::Objects& objects = store_.objects(*options_.kind);
  for (auto it = objects.lower_bound(Store::KeyView(options_.ns, "")); it != objects.end(); ++it) {
    if (!options_.ns.empty() && it->first.first != options_.ns) break;
    if (options_.selector.Matches(*it->second)) initial_.push_back(it->second);
  }
  std::reverse(initial_.begin(), initial_.end());
}

void StoreWatch::PlanBookmark(TimePoint now) {
  bookmark_due_.reset();
  const TimePoint last = end_ - kBeforeEnd;
  if (now < last) bookmark_due_ = std::min(now + options_.bookmark_interval, last);
}

void StoreWatch::AppendFrame(const char* type, const std::string& text, uint64_t version,
                             std::string* out) const {
  *out += "{\"type\":\"";
  *out += type;
  *out += "\",\"object\":";
  if (options_.convert) {
    *out += options_.convert(text, version);
  } else {
    *out += text;
  }
  *out += "}\n";
}

void StoreWatch::AppendChange(const Change& change, std::string* out) const {
  const bool before = Matches(change.before);
  if (change.type == Change::Type::kDeleted) {
    if (before) AppendFrame("DELETED", change.object->text, change.version, out);
    return;
  }
  const bool after = Matches(change.object);
  if (after) {
    AppendFrame(before ? "MODIFIED" : "ADDED", change.object->text, change.version, out);
  } else if (before) {
    // It stops matching: for this watch it is deleted, in its last matching state.
    AppendFrame("DELETED", Store::TextAt(*change.before, change.version), change.version, out);
  }
}

void StoreWatch::AppendBookmark(bool initial_end, std::string* out) const {
  const uint64_t version = initial_end ? initial_version_ : store_.version();
  *out += "{\"type\":\"BOOKMARK\",\"object\":";
  if (options_.bookmark) {
    *out += options_.bookmark(version, initial_end);
  } else {
    *out += "{\"kind\":\"" + options_.kind->kind + "\",\"apiVersion\":\"" +
            options_.kind->api_version() + "\",\"metadata\":{\"resourceVersion\":\"" +
            std::to_string(version) + '"';
    if (initial_end) *out += ",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}";
    *out += "}}";
  }
  *out += "}\n";
}

WatchStream::State StoreWatch::Read(size_t limit, std::string* out) {
  while (!ended_) {
    if (out->size() >= limit) return State::kMore;
    if (!initial_.empty()) {
      const ObjectPtr object = std::move(initial_.back());
      initial_.pop_back();
      AppendFrame("ADDED", object->text, object->resource_version, out);
      continue;
    }
    if (initial_end_due_) {
      initial_end_due_ = false;
      AppendBookmark(true, out);
      continue;
    }
    // Too slow: what it would have to read next is forgotten. Its client sees an end and asks
    // again.
    if (next_ < store_.FirstSequence(*options_.kind)) break;
    if (const Change* change = store_.At(*options_.kind, next_)) {
      ++next_;
      if (change->version > options_.since) AppendChange(*change, out);
      continue;
    }
    const TimePoint now = clock_.Now();
    if (now >= end_) break;
    if (bookmark_due_.has_value() && now >= *bookmark_due_) {
      AppendBookmark(false, out);
      PlanBookmark(now);
      continue;
    }
    waiting_ = true;
    return State::kWaiting;
  }
  End();
  return State::kEnded;
}

std::optional<TimePoint> StoreWatch::NextDue() const {
  if (ended_) return {};
  return bookmark_due_.has_value() ? std::min(*bookmark_due_, end_) : end_;
}

void StoreWatch::End() {
  ended_ = true;
  initial_.clear();
  subscription_.reset();
}

void StoreWatch::Cancel() {
  End();
  if (ready_) ready_();
}

void StoreWatch::Wake() {
  if (!waiting_) return;
  waiting_ = false;
  if (ready_) ready_();
}

}  // namespace ks::apiserver
