// SPDX-License-Identifier: Apache-2.0
#pragma once
// The extenders of a plan: what they say of a pod and a node never changes, but their answers may
// come late, broken or not at all. Whoever waits for them has them at once. What they last said is
// kept, and held against what the scheduler makes of it.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/pod.h"
#include "base/random.h"
#include "config/types.h"
#include "framework/extender_transport.h"
#include "sim/event_loop.h"
#include "sim/plan.h"

namespace ks::sim {

// A pod is managed by some extenders if it asks for this resource.
inline constexpr const char* kLicense = "example.com/license";

// As the configuration has them.
std::vector<config::Extender> MakeExtenders(const Plan& plan);
bool IsManaged(const api::Pod& pod);
// Whether some extender of the plan is asked about the pod.
bool HasExtender(const Plan& plan, const api::Pod& pod);
// Whether the extender of that number lets the pod onto the node.
bool Allows(const Plan& plan, size_t extender, std::string_view pod, std::string_view node);
// What the extender answers to filter, prioritize and preempt when nothing goes wrong.
std::string TrueAnswer(const Plan& plan, const framework::ExtenderRequest& request);

// What a process was told by its extenders. Threads: one.
class ExtenderWatch {
 public:
  ExtenderWatch(const Plan& plan, std::function<void(const std::string& what)> fail)
      : plan_(plan), fail_(std::move(fail)) {}

  // A filter call was answered. `kept`: absent: the answer means nothing.
  void RecordFilterAnswer(size_t extender, const std::string& pod,
                          std::optional<std::set<std::string>> kept) {
    told_[{pod, extender}] = {.kept = kept.value_or(std::set<std::string>()), .failed = !kept};
  }
  // The same of a member of a group, which is asked about more than once in an attempt.
  void AddFilterAnswer(size_t extender, const std::string& pod,
                       std::optional<std::set<std::string>> kept) {
    Told& told = told_[{pod, extender}];
    told.failed |= !kept;
    if (kept) told.kept.merge(*kept);
  }
  // The pod is to go to that node: every extender that is asked about it said so, or may be ignored
  // and failed.
  void Reserved(const api::Pod& pod, const std::string& node);
  // The attempt failed with that message.
  void Failed(const api::Pod& pod, const std::string& message);

 private:
  struct Told {
    std::set<std::string> kept{};
    bool failed = false;
  };
  void Forget(const std::string& pod);

  const Plan& plan_;
  const std::function<void(const std::string&)> fail_;
  // By pod and extender: since the pod's attempt began.
  std::map<std::pair<std::string, size_t>, Told> told_;
};

// The way of one process to its extenders.
struct SimExtenderHost {
  EventLoop* loop = nullptr;
  const Plan* plan = nullptr;
  uint64_t seed = 0;
  ExtenderWatch* watch = nullptr;
  std::function<void(const std::string& what)> trace;
  std::function<bool()> faults_over;
  std::function<void(Action)> run;  // as the process
  // A binding is asked for.
  std::function<void(const std::string& pod, const std::string& uid, const std::string& node)>
      bind_asked;
  // Whether it may write now (client::WriteFence), as client::NewExtenderClient asks.
  std::function<bool()> may_bind;
  // Carries out a binding at the API server. Empty: it is done; else why not.
  std::function<std::string(const std::string& ns, const std::string& name, const std::string& uid,
                            const std::string& node)>
      bind;
};

// Threads: one. Lifetime: events under way hold weak references.
class SimExtenders final : public framework::ExtenderTransport,
                           public std::enable_shared_from_this<SimExtenders> {
 public:
  explicit SimExtenders(SimExtenderHost host) : host_(std::move(host)), random_(host_.seed) {}
  ~SimExtenders() override;

  void Call(framework::ExtenderRequest request, Done done) override;
  std::optional<std::vector<framework::ExtenderReply>> CallAndWait(
      std::vector<framework::ExtenderRequest> requests, const std::stop_token& stop) override;
  size_t outstanding() const { return calls_.size(); }

 private:
  enum class Fault : uint8_t {
    kNone,
    kLostBefore,
    kLostAfter,
    kRefused,
    kServerError,
    kWrong,
    kFenced  // not sent
  };
  struct Pending {
    framework::ExtenderRequest request;
    Done done;
    Fault fault = Fault::kNone;
  };

  bool Chance(double p) { return p > 0 && !host_.faults_over() && random_.Unit() < p; }
  Fault DrawFault();
  void TraceFault(const framework::ExtenderRequest& request, Fault fault,
                  const framework::ExtenderReply& reply) const;
  framework::ExtenderReply Reply(const framework::ExtenderRequest& request, Fault fault);
  std::string Answer(const framework::ExtenderRequest& request);
  std::string WrongAnswer(const framework::ExtenderRequest& request);
  void Arrive(uint64_t id);
  void Deliver(uint64_t id, framework::ExtenderReply reply);

  const SimExtenderHost host_;
  Random random_;
  std::map<uint64_t, Pending> calls_;
  uint64_t last_ = 0;
};

// Extenders of a scheduler that is only asked what is possible: right answers, when told to.
class TrueExtenders final : public framework::ExtenderTransport {
 public:
  using Bound = std::function<void(const std::string& pod, const std::string& node)>;
  TrueExtenders(const Plan& plan, Bound bound) : plan_(plan), bound_(std::move(bound)) {}

  void Call(framework::ExtenderRequest request, Done done) override {
    calls_.emplace_back(std::move(request), std::move(done));
  }
  std::optional<std::vector<framework::ExtenderReply>> CallAndWait(
      std::vector<framework::ExtenderRequest> requests, const std::stop_token& stop) override;
  // False: nothing was asked.
  bool AnswerAll();

 private:
  const Plan& plan_;
  const Bound bound_;
  std::vector<std::pair<framework::ExtenderRequest, Done>> calls_;
};

}  // namespace ks::sim
