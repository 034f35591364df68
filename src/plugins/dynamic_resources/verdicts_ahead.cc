// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/verdicts_ahead.h"

#include <sys/resource.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/check.h"
#include "base/logging.h"
#include "cel/weight.h"

namespace ks::plugins {
namespace {

// Evaluated nodes of expressions, some 20 ms: what selectors of bounded cost may take in an
// attempt. They are asked there, about as few devices as possible.
constexpr size_t kLightWork = 1'000'000;
// Units of cost, some 0.3 ms: what is asked at once, without the thread.
constexpr uint64_t kBudget = 200'000;
constexpr size_t kLeastCleaning = 1024;

bool IsWhole(const std::vector<api::DeviceSelector>& selectors) {
  return std::all_of(selectors.begin(), selectors.end(),
                     [](const api::DeviceSelector& each) { return each.has_value(); });
}

template <class Visit>
void ForEachSpec(const api::DeviceRequest& request, Visit visit) {
  if (request.exactly) visit(*request.exactly);
  for (const api::ExactDeviceRequest& spec : request.first_available) visit(spec);
}

// Of the calling thread, as Linux has it: what can wait gives way to what decides pods.
void LowerPriority() {
  constexpr int kNice = 10;
  if (getpriority(PRIO_PROCESS, 0) < kNice) setpriority(PRIO_PROCESS, 0, kNice);
}

void Store(VerdictTable::Kept& kept, SelectorSet::Verdict verdict) {
  kept.store(static_cast<uint8_t>(verdict), std::memory_order_relaxed);
}

}  // namespace

VerdictsAhead::~VerdictsAhead() {
  if (running_ != nullptr) running_->cancelled = true;
}

void VerdictsAhead::Job::Run() {
  table->ForEachUnasked(*row, [this](VerdictTable::Kept& kept, const cel::Device& device) {
    const SelectorSet::Verdict verdict = set->Ask(device, {.cancelled = &cancelled});
    if (cancelled) return false;
    Store(kept, verdict);
    return true;
  });
}

// Of the claims that have no devices yet. What is wrong with them the attempt says.
std::vector<VerdictsAhead::SetPtr> VerdictsAhead::SetsOf(const ClaimList& claims) const {
  std::vector<SetPtr> sets;
  for (const api::ResourceClaimPtr& claim : claims) {
    if (claim->allocation != nullptr) continue;
    for (const api::DeviceRequest& request : claim->requests) {
      ForEachSpec(request, [&](const api::ExactDeviceRequest& spec) {
        const api::DeviceClassPtr device_class =
            parts_.devices.FindDeviceClass(spec.device_class_name.view());
        if (device_class == nullptr || !IsWhole(spec.selectors)) return;
        if (!IsWhole(device_class->selectors)) return;
        sets.push_back(parts_.memory.selectors().Get(device_class->selectors, spec.selectors));
      });
    }
  }
  return sets;
}

bool VerdictsAhead::Ready(const api::Pod& pod, const ClaimList& claims) {
  if (!parts_.tasks.attended()) return true;
  const std::vector<SetPtr> sets = SetsOf(claims);
  size_t weight = 0;
  for (const SetPtr& set : sets) weight = cel::AddWeights(weight, set->weight());
  if (weight > 0) parts_.memory.CatchUp();
  const size_t devices = weight == 0 ? 0 : parts_.memory.slices().devices();
  if (devices > 0 && weight > kLightWork / devices) {
    uint64_t budget = waits_for_.contains(pod.meta.uid) ? 0 : kBudget;
    for (const SetPtr& set : sets) {
      std::shared_ptr<VerdictTable> table = TableOf(*set);
      if (table->complete()) continue;
      const bool others_wait = waiting_.contains(TextHash()(set->texts()));
      if (!others_wait && AskAtOnce(*set, *table, budget)) continue;
      Wait(pod, set, std::move(table));
      return false;
    }
  }
  waits_for_.erase(pod.meta.uid);
  return true;
}

// Of the devices that there are now.
std::shared_ptr<VerdictTable> VerdictsAhead::TableOf(const SelectorSet& set) {
  std::shared_ptr<VerdictTable> table = parts_.memory.tables().Find(set);
  const DeviceRow& row = *parts_.memory.row();
  if (table != nullptr && table->IsOf(row)) return table;
  auto made = std::make_shared<VerdictTable>(row);
  if (table != nullptr) made->TakeOver(*table, row);
  parts_.memory.tables().Keep(set, made);
  return made;
}

// What the budget suffices for. False: more is missing.
bool VerdictsAhead::AskAtOnce(const SelectorSet& set, VerdictTable& table, uint64_t& budget) {
  const bool complete = table.ForEachUnasked(
      *parts_.memory.row(), [&](VerdictTable::Kept& kept, const cel::Device& device) {
        const SelectorSet::Verdict verdict = set.AskWithin(device, budget);
        if (verdict == SelectorSet::Verdict::kNotAsked) return false;
        Store(kept, verdict);
        return true;
      });
  if (complete) table.set_complete();
  return complete;
}

void VerdictsAhead::Wait(const api::Pod& pod, const SetPtr& set,
                         std::shared_ptr<VerdictTable> table) {
  const size_t texts = TextHash()(set->texts());
  const auto [waits, added] = waits_for_.try_emplace(pod.meta.uid, texts);
  if (added || waits->second != texts) {
    KS_LOG(3, "The pod waits until its device selectors are evaluated", {{"pod", pod.meta.Key()}});
    waits->second = texts;
    std::vector<WaitingPod>& pods = waiting_[texts];
    if (pods.empty()) line_.push_back(texts);
    pods.push_back({.key = pod.meta.Key(), .uid = pod.meta.uid});
    if (waits_for_.size() >= std::max(next_cleaning_, kLeastCleaning)) DropGonePods();
  }
  if (running_ == nullptr) Start(set, std::move(table));
}

void VerdictsAhead::Start(const SetPtr& set, std::shared_ptr<VerdictTable> table) {
  auto job = std::make_shared<Job>();
  job->set = set;
  job->row = parts_.memory.row();
  job->table = std::move(table);
  running_ = job;
  pool_.Run([job, weak = weak_from_this(), &tasks = parts_.tasks] {
    LowerPriority();
    job->Run();
    tasks.PostTask([job, weak] {
      if (const auto self = weak.lock()) self->Finished(job);
    });
  });
}

void VerdictsAhead::Finished(const std::shared_ptr<Job>& job) {
  KS_CHECK(job == running_, "one job at a time");
  running_ = nullptr;
  job->table->set_complete();
  parts_.memory.CatchUp();
  const std::shared_ptr<VerdictTable> present = TableOf(*job->set);
  if (present != job->table) present->TakeOver(*job->table, *parts_.memory.row());

  const size_t texts = TextHash()(job->set->texts());
  const auto waiting = waiting_.extract(texts);
  if (!waiting.empty()) {
    for (const WaitingPod& pod : waiting.mapped()) Wake(pod, texts);
  }
  while (running_ == nullptr && !line_.empty()) WakeFirst();
}

// Wakes the pods of the set that is first in line until one of them has begun its evaluation; the
// others go on waiting for it.
void VerdictsAhead::WakeFirst() {
  const size_t texts = line_.front();
  line_.pop_front();
  auto waiting = waiting_.extract(texts);
  if (waiting.empty()) return;
  std::vector<WaitingPod>& pods = waiting.mapped();
  size_t next = 0;
  while (next < pods.size() && running_ == nullptr) Wake(pods[next++], texts);
  if (next == pods.size()) return;
  std::vector<WaitingPod>& rest = waiting_[texts];
  if (rest.empty()) line_.push_front(texts);
  rest.insert(rest.end(), std::make_move_iterator(pods.begin() + static_cast<ptrdiff_t>(next)),
              std::make_move_iterator(pods.end()));
}

bool VerdictsAhead::Waits(const WaitingPod& pod, size_t texts) const {
  const auto waits = waits_for_.find(pod.uid);
  return waits != waits_for_.end() && waits->second == texts;
}

api::PodPtr VerdictsAhead::Find(const WaitingPod& pod) const {
  api::PodPtr found = parts_.pods.FindPod(pod.key);
  return found != nullptr && found->meta.uid == pod.uid ? found : nullptr;
}

// It is asked anew, and may have to wait again.
void VerdictsAhead::Wake(const WaitingPod& pod, size_t texts) {
  if (!Waits(pod, texts)) return;
  waits_for_.erase(pod.uid);
  if (const api::PodPtr found = Find(pod)) parts_.activator.Activate({found});
}

void VerdictsAhead::DropGonePods() {
  for (auto& [texts, pods] : waiting_) {
    std::erase_if(pods, [this, texts = texts](const WaitingPod& pod) {
      if (!Waits(pod, texts)) return true;
      if (Find(pod) != nullptr) return false;
      waits_for_.erase(pod.uid);
      return true;
    });
  }
  absl::erase_if(waiting_, [](const auto& each) { return each.second.empty(); });
  std::erase_if(line_, [this](size_t texts) { return !waiting_.contains(texts); });
  next_cleaning_ = 2 * waits_for_.size();
}

}  // namespace ks::plugins
