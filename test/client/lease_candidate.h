// SPDX-License-Identifier: Apache-2.0
#pragma once
// A candidate of leader election in virtual time: its clock, its timers, its network, which can be
// slow, cut, or lose answers, and its elector. It may be frozen or killed as a whole.

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "client/auth/credentials.h"
#include "client/election/leader_elector.h"
#include "client/lease_server.h"
#include "client/lease_stream.h"
#include "client/rest/rest_client.h"

namespace ks::client {

// One candidate: clock, timers, network, elector.
class Candidate {
 public:
  struct Setting {
    std::string name = "a";
    Duration clock_offset{};
    double clock_rate = 1;
    uint64_t seed = 1;
    Duration lease_duration = std::chrono::seconds(15);
    Duration renew_deadline = std::chrono::seconds(10);
    Duration retry_period = std::chrono::seconds(2);
    bool acquire_again = false;
    bool coordinated = false;
    bool gives_back = true;  // at once when it is called back
    bool may_watch = true;   // the lease
    LeaderMetrics* metrics = nullptr;
  };

  Candidate(World& world, LeaseServer& server, Setting setting)
      : world_(world),
        setting_(std::move(setting)),
        clock_(world, setting_.clock_offset, setting_.clock_rate),
        timers_(*this),
        transport_(*this, server),
        random_(setting_.seed + 77),
        client_(transport_, *credentials_, timers_, {.qps = 50, .burst = 100}),
        elector_(client_,
                 {.identity = setting_.name,
                  .lease_duration = setting_.lease_duration,
                  .renew_deadline = setting_.renew_deadline,
                  .retry_period = setting_.retry_period,
                  .coordinated = setting_.coordinated,
                  .seed = setting_.seed},
                 setting_.metrics,
                 {.started_leading = [this] { Record("won"); },
                  .may_write_again = [this] { Record("again"); },
                  .stopped_leading =
                      [this](const std::string& why) {
                        Record("lost: " + why);
                        if (setting_.acquire_again) Acquire();
                      },
                  .called_back =
                      [this](const std::string& why) {
                        Record("called back: " + why);
                        if (setting_.gives_back) ReleaseToPreferred();
                      }}) {}
  // What is canceled from here on ends at once: no time goes on for it.
  ~Candidate() { ending_ = true; }

  void Acquire() {
    fence = std::make_shared<WriteFence>(clock_);
    elector_.Acquire(fence);
  }
  void Release() {
    elector_.Release([this] { Record("released"); });
  }
  void ReleaseToPreferred() {
    elector_.ReleaseToPreferred([this] {
      Record("gave back");
      if (setting_.acquire_again) Acquire();
    });
  }
  // Nothing of it runs until then, as after SIGSTOP.
  void FreezeUntil(TimePoint until) { frozen_until_ = std::max(frozen_until_, until); }
  bool frozen() const { return world_.Now() < frozen_until_; }
  // As after SIGKILL.
  void Kill() { dead_ = true; }
  bool dead() const { return dead_; }
  void CutOff(bool cut) { cut_off_ = cut; }
  // A process that could send something now: it runs, and its fence lets it.
  bool MayWrite() const { return !dead_ && !frozen() && fence != nullptr && fence->IsOpen(); }

  LeaderElector& elector() { return elector_; }
  const std::vector<std::string>& notes() const { return notes_; }
  const std::vector<std::pair<TimePoint, std::string>>& timed_notes() const { return timed_; }
  std::vector<std::string>& requests() { return transport_.requests; }
  const std::vector<std::string>& watches() const { return transport_.watches; }
  const std::string& name() const { return setting_.name; }

  Faults faults;
  std::shared_ptr<WriteFence> fence;
  // Asked for the fault of the next request, by method; answers "lost request", "lost answer",
  // "refused", a status, or nothing.
  std::function<std::string(const HttpRequest&)> script;

 private:
  class Timers final : public TimerService {
   public:
    explicit Timers(Candidate& owner) : owner_(owner) {}
    const Clock& clock() const override { return owner_.clock_; }
    TimerId Schedule(Duration delay, std::function<void()> task) override {
      const TimerId id = ++last_;
      pending_.emplace(id, std::move(task));
      const Duration wait = owner_.clock_.True(std::max(delay, Duration::zero()));
      owner_.world_.At(owner_.world_.Now() + (delay <= Duration::zero() ? Duration::zero() : wait),
                       [alive = owner_.alive_, this, id] {
                         if (!*alive) return;
                         owner_.Do([this, id] { Fire(id); });
                       });
      return id;
    }
    bool Cancel(TimerId id) override { return pending_.erase(id) != 0; }

   private:
    void Fire(TimerId id) {
      const auto it = pending_.find(id);
      if (it == pending_.end()) return;
      const std::function<void()> task = std::move(it->second);
      pending_.erase(it);
      task();
    }
    Candidate& owner_;
    TimerId last_ = 0;
    std::map<TimerId, std::function<void()>> pending_;
  };

  class Network final : public Transport {
   public:
    Network(Candidate& owner, LeaseServer& server) : owner_(owner), server_(server) {}

    struct Call final : Exchange {
      Network* network = nullptr;
      HttpReplyHandler done;
      TimerId timeout = 0;
      void Cancel() override {
        network->Fail(*this, TransportError::Kind::kCanceled, "request canceled");
      }
      void Resume() override {}
    };

    std::shared_ptr<Exchange> Send(HttpRequest request, HttpReplyHandler done) override {
      requests.push_back(request.method + " " + request.target);
      auto call = std::make_shared<Call>();
      call->network = this;
      call->done = std::move(done);
      calls_.push_back(call);
      if (request.timeout > Duration::zero()) {
        call->timeout = owner_.timers_.Schedule(request.timeout, [this, call] {
          Fail(*call, TransportError::Kind::kTimedOut, "context deadline exceeded");
        });
      }
      Travel(call, std::move(request));
      return call;
    }
    std::shared_ptr<Exchange> OpenStream(HttpRequest request,
                                         std::shared_ptr<StreamSink> sink) override {
      watches.push_back(request.target);
      auto stream = std::make_shared<LeaseStream>(
          server_,
          LeaseStream::Way{.bring = [this](auto action) { return Bring(std::move(action)); },
                           .after =
                               [this](Duration delay, std::function<void()> action) {
                                 if (owner_.ending_) return action();
                                 owner_.timers_.Schedule(delay, std::move(action));
                               }},
          std::move(sink));
      World& world = owner_.world_;
      world.At(world.Now() + Latency(), [this, alive = owner_.alive_, stream, request] {
        if (*alive) stream->Open(request.target, owner_.setting_.may_watch);
      });
      return stream;
    }
    std::vector<std::string> requests;
    std::vector<std::string> watches;

   private:
    // What is behind another piece of a stream does not overtake it. False: it is lost.
    bool Bring(std::function<void()> action) {
      if (owner_.cut_off_ || owner_.Chance(owner_.faults.lost_answer)) return false;
      World& world = owner_.world_;
      brought_ = std::max(brought_, world.Now() + Latency());
      world.At(brought_, [this, alive = owner_.alive_, action = std::move(action)] {
        if (*alive) owner_.Do(action);
      });
      return true;
    }
    void Fail(Call& call, TransportError::Kind kind, const char* text) {
      HttpReply reply;
      reply.error = TransportError{kind, text};
      if (owner_.ending_) return Finish(call, reply);
      owner_.timers_.Schedule(Duration::zero(), [this, &call, reply] { Finish(call, reply); });
    }
    void Finish(Call& call, HttpReply reply) {
      if (call.done == nullptr) return;
      owner_.timers_.Cancel(call.timeout);
      reply.response.body.reserve(reply.response.body.size() + api::kJsonPadding);
      const HttpReplyHandler done = std::exchange(call.done, nullptr);
      done(std::move(reply));
    }
    Duration Latency() {
      Duration time = owner_.faults.latency;
      if (owner_.Chance(owner_.faults.slow)) {
        time += Duration(static_cast<int64_t>(owner_.random_.Unit() *
                                              static_cast<double>(owner_.faults.slowest.count())));
      }
      return time;
    }
    void Travel(const std::shared_ptr<Call>& call, HttpRequest request) {
      const std::string scripted = owner_.script ? owner_.script(request) : "";
      if (scripted == "refused") {
        return Fail(*call, TransportError::Kind::kRefused, "connection refused");
      }
      if (owner_.cut_off_ || scripted == "lost request" ||
          owner_.Chance(owner_.faults.lost_request)) {
        return;
      }
      // What has left arrives, whatever becomes of the sender.
      World& world = owner_.world_;
      world.At(world.Now() + Latency(), [this, alive = owner_.alive_, call, scripted, &world,
                                         server = &server_, request = std::move(request)] {
        HttpReply reply;
        if (scripted == "500" || (*alive && owner_.Chance(owner_.faults.error))) {
          reply.response.status = 500;
          reply.response.body = "internal";
        } else {
          reply.response = server->Handle(request, world.Now());
        }
        if (!*alive || owner_.cut_off_ || scripted == "lost answer" ||
            owner_.Chance(owner_.faults.lost_answer)) {
          return;
        }
        world.At(world.Now() + Latency(), [this, alive, call, reply] {
          if (!*alive) return;
          owner_.Do([this, call, reply] { Finish(*call, reply); });
        });
      });
    }

    Candidate& owner_;
    LeaseServer& server_;
    std::vector<std::shared_ptr<Call>> calls_;
    TimePoint brought_{};  // when the last piece of a stream comes
  };

  void Do(std::function<void()> action) {
    if (dead_) return;
    if (frozen()) {
      world_.At(frozen_until_, [alive = alive_, this, action = std::move(action)] {
        if (*alive) Do(action);
      });
      return;
    }
    action();
  }
  bool Chance(double p) { return p > 0 && random_.Unit() < p; }
  void Record(const std::string& what) {
    notes_.push_back(what);
    timed_.emplace_back(world_.Now(), what);
  }

  // Tells events under way whether this object is still there.
  struct Life {
    std::shared_ptr<bool> alive = std::make_shared<bool>(true);
    ~Life() { *alive = false; }
  };

  World& world_;
  const Setting setting_;
  Life life_;
  const std::shared_ptr<bool> alive_ = life_.alive;
  bool dead_ = false;
  bool ending_ = false;
  bool cut_off_ = false;
  TimePoint frozen_until_{};
  LocalClock clock_;
  Timers timers_;
  std::unique_ptr<Credentials> credentials_ = NewAnonymousCredentials();
  Network transport_;
  Random random_;
  std::vector<std::string> notes_;
  std::vector<std::pair<TimePoint, std::string>> timed_;
  RestClient client_;
  LeaderElector elector_;
};

}  // namespace ks::client
