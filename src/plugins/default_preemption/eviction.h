// SPDX-License-Identifier: Apache-2.0
#pragma once
// Carries out a preemption: victims go, lower nominations are cleared, the preemptor waits. Runs as
// steps on the scheduling thread, between attempts; no step waits.
//
// Upstream: docs/spec/preemption.md section 10. Why the mode without SchedulerAsyncPreemption does
// not hold up the attempt: docs/decisions/0031-eviction-never-blocks.md.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/string_map.h"
#include "framework/handle.h"

namespace ks::plugins {

// Whom room is made for: a pod or a group.
struct Preemptor {
  std::string_view kind = "pod";  // or podgroup, compositepodgroup
  std::string uid;
  std::string key;  // for the log: "namespace/name"
  int32_t priority = 0;
  bool runs = false;              // and waits for room for its resize
  std::vector<api::PodPtr> pods;  // itself or the members that are to be scheduled; at least one
  api::EventRelated related{};    // what events about victims name besides
  // It is gone, or waits for nothing any more. Valid as long as the handle's parts.
  std::function<bool()> gone;
};
Preemptor PodPreemptor(const api::PodPtr& pod, const framework::PodLister& pods);

// What was decided.
struct Preemption {
  Preemptor preemptor;
  std::string node;
  std::vector<api::PodPtr> victims;  // most important first
};

// Preemptors whose victims are being evicted. What wakes one of them meanwhile is lost: it is
// turned away, and its rejections may be out of date by then. So it has to be tried once more when
// its victims have left, whatever the hints of other plugins say. Threads: the scheduling thread.
class OngoingPreemptions {
 public:
  // Everything is by the preemptor's uid. The number is that of the preemption: the latest one of a
  // preemptor counts. Forgets those that are gone, or wait for nothing any more.
  uint64_t Begin(const Preemption& preemption);
  // The last victim, "namespace/name", is being evicted from now on.
  void SetLastVictim(const std::string& uid, uint64_t number, std::string key);
  // What is asked once the evictions are over.
  struct Aftermath {
    std::function<bool()> left{};     // all victims have left the node
    std::function<bool()> unheard{};  // a victim was evicted, and seems to run still
  };
  // The evictions are over. True: the preemptor was turned away, not let through since, and nobody
  // is left to wait for.
  bool End(const std::string& uid, uint64_t number, Aftermath aftermath);

  // Whether the preemptor would come too early. Then it is turned away.
  bool Blocks(std::string_view uid, framework::Handle& handle);
  bool empty() const { return preemptors_.empty(); }
  enum class Stage : uint8_t {
    kFree,        // there is no preemption, or it does not hold the preemptor
    kTurnedAway,  // nor this one, and the preemptor has to be tried once more
    kHeld,        // it would be turned away, and the removal of a victim is to come
    kBelated,     // it would be turned away, and all victims have left: End has to know of it
  };
  // A pod left the node `freed`.
  Stage StageOf(std::string_view uid, std::string_view freed,
                const framework::Handle& handle) const;
  // Whether the preemptor was turned away and may come now: the last of its victims has left.
  bool MayComeBack(std::string_view uid) const;
  // The node where a victim of the preemptor leaves, which the server said and the watch did not
  // yet; null: there is none.
  const std::string* NodeOfUnheardVictim(std::string_view uid) const;

 private:
  struct Entry {
    uint64_t number = 0;
    std::string node;
    std::vector<api::PodPtr> victims;  // that were not leaving before
    std::function<bool()> gone;
    std::optional<std::string> last_victim{};
    bool turned_away = false;
    std::optional<Aftermath> aftermath{};  // empty: the evictions are not over
  };
  static bool Holds(const Entry& preemptor, const framework::PodLister& pods);

  StringMap<Entry> preemptors_;
  uint64_t begun_ = 0;
};

// Both return at once; what follows depends neither on the attempt nor on the handle's framework.
// Victims that are terminating already are left alone. `ongoing` has the preemptor until all is
// done.
//
// With the gate SchedulerAsyncPreemption.
void EvictInBackground(framework::Handle& handle, Preemption preemption,
                       const std::shared_ptr<OngoingPreemptions>& ongoing);
// Without it: the victims' calls begin within this call. Upstream's attempt lasts until they are
// answered, so that its preemptor cannot be tried meanwhile, either.
void EvictAtOnce(framework::Handle& handle, Preemption preemption,
                 const std::shared_ptr<OngoingPreemptions>& ongoing);

}  // namespace ks::plugins
