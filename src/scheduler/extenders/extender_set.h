// SPDX-License-Identifier: Apache-2.0
#pragma once
// The extenders of a configuration: who is asked about which pod, in which order, and what the
// answers of one round come to. Nothing here touches the scheduler's state: questions are put over
// immutable objects, answers come back on other threads.
//
// Upstream: docs/spec/cycle.md sections 10.1, 10.2, 12.2, 15 (step 7) and 19.

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "api/decode/decoder.h"
#include "base/blocking_pool.h"
#include "base/mutex.h"
#include "base/symbol.h"
#include "config/types.h"
#include "framework/extender_transport.h"
#include "framework/status.h"
#include "scheduler/extenders/extender_filtering.h"
#include "scheduler/extenders/extender_wire.h"

namespace ks::scheduler {

// What the extenders say about the nodes that are feasible for a pod.
struct ExtenderVerdict {
  std::string error;      // not empty: the attempt fails with it; the rest is meaningless
  bool given_up = false;  // there is an error because answers were waited for, and will not come

  struct Kept {
    std::string name;
    // The node object as the last extender that answers with whole objects returned it; null: no
    // such extender. Scoring then sees this object and nothing else of the node (trap T6).
    api::NodePtr replaced;
  };
  std::vector<Kept> kept;                             // in the order of the last answer
  std::map<std::string, framework::Status> statuses;  // of nodes that fail, as far as given

  std::vector<ExtenderFiltering> filterings;  // of those that answered, in their order

  // Extender scores, weight included, of every node that some answer names; names need not be kept.
  std::map<std::string, int64_t> scores;
};

// One extender as configured.
struct ExtenderEntry {
  config::Extender config;
  size_t position = 0;          // in the configuration
  std::vector<Symbol> managed;  // empty: every pod
  std::string Url(const std::string& verb) const;
  bool IsInterestedIn(const api::Pod& pod) const;
};

// Threads: the scheduling thread; answers are delivered on others. Lifetime: destruction ends what
// is asked and waits for it; on no thread that delivers answers.
class ExtenderSet {
 public:
  // Requires: the transport was made for `extenders`, which are not empty.
  ExtenderSet(const std::vector<config::Extender>& extenders,
              std::shared_ptr<framework::ExtenderTransport> transport);
  ~ExtenderSet();
  ExtenderSet(const ExtenderSet&) = delete;
  ExtenderSet& operator=(const ExtenderSet&) = delete;

  bool IsInterestedIn(const api::Pod& pod) const;
  // Some extender manages no particular resources.
  bool WantsEveryPod() const { return wants_every_pod_; }
  // Some extender has a filter or a prioritize verb.
  bool Chooses() const { return choose_; }
  // Whose whole objects must be at hand.
  api::KeepRaw PodsNeeded() const { return pods_needed_; }
  api::KeepRaw NodesNeeded() const { return nodes_needed_; }
  // Non-ignorable ones first.
  const std::vector<ExtenderEntry>& entries() const { return entries_; }

  // Asks the interested extenders to filter, one after another, and then, if `scores` and two nodes
  // or more are left, all of them to prioritize. `done` comes once, on another thread or from
  // inside the call.
  using VerdictDone = std::function<void(ExtenderVerdict)>;
  void Choose(const api::PodPtr& pod, std::vector<api::NodePtr> nodes, bool scores,
              VerdictDone done);

  // The same, waiting for each answer, unless `stop` is requested: then the verdict is given up.
  // Threads: no other call meanwhile, except by answers.
  ExtenderVerdict ChooseAndWait(const api::PodPtr& pod, std::vector<api::NodePtr> nodes,
                                bool scores, const std::stop_token& stop);

  // Some interested extender binds.
  bool Binds(const api::Pod& pod) const;
  // Asks it. `done` as above: Success or Error; Skip when it cannot be reached and is ignorable.
  void Bind(const api::PodPtr& pod, const std::string& node,
            std::function<void(framework::Status)> done);

  // Asks this one. `answered` comes as a task to `deliver`.
  void Preempt(const ExtenderEntry& extender, const api::Pod& pod,
               const framework::VictimsByNode& victims,
               framework::PreemptionExtender::Answered answered);
  // Where answers about preemption go: a task for the scheduling thread. Threads: it is called on
  // any. Told before the first such question.
  using Deliver = std::function<void(std::function<void()> task)>;
  void set_deliver(Deliver deliver) { deliver_ = std::move(deliver); }

  // As preemption sees them, in order. Live as long as this.
  const std::vector<framework::PreemptionExtender*>& preemption_extenders() const {
    return preempting_;
  }

  // Questions without an answer yet.
  size_t outstanding() const { return outstanding_.load(std::memory_order_acquire); }

 private:
  friend class ExtenderRound;

  // On a thread of its own. False: the set is being destroyed.
  bool RunAside(std::function<void()> task) KS_EXCLUDES(mutex_);
  // Threads: any. False: the set is being destroyed, and `done` will not come.
  bool Call(framework::ExtenderRequest request, framework::ExtenderTransport::Done done)
      KS_EXCLUDES(mutex_);
  // As the transport's. Threads: the scheduling thread.
  std::optional<std::vector<framework::ExtenderReply>> CallAndWait(
      std::vector<framework::ExtenderRequest> requests, const std::stop_token& stop)
      KS_EXCLUDES(mutex_);

  // Constant.
  std::vector<ExtenderEntry> entries_;
  std::vector<std::unique_ptr<framework::PreemptionExtender>> preempting_owned_;
  std::vector<framework::PreemptionExtender*> preempting_;
  bool wants_every_pod_ = false;
  bool choose_ = false;
  api::KeepRaw pods_needed_ = api::KeepRaw::kNone;
  api::KeepRaw nodes_needed_ = api::KeepRaw::kNone;

  Deliver deliver_;

  std::atomic<size_t> outstanding_{0};
  Mutex mutex_;
  // Null from the beginning of destruction: an answer that destruction brings asks nothing more.
  std::shared_ptr<framework::ExtenderTransport> transport_ KS_GUARDED_BY(mutex_);
  std::unique_ptr<BlockingPool> aside_ KS_GUARDED_BY(mutex_);
};

}  // namespace ks::scheduler
