// SPDX-License-Identifier: Apache-2.0
#pragma once
// The in-memory API server without sockets: requests in, answers and watch streams out, under a
// clock and a seed. The HTTPS front (https_front.h) serves it; the simulation calls it directly.
//
// Not durable: the state is gone with the object (snapshot.h writes it to a file).
// Threads: one at a time; watch streams included.

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apiserver/registry/registry.h"
#include "apiserver/service/authorizer.h"
#include "apiserver/service/subresources.h"
#include "apiserver/store/store.h"
#include "apiserver/store/types.h"
#include "base/clock.h"

namespace ks::apiserver {

// Works inside of the server on its objects: simulated node agents, the PV controller. Reads
// changes from the store's log.
class Controller {
 public:
  virtual ~Controller() = default;
  // Does what is due. Called after every request that wrote something and when NextDue has come.
  virtual void Step() = 0;
  virtual std::optional<TimePoint> NextDue() const = 0;
};

struct ServiceOptions {
  uint64_t seed = 1;
  StoreOptions store{};
  Duration bookmark_interval = std::chrono::seconds(60);
  // Longest watch; a request's timeoutSeconds makes it shorter. Upstream: 30 to 60 minutes.
  Duration max_watch = std::chrono::minutes(30);
  Duration event_ttl = std::chrono::hours(1);  // events are removed after it
};

class StoreWatch;

// Threads: one at a time.
class Service {
 public:
  // The clock outlives the service.
  explicit Service(const Clock& clock, ServiceOptions options = {});
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  ApiResponse Handle(const ApiRequest& request);

  // Controllers and timers whose time has come. Whoever drives the service calls it after Handle
  // and at NextDue().
  void Step();
  std::optional<TimePoint> NextDue() const;

  // Before the first request.
  void SetAuthorizer(std::unique_ptr<Authorizer> authorizer);
  void SetTokenLookup(TokenLookup lookup);
  void AddController(std::unique_ptr<Controller> controller);

  // Ends all open watch streams, as a server that restarts; with forgotten history, see
  // Store::ForgetHistory.
  void EndWatches();

  Registry& registry() { return registry_; }
  Store& store() { return store_; }
  const Clock& clock() const { return clock_; }

 private:
  // An event that is removed when it is still of this version by then.
  struct EventExpiry {
    TimePoint due;
    std::string ns;
    std::string name;
    uint64_t version = 0;
  };

  ApiResponse Answer(const ApiRequest& request);
  ApiResponse AnswerResource(const ApiRequest& request, const RequestInfo& info);
  // POST of what is not stored: bindings and reviews.
  ApiResponse AnswerUnstored(const ApiRequest& request, const RequestInfo& info);

  // Takes note of what changed: namespaces whose budgets are out of date, events and their end.
  void Follow();
  void FollowPods();
  void FollowEvents();
  void UpdateBudgets();
  void ExpireEvents(TimePoint now);
  bool ControllersDue(TimePoint now) const;

  const Clock& clock_;
  ServiceOptions options_;
  Store store_;
  Registry registry_;
  std::unique_ptr<Authorizer> authorizer_;
  TokenLookup tokens_;
  std::vector<std::unique_ptr<Controller>> controllers_;
  std::list<StoreWatch*> watches_;  // the open ones; they leave by themselves

  uint64_t followed_version_ = 0;  // of the store, up to which Follow has read
  uint64_t stepped_version_ = 0;   // and up to which the controllers have seen it
  uint64_t next_pod_ = 0;          // sequences in the logs of these kinds
  uint64_t next_budget_ = 0;
  uint64_t next_event_ = 0;
  std::deque<EventExpiry> expiries_;      // by due time
  std::set<std::string> stale_budgets_;   // namespaces
  std::optional<TimePoint> budgets_due_;  // set while there are stale ones
};

}  // namespace ks::apiserver
