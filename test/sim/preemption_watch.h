// SPDX-License-Identifier: Apache-2.0
#pragma once
// Looks over the shoulder of preemption: each decision is held against a reference search of the
// same moment, each eviction must belong to a decision, and who preempted must go on.

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "framework/api_writer.h"
#include "sim/preemption_reference.h"

namespace ks::sim {

// What a process knows and the watch needs. `pod`: as the streams told it; null: gone.
struct PreemptionHost {
  std::function<void(const std::string& what)> fail;
  std::function<void(const std::string& what)> trace;
  std::function<api::PodPtr(const std::string& key)> pod;
  std::function<std::vector<Budget>()> budgets;
  std::function<TimePoint()> now;
  std::function<bool(const api::Pod& pod)> is_queued;  // in that state of it
  // Between Reserve and Bind: such a victim is given up without the API server.
  std::function<bool(const std::string& uid)> is_held;
};

// Threads: one.
class PreemptionWatch {
 public:
  explicit PreemptionWatch(PreemptionHost host) : host_(std::move(host)) {}

  // A pod fits nowhere; the plugin is asked next. Again when extenders have answered it.
  void Asked(framework::Handle& handle, const framework::CycleState& state, const api::Pod& pod,
             const framework::NodeStatuses& statuses);
  // The attempt's message.
  void Answered(const api::Pod& pod, const std::string& message);
  // Whether a victim of its last preemption is still there, or, if that failed, one that the server
  // deleted is heard of later.
  bool Awaits(const api::Pod& pod, const framework::Snapshot& snapshot) const;
  // The pod is tried, whatever comes of it.
  void Tried(const api::Pod& pod);
  // The number of the decision it belongs to, for EvictionEnds; `decided`: its time.
  uint64_t EvictionStarts(const api::Pod& victim, TimePoint decided);
  void EvictionEnds(uint64_t decision, const std::string& uid, framework::EvictionOutcome outcome);

  // After a step. `attempts`: how often a stored pod has been tried; absent: not stored.
  void AfterStep(const std::function<std::optional<int64_t>(const std::string& key,
                                                            const std::string& uid)>& attempts);

  uint64_t decisions() const { return decided_; }
  uint64_t evictions() const { return evicted_; }

 private:
  struct Victim {
    std::string key;
    std::string uid;
    bool to_evict = false;  // was not terminating yet
    bool held = false;
    bool started = false;
    bool ended = false;
    bool deleted = false;  // as the server says
  };
  struct Decision {
    uint64_t number = 0;
    std::string preemptor;
    std::string key;
    std::string uid;
    std::string node;
    TimePoint decided;
    std::vector<Victim> victims;
    std::optional<int64_t> attempts;  // of the preemptor, when it came back to the queue
    bool bound = false;               // the preemptor was: for its resize
    bool failed = false;              // some eviction
    std::optional<TimePoint> settled;
  };
  struct Question {
    std::string uid;
    PreemptionAnswer answer;
    TimePoint now;
    bool asked_often = false;
    bool awaits_news = false;  // of its last victim's end
    bool keeps_node = false;   // where that victim is: it is nominated to it
  };

  void DecideInSilence(const api::Pod& pod, const PreemptionAnswer& answer, TimePoint now);
  void Decide(const api::Pod& pod, const PreemptionCandidate& chosen, TimePoint now);
  bool IsSettled(const Decision& decision) const;
  bool IsGone(const Victim& victim) const;
  bool IsUnderWay(const Decision& decision) const;
  bool AwaitsNews(const Decision& decision, const framework::NodeInfo& node) const;
  bool IsUnheard(const Victim& victim) const;
  // And seems to be on the node still.
  bool IsUnheard(const Victim& victim, const framework::NodeInfo& node) const;

  const PreemptionHost host_;
  std::optional<Question> question_;
  std::map<std::string, int> questions_;  // by uid, since the last answer
  std::vector<Decision> open_;
  // Evictions that decisions of that time asked for and that have not begun.
  std::multiset<std::pair<TimePoint, std::string>> to_come_;
  // Without the gate SchedulerAsyncPreemption evictions begin before their attempt has said why.
  bool at_once_ = false;
  std::set<std::pair<TimePoint, std::string>> early_;
  uint64_t decided_ = 0;
  uint64_t evicted_ = 0;
};

}  // namespace ks::sim
