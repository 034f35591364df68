// SPDX-License-Identifier: Apache-2.0
#pragma once
// An API server for leases in virtual time, and the faults on the way to it. One thread: events
// happen in the order of their times.

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "api/decode/decoder.h"
#include "base/clock.h"
#include "client/http/transport.h"

namespace ks::client {

using Json = nlohmann::json;

// True time and what happens at it.
class World final : public Clock {
 public:
  TimePoint Now() const override { return now_; }
  TimePoint WallNow() const override { return now_; }

  uint64_t At(TimePoint when, std::function<void()> action) {
    const uint64_t id = ++last_;
    events_.emplace(std::pair(std::max(when, now_), id), std::move(action));
    return id;
  }
  void Run(Duration time) {
    const TimePoint end = now_ + time;
    while (!events_.empty() && events_.begin()->first.first <= end) {
      now_ = events_.begin()->first.first;
      const std::function<void()> action = std::move(events_.begin()->second);
      events_.erase(events_.begin());
      action();
    }
    now_ = end;
  }

 private:
  TimePoint now_{std::chrono::seconds(1'767'323'045)};
  uint64_t last_ = 0;
  std::map<std::pair<TimePoint, uint64_t>, std::function<void()>> events_;
};

// True time as a machine's clock shows it that is off, and too fast or too slow.
class LocalClock final : public Clock {
 public:
  LocalClock(const World& world, Duration offset, double rate)
      : world_(world), start_(world.Now()), offset_(offset), rate_(rate) {}
  TimePoint Now() const override { return start_ + offset_ + Scaled(world_.Now() - start_, rate_); }
  TimePoint WallNow() const override { return Now(); }
  Duration True(Duration local) const { return Scaled(local, 1 / rate_) + Duration(1); }

 private:
  static Duration Scaled(Duration duration, double by) {
    return Duration(static_cast<int64_t>(static_cast<double>(duration.count()) * by));
  }
  const World& world_;
  const TimePoint start_;
  const Duration offset_;
  const double rate_;
};

// The server: one lease, answers as kube-apiserver's.
class LeaseServer {
 public:
  struct Write {
    TimePoint at;
    std::string holder;
  };

  HttpResponse Handle(const HttpRequest& request, TimePoint now) {
    HttpResponse answer;
    const bool event = request.target.find("/events") != std::string::npos;
    if (event) {
      events.push_back(Json::parse(request.body));
      answer = Status(201, "");
      answer.body = request.body;
    } else if (request.method == "GET") {
      answer = lease.is_null() ? Status(404, "NotFound") : Ok(200);
    } else if (request.method == "POST") {
      answer = lease.is_null() ? Store(Json::parse(request.body), 201, now)
                               : Status(409, "AlreadyExists");
    } else {
      answer = Put(Json::parse(request.body), now);
    }
    answer.body.reserve(answer.body.size() + api::kJsonPadding);
    return answer;
  }

  std::string Holder() const {
    return lease.is_null() ? "" : lease["spec"].value("holderIdentity", "");
  }
  // As somebody else does it.
  void Edit(const std::function<void(Json&)>& change) {
    change(lease);
    lease["metadata"]["resourceVersion"] = std::to_string(++version);
    Say(Event("MODIFIED"));
  }
  void Delete() {
    Say(Event("DELETED"));
    lease = nullptr;
  }

  // Tells of what happens after this version, as a watch's body.
  uint64_t Watch(const std::string& after, std::function<void(const std::string&)> tell) {
    if (!lease.is_null() && lease["metadata"]["resourceVersion"] != after) tell(Event("MODIFIED"));
    watchers_.emplace(++last_watcher_, std::move(tell));
    return last_watcher_;
  }
  // To every watch, whatever it is.
  void Say(const std::string& text) const {
    for (const auto& [id, tell] : watchers_) tell(text);
  }
  void Unwatch(uint64_t watcher) { watchers_.erase(watcher); }

  Json lease;  // null: none
  uint64_t version = 100;
  std::vector<Json> events;
  std::vector<Write> writes;

 private:
  std::string Event(const char* type) const {
    return Json{{"type", type}, {"object", lease}}.dump() + "\n";
  }
  HttpResponse Put(Json object, TimePoint now) {
    if (lease.is_null()) return Status(404, "NotFound");
    if (object["metadata"]["resourceVersion"] != lease["metadata"]["resourceVersion"]) {
      return Status(409, "Conflict");
    }
    return Store(std::move(object), 200, now);
  }
  HttpResponse Store(Json object, int status, TimePoint now) {
    object["metadata"]["resourceVersion"] = std::to_string(++version);
    object["metadata"]["uid"] = "u-1";
    lease = std::move(object);
    writes.push_back({now, Holder()});
    Say(Event("MODIFIED"));
    return Ok(status);
  }
  HttpResponse Ok(int status) const {
    HttpResponse response;
    response.status = status;
    response.body = lease.dump();
    return response;
  }
  static HttpResponse Status(int code, const std::string& reason) {
    HttpResponse response;
    response.status = code;
    response.body = Json{{"kind", "Status"}, {"apiVersion", "v1"}, {"status", "Failure"},
                         {"reason", reason}, {"message", reason},  {"code", code}}
                        .dump();
    return response;
  }

  uint64_t last_watcher_ = 0;
  std::map<uint64_t, std::function<void(const std::string&)>> watchers_;
};

struct Faults {
  Duration latency = std::chrono::milliseconds(1);  // one way
  double lost_request = 0;                          // never arrives
  double lost_answer = 0;                           // carried out, no answer
  double slow = 0;                                  // up to `slowest` more, each way
  Duration slowest = std::chrono::seconds(8);
  double error = 0;  // 500
};

}  // namespace ks::client
