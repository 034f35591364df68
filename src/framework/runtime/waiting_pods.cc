// SPDX-License-Identifier: Apache-2.0
#include "framework/runtime/waiting_pods.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace ks::framework {

class WaitingPods::Entry final : public WaitingPod,
                                 public std::enable_shared_from_this<WaitingPods::Entry> {
 public:
  struct Timer {
    Duration wait{};
    TimePoint deadline;
  };

  Entry(WaitingPods& owner, api::PodPtr pod) : owner_(owner), pod_(std::move(pod)) {}

  void AddTimer(const std::string& plugin, Duration wait, TimePoint now) {
    wait = std::max(wait, Duration::zero());
    timers_[plugin] = {wait, now + wait};
  }
  void set_verdict(Verdict verdict) { verdict_ = std::move(verdict); }
  bool decided() const { return outcome_.has_value(); }
  bool heard() const { return verdict_ != nullptr; }

  // Requires: !decided(). Timers of one entry never run out: the last Allow decides.
  std::pair<std::string, Timer> NextTimer() const {
    return *std::min_element(timers_.begin(), timers_.end(), [](const auto& a, const auto& b) {
      return a.second.deadline < b.second.deadline;
    });
  }

  // Requires: decided(), heard().
  void Tell() {
    const Verdict verdict = std::exchange(verdict_, nullptr);
    verdict(*outcome_);
  }

  bool Decide(Status outcome) {
    if (decided()) return false;
    outcome_ = std::move(outcome);
    timers_.clear();
    owner_.Settle(shared_from_this());
    return true;
  }

  const api::PodPtr& pod() const override { return pod_; }
  std::vector<std::string> PendingPlugins() const override {
    std::vector<std::string> names;
    for (const auto& [name, timer] : timers_) names.push_back(name);
    return names;
  }
  void Allow(std::string_view plugin) override {
    const auto timer = timers_.find(plugin);
    if (timer == timers_.end()) return;
    timers_.erase(timer);
    if (timers_.empty()) Decide(Status());
  }
  bool Reject(std::string_view plugin, std::string_view message) override {
    return Decide(Status(Code::kUnschedulable, {std::string(message)}, std::string(plugin)));
  }
  bool Preempt(std::string_view plugin, std::string_view message) override {
    return Decide(Status::Error(std::string(message)).WithPlugin(plugin));
  }

 private:
  WaitingPods& owner_;
  const api::PodPtr pod_;
  Verdict verdict_;                                   // null: nobody listens
  std::map<std::string, Timer, std::less<>> timers_;  // by plugin; empty once decided
  std::optional<Status> outcome_;
};

WaitingPods::WaitingPods(const Clock& clock) : clock_(clock) {}
WaitingPods::~WaitingPods() = default;

void WaitingPods::Add(api::PodPtr pod, const std::map<std::string, Duration>& timeouts) {
  KS_CHECK(!timeouts.empty(), "a waiting pod needs a plugin that waits");
  decided_.clear();
  std::string uid = pod->meta.uid;
  auto entry = std::make_shared<Entry>(*this, std::move(pod));
  for (const auto& [plugin, wait] : timeouts) entry->AddTimer(plugin, wait, clock_.Now());
  entries_[std::move(uid)] = std::move(entry);
}

void WaitingPods::RemoveUnheard(std::string_view uid) {
  const auto found = entries_.find(uid);
  if (found != entries_.end() && !found->second->heard()) Remove(uid);
}

bool WaitingPods::Listen(std::string_view uid, Verdict verdict) {
  KS_CHECK(verdict != nullptr, "who listens needs a receiver");
  const auto found = entries_.find(uid);
  if (found == entries_.end()) return false;
  found->second->set_verdict(std::move(verdict));
  return true;
}

// An entry to which nobody listens stays with its outcome.
void WaitingPods::Settle(const std::shared_ptr<Entry>& entry) {
  if (!entry->heard()) return;
  const auto found = entries_.find(entry->pod()->meta.uid);
  // A replaced entry that somebody still points to decides nothing any more.
  if (found == entries_.end() || found->second != entry) return;
  decided_.push_back(entry);
  entries_.erase(found);
  entry->Tell();
}

void WaitingPods::Expire() {
  decided_.clear();
  const TimePoint now = clock_.Now();
  std::vector<std::pair<TimePoint, std::shared_ptr<Entry>>> due;
  for (const auto& [uid, entry] : entries_) {
    if (entry->decided()) {
      if (entry->heard()) due.emplace_back(now, entry);
    } else if (const TimePoint deadline = entry->NextTimer().second.deadline; deadline <= now) {
      due.emplace_back(deadline, entry);
    }
  }
  std::stable_sort(due.begin(), due.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [deadline, entry] : due) {
    if (entry->decided()) {
      Settle(entry);
      continue;
    }
    const auto [plugin, timer] = entry->NextTimer();
    if (timer.deadline > now) continue;  // an earlier verdict allowed the shortest one
    entry->Reject(plugin, "rejected due to timeout after waiting " + FormatDuration(timer.wait) +
                              " at plugin " + plugin);
  }
}

std::optional<TimePoint> WaitingPods::NextDeadline() const {
  std::optional<TimePoint> next;
  for (const auto& [uid, entry] : entries_) {
    if (entry->decided() && !entry->heard()) continue;
    const TimePoint deadline = entry->decided() ? clock_.Now() : entry->NextTimer().second.deadline;
    next = next ? std::min(*next, deadline) : deadline;
  }
  return next;
}

void WaitingPods::Remove(std::string_view uid) {
  const auto found = entries_.find(uid);
  if (found == entries_.end()) return;
  decided_.push_back(found->second);
  entries_.erase(found);
}

size_t WaitingPods::size() const { return entries_.size(); }

void WaitingPods::ForEachWaitingPod(const std::function<void(WaitingPod&)>& visit) {
  std::vector<std::shared_ptr<Entry>> entries;
  entries.reserve(entries_.size());
  for (const auto& [uid, entry] : entries_) entries.push_back(entry);
  for (const auto& entry : entries) {
    const auto found = entries_.find(entry->pod()->meta.uid);
    if (found != entries_.end() && found->second == entry) visit(*entry);
  }
}

WaitingPod* WaitingPods::GetWaitingPod(std::string_view uid) {
  const auto found = entries_.find(uid);
  return found == entries_.end() ? nullptr : found->second.get();
}

bool WaitingPods::RejectWaitingPod(std::string_view uid) {
  const auto found = entries_.find(uid);
  if (found == entries_.end()) return false;
  const std::shared_ptr<Entry> entry = found->second;
  return entry->Reject("", "removed");
}

}  // namespace ks::framework
