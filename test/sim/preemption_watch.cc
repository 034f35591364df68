// SPDX-License-Identifier: Apache-2.0
#include "sim/preemption_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "framework/find_pod.h"

namespace ks::sim {
namespace {

// From the end of the evictions until the preemptor has to be tried again: the longest backoff, and
// a process that stands still for as long as the plan lets it, twice.
constexpr Duration kLongest = std::chrono::seconds(120);

// Where the candidates change all the time, extenders have been asked about some of them only.
constexpr int kOften = 4;

constexpr std::string_view kFound = "preemption: found a potential placement for pod on node ";

constexpr std::string_view kAwaited =
    "preemption: not eligible due to a terminating pod on the nominated node.";

// "<node>, preempting <k> victims" behind kFound.
struct Found {
  std::string node;
  size_t victims = 0;
};
std::optional<Found> Parse(const std::string& message) {
  const size_t at = message.find(kFound);
  if (at == std::string::npos) return std::nullopt;
  const std::string rest = message.substr(at + kFound.size());
  const size_t comma = rest.find(", preempting ");
  if (comma == std::string::npos) return std::nullopt;
  return Found{rest.substr(0, comma), std::strtoull(rest.c_str() + comma + 13, nullptr, 10)};
}

}  // namespace

void PreemptionWatch::Asked(framework::Handle& handle, const framework::CycleState& state,
                            const api::Pod& pod, const framework::NodeStatuses& statuses) {
  Tried(pod);
  at_once_ = !handle.gates().Enabled(config::Gate::kSchedulerAsyncPreemption);
  const api::PodPtr current = host_.pod(pod.meta.Key());
  if (current == nullptr || current->meta.uid != pod.meta.uid) return;
  PreemptionAnswer answer = SearchPreemption(handle, state, *current, statuses, host_.budgets());
  const TimePoint now = handle.clock().WallNow();
  if (!current->node_name.empty()) {
    const bool waits = std::any_of(open_.begin(), open_.end(), [&](const Decision& decision) {
      const framework::NodeInfo* const node = handle.snapshot().Find(decision.node);
      return decision.uid == pod.meta.uid && node != nullptr && AwaitsNews(decision, *node);
    });
    if (waits) return;  // no answer will tell
    return DecideInSilence(*current, answer, now);
  }
  question_ = Question{pod.meta.uid, std::move(answer), now, ++questions_[pod.meta.uid] >= kOften};
  for (const Decision& decision : open_) {
    const framework::NodeInfo* const node = handle.snapshot().Find(decision.node);
    const bool usable = node != nullptr && statuses.Get(node->index()).code() !=
                                               framework::Code::kUnschedulableAndUnresolvable;
    if (!usable || decision.uid != pod.meta.uid || !AwaitsNews(decision, *node)) continue;
    question_->awaits_news = true;
    const auto nominated = handle.nominator().NominatedPodsForNode(decision.node);
    question_->keeps_node = framework::FindPodByUid(nominated, pod.meta.uid) != nullptr;
  }
}

// The pod waits for its resize: there is one candidate at most, and no event will name it.
void PreemptionWatch::DecideInSilence(const api::Pod& pod, const PreemptionAnswer& answer,
                                      TimePoint now) {
  if (!answer.not_eligible.empty() || answer.candidates.empty()) return;
  const PreemptionCandidate& only = answer.candidates.front();
  host_.trace(fmt::format("pod {} preempts {} on its node", pod.meta.name, only.victims.size()));
  if (answer.candidates.size() > 1 || only.node != pod.node_name) {
    host_.fail("pod " + pod.meta.name + " would preempt elsewhere than on its node");
  }
  Decide(pod, only, now);
}

void PreemptionWatch::Answered(const api::Pod& pod, const std::string& message) {
  const std::optional<Found> found = Parse(message);
  questions_.erase(pod.meta.uid);
  if (!question_.has_value() || question_->uid != pod.meta.uid) {
    if (found.has_value()) host_.fail("pod " + pod.meta.name + " preempts unasked");
    return;
  }
  const Question question = *std::exchange(question_, std::nullopt);
  const PreemptionAnswer& answer = question.answer;
  if (question.awaits_news && message.ends_with(kAwaited)) return;
  if (question.keeps_node && found.has_value()) {
    host_.fail("pod " + pod.meta.name + " preempts on " + found->node + ", while on another node " +
               "its last victim leaves");
    return;
  }
  if (!found.has_value()) {
    if (answer.candidates.empty()) return;
    // A preempt call that went wrong.
    if (message.find("extender") != std::string::npos || message.ends_with("EOF")) return;
    host_.fail(fmt::format("pod {} could preempt {} pods on {}, and does not: {}", pod.meta.name,
                           answer.candidates.front().victims.size(), answer.candidates.front().node,
                           message));
    return;
  }
  host_.trace(fmt::format("pod {} preempts {} on {}", pod.meta.name, found->victims, found->node));
  if (!answer.not_eligible.empty()) {
    host_.fail("pod " + pod.meta.name + " preempts, but is " + answer.not_eligible);
    return;
  }
  const auto chosen = std::find_if(answer.candidates.begin(), answer.candidates.end(),
                                   [&](const auto& c) { return c.node == found->node; });
  if (chosen == answer.candidates.end()) {
    host_.fail("pod " + pod.meta.name + " preempts on " + found->node + ", which does not help");
  } else if (chosen->victims.size() != found->victims) {
    for (const api::PodPtr& v : chosen->victims) host_.trace("expected " + v->meta.name);
    host_.fail(fmt::format("pod {} preempts {} pods on {}, {} are enough and right", pod.meta.name,
                           found->victims, found->node, chosen->victims.size()));
  } else if (const std::string why = WhyNotBest(answer, *chosen, question.now);
             !why.empty() && !question.asked_often) {
    host_.fail("pod " + pod.meta.name + " preempts on " + found->node + ", but " + why);
  } else {
    Decide(pod, *chosen, question.now);
  }
}

void PreemptionWatch::Decide(const api::Pod& pod, const PreemptionCandidate& chosen,
                             TimePoint now) {
  std::string names;
  for (const api::PodPtr& victim : chosen.victims) names += " " + victim->meta.name;
  host_.trace("victims:" + names);
  std::erase_if(open_, [&](const Decision& old) { return old.uid == pod.meta.uid; });
  Decision decision;
  decision.number = ++decided_;
  decision.preemptor = pod.meta.name;
  decision.key = pod.meta.Key();
  decision.uid = pod.meta.uid;
  decision.node = chosen.node;
  decision.bound = !pod.node_name.empty();
  decision.decided = now;
  for (const api::PodPtr& victim : chosen.victims) {
    if (victim->Priority() >= pod.Priority()) {
      host_.fail("pod " + pod.meta.name + " preempts " + victim->meta.name +
                 ", which is as important");
    }
    decision.victims.push_back({.key = victim->meta.Key(),
                                .uid = victim->meta.uid,
                                .to_evict = !victim->meta.deletion_timestamp.has_value(),
                                .held = host_.is_held(victim->meta.uid),
                                .started = early_.erase({now, victim->meta.uid}) > 0});
    const Victim& told = decision.victims.back();
    if (told.to_evict && !told.started) to_come_.emplace(now, told.uid);
  }
  open_.push_back(std::move(decision));
}

// Some victim that has to go is still there (docs/spec/preemption.md 10.5).
bool PreemptionWatch::IsUnderWay(const Decision& decision) const {
  const auto& victims = decision.victims;
  return !decision.failed && std::any_of(victims.begin(), victims.end(), [&](const Victim& v) {
    if (!v.to_evict || v.held || v.ended || IsGone(v)) return false;
    return !host_.pod(v.key)->meta.deletion_timestamp.has_value();
  });
}

// The eviction of its last victim, or at once of any, was answered, and the streams have not shown
// it yet.
bool PreemptionWatch::AwaitsNews(const Decision& decision, const framework::NodeInfo& node) const {
  for (auto victim = decision.victims.rbegin(); victim != decision.victims.rend(); ++victim) {
    if (!victim->to_evict) continue;
    if (IsUnheard(*victim, node)) return true;
    if (!at_once_) return false;
  }
  return false;
}

bool PreemptionWatch::IsUnheard(const Victim& victim, const framework::NodeInfo& node) const {
  return IsUnheard(victim) && framework::FindPodByUid(node.pods(), victim.uid) != nullptr;
}

bool PreemptionWatch::IsUnheard(const Victim& victim) const {
  if (!victim.deleted) return false;
  const api::PodPtr pod = host_.pod(victim.key);
  return pod != nullptr && pod->meta.uid == victim.uid && !pod->meta.deletion_timestamp;
}

bool PreemptionWatch::Awaits(const api::Pod& pod, const framework::Snapshot& snapshot) const {
  return std::any_of(open_.begin(), open_.end(), [&](const Decision& decision) {
    if (decision.uid != pod.meta.uid) return false;
    if (decision.failed) {
      const framework::NodeInfo* const node = snapshot.Find(decision.node);
      return node != nullptr && AwaitsNews(decision, *node);
    }
    return std::any_of(decision.victims.begin(), decision.victims.end(),
                       [this](const Victim& victim) { return !IsGone(victim); });
  });
}

void PreemptionWatch::Tried(const api::Pod& pod) {
  for (const Decision& decision : open_) {
    if (decision.uid != pod.meta.uid || !IsUnderWay(decision)) continue;
    host_.fail("pod " + pod.meta.name + " is tried while its preemption on " + decision.node +
               " is under way");
  }
}

uint64_t PreemptionWatch::EvictionStarts(const api::Pod& victim, TimePoint decided) {
  const std::string& uid = victim.meta.uid;
  host_.trace("evict " + victim.meta.name);
  ++evicted_;
  const auto awaited = to_come_.find({decided, uid});
  if (awaited == to_come_.end()) {
    if (at_once_ && early_.emplace(decided, uid).second) return decided_ + 1;
    host_.fail("pod " + victim.meta.name + " is evicted for nobody, or twice");
    return 0;
  }
  to_come_.erase(awaited);
  // An attempt that waited for extenders may end in the same step in which another one is made.
  if (to_come_.contains({decided, uid})) {
    std::erase_if(open_, [&](const Decision& decision) { return decision.decided == decided; });
  }
  for (Decision& decision : open_) {
    if (decision.decided != decided) continue;
    for (Victim& known : decision.victims) {
      if (known.uid != uid || known.started) continue;
      known.started = true;
      return decision.number;
    }
  }
  return 0;  // of a decision that was given up
}

void PreemptionWatch::EvictionEnds(uint64_t number, const std::string& uid,
                                   framework::EvictionOutcome outcome) {
  const bool failed = outcome == framework::EvictionOutcome::kFailed;
  for (Decision& decision : open_) {
    if (decision.number != number) continue;
    for (Victim& known : decision.victims) {
      if (known.uid != uid || !known.started || known.ended) continue;
      host_.trace(fmt::format("evicted {}{}", known.key, failed ? ": failed" : ""));
      known.ended = true;
      known.deleted = outcome == framework::EvictionOutcome::kEvicted;
      decision.failed |= failed;
      return;
    }
  }
}

bool PreemptionWatch::IsGone(const Victim& victim) const {
  const api::PodPtr pod = host_.pod(victim.key);
  if (pod == nullptr || pod->meta.uid != victim.uid) return true;
  return victim.held && !victim.started && !host_.is_held(victim.uid) && pod->node_name.empty();
}

// Nothing is under way any more, and the preemptor has reason to go on.
bool PreemptionWatch::IsSettled(const Decision& decision) const {
  const auto& victims = decision.victims;
  const bool waits = std::any_of(victims.begin(), victims.end(),
                                 [](const Victim& v) { return v.started && !v.ended; });
  if (waits) return false;
  return decision.failed ||
         std::all_of(victims.begin(), victims.end(), [&](const Victim& v) { return IsGone(v); });
}

void PreemptionWatch::AfterStep(
    const std::function<std::optional<int64_t>(const std::string& key, const std::string& uid)>&
        attempts) {
  question_.reset();
  if (!early_.empty()) host_.fail("an attempt evicts pods, and does not say so");
  std::erase_if(open_, [&](Decision& decision) {
    const std::optional<int64_t> now = attempts(decision.key, decision.uid);
    if (!decision.attempts.has_value()) decision.attempts = now;
    const api::PodPtr pod = host_.pod(decision.key);
    // It found another node meanwhile; what it may wait for now is its resize.
    if (!decision.bound && pod != nullptr && !pod->node_name.empty()) return true;
    if (!decision.settled.has_value()) {
      if (IsSettled(decision)) decision.settled = host_.now();
      return false;
    }
    const bool waits = pod != nullptr && pod->meta.uid == decision.uid && host_.is_queued(*pod) &&
                       !pod->meta.deletion_timestamp;
    if (!waits || now != decision.attempts) {
      // Tried again, or on its way, and if an eviction had failed maybe before the others' news.
      return std::none_of(decision.victims.begin(), decision.victims.end(),
                          [this](const Victim& victim) { return IsUnheard(victim); });
    }
    if (host_.now() - *decision.settled < kLongest) return false;
    host_.fail(fmt::format("pod {} {} 2 minutes ago, and has not been tried since",
                           decision.preemptor,
                           decision.failed ? "failed to preempt" : "was rid of its victims"));
    return true;
  });
}

}  // namespace ks::sim
