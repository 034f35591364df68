// SPDX-License-Identifier: Apache-2.0
#include "client/write/event_series.h"

#include <algorithm>
#include <utility>

#include "api/json/encode.h"
#include "api/pod.h"
#include "api/proto/proto_bodies.h"
#include "base/random.h"
#include "golang/json_text.h"

namespace ks::client {
namespace {

void AppendReference(const api::ObjectMeta* meta, bool legacy, std::string* key) {
  if (meta != nullptr) key->append(meta->uid);
  key->append("\n");
  if (meta != nullptr && !legacy) key->append(meta->resource_version);
  key->append("\n");
}

std::string ObjectReference(const api::Pod& pod) {
  std::string text = R"({"kind":"Pod","namespace":)" + golang::JsonString(pod.meta.ns.view());
  text += ",\"name\":" + golang::JsonString(pod.meta.name) +
          ",\"uid\":" + golang::JsonString(pod.meta.uid);
  text += R"(,"apiVersion":"v1","resourceVersion":)" +
          golang::JsonString(pod.meta.resource_version) + "}";
  return text;
}

// docs/spec/api.md 10.5.
std::string LegacyBody(const api::EventRecord& record) {
  const std::string time = "\"" + FormatTime(record.event_time) + "\"";
  const std::string controller = golang::JsonString(record.reporting_controller);
  std::string text =
      R"({"kind":"Event","apiVersion":"v1","metadata":{"name":)" + golang::JsonString(record.name);
  text += ",\"namespace\":" + golang::JsonString(record.ns.view()) + "},\"involvedObject\":";
  text += ObjectReference(*record.regarding) + ",\"reason\":" + golang::JsonString(record.reason);
  text += ",\"message\":" + golang::JsonString(record.note) +
          ",\"source\":{\"component\":" + controller;
  text += "},\"firstTimestamp\":" + time + ",\"lastTimestamp\":" + time + ",\"count\":1,\"type\":";
  text += record.warning ? "\"Warning\"" : "\"Normal\"";
  text +=
      ",\"eventTime\":null,\"reportingComponent\":" + controller + ",\"reportingInstance\":\"\"}";
  return text;
}

// The table's own order differs from run to run.
void SortByKey(std::vector<RecordedEventPtr>& events) {
  std::sort(events.begin(), events.end(),
            [](const auto& a, const auto& b) { return a->key < b->key; });
}

}  // namespace

std::string EventSeries::Key(const framework::PodEvent& event) const {
  std::string key = event.warning ? "W\n" : "N\n";
  key.append(event.action).append("\n").append(event.reason).append("\n");
  key.append(event.reporting_controller).append("\n");
  AppendReference(&event.regarding->meta, options_.legacy, &key);
  AppendReference(api::MetaOf(event.related), options_.legacy, &key);
  return key;
}

RecordedEventPtr EventSeries::Create(const framework::PodEvent& event, TimePoint wall) {
  api::EventRecord record;
  const api::ObjectMeta& meta = event.regarding->meta;
  record.ns = meta.ns.empty() ? Symbol("default") : meta.ns;
  record.name = api::EventName(meta.name, wall, Random(options_.seed + ++serial_).Next());
  record.reporting_controller = event.reporting_controller;
  record.reporting_instance = event.reporting_controller + "-" + options_.host_name;
  record.action = event.action;
  record.reason = event.reason;
  record.note = api::EventNote(event.note, event.reason == "FailedScheduling");
  record.warning = event.warning;
  record.regarding = event.regarding;
  record.related = event.related;
  record.event_time = wall;
  auto recorded = std::make_shared<RecordedEvent>();
  recorded->collection =
      options_.legacy ? "/api/v1/namespaces/" : "/apis/events.k8s.io/v1/namespaces/";
  recorded->collection.append(record.ns.view()).append("/events");
  recorded->body = options_.legacy ? LegacyBody(record) : api::EventBody(record);
  if (!options_.legacy && options_.protobuf && options_.protobuf()) {
    recorded->protobuf_body = api::EventProto(record);
  }
  recorded->name = std::move(record.name);
  return recorded;
}

RecordedEventPtr EventSeries::Record(const framework::PodEvent& event, TimePoint wall,
                                     TimePoint now) {
  if (options_.legacy) return RecordLegacy(event, wall, now);
  return Count(event, Key(event), false, wall, now);
}

// The text is part of the key, unless there are too many texts.
RecordedEventPtr EventSeries::RecordLegacy(framework::PodEvent event, TimePoint wall,
                                           TimePoint now) {
  std::string key = Key(event);
  const bool combined = limits_.Combines(key, event.note, now);
  if (combined) {
    event.note.insert(0, EventLimits::kPrefix);
  } else {
    key.append(event.note);
  }
  const std::string object = event.reporting_controller + "\n" + event.regarding->meta.uid;
  const bool allowed = limits_.Allows(object, now);
  if (!allowed && !events_.contains(key)) return nullptr;
  RecordedEventPtr due = Count(event, key, combined, wall, now);
  if (allowed || due == nullptr) return due;
  due->sending = false;  // counted, and sent with the next refresh
  return nullptr;
}

RecordedEventPtr EventSeries::Count(const framework::PodEvent& event, const std::string& key,
                                    bool combined, TimePoint wall, TimePoint now) {
  if (const auto it = events_.find(key); it != events_.end()) {
    RecordedEvent& known = *it->second;
    ++known.count;
    known.observed = wall;
    known.seen = now;
    if (combined) known.note = event.note;
    // The second occurrence is sent, later ones with the next refresh.
    if (known.count != 2 || known.sending) return nullptr;
    known.sending = true;
    return it->second;
  }
  RecordedEventPtr created = Create(event, wall);
  created->key = key;
  created->observed = wall;
  created->seen = now;
  created->sending = true;
  events_.emplace(key, created);
  by_age_.push_back(created);
  while (events_.size() > options_.most_remembered && !by_age_.empty()) {
    if (const RecordedEventPtr oldest = by_age_.front().lock()) events_.erase(oldest->key);
    by_age_.pop_front();
  }
  return created;
}

bool EventSeries::Sent(RecordedEvent& event, int32_t count) {
  event.sent_count = std::max(event.sent_count, count);
  std::string().swap(event.protobuf_body);
  event.sending = event.sent_count == 1 && event.count > 1;
  return event.sending;
}

std::vector<RecordedEventPtr> EventSeries::Refresh() {
  std::vector<RecordedEventPtr> due;
  for (const auto& [key, event] : events_) {
    if (event->count < 2 || event->sending) continue;
    event->sending = true;
    due.push_back(event);
  }
  SortByKey(due);
  return due;
}

std::vector<RecordedEventPtr> EventSeries::Finish(TimePoint now) {
  std::vector<RecordedEventPtr> due;
  for (auto it = events_.begin(); it != events_.end();) {
    const RecordedEventPtr& event = it->second;
    if (event->sending || now - event->seen <= kFinish) {
      ++it;
      continue;
    }
    if (event->count > 1) {
      event->sending = true;
      due.push_back(event);
    }
    events_.erase(it++);
  }
  while (!by_age_.empty() && by_age_.front().expired()) by_age_.pop_front();
  SortByKey(due);
  return due;
}

std::string EventSeries::PatchBody(const RecordedEvent& event) const {
  if (!options_.legacy) return api::EventSeriesPatch(event.count, event.observed);
  std::string text = "{\"count\":" + std::to_string(event.count) + ",\"lastTimestamp\":\"" +
                     FormatTime(event.observed) + "\"";
  if (!event.note.empty()) {
    text += ",\"message\":" + golang::JsonString(api::EventNote(event.note, true));
  }
  return text + "}";
}

std::string EventSeries::CreationBody(const RecordedEvent& event) const {
  if (event.count < 2 || options_.legacy) return event.body;
  std::string update = PatchBody(event);
  update.back() = ',';
  return update + event.body.substr(1);
}

}  // namespace ks::client
